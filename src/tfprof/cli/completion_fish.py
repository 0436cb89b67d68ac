"""The completion script for fish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cli.completion import (
    NO_COMMAND,
    Slot,
    commands_per_option,
    filled,
    options_of_commands,
    slot,
    summaries,
    word_arguments,
)
from tfprof.tables.commands import COMMANDS

if TYPE_CHECKING:
    from tfprof.tables.options import Option

_FISH = """\
# Tab for tfprof in fish:  tfprof completion fish > ~/.config/fish/completions/tfprof.fish
function __tfprof_in --description 'whether the command typed is one of these'
    set -l words (commandline -opc)
    set -l command none
    for word in $words
        @commands@
            set command $word
            break
        end
    end
    contains -- $command $argv
end
function __tfprof_typed --description 'what is typed of a value'
    string replace -r '^--[^=]*=' '' -- (commandline -ct)
end
function __tfprof_list --description 'one more of these, behind a comma'
    set -l before (string match -r '^.*,' -- (__tfprof_typed))
    printf '%s\\n' "$before"$argv
end
function __tfprof_files --argument-names until --description 'files behind what ends so'
    set -l typed (__tfprof_typed)
    set -l before (string match -r "^.*$until" -- $typed)
    set -l path (string sub -s (math (string length -- "$before") + 1) -- $typed)
    printf '%s\\n' "$before"(__fish_complete_path "$path")
end
function __tfprof_output --description 'one of these, or a file'
    if string match -q '*:outfile=*' -- (__tfprof_typed)
        __tfprof_files ':outfile='
    else
        printf '%s\\n' $argv
    end
end
complete -c tfprof -e
complete -c tfprof -f
@files@
@options@
@arguments@
"""


def script() -> str:
    """The script for fish."""
    arguments = [
        f"complete -c tfprof -n '__tfprof_in {NO_COMMAND}' -a {name} -d {_fish_word(what)}"
        for name, what in summaries().items()
    ]
    arguments += [
        f"complete -c tfprof -n '__tfprof_in {command}' -a '{' '.join(words)}'"
        for command, words in word_arguments().items()
        if words
    ]
    files = [name for name in COMMANDS if name not in word_arguments()]
    return filled(
        _FISH,
        commands=[f"if contains -- $word {' '.join(summaries())}"],
        files=[f"complete -c tfprof -n '__tfprof_in {' '.join(files)}' -F"],
        options=[
            f"complete -c tfprof -n '__tfprof_in {' '.join(commands)}' -l {option.name}"
            f"{_fish_value(slot(option), option)} -d {_fish_word(option.help)}"
            for option, commands in commands_per_option(options_of_commands()).items()
        ],
        arguments=arguments,
    )


def _fish_value(taken: Slot, option: Option) -> str:
    words = " ".join(taken.words)
    if option.kind == "bool":
        return ""
    return {
        "one": f" -x -a '{words}'",
        "list": f" -x -a '(__tfprof_list {words})'",
        "file": " -r -F",
        "files": " -x -a '(__tfprof_files ,)'",
        "output": f" -x -a '(__tfprof_output {words})'",
    }.get(taken.shape, " -x")


def _fish_word(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"
