"""The Python API: open files, get a Profile; ask it, get a Report."""

from __future__ import annotations

import os
from os import fspath
from typing import TYPE_CHECKING

from tfprof import read
from tfprof.answer import answer
from tfprof.errors import InputError, UsageError
from tfprof.files import mapped, open_source
from tfprof.query import Query
from tfprof.read.checkpoint import Checkpoint
from tfprof.read.merge_checkpoint import with_checkpoint
from tfprof.reporters.text import text

AnyPath = str | os.PathLike[str]

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.answered import Answer
    from tfprof.model import Profile
    from tfprof.strings import U8


def load(  # noqa: PLR0913 - one parameter a file
    graph_path: AnyPath | None = None,
    run_meta_paths: AnyPath | Sequence[AnyPath] = (),
    op_log_path: AnyPath | None = None,
    *,
    checkpoint_path: AnyPath | None = None,
    profile_path: AnyPath | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Profile:
    """The profile that these files describe.

    The run files are steps 0, 1, 2 and so on, in the order given. *profile_path* is a saved
    profile and stands for graph, runs and op log. *progress* is told each stage before it begins.
    Raises InputError where a file is missing, damaged or of another kind.
    """
    if isinstance(run_meta_paths, (str, os.PathLike)):
        run_meta_paths = [run_meta_paths]
    graph = _opened(graph_path, "a graph (--graph_path)")
    op_log = _opened(op_log_path, "an op log (--op_log_path)")
    saved = _opened(profile_path, "a saved profile (--profile_path)")
    runs = [open_source(fspath(path), "a RunMetadata (--run_meta_path)") for path in run_meta_paths]
    profile = read.load(graph, runs, op_log, progress, saved)
    if checkpoint_path:
        progress(f"reading {checkpoint_path}")
        profile = with_checkpoint(profile, open_checkpoint(checkpoint_path).names())
    return profile


def _opened(path: AnyPath | None, expected: str) -> read.Source | None:
    return open_source(fspath(path), expected) if path else None


def ask(profile: Profile, view: str = "scope", **options: object) -> Answer:
    """The report that these options ask for, spelled as on the command line.

    >>> from importlib.resources import files
    >>> import tfprof
    >>> graph = files("tfprof") / "sample" / "graph.pbtxt.gz"
    >>> report = tfprof.ask(tfprof.load(str(graph)), account_type_regexes=["VariableV2"])
    >>> int(report.total("params")[0])
    930581
    """
    if "output" in options:
        raise UsageError("a report goes nowhere by itself: to_text(report) is its text")
    return answer(profile, view, Query.of(options))


def to_text(report: Answer) -> str:
    """The report as the command prints it."""
    return b"".join(text(report)).decode("utf-8", "surrogateescape")


def open_checkpoint(path: AnyPath) -> Checkpoint:
    """The checkpoint with this prefix; its tensors are read when they are asked for."""
    return Checkpoint.open(fspath(path), _mapped)


def _mapped(path: str) -> U8:
    try:
        return mapped(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{path} cannot be read ({reason}); expected a checkpoint") from None
