"""The `workers` command: compares the workers of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.api import open_fleet
from tfprof.cli.fleet_inputs import names_fleet
from tfprof.console.progress import Progress
from tfprof.console.stdio import stdout_columns
from tfprof.errors import UsageError
from tfprof.results.result import deliver, with_loading_notes
from tfprof.tables.command_options import LIST_ROWS, WORKER
from tfprof.tables.outputs import Output

if TYPE_CHECKING:
    from tfprof.cli.request import Request
    from tfprof.console.outcome import Outcome


def run_workers(request: Request) -> Outcome:
    """How long workers take, who holds up the others, servers, and slow steps."""
    if len(request.words) != 1:
        raise UsageError("workers needs one fleet, as in: tfprof workers fleet/")
    (path,) = request.words
    if not names_fleet(path):
        raise UsageError(f"{path} is not a fleet; to make one: tfprof fleet SOURCE -o fleet")
    output = Output.of(request.options.get("output", ""))
    with Progress() as progress:
        progress("comparing workers")
        fleet = open_fleet(path).chosen(request.options.get(WORKER.name))
        report = fleet.workers(rows=request.options.get(LIST_ROWS.name, LIST_ROWS.default))
        outcome = deliver(report, output, fleet.inputs, columns=stdout_columns())
    return with_loading_notes(outcome, report, fleet.notes, output)
