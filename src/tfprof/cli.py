"""The command: words in, a report out, an exit code. The only place that exits.

tfprof scope --graph_path=graph.pbtxt --run_meta_path=run_meta_0,run_meta_1 --max_depth=3
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from tfprof.errors import InputError, OutputError, TfprofError, UsageError, nearest
from tfprof.inputs import INPUTS
from tfprof.query import OPTIONS, Option, Query
from tfprof.views import VIEWS
from tfprof.words import read_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.deliver import Loaded, Outcome
    from tfprof.model import Note

_INTERRUPTED = 130

_HELP = Option("help", "bool", False, "print this help")  # noqa: FBT003
_VERSION = Option("version", "bool", False, "print the version")  # noqa: FBT003
_FORMAT = Option(
    "format", "text", "text", "how to write to stdout", choices=("text", "json", "csv", "md")
)
_KNOWN: Mapping[str, Option] = {
    **INPUTS,
    **OPTIONS,
    "format": _FORMAT,
    "help": _HELP,
    "h": _HELP,
    "version": _VERSION,
}

_COMMANDS = {
    **{name: view.summary for name, view in VIEWS.items()},
    "advise": "what looks wrong or expensive, by all checkers",
    "save": "the profile as one file, with --output=file:outfile=PATH; read by --profile_path",
    "info": "what files or folders hold, what is missing for which view, and what to try next",
    "demo": "the scope view of a bundled sample, a 32-layer ResNet; takes options too",
}
_DEMO_OPTIONS: Mapping[str, Any] = {
    "account_type_regexes": ("VariableV2",),
    "max_depth": 4,
    "select": ("params",),
}


def main(line: Sequence[str] | None = None) -> None:
    """Run the command and exit."""
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
        return _INTERRUPTED
    except MemoryError:
        _say("out of memory")
        return TfprofError.exit_code
    return 0


def _command(line: Sequence[str]) -> None:
    words = read_words(line, _KNOWN)
    if words.options.get("version"):
        _print([_version().encode()])
        return
    if words.options.get("help") or words.plain[:1] == ["help"] or not line:
        _print([_help().encode()])
        return
    given = _with_format(words.options)
    if not words.plain and _inputs(given):
        _shell(given)
        return
    command = _only(words.plain)
    if command == "info":
        _info([*words.plain[1:], *_inputs(given)])
        return
    if files := _recognised(command, words.plain[1:], given):
        given = {**files, **given}
        _say_command(command, given)
    if command == "demo":
        given = {**_DEMO_OPTIONS, **_sample(), **given}
        command = "scope"
        _say_command(command, given)
    _answer(command, given)


def _only(plain: Sequence[str]) -> str:
    """The one command that was named."""
    known = list(_COMMANDS)
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
    if form not in _FORMAT.choices:
        raise UsageError(
            f"format has no {form!r}{nearest(form, list(_FORMAT.choices))} "
            f"(there are: {', '.join(_FORMAT.choices)})"
        )
    if form != "text":
        if given.get("output", "stdout") not in ("", "stdout"):
            raise UsageError(f"--format={form} is for stdout; for a file: {form}:outfile=PATH")
        given["output"] = form
    return given


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
    _print([told.text.encode("utf-8", "surrogateescape")])


def _answer(command: str, given: Mapping[str, Any]) -> None:
    """Read the files, ask, and deliver."""
    query = Query.of(_options(given))
    if not _inputs(given):
        raise UsageError("no input: give --graph_path=PATH, or try 'tfprof demo'")
    _show(_outcome(_load(given), command, query))


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
    # NumPy and all that stands on it is imported from here on: help needs none of it.
    from tfprof import deliver  # noqa: PLC0415

    ways = {"advise": deliver.deliver_advice, "save": deliver.deliver_profile}
    if command in ways:
        return ways[command](loaded, query)
    return deliver.deliver(loaded, command, query)


def _show(outcome: Outcome) -> None:
    _tell(outcome.notes)
    _print(outcome.stdout)
    for path in outcome.written:
        _say(f"wrote {path}")


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in OPTIONS}


def _inputs(given: Mapping[str, Any]) -> list[str]:
    return [path for name in INPUTS for path in _paths(given.get(name))]


def _paths(value: str | Sequence[str] | None) -> Sequence[str]:
    return [value] if isinstance(value, str) and value else list(value or ())


def _load(given: Mapping[str, Any]) -> Loaded:
    from tfprof.api import load, open_checkpoint  # noqa: PLC0415
    from tfprof.deliver import Loaded  # noqa: PLC0415
    from tfprof.progress import Progress  # noqa: PLC0415

    checkpoint = given.get("checkpoint_path")
    with Progress() as progress:
        profile = load(
            given.get("graph_path"),
            given.get("run_meta_path", ()),
            given.get("op_log_path"),
            checkpoint_path=checkpoint,
            profile_path=given.get("profile_path"),
            progress=progress,
        )
    _tell(profile.notes)
    if profile.steps:
        sys.stderr.write(f"run graph coverage: {profile.coverage:.2f}\n")
    opened = open_checkpoint(checkpoint) if checkpoint else None
    return Loaded(profile, opened, tuple(_inputs(given)))


def _print(pieces: Iterable[bytes]) -> None:
    """Write to standard output, to the last byte."""
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
        sys.stderr.write(f"{note}\n")


def _say(sentence: str) -> None:
    sys.stderr.write(f"tfprof: {sentence}\n")


def _say_command(command: str, given: Mapping[str, Any]) -> None:
    """Show the command that a shorter one stands for, ready to be copied."""
    import shlex  # noqa: PLC0415

    words = [
        f"--{name}={','.join(value) if isinstance(value, tuple) else value}"
        for name, value in given.items()
    ]
    _say(f"this is: tfprof {command} {shlex.join(words)}")


def _sample() -> Mapping[str, Any]:
    """The options that name the bundled sample's files."""
    from importlib.resources import files  # noqa: PLC0415

    folder = files("tfprof") / "sample"
    return {
        "graph_path": str(folder / "graph.pbtxt.gz"),
        "run_meta_path": (str(folder / "run_meta_0.gz"), str(folder / "run_meta_1.gz")),
        "op_log_path": str(folder / "tfprof_log.gz"),
    }


def _version() -> str:
    from tfprof import __version__  # noqa: PLC0415

    return f"tfprof {__version__}\n"


def _help() -> str:
    """All of it, from the tables."""
    lines = [
        "Where a TensorFlow model's parameters, float operations, time and memory go.",
        "",
        "usage: tfprof COMMAND --graph_path=PATH [--run_meta_path=PATHS] [options]",
        "       tfprof --graph_path=PATH [--run_meta_path=PATHS] [options]    the tfprof> prompt",
        "       tfprof COMMAND FILES or FOLDER [options]    they are told by their content",
        "",
        "commands",
        *(f"  {name:<8} {summary}" for name, summary in _COMMANDS.items()),
        "  help     this text (also --help); --version prints the version",
        "",
        "files (gzip-compressed ones are read too)",
        *_option_lines(INPUTS),
        "",
        "options (--name=value, --name value or -name value)",
        *_option_lines({**OPTIONS, "format": _FORMAT}),
        "",
        f"format one of: {', '.join(_FORMAT.choices)}",
        f"select any of: {', '.join(OPTIONS['select'].choices)}",
        f"order_by one of: {', '.join(OPTIONS['order_by'].choices)}",
        "Lists are comma-separated. A regex matches a whole name or type, with RE2's syntax.",
        "",
        "exit codes: 0 done, 2 wrong words, 3 unusable input, 4 output failed, 130 interrupted",
    ]
    return "\n".join(lines) + "\n"


def _option_lines(options: Mapping[str, Option]) -> list[str]:
    lines = []
    for option in options.values():
        default = ",".join(option.default) if option.kind in ("list", "regexes") else option.default
        shown = str(default).lower() if option.kind == "bool" else default
        lines.append(
            f"  --{option.name:<26} {option.help}" + (f" [{shown}]" if shown != "" else "")
        )
    return lines
