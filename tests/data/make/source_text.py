"""Adds the text of the project's own lines to the op logs of the bundled sample and of seq2seq.

    python tests/data/make/source_text.py           (needs tensorflow)

TensorFlow 2 writes the files and line numbers of call stacks, but no text: every line is `none`.
Lines of TensorFlow itself stay so: its source code is not part of this project. So does all else.
"""

from __future__ import annotations

import gzip
import linecache
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf

ROOT = Path(__file__).resolve().parents[3]
LOGS = [
    ROOT / "src" / "tfprof" / "sample" / "tfprof_log.gz",
    ROOT / "tests" / "data" / "seq2seq" / "tfprof_log.gz",
]
NO_TEXT = "none"


def with_source_text(log: Any) -> Any:
    """*log* with the text of our lines; new texts get new numbers, so that no other changes."""
    number = {text: key for key, text in log.id_to_string.items()}
    for entry in log.log_entries:
        for trace in entry.code_def.traces:
            file = ROOT / log.id_to_string[trace.file_id]
            text = linecache.getline(str(file), trace.lineno).strip() or NO_TEXT
            trace.line_id = number.setdefault(text, len(number))
    for text, key in number.items():
        log.id_to_string[key] = text
    return log


def main() -> None:
    """Rewrite both logs."""
    for path in LOGS:
        log = tf.profiler.OpLogProto.FromString(gzip.decompress(path.read_bytes()))
        content = with_source_text(log).SerializeToString(deterministic=True)
        path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))


if __name__ == "__main__":
    main()
