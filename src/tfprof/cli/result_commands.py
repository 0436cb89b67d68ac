"""The commands that load files and deliver a result: views, summary, explain, advise and others.

Request → Query → load → deliver → Outcome. Everything that does not need the files is checked
before they are read.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from tfprof.api import load
from tfprof.cache.pending import delivered
from tfprof.cli.fleet_inputs import FLEET, load_fleet
from tfprof.cli.request import Request, make_request, run_request
from tfprof.console.progress import Progress
from tfprof.console.stdio import print_command, print_notes, stdout_columns, write_stderr
from tfprof.errors import TfprofError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note
from tfprof.query.query import Query
from tfprof.results.loaded import Loaded
from tfprof.results.result import deliver, with_loading_notes
from tfprof.tables.command_options import check_no_fleet_options
from tfprof.tables.commands import COMMANDS
from tfprof.tables.eras import ERAS, NOW
from tfprof.tables.formats import (
    FUNCTIONS,
    INPUTS,
    TEXT_PARTS,
    load_arguments,
    sample_files,
)
from tfprof.tables.outputs import OUTPUTS, Output
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.cache.delivered import Delivered
    from tfprof.console.outcome import Outcome
    from tfprof.results.fleet import Fleet
    from tfprof.results.result import Result

_DEMO = ("overview", "scope")  # without a word, the first that takes the options


def load_files(request: Request) -> Any:  # noqa: ANN401 - a Loaded or a Fleet
    """Read the files that *request* names, or open the fleet; progress goes to stderr."""
    if request.options.get(FLEET):
        return load_fleet(request)
    check_no_fleet_options(request.options)
    arguments = load_arguments(request.options)
    for part in TEXT_PARTS:
        arguments[part.name] = request.options.get(part.name) or part.default or None
    if functions := request.options.get(FUNCTIONS.name):
        arguments["functions"] = functions != "off"
    era = ERAS[request.options.get("era") or NOW.name]
    arguments["op_log"] = _renamed(arguments.get("op_log"), era.file_names)
    begun = (line for name, line in era.progress.items() if arguments.get(name))
    write_stderr("".join(f"{line}\n" for line in (*era.before, *begun)))
    with Progress() as progress:
        loaded = load(**arguments, era=era.name, progress=progress)
    write_stderr("".join(f"{line}\n" for line in era.after))
    return loaded


def _renamed(path: str | None, names: Mapping[str, str]) -> str | None:
    """*path*, or a file beside it with the name that *names* gives, if only that exists."""
    folder, name = os.path.split(path or "")
    if not path or name not in names or os.path.exists(path):  # noqa: PTH110 - as in io
        return path
    beside = os.path.join(folder, names[name])  # noqa: PTH118
    if not os.path.exists(beside):  # noqa: PTH110
        return path
    print_notes([Note(f"tfprof: there is no {path}; reading {beside}")])
    return beside


def loading_notes(loaded: Loaded | Fleet) -> list[Note]:
    """What to print once files are read: their notes, and how much of the graph ran."""
    share = []
    if isinstance(loaded, Loaded) and loaded.steps:
        share = [Note(f"run graph coverage: {loaded.profile.coverage:.2f}")]
    return [*loaded.notes, *share]


def run_demo(request: Request) -> Outcome:
    """What a command shows of the bundled sample."""
    rows = [COMMANDS[name] for name in request.words or _DEMO]
    fitting = (row for row in rows if request.options.keys() <= row.options.keys())
    command = next(fitting, rows[0])
    own = dict(VIEWS[command.name].demo) if command.name in VIEWS else {}
    if "select" in request.options:
        own.pop("order_by", None)  # it follows what is selected, as everywhere
    options = {**own, **sample_files(), **request.options}
    made = make_request(command, (), options, load_files)
    if not command.is_quiet:
        print_command(command.name, options)
    return run_request(replace(made, naming=("tfprof", "demo")))


def run_result(request: Request) -> Outcome:
    """Run the command's `result` function on the loaded files."""
    assert request.command.result is not None
    query = Query.of(request.query_options, request.command.name)
    if path := request.options.get("outfile"):
        query = replace(query, output=Output("file", path))
    loaded, columns = request.load(request), stdout_columns()
    known = _delivered(loaded, request, query.output, columns)
    # The shell prints them when it starts.
    loading = [] if request.shell else loading_notes(loaded)
    try:
        if known is not None and known.is_complete:
            return deliver(known, query.output, loaded.inputs)
        with Progress() as progress:
            progress(f"answering {request.command.name}")
            result: Result = request.command.result(loaded, query, request.options)
            passing = None if known is None else known.noted
            outcome = deliver(result, query.output, loaded.inputs, columns=columns, passing=passing)
    except TfprofError:
        print_notes(loading)
        raise
    outcome = with_loading_notes(outcome, result, loading, query.output)
    if known is not None:
        known.notes = tuple(outcome.notes)
    return outcome


def _delivered(
    loaded: Loaded | Fleet, request: Request, output: Output, columns: int | None
) -> Delivered | None:
    """What the same command delivered before; None where nothing is kept of it."""
    # A prompt would keep every answer. Fleets have no entries; checkpoints are always read.
    if request.shell or not isinstance(loaded, Loaded) or loaded.checkpoint:
        return None
    # Who registers rules of float operations has imported their table.
    rules = sys.modules.get("tfprof.ops.table")
    if rules is not None and rules.has_own_rules():
        return None
    # Some outputs name several files; commands without rows write the profile itself.
    if OUTPUTS[output.kind].names_files or "table" not in request.command.offers:
        return None
    options = sorted((n, v) for n, v in request.options.items() if n not in INPUTS)
    asked = repr((options, *request.words, *request.naming))
    return delivered(loaded.profile, (request.command.name, asked, columns))
