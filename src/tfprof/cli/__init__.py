"""The command line: arguments in, a report out, an exit code. The only place that exits.

tfprof scope graph.pbtxt run_meta_0 run_meta_1 --max_depth=3
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from tfprof.cache.folder import cache_off
from tfprof.cli.argv import read_words
from tfprof.cli.request import Request, check_first_word, limits_of, make_request, run_request
from tfprof.console.detached import run_detached
from tfprof.console.outcome import Outcome, show_outcome
from tfprof.console.signals import INTERRUPTED, exit_on_signals
from tfprof.console.stdio import open_missing_stderr, print_command, print_error
from tfprof.errors import OUT_OF_MEMORY, ClosedPipeError, TfprofError, UsageError
from tfprof.foundation import after_answer
from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.light_numpy import import_numpy
from tfprof.tables.command_options import NO_CACHE
from tfprof.tables.commands import COMMANDS, PROMPT, known_options
from tfprof.tables.formats import INPUTS

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOAD = "tfprof.cli.result_commands:load_files"
_REFUSE = "tfprof.cli.fleet_inputs:refuse_fleets"
_ANSWER = "tfprof.cli.answer_paths:answer_paths"


def main(line: Sequence[str] | None = None) -> None:
    """Run a command line and exit."""
    # NumPy starts one thread per processor for matrix products, and tfprof has none of those.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_missing_stderr()
    exit_on_signals()
    with after_answer.collect():
        code = run(sys.argv[1:] if line is None else line)
        if code not in (INTERRUPTED, OUT_OF_MEMORY) and (work := after_answer.take()):
            run_detached(work)
    sys.exit(code)


def run(line: Sequence[str]) -> int:
    """Run a command line; the exit code. An error is one sentence on stderr."""
    try:
        plain, options = read_words(line, known_options())
        with limits_of(options), cache_off(off=options.pop(NO_CACHE.name, False)):
            outcome = _outcome(plain, options)
            show_outcome(outcome, pager=True)
    except ClosedPipeError as problem:
        return problem.exit_code
    except TfprofError as problem:
        print_error(str(problem))
        return problem.exit_code
    except KeyboardInterrupt:
        print_error("interrupted")
        return INTERRUPTED
    except MemoryError:
        print_error("out of memory")
        return OUT_OF_MEMORY
    return outcome.exit_code


def _outcome(plain: Sequence[str], options: dict[str, Any]) -> Outcome:
    if options.pop("version", False):
        from tfprof import __version__  # noqa: PLC0415 - it imports this package
        from tfprof.kernels.core import DESCRIPTION  # noqa: PLC0415 - nobody else asks here

        return Outcome(page=f"tfprof {__version__}, {DESCRIPTION}\n")
    nothing = not plain and not options
    if options.pop("help", nothing) and plain[:1] != ["help"]:
        plain = ["help", *plain[:1]]
    if not plain and not any(options.get(name) for name in INPUTS):
        raise UsageError(f"no command given (commands: {', '.join(COMMANDS)})")
    if plain and plain[0] not in COMMANDS:
        check_first_word(plain[0])
        import_numpy()
        outcome: Outcome = load_function(_ANSWER)(plain, options)
        return outcome
    command = COMMANDS[plain[0]] if plain else PROMPT
    if command.files == "load" and not command.of_fleets and plain[1:]:
        load_function(_REFUSE)(command, plain[1:])  # whatever else the request lacks
    # The loader is imported when it is called: help needs no NumPy.
    request = make_request(command, plain[1:], options, lambda it: load_function(_LOAD)(it))  # noqa: PLW0108
    if command.files:
        import_numpy()
    if command.files == "load":
        request = replace(request, options=with_files(request))
    return run_request(request)


def with_files(request: Request) -> dict[str, Any]:
    """The request's options, plus a flag for each file that was named without one."""
    name, changed = request.command.name, dict(request.options)
    if request.words:
        from tfprof.cli.fleet_inputs import FLEET, fleet_among  # noqa: PLC0415
        from tfprof.console.progress import Progress  # noqa: PLC0415 - help needs no NumPy
        from tfprof.io.find_inputs import choose_inputs  # noqa: PLC0415

        with Progress():
            if fleet := fleet_among(request.words, changed):
                return {**changed, FLEET: fleet}
            changed = {**choose_inputs(request.words, changed), **changed}
        if not request.command.is_quiet:
            print_command(name, changed)
    if not any(changed.get(name) for name in INPUTS):
        flag = next(iter(INPUTS))
        raise UsageError(
            f"no input: name a file or folder, give --{flag}=PATH, or try 'tfprof demo'"
        )
    return changed
