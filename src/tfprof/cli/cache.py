"""The `cache` command: shows what the cache holds, or removes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cache.cache_report import cache_report
from tfprof.cache.folder import cache_folder
from tfprof.console.stdio import stdout_columns
from tfprof.results.result import deliver
from tfprof.tables.command_options import CLEAR
from tfprof.tables.outputs import Output

if TYPE_CHECKING:
    from tfprof.cli.request import Request
    from tfprof.console.outcome import Outcome


def run_cache(request: Request) -> Outcome:
    """The entries of the cache, or those that were removed."""
    report = cache_report(cache_folder(), remove=bool(request.options.get(CLEAR.name)))
    output = Output.of(request.options.get("output", ""))
    return deliver(report, output, columns=stdout_columns())
