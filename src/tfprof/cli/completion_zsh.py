"""The completion script for zsh."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cli.completion import (
    NO_COMMAND,
    filled,
    options_of_commands,
    slot,
    summaries,
    word_arguments,
)
from tfprof.tables.fields import FIELDS

if TYPE_CHECKING:
    from tfprof.tables.options import Option

_ZSH = """\
#compdef tfprof
# Tab for tfprof in zsh:  source <(tfprof completion zsh), or a file _tfprof in a folder of $fpath
_tfprof_output() {
    if compset -P '*:outfile='; then
        _files
    else
        compadd -S '' -- ${(M)@:#*=}
        compadd -- ${@:#*=}
    fi
}
_tfprof() {
    local word command=none
    local -a options rest
    for word in ${words[2,CURRENT-1]}; do
        case $word in
            @commands@
        esac
    done
    case $command in
        @options@
    esac
    case $command in
        @arguments@
        *) rest=('*:file:_files') ;;
    esac
    _arguments -S : $options $rest
}
if [[ $funcstack[1] == _tfprof ]]; then _tfprof "$@"; else compdef _tfprof tfprof; fi
"""


def script() -> str:
    """The script for zsh."""
    described = " ".join(f"{name}\\:{_zsh_word(what)}" for name, what in summaries().items())
    rest = {
        NO_COMMAND: f"'1:command:(({described}))'",
        **{
            command: f"'1:command:' '2:word:({' '.join(words)})'"
            for command, words in word_arguments().items()
        },
    }
    return filled(
        _ZSH,
        commands=[f"({'|'.join(summaries())}) command=$word; break ;;"],
        options=[
            f"({command}) options=({' '.join(map(_zsh_option, taken))}) ;;"
            for command, taken in options_of_commands().items()
        ],
        arguments=[f"({command}) rest=({spec}) ;;" for command, spec in rest.items()],
    )


def _zsh_word(text: str) -> str:
    """A description in a list of described words, all of it in single quotes."""
    for special in "\\ :;()[],'\"|":
        text = text.replace(special, f"\\{special}" if special != "'" else "")
    return text


def _zsh_option(option: Option) -> str:
    shape, words = slot(option)
    actions = {
        "anything": " ",
        "one": f"({' '.join(words)})",
        "list": f" _values -s , {option.name} {' '.join(map(_zsh_field, words))}",
        "file": "_files",
        "files": "_sequence _files",
        "output": " _tfprof_output " + " ".join(words).replace(":", "\\:"),
    }
    means = option.help.replace("'", "").replace("[", "\\[").replace("]", "\\]")
    takes_value = f":{option.name}:{actions[shape]}" if shape in actions else ""
    if option.kind == "bool":
        return f"'--{option.name}[{means}]'"
    return f"'--{option.name}=[{means}]{takes_value}'"


def _zsh_field(name: str) -> str:
    legend = FIELDS[name].legend if name in FIELDS else ""
    return f'"{name}[{legend}]"' if legend else name
