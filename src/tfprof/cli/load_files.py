"""The files that a command line names, loaded: progress, notes and coverage go to stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.api import load
from tfprof.console.progress import Progress
from tfprof.console.stdio import print_notes, write_stderr
from tfprof.tables.formats import load_arguments

if TYPE_CHECKING:
    from tfprof.cli.request import Request
    from tfprof.results.loaded import Loaded


def load_files(request: Request) -> Loaded:
    """Read the files that *request* names."""
    options = request.options
    with Progress() as progress:
        loaded = load(
            **load_arguments(options), signature=options.get("signature") or None, progress=progress
        )
    print_notes(loaded.profile.notes)
    if loaded.profile.steps:
        write_stderr(f"run graph coverage: {loaded.profile.coverage:.2f}\n")
    return loaded
