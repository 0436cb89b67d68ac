"""The files that a command line names, loaded: progress, notes and coverage go to stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.api import load
from tfprof.console.progress import Progress
from tfprof.console.stdio import print_notes, write_stderr

if TYPE_CHECKING:
    from tfprof.cli.request import Request
    from tfprof.results.loaded import Loaded


def load_files(request: Request) -> Loaded:
    """Read the files that *request* names."""
    given = request.options
    with Progress() as progress:
        loaded = load(
            given.get("graph_path") or None,  # an option without a value names no file
            given.get("run_meta_path", ()),
            given.get("op_log_path") or None,
            checkpoint=given.get("checkpoint_path") or None,
            profile=given.get("profile_path") or None,
            trace=given.get("trace_path", ()),
            signature=given.get("signature") or None,
            progress=progress,
        )
    print_notes(loaded.profile.notes)
    if loaded.profile.steps:
        write_stderr(f"run graph coverage: {loaded.profile.coverage:.2f}\n")
    return loaded
