"""The `check` command: whether files keep to a budget; exit code 1 if they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cli import with_files
from tfprof.cli.fleet_inputs import refuse_fleets
from tfprof.cli.overview import naming
from tfprof.cli.result_commands import loading_notes
from tfprof.compare.budget import read_budget
from tfprof.console.progress import Progress
from tfprof.console.stdio import print_notes, stdout_columns
from tfprof.errors import BUDGET_BROKEN, TfprofError, UsageError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.query.query import Query
from tfprof.results.result import deliver, with_loading_notes
from tfprof.tables.command_options import RECORD, STEPS

if TYPE_CHECKING:
    from tfprof.cli.request import Request
    from tfprof.console.outcome import Outcome


def run_check(request: Request) -> Outcome:
    """Check the files against the budget that the first word names."""
    is_toml = [word.endswith(".toml") for word in request.words]
    if not is_toml or (any(is_toml) and not is_toml[0]):
        how = "tfprof check budget.toml graph.pbtxt"
        raise UsageError(f"check needs a budget as its first word, as in: {how}")
    budget, query = read_budget(request.words[0]), Query.of(request.query_options)
    request = replace(request, words=request.words[1:])
    if not request.shell:
        refuse_fleets(request.command, request.words)
        request = replace(request, options=with_files(request))
    elif request.words:
        raise UsageError(
            f"{request.words[0]!r} is not expected: the files of this shell are loaded"
        )
    loaded = request.load(request)
    loading = [] if request.shell else loading_notes(loaded)
    steps, record = request.options.get(STEPS.name, ""), request.options.get(RECORD.name, False)
    try:
        with Progress() as progress:
            progress("checking the budget")
            report = loaded.check(budget, steps, query.dims, record=record)
            report = replace(report, naming=naming(request))
            inputs = [*loaded.inputs, budget.path, budget.lock_path]
            outcome = deliver(report, query.output, inputs, columns=stdout_columns())
    except TfprofError:
        print_notes(loading)
        raise
    outcome = with_loading_notes(outcome, report, loading, query.output)
    written = [*([budget.lock_path] if record else []), *outcome.written]
    return replace(outcome, written=written, exit_code=0 if report.ok else BUDGET_BROKEN)
