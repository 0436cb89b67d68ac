"""The `fleet` command: gathers the runs of many workers into one dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.console.outcome import Outcome
from tfprof.console.progress import Progress
from tfprof.console.signals import on_exit
from tfprof.console.stdio import write_in_signal_handler
from tfprof.errors import UsageError
from tfprof.fleet.engine import Engine
from tfprof.fleet.gather import gather
from tfprof.model import Note
from tfprof.tables.command_options import FLEET_OPTIONS, OUTFILE
from tfprof.tables.formats import GRAPH, OP_LOG

if TYPE_CHECKING:
    from tfprof.cli.request import Request


_RESUME: Final = b"tfprof: the same command with --resume goes on\n"


def run_fleet(request: Request) -> Outcome:
    """Gather the sources into -o FOLDER, and say what is there now."""
    defaults = {name: row.default for name, row in FLEET_OPTIONS.items()}
    options = {**defaults, **request.options}
    target = options[OUTFILE.name]
    if not request.words:
        raise UsageError("fleet needs sources, as in: tfprof fleet logs/ -o fleet")
    if not target:
        raise UsageError("fleet needs a folder to write, as in: tfprof fleet logs/ -o fleet")
    processes = options["processes"] or None
    with (
        on_exit(lambda: write_in_signal_handler(_RESUME)),
        Progress(),
        Engine(processes, options["scheduler"], options["task_timeout"]) as engine,
    ):
        gathered = gather(
            request.words,
            target,
            paths=options["paths"],
            graph=options.get(GRAPH.name, ""),
            op_log=options.get(OP_LOG.name, ""),
            resume=options["resume"],
            strict=options["strict"],
            engine=engine,
        )
    notes = [Note(f"tfprof: {text}") for text in gathered.notes]
    return Outcome(page=f"{gathered}\nnext: tfprof workers {target}\n", notes=notes)
