"""The command: words in, a report out, an exit code. The only place that exits.

tfprof scope --graph_path=graph.pbtxt --run_meta_path=run_meta_0,run_meta_1 --max_depth=3
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.argv import Words, read_words
from tfprof.cli.help import (
    COMMANDS,
    FORMAT,
    HELP,
    LIMIT_OPTIONS,
    OUTFILE,
    SUMMARY_OPTIONS,
    VERSION,
    command_help,
    help_text,
)
from tfprof.console.signals import INTERRUPTED, leave_when_told
from tfprof.console.stdio import harmless, is_terminal, put, say, say_command, show, tell, write
from tfprof.errors import InputError, TfprofError, UsageError, nearest
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.query.query import Query
from tfprof.tables.inputs import INPUTS, SIGNATURE, sample_files
from tfprof.tables.limits import LIMITS, raised_limits
from tfprof.tables.options import OPTIONS, Option
from tfprof.tables.outputs import Output, check_output
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tfprof.console.outcome import Outcome
    from tfprof.results.loaded import Loaded
    from tfprof.results.result import Result

_KNOWN: Mapping[str, Option] = {
    **INPUTS,
    **OPTIONS,
    **LIMIT_OPTIONS,
    **SUMMARY_OPTIONS,
    "signature": SIGNATURE,
    "format": FORMAT,
    "outfile": OUTFILE,
    "o": OUTFILE,
    "help": HELP,
    "h": HELP,
    "version": VERSION,
}
_LIMITS = {name: LIMIT_OPTIONS[one.flag.lstrip("-")] for name, one in LIMITS.items()}
_DEMO_OPTIONS: Mapping[str, Any] = {
    "account_type_regexes": ("VariableV2",),
    "max_depth": 4,
    "select": ("params",),
}


def main(line: Sequence[str] | None = None) -> None:
    """Run the command and exit."""
    # NumPy starts a thread a processor for products of matrices, of which there are none here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.stderr is None:  # closed by whoever started us; what is said then goes nowhere
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for all our life
    leave_when_told()
    sys.exit(run(sys.argv[1:] if line is None else line))


def run(line: Sequence[str]) -> int:
    """Run the command; the exit code. What went wrong is one sentence on stderr."""
    try:
        _command(line)
    except TfprofError as problem:
        say(str(problem))
        return problem.exit_code
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except MemoryError:
        say("out of memory")
        return TfprofError.exit_code
    return 0


def _command(line: Sequence[str]) -> None:
    words = read_words(line, _KNOWN)
    with raised_limits(**_limits(words.options)):
        _run(words)


def _limits(options: Mapping[str, Any]) -> dict[str, int]:
    given = {name: options[one.name] for name, one in _LIMITS.items() if one.name in options}
    for name, value in given.items():
        if value < 1:
            raise UsageError(f"--{_LIMITS[name].name} takes a whole number from 1 on, not {value}")
    return given


def _run(words: Words) -> None:
    if words.options.get("version"):
        write([_version().encode()])
        return
    nothing = not words.plain and not words.options
    if nothing or words.options.get("help") or words.plain[:1] == ["help"]:
        write([_help(words.plain).encode()])
        return
    given = _with_format(words.options)
    _check_outfile(words.plain, given)
    if not words.plain and _inputs(given):
        _shell(given)
        return
    command = _only(words.plain)
    if command == "info":
        _info([*words.plain[1:], *_inputs(given)])
        return
    if command == "completion":
        write([_completion(words.plain[1:]).encode()])
        return
    if files := _recognised(command, words.plain[1:], given):
        given = {**files, **given}
        say_command(command, given)
    if command == "demo":
        if _inputs(given):
            raise UsageError("demo has its own files: try a view, as in 'tfprof scope'")
        given = {**_DEMO_OPTIONS, **sample_files(), **given}
        command = "scope"
        say_command(command, given)
    _answer(command, given)


def _only(plain: Sequence[str]) -> str:
    """The one command that was named."""
    known = list(COMMANDS)
    if not plain:
        raise UsageError(f"no command was named (there are: {', '.join(known)})")
    if plain[0] not in known:
        raise UsageError(
            f"there is no command {plain[0]!r}{nearest(plain[0], known)} "
            f"(there are: {', '.join(known)})"
        )
    return plain[0]


def _recognised(command: str, words: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that files named without one stand for."""
    if not words:
        return {}
    from tfprof.io import recognise  # noqa: PLC0415

    for word in words:
        if command == "demo" or not recognise.exists(word):
            why = "it has its own files" if command == "demo" else "there is no such file"
            raise UsageError(f"{word!r} is one word too many after {command!r}: {why}")
    return recognise.inputs(words, given)


def _with_format(options: Mapping[str, Any]) -> dict[str, Any]:
    """*options* with the format of standard output as a kind of output, which is what it is."""
    given = dict(options)
    form = given.pop("format", "text")
    if form not in FORMAT.choices:
        raise UsageError(
            f"format has no {form!r}{nearest(form, list(FORMAT.choices))} "
            f"(there are: {', '.join(FORMAT.choices)})"
        )
    if form != "text":
        if given.get("output", "stdout") not in ("", "stdout"):
            raise UsageError(f"--format={form} is for stdout; for a file: {form}:outfile=PATH")
        given["output"] = form
    return given


def _check_outfile(plain: Sequence[str], given: Mapping[str, Any]) -> None:
    """Refuse -o where it would name nothing that is written."""
    if "outfile" in given and not (plain and COMMANDS[_only(plain)].writes):
        raise UsageError("-o is for save and convert; a report: --output=file:outfile=PATH")


def _info(paths: Sequence[str]) -> None:
    """Say what the files at *paths* are; an error where not one is recognised."""
    if not paths:
        raise UsageError("info needs files or folders, as in: tfprof info .")
    from tfprof.cli.info import info  # noqa: PLC0415

    told = info(paths)
    if not told.text:
        for problem in told.problems[:-1]:
            say(problem)
        raise InputError(told.problems[-1])
    for problem in told.problems:
        say(problem)
    write(harmless([told.text.encode("utf-8", "surrogateescape")]))


def _answer(command: str, given: Mapping[str, Any]) -> None:
    """Read the files, ask, and deliver."""
    query = Query.of(_options(given))
    if path := given.get("outfile"):
        query = replace(query, output=Output("file", path))
    if not _inputs(given):
        raise UsageError("no input: give --graph_path=PATH, or try 'tfprof demo'")
    asked = _summary_options(command, given)
    _check_output(command, query)
    loaded = _load(given)
    if "flops" not in given and _counts_by_rule(loaded):
        query = replace(query, flops="all")
    show(_outcome(loaded, command, query, asked))


def _counts_by_rule(loaded: Loaded) -> bool:
    """Whether float operations are counted unasked: no op log knows those of functions."""
    return bool(len(loaded.profile.regions))


def _summary_options(command: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that summary alone has; others have no use for them."""
    asked = {name: given[name] for name in SUMMARY_OPTIONS if name in given}
    if asked and command != "summary":
        raise UsageError(f"--{next(iter(asked))} is for summary, as in: tfprof summary MODEL")
    if asked.get("depth", 1) < 1:
        raise UsageError(f"--depth takes a whole number from 1 on, not {asked['depth']}")
    return asked


def _check_output(command: str, query: Query) -> None:
    view = VIEWS.get(command)
    check_output(
        command, query.output, COMMANDS[command].offers, is_list=view is not None and view.chain
    )


def _shell(given: Mapping[str, Any]) -> None:
    """Read the files, then ask and deliver line by line."""
    options = _options(given)
    Query.of(options)  # what is wrong with them is told before anything is read
    loaded = _load(given)
    if _counts_by_rule(loaded):
        options = {"flops": "all", **options}
    from tfprof.shell import prompt as shell  # noqa: PLC0415

    def ask(command: str, query: Query) -> Outcome:
        return _outcome(loaded, command, query)

    shell.run(loaded.profile, options, ask, show)


def _outcome(
    loaded: Loaded, command: str, query: Query, asked: Mapping[str, Any] | None = None
) -> Outcome:
    from tfprof.console.progress import Progress  # noqa: PLC0415
    from tfprof.results.deliver import deliver  # noqa: PLC0415

    _check_output(command, query)
    results: dict[str, Callable[[], Result]] = {
        "advise": loaded.advice,
        "save": partial(loaded.profile_file, "profile", query.flops),
        "convert": partial(loaded.profile_file, "converted"),
        "summary": partial(loaded.summary, dims=query.dims, **(asked or {})),
    }
    with Progress() as progress:
        progress(f"answering {command}")
        result = results.get(command, partial(loaded.report, command, query))()
        outcome = deliver(result, query.output, loaded.inputs, to_terminal=is_terminal(sys.stdout))
    return replace(outcome, stdout=harmless(outcome.stdout))


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in OPTIONS}


def _inputs(given: Mapping[str, Any]) -> list[str]:
    return [path for name in INPUTS for path in _paths(given.get(name))]


def _paths(value: str | Sequence[str] | None) -> Sequence[str]:
    return [value] if isinstance(value, str) and value else list(value or ())


def _load(given: Mapping[str, Any]) -> Loaded:
    from tfprof.api import load  # noqa: PLC0415
    from tfprof.console.progress import Progress  # noqa: PLC0415

    with Progress() as progress:
        loaded = load(
            given.get("graph_path") or None,  # a flag without a value is as good as none
            given.get("run_meta_path", ()),
            given.get("op_log_path") or None,
            checkpoint=given.get("checkpoint_path") or None,
            profile=given.get("profile_path") or None,
            trace=given.get("trace_path", ()),
            signature=given.get("signature") or None,
            progress=progress,
        )
    tell(loaded.profile.notes)
    if loaded.profile.steps:
        put(f"run graph coverage: {loaded.profile.coverage:.2f}\n")
    return loaded


def _version() -> str:
    from tfprof import __version__  # noqa: PLC0415

    return f"tfprof {__version__}\n"


def _help(plain: Sequence[str]) -> str:
    """The help of the command that is named, or all of it."""
    named = plain[1:] if plain[:1] == ["help"] else plain
    return command_help(_only(named)) if named else help_text()


def _completion(shells: Sequence[str]) -> str:
    from tfprof.cli.completion import SHELLS, script  # noqa: PLC0415

    if len(shells) != 1:
        raise UsageError(f"completion needs one shell (there are: {', '.join(SHELLS)})")
    return script(shells[0])
