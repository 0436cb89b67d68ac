"""Makes the profile with several devices: runs examples/seq2seq_attention.py on a cluster.

    python tests/data/make/seq2seq.py [OUT_DIR]     (needs tensorflow; takes half a minute)

    graph.pbtxt.gz      the graph, with the static shape of every output
    run_meta.gz         what one training step cost, fully traced
    tfprof_log.gz       float operations, trainable variables and code traces

The cluster ends with this process. One TensorFlow version writes the same graph and log each time.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import tensorflow.compat.v1 as tf

from profile_files import DATA, ROOT, made_folder, relative_log, steps_only, write

sys.path.insert(0, str(ROOT / "examples"))

import seq2seq_attention

OUT_DIR = DATA / "seq2seq"


def main() -> None:
    """Run the example, keep what it wrote without what is particular to this machine."""
    out_dir = made_folder(__doc__, OUT_DIR)

    with tempfile.TemporaryDirectory() as name:
        seq2seq_attention.main([name])
        wrote = {file.name: file.read_bytes() for file in Path(name).iterdir()}
    run_meta = tf.RunMetadata.FromString(wrote["run_meta"])
    write(out_dir / "graph.pbtxt.gz", wrote["graph.pbtxt"])
    write(out_dir / "run_meta.gz", steps_only(run_meta))
    write(out_dir / "tfprof_log.gz", relative_log(tf, wrote["tfprof_log"]))


if __name__ == "__main__":
    main()
