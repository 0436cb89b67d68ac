"""Makes the profile of the README's code view: one step of a model that a test builds.

    python tests/data/make/model_analyzer_test.py [OUT_DIR]     (needs tensorflow; takes seconds)

    graph.pbtxt.gz, run_meta.gz, tfprof_log.gz      as of any other profile

Files and functions have the names of the README of 2017, so that its command finds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow.compat.v1 as tf

import model_analyzer_testlib as lib
from profile_files import DATA, graph_text, made_folder, op_log, steps_only, write

if TYPE_CHECKING:
    from pathlib import Path

OUT_DIR = DATA / "model_analyzer"


def testComplexCodeView(out_dir: Path) -> None:  # noqa: N802 - as the README calls it
    """Build, run one traced step, write."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default() as graph, tf.Session(config=config) as sess:
        x = lib.BuildFullModel()
        sess.run(tf.global_variables_initializer())
        for _ in range(5):
            sess.run(x)
        run_meta = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(x, options=options, run_metadata=run_meta)
        write(out_dir / "graph.pbtxt.gz", graph_text(graph))
        write(out_dir / "run_meta.gz", steps_only(run_meta))
        write(out_dir / "tfprof_log.gz", op_log(tf, graph))


def main() -> None:
    """Make the profile."""
    out_dir = made_folder(__doc__, OUT_DIR)
    tf.disable_v2_behavior()  # reference variables, static graph
    testComplexCodeView(out_dir)


if __name__ == "__main__":
    main()
