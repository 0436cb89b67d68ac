"""The command: words in, a report out, an exit code. The only place that exits.

tfprof scope --graph_path=graph.pbtxt --run_meta_path=run_meta_0,run_meta_1 --max_depth=3
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.ending import INTERRUPTED, leave_when_told
from tfprof.errors import InputError, OutputError, TfprofError, UsageError, nearest
from tfprof.help import (
    COMMANDS,
    FORMAT,
    HELP,
    LIMIT_OPTIONS,
    OUTFILE,
    VERSION,
    command_help,
    help_text,
)
from tfprof.inputs import INPUTS, sample_files
from tfprof.light_dataclasses import replace
from tfprof.limits import LIMITS, raised_limits
from tfprof.query import OPTIONS, Option, Output, Query
from tfprof.words import Words, read_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

    from tfprof.deliver import Outcome
    from tfprof.loaded import Loaded
    from tfprof.model import Note

_KNOWN: Mapping[str, Option] = {
    **INPUTS,
    **OPTIONS,
    **LIMIT_OPTIONS,
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
        _say(str(problem))
        return problem.exit_code
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except MemoryError:
        _say("out of memory")
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
        _print([_version().encode()])
        return
    nothing = not words.plain and not words.options
    if nothing or words.options.get("help") or words.plain[:1] == ["help"]:
        _print([_help(words.plain).encode()])
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
        _print([_completion(words.plain[1:]).encode()])
        return
    if files := _recognised(command, words.plain[1:], given):
        given = {**files, **given}
        _say_command(command, given)
    if command == "demo":
        if _inputs(given):
            raise UsageError("demo has its own files: try a view, as in 'tfprof scope'")
        given = {**_DEMO_OPTIONS, **sample_files(), **given}
        command = "scope"
        _say_command(command, given)
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
    from tfprof import recognise  # noqa: PLC0415

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
    from tfprof.info import info  # noqa: PLC0415

    told = info(paths)
    if not told.text:
        for problem in told.problems[:-1]:
            _say(problem)
        raise InputError(told.problems[-1])
    for problem in told.problems:
        _say(problem)
    _print(_harmless([told.text.encode("utf-8", "surrogateescape")]))


def _answer(command: str, given: Mapping[str, Any]) -> None:
    """Read the files, ask, and deliver."""
    query = Query.of(_options(given))
    if path := given.get("outfile"):
        query = replace(query, output=Output("file", path))
    if not _inputs(given):
        raise UsageError("no input: give --graph_path=PATH, or try 'tfprof demo'")
    _check_output(command, query)
    _show(_outcome(_load(given), command, query))


def _check_output(command: str, query: Query) -> None:
    # NumPy and all that stands on it is imported from here on: help needs none of it.
    from tfprof.deliver import check  # noqa: PLC0415

    check(command, query)


def _shell(given: Mapping[str, Any]) -> None:
    """Read the files, then ask and deliver line by line."""
    options = _options(given)
    Query.of(options)  # what is wrong with them is told before anything is read
    loaded = _load(given)
    from tfprof import shell  # noqa: PLC0415

    def ask(command: str, query: Query) -> Outcome:
        return _outcome(loaded, command, query)

    shell.run(loaded.profile, options, ask, _show)


def _outcome(loaded: Loaded, command: str, query: Query) -> Outcome:
    from tfprof import deliver  # noqa: PLC0415
    from tfprof.progress import Progress  # noqa: PLC0415

    ways = {
        "advise": deliver.deliver_advice,
        "save": deliver.deliver_profile,
        "convert": deliver.deliver_converted,
    }
    with Progress() as progress:
        progress(f"answering {command}")
        if command in ways:
            made = ways[command](loaded, query)
        else:
            made = deliver.deliver(loaded, command, query, to_terminal=_is_terminal(sys.stdout))
    return replace(made, stdout=_harmless(made.stdout))


def _show(outcome: Outcome) -> None:
    _tell(outcome.notes)
    _report(outcome.stdout)
    for path in outcome.written:
        _say(f"wrote {path}")


def _report(pieces: Iterable[bytes]) -> None:
    """Print a report; how far that is, is told where it goes to a file."""
    from tfprof.files import bounded, told  # noqa: PLC0415

    pieces = bounded("standard output", pieces)
    if not _is_plain_file(sys.stdout):
        # On a terminal, also behind a pager, a line of ours would stand between those of others.
        _print(_for_the_eye(pieces))
        return
    from tfprof.progress import Progress  # noqa: PLC0415

    with Progress():
        _print(told("writing to standard output", pieces))


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _is_plain_file(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # what a program put in its place has no number, or a closed one
        return False


def _harmless(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """*pieces*, and where a terminal shows them, nothing in them that it would obey."""
    if not _is_terminal(sys.stdout):
        return pieces
    from tfprof.visible import visible  # noqa: PLC0415

    return visible(pieces)


def _for_the_eye(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """*pieces* in colour where a terminal shows them; anywhere else as they are."""
    if not _is_terminal(sys.stdout):
        return pieces
    from tfprof.colour import coloured, wanted  # noqa: PLC0415

    return coloured(pieces) if wanted(os.environ) else pieces


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in OPTIONS}


def _inputs(given: Mapping[str, Any]) -> list[str]:
    return [path for name in INPUTS for path in _paths(given.get(name))]


def _paths(value: str | Sequence[str] | None) -> Sequence[str]:
    return [value] if isinstance(value, str) and value else list(value or ())


def _load(given: Mapping[str, Any]) -> Loaded:
    from tfprof.api import load  # noqa: PLC0415
    from tfprof.progress import Progress  # noqa: PLC0415

    with Progress() as progress:
        loaded = load(
            given.get("graph_path") or None,  # a flag without a value is as good as none
            given.get("run_meta_path", ()),
            given.get("op_log_path") or None,
            checkpoint=given.get("checkpoint_path") or None,
            profile=given.get("profile_path") or None,
            progress=progress,
        )
    _tell(loaded.profile.notes)
    if loaded.profile.steps:
        _put(f"run graph coverage: {loaded.profile.coverage:.2f}\n")
    return loaded


def _print(pieces: Iterable[bytes]) -> None:
    """Write to standard output, to the last byte."""
    if sys.stdout is None:
        if any(pieces):
            raise OutputError("standard output is closed")
        return
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # What Python still holds back must have somewhere to go when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError("standard output was closed before the whole report was read") from None
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(f"standard output cannot be written: {problem.strerror}") from None


def _tell(notes: Iterable[Note]) -> None:
    for note in notes:
        _put(f"{_as_seen(str(note))}\n")


def _say(sentence: str) -> None:
    _put(f"tfprof: {_as_seen(sentence)}\n")


def _put(text: str) -> None:
    """Say *text* on stderr; that nobody can hear it is no reason to stop."""
    with suppress(OSError):
        sys.stderr.write(text)


def _as_seen(sentence: str) -> str:
    """*sentence*, which may hold names out of files, safe to be shown."""
    if not _is_terminal(sys.stderr):
        return sentence
    from tfprof.visible import visible_text  # noqa: PLC0415 - most sentences go nowhere or to a file

    return visible_text(sentence)


def _say_command(command: str, given: Mapping[str, Any]) -> None:
    """Show the command that a shorter one stands for, ready to be copied."""
    import shlex  # noqa: PLC0415

    words = [
        f"--{name}={','.join(value) if isinstance(value, tuple) else value}"
        for name, value in given.items()
    ]
    _say(f"this is: tfprof {command} {shlex.join(words)}")


def _version() -> str:
    from tfprof import __version__  # noqa: PLC0415

    return f"tfprof {__version__}\n"


def _help(plain: Sequence[str]) -> str:
    """The help of the command that is named, or all of it."""
    named = plain[1:] if plain[:1] == ["help"] else plain
    return command_help(_only(named)) if named else help_text()


def _completion(shells: Sequence[str]) -> str:
    from tfprof.completion import SHELLS, script  # noqa: PLC0415

    if len(shells) != 1:
        raise UsageError(f"completion needs one shell (there are: {', '.join(SHELLS)})")
    return script(shells[0])
