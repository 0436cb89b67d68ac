"""The commands that load no profile of the user's: info, demo, completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cli.request import Request, checked_options, run_request
from tfprof.console.outcome import Outcome
from tfprof.console.stdio import print_command, print_error
from tfprof.errors import InputError, UsageError
from tfprof.foundation.dotted import load_function
from tfprof.tables.commands import COMMANDS, COMPLETION_SHELLS
from tfprof.tables.formats import sample_files
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEMO_VIEW = "scope"


def run_info(request: Request) -> Outcome:
    """What files are; an error where tfprof recognises none of them."""
    from tfprof.cli.info import info  # noqa: PLC0415 - completion needs no NumPy

    paths: Sequence[str] = [*request.words, *request.input_paths]
    if not paths and request.shell:
        paths = request.load(request).inputs
    if not paths:
        raise UsageError("info needs files or folders, as in: tfprof info .")
    told = info(paths)
    problems = told.problems if told.text else told.problems[:-1]
    for problem in problems:
        print_error(problem)
    if not told.text:
        raise InputError(told.problems[-1])
    return Outcome(page=told.text)


def run_demo(request: Request) -> Outcome:
    """A view of the bundled sample."""
    from tfprof.cli.load_files import load_files  # noqa: PLC0415 - as above

    view = request.words[0] if request.words else _DEMO_VIEW
    options = {**VIEWS[view].demo, **sample_files(), **request.options}
    command = COMMANDS[view]
    print_command(view, options)
    return run_request(Request(command, (), checked_options(command, options), load_files))


def run_completion(request: Request) -> Outcome:
    """The completion script of a shell."""
    if len(request.words) != 1:
        raise UsageError(f"completion needs one shell (there are: {', '.join(COMPLETION_SHELLS)})")
    return Outcome(page=load_function(COMPLETION_SHELLS[request.words[0]])())
