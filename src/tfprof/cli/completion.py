"""Completion: scripts that make Tab complete tfprof's command line in a shell.

    tfprof sc|                           scope
    tfprof scope --max|                  --max_depth=
    tfprof scope --select=micros,by|     --select=micros,bytes
    tfprof scope --graph|                --graph… and behind it files

The words come from COMMANDS; the files completion.bash, .zsh and .fish are frames for them. The
tfprof> prompt takes what it offers from here, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from tfprof.console.outcome import Outcome
from tfprof.errors import UsageError
from tfprof.foundation.dotted import load_function
from tfprof.tables.command_options import ALWAYS, VERSION
from tfprof.tables.commands import COMMANDS, COMPLETION_SHELLS, PROMPT
from tfprof.tables.fields import FIELDS
from tfprof.tables.outputs import OUTPUTS, option_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.cli.request import Request
    from tfprof.tables.options import Option

_NO_COMMAND = "none"  # stands for a line without a command, which has all options


def run_completion(request: Request) -> Outcome:
    """The completion script of a shell."""
    if len(request.words) != 1:
        raise UsageError(f"completion needs one shell (there are: {', '.join(COMPLETION_SHELLS)})")
    return Outcome(page=load_function(COMPLETION_SHELLS[request.words[0]])())


# --- words of the tables -------------------------------------------------------------------------


class Slot(NamedTuple):
    """What an option takes after its equals sign."""

    shape: Literal["nothing", "anything", "one", "list", "file", "files", "output"]
    words: tuple[str, ...] = ()


def slot(option: Option) -> Slot:
    """What may be completed as the value of *option*."""
    if option.is_path:
        return Slot("files" if option.kind == "list" else "file")
    if option in (*ALWAYS, VERSION):
        return Slot("nothing")
    if option.kind == "bool":
        return Slot("one", ("true", "false"))
    if option.kind == "output":
        return Slot("output", option_words(option.choices or OUTPUTS))
    if option.choices:
        return Slot("list" if option.kind == "list" else "one", option.choices)
    return Slot("anything")


def _options() -> dict[str, list[Option]]:
    """The options of each command; under NO_COMMAND, those of a line that names none."""
    taken = {n: [] if r.any_option else [*r.options.values(), *ALWAYS] for n, r in COMMANDS.items()}
    return {**taken, _NO_COMMAND: [*PROMPT.options.values(), *ALWAYS, VERSION]}


def _arguments() -> dict[str, list[str]]:
    """The plain words that each command takes, where it takes no files."""
    rows = [row for row in COMMANDS.values() if not row.files]
    return {row.name: [] if row.words is None else list(row.words()) for row in rows}


def _commands_per_option() -> dict[Option, list[str]]:
    """Each option, and the commands that have it with the same choices."""
    commands: dict[Option, list[str]] = {}
    for command, options in _options().items():
        for option in options:
            commands.setdefault(option, []).append(command)
    return commands


def _filled(shell: str, **parts: Iterable[str]) -> str:
    """The file of a shell, with the lines of each part where its name stands, as in @options@."""
    lines = []
    frame = Path(__file__).with_suffix(f".{shell}").read_text(encoding="utf-8")
    for line in frame.splitlines():
        name = line.strip().strip("@")
        indent = line[: len(line) - len(line.lstrip())]
        is_part = line.strip() == f"@{name}@" and name in parts
        lines += [f"{indent}{part}" for part in parts[name]] if is_part else [line]
    return "\n".join(lines) + "\n"


# --- bash ----------------------------------------------------------------------------------------


def bash() -> str:
    """The script for bash."""
    per_option = _commands_per_option()
    names = [option.name for option in per_option]
    values = []
    for option, commands in per_option.items():
        shape, words = slot(option)
        where = ["*"] if names.count(option.name) == 1 else commands
        cases = "|".join(f"{command}:{option.name}" for command in where)
        values.append(f"{cases}) shape={shape} words='{' '.join(words)}' ;;")
    spelled = {
        f"{command}:-*": [f"--{row.name}" + ("" if row.kind == "bool" else "=") for row in options]
        for command, options in _options().items()
    }
    plain = {f"{name}:*": words for name, words in _arguments().items()}
    return _filled(
        "bash",
        commands=[f"{'|'.join(COMMANDS)}) command=$item; break ;;"],
        values=values,
        words=[
            f"{case}) words='{' '.join(words)}' ;;"
            for case, words in {**spelled, f"{_NO_COMMAND}:*": list(COMMANDS), **plain}.items()
        ],
    )


# --- zsh -----------------------------------------------------------------------------------------


def zsh() -> str:
    """The script for zsh."""
    rest = {
        _NO_COMMAND: "'1:command:_tfprof_first' '*:file:_files'",
        **{n: f"'1:command:' '2:word:({' '.join(words)})'" for n, words in _arguments().items()},
    }
    return _filled(
        "zsh",
        described=[f"'{name}:{_unquoted(row.summary)}'" for name, row in COMMANDS.items()],
        commands=[f"({'|'.join(COMMANDS)}) command=$word; break ;;"],
        options=[
            f"({command}) options=({' '.join(map(_zsh_option, options))}) ;;"
            for command, options in _options().items()
        ],
        arguments=[f"({command}) rest=({spec}) ;;" for command, spec in rest.items()],
    )


def _unquoted(text: str) -> str:
    return text.replace("'", "")


def _zsh_option(option: Option) -> str:
    shape, words = slot(option)
    legends = {name: FIELDS[name].legend for name in words if name in FIELDS}
    described = [f'"{w}[{legends[w]}]"' if legends.get(w) else w for w in words]
    actions = {
        "anything": " ",
        "one": f"({' '.join(words)})",
        "list": f" _values -s , {option.name} {' '.join(described)}",
        "file": "_files",
        "files": "_sequence _files",
        "output": " _tfprof_output " + " ".join(words).replace(":", "\\:"),
    }
    means = _unquoted(option.help).replace("[", "\\[").replace("]", "\\]")
    takes_value = f":{option.name}:{actions[shape]}" if shape in actions else ""
    if option.kind == "bool":
        return f"'--{option.name}[{means}]'"
    return f"'--{option.name}=[{means}]{takes_value}'"


# --- fish ----------------------------------------------------------------------------------------

# Files are offered instead of a command once something is typed.
_FISH_TYPED = "; and string length -q -- (commandline -ct)"


def fish() -> str:
    """The script for fish."""
    plain = _arguments()
    files = [name for name in COMMANDS if name not in plain]
    return _filled(
        "fish",
        commands=[f"if contains -- $word {' '.join(COMMANDS)}"],
        files=[_fish_line(files, "-F"), _fish_line([_NO_COMMAND, _FISH_TYPED], "-F")],
        options=[
            _fish_line(
                commands, f"-l {option.name}{_fish_value(option)} -d {_fish_word(option.help)}"
            )
            for option, commands in _commands_per_option().items()
        ],
        arguments=[
            *(
                _fish_line([_NO_COMMAND], f"-a {name} -d {_fish_word(row.summary)}")
                for name, row in COMMANDS.items()
            ),
            *(_fish_line([n], f"-a '{' '.join(words)}'") for n, words in plain.items() if words),
        ],
    )


def _fish_line(commands: Iterable[str], offer: str) -> str:
    return f"complete -c tfprof -n '__tfprof_in {' '.join(commands)}' {offer}"


def _fish_value(option: Option) -> str:
    shape, choices = slot(option)
    words = " ".join(choices)
    if option.kind == "bool":
        return ""
    return {
        "one": f" -x -a '{words}'",
        "list": f" -x -a '(__tfprof_list {words})'",
        "file": " -r -F",
        "files": " -x -a '(__tfprof_files ,)'",
        "output": f" -x -a '(__tfprof_output {words})'",
    }.get(shape, " -x")


def _fish_word(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"
