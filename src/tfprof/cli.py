"""The command: words in, a report out, an exit code. The only place that exits.

tfprof scope --graph_path=graph.pbtxt --run_meta_path=run_meta_0,run_meta_1 --max_depth=3
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.errors import OutputError, TfprofError, UsageError, nearest
from tfprof.inputs import INPUTS
from tfprof.query import OPTIONS, Option, Query
from tfprof.views import VIEWS
from tfprof.words import read_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.deliver import Loaded
    from tfprof.model import Note

_INTERRUPTED = 130

_HELP = Option("help", "bool", False, "print this help")  # noqa: FBT003
_VERSION = Option("version", "bool", False, "print the version")  # noqa: FBT003
_KNOWN: Mapping[str, Option] = {**INPUTS, **OPTIONS, "help": _HELP, "h": _HELP, "version": _VERSION}

_COMMANDS = {
    **{name: view.summary for name, view in VIEWS.items()},
    "advise": "what looks wrong or expensive, by all checkers",
    "save": "the profile as one file, with --output=file:outfile=PATH; read by --profile_path",
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
    given = dict(words.options)
    command = _only(words.plain)
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
    if len(plain) > 1:
        raise UsageError(f"{plain[1]!r} is one word too many after {plain[0]!r}")
    return plain[0]


def _answer(command: str, given: Mapping[str, Any]) -> None:
    """Read the files, ask, and deliver."""
    query = Query.of({name: value for name, value in given.items() if name in OPTIONS})
    inputs = [path for name in INPUTS for path in _paths(given.get(name))]
    if not inputs:
        raise UsageError("no input: give --graph_path=PATH, or try 'tfprof demo'")
    _spare_inputs(query, inputs)
    loaded = _load(given)
    # NumPy and all that stands on it is imported from here on: help needs none of it.
    from tfprof import deliver  # noqa: PLC0415

    ways = {"advise": deliver.deliver_advice, "save": deliver.deliver_profile}
    if command in ways:
        outcome = ways[command](loaded, query)
    else:
        outcome = deliver.deliver(loaded, command, query)
    _tell(outcome.notes)
    _print(outcome.stdout)
    for path in outcome.written:
        _say(f"wrote {path}")


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
    return Loaded(profile, open_checkpoint(checkpoint) if checkpoint else None)


def _spare_inputs(query: Query, inputs: Sequence[str]) -> None:
    """Refuse to write a report over one of the files it is made from."""
    target = query.output.path
    if target is None or not Path(target).exists():
        return
    for path in inputs:
        if Path(path).exists() and Path(path).samefile(target):
            raise OutputError(f"{target} is an input of this report and is not overwritten")


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
        "",
        "commands",
        *(f"  {name:<8} {summary}" for name, summary in _COMMANDS.items()),
        "  help     this text (also --help); --version prints the version",
        "",
        "files (gzip-compressed ones are read too)",
        *_option_lines(INPUTS),
        "",
        "options (--name=value, --name value or -name value)",
        *_option_lines(OPTIONS),
        "",
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
