"""The `diff` command: two sides are loaded, and what changed between them is shown.

tfprof diff BASE NEW                        a file or a folder on each side
tfprof diff NEW_FILES --base=FILE,FILE      several files
tfprof> diff -base FILE                     in the shell, its files are the new side
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from tfprof.cli.fleet_inputs import refuse_fleets
from tfprof.cli.result_commands import load_files, loading_notes
from tfprof.console.progress import Progress
from tfprof.console.stdio import stdout_columns
from tfprof.errors import InputError, TfprofError, UsageError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io.find_inputs import choose_inputs
from tfprof.query.query import Query
from tfprof.results.result import deliver
from tfprof.tables.command_checks import check_takes
from tfprof.tables.command_options import BASE, STEPS, SUMMARY_OPTIONS
from tfprof.tables.commands import COMMANDS, DIFF_VIEW
from tfprof.tables.formats import GRAPH_PARTS, INPUTS
from tfprof.tables.options import OPTIONS
from tfprof.tables.outputs import OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.cli.request import Request
    from tfprof.console.outcome import Outcome
    from tfprof.model import Note
    from tfprof.results.loaded import Loaded

_TWO: Final = 2  # words, where each is a side
# What an error says about flags, which name the files of one side only.
_FLAGS: Final = re.compile(rf"[,;] [^,;]*--(?:{'|'.join(INPUTS)})=.*", re.DOTALL)


def run_diff(request: Request) -> Outcome:
    """What changed from the base side to the new one."""
    view = request.options.get(DIFF_VIEW.name) or DIFF_VIEW.default
    options = _view_options(request, view)
    query = Query.of({n: value for n, value in request.options.items() if n in OPTIONS}, view)
    base_files, new_files = _sides(request)
    refuse_fleets(request.command, [*base_files, *new_files])
    base = load_side(request, base_files)
    if not new_files:
        new = request.load(request)
    else:
        new = base if new_files == base_files else load_side(request, new_files)
    steps = request.options.get(STEPS.name, STEPS.default)
    with Progress() as progress:
        progress("comparing")
        report = base.diff(new, view, steps=steps, **options)
        inputs = (*base.inputs, *new.inputs)
        outcome = deliver(report, query.output, inputs, columns=stdout_columns())
    below = report.table().caveats if OUTPUTS[query.output.kind].has_sentences else ()
    notes = [*report.own_notes, *([] if request.shell else notes_of_sides(base, new))]
    return replace(outcome, notes=[note for note in notes if str(note) not in below])


def _view_options(request: Request, view: str) -> dict[str, Any]:
    """The options of the view or the summary; raises UsageError for one that it does not take."""
    command = COMMANDS[view]
    given = {n: v for n, v in request.options.items() if n in {**OPTIONS, **SUMMARY_OPTIONS}}
    given.pop("output", None)
    in_force = request.shell.settings if request.shell else {}  # of all commands of the shell
    check_takes(command, (name for name in given if name not in in_force))
    return {n: v for n, v in given.items() if n in (*command.options, *command.ignored)}


def _sides(request: Request) -> tuple[list[str], list[str]]:
    """The files of base and new; none of new: those of the shell."""
    words, base = list(request.words), list(request.options.get(BASE.name, ()))
    if base and (words or request.shell):
        return base, words
    if base or len(words) != _TWO:
        here = ", in the shell also: diff -base FILE" if request.shell else ""
        raise UsageError(
            "diff needs two sides, as in: tfprof diff BASE NEW; "
            f"if a side has several files: tfprof diff NEW_FILES --base=FILE,FILE{here}"
        )
    return words[:1], words[1:]


def load_side(request: Request, files: Sequence[str]) -> Loaded:
    """The files of one side, whatever files the flags of *request* name."""
    parts = {name: v for name, v in request.options.items() if name in GRAPH_PARTS}
    try:
        with Progress():
            chosen = choose_inputs(files, {})
    except TfprofError as problem:
        if _FLAGS.search(str(problem)):
            kind = UsageError if isinstance(problem, UsageError) else InputError
            raise kind(_FLAGS.sub("", str(problem))) from None
        raise
    loaded: Loaded = load_files(replace(request, options={**parts, **chosen}))
    return loaded


def notes_of_sides(base: Loaded, new: Loaded) -> Iterator[Note]:
    """The notes on what was read; those that both sides have once, the others by side."""
    sides = {"base": loading_notes(base), "new": loading_notes(new)}
    both = [note for note in sides["base"] if note in sides["new"]]
    yield from both
    for side, notes in sides.items():
        yield from (
            replace(note, text=f"{side}: {note.text}") for note in notes if note not in both
        )
