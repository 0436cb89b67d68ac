"""The Python API: open files, get a Profile; ask it, get a Report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof import read
from tfprof.files import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.model import Profile


def load(
    graph_path: str | None = None,
    run_meta_paths: Sequence[str] = (),
    op_log_path: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Profile:
    """The profile that these files describe.

    The run files are steps 0, 1, 2 … in the order given. *progress* is told each stage before it
    begins. Raises InputError where a file is missing, damaged or of another kind.
    """
    graph = open_source(graph_path, "a graph (--graph_path)") if graph_path else None
    op_log = open_source(op_log_path, "an op log (--op_log_path)") if op_log_path else None
    runs = [open_source(path, "a RunMetadata (--run_meta_path)") for path in run_meta_paths]
    return read.load(graph, runs, op_log, progress)
