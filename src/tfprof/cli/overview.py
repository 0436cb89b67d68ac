"""The `overview` command: one screen, fitted to the terminal, with commands to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.console.progress import Progress
from tfprof.console.stdio import stdout_columns, stdout_is_terminal, stdout_screen
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io.open_files import InputFile
from tfprof.query.query import Query
from tfprof.results.overview_report import MOST_ROWS, Naming
from tfprof.results.result import deliver
from tfprof.tables.command_options import LIST_ROWS, WORKER
from tfprof.tables.formats import GRAPH_PARTS, INPUTS
from tfprof.tables.options import flags

if TYPE_CHECKING:
    from tfprof.cli.request import Request
    from tfprof.console.outcome import Outcome


def run_overview(request: Request) -> Outcome:
    """The overview of the loaded files; what they leave out is part of it."""
    options = request.query_options
    query = Query.of(options)
    rows = request.options.get(LIST_ROWS.name) or None
    loaded = request.load(request)
    with Progress() as progress:
        progress("answering overview")
        report = loaded.overview(rows or MOST_ROWS, query.dims, options.get("flops") or "all")
        report = replace(report, naming=naming(request), rows_shown=rows)
        if stdout_is_terminal():
            report = replace(report, screen=stdout_screen())
        return deliver(report, query.output, loaded.inputs, columns=stdout_columns())


def naming(request: Request) -> Naming:
    """How to name the same files in another command."""
    if request.shell:
        return Naming(())
    if request.naming:
        return Naming(tuple(request.naming))
    # A path that begins with a dash would be read as a flag.
    words = [f"./{word}" if word.startswith("-") else word for word in request.words]
    names = {**INPUTS, **GRAPH_PARTS, WORKER.name: WORKER}
    named = {n: v for n, v in request.options.items() if n in names and v}
    typed = {
        name: value
        for name, value in named.items()
        if not isinstance(value if isinstance(value, str) else value[0], InputFile)
    }
    return Naming(after=(*words, *flags(typed)))
