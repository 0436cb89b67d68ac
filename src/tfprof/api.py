"""The Python API: open files, get a Profile; ask it, get a Report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof import read
from tfprof.answer import answer
from tfprof.errors import InputError, UsageError
from tfprof.files import mapped, open_source
from tfprof.query import Query
from tfprof.read.checkpoint import Checkpoint
from tfprof.read.merge_checkpoint import with_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tfprof.model import Profile
    from tfprof.report import Report
    from tfprof.strings import U8


def load(  # noqa: PLR0913 - one parameter a file
    graph_path: str | None = None,
    run_meta_paths: Sequence[str] = (),
    op_log_path: str | None = None,
    *,
    checkpoint_path: str | None = None,
    profile_path: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Profile:
    """The profile that these files describe.

    The run files are steps 0, 1, 2 and so on, in the order given. *profile_path* is a saved
    profile and stands for graph, runs and op log. *progress* is told each stage before it begins.
    Raises InputError where a file is missing, damaged or of another kind.
    """
    if profile_path and (graph_path or run_meta_paths or op_log_path):
        raise UsageError("--profile_path is set, do not set --graph_path or --run_meta_path")
    graph = open_source(graph_path, "a graph (--graph_path)") if graph_path else None
    op_log = open_source(op_log_path, "an op log (--op_log_path)") if op_log_path else None
    runs = [open_source(path, "a RunMetadata (--run_meta_path)") for path in run_meta_paths]
    saved = open_source(profile_path, "a saved profile (--profile_path)") if profile_path else None
    profile = read.load(graph, runs, op_log, progress, saved)
    if checkpoint_path:
        progress(f"reading {checkpoint_path}")
        profile = with_checkpoint(profile, open_checkpoint(checkpoint_path).names())
    return profile


def ask(profile: Profile, view: str = "scope", **options: object) -> Report:
    """The report that these options ask for, spelled as on the command line.

    >>> from importlib.resources import files
    >>> import tfprof
    >>> graph = files("tfprof") / "sample" / "graph.pbtxt.gz"
    >>> report = tfprof.ask(tfprof.load(str(graph)), account_type_regexes=["VariableV2"])
    >>> int(report.total("params")[0])
    930581
    """
    return answer(profile, view, Query.of(options))


def open_checkpoint(path: str) -> Checkpoint:
    """The checkpoint with this prefix; its tensors are read when they are asked for."""
    return Checkpoint.open(path, _mapped)


def _mapped(path: str) -> U8:
    try:
        return mapped(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{path} cannot be read ({reason}); expected a checkpoint") from None
