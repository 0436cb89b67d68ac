"""The completion script for bash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cli.completion import (
    NO_COMMAND,
    commands_per_option,
    filled,
    options_of_commands,
    slot,
    summaries,
    word_arguments,
)

if TYPE_CHECKING:
    from tfprof.tables.options import Option

_BASH = """\
# Tab for tfprof in bash:  source <(tfprof completion bash)
_tfprof() {
    local line=${COMP_LINE:0:COMP_POINT} command=none option= typed= shape=one words= one
    local word=${line##*[[:space:]]} given=
    local -a before
    read -ra before <<< "${line%"$word"}"
    for one in "${before[@]:1}"; do
        case $one in
            @commands@
        esac
    done
    COMPREPLY=()
    case $word in
        -*=*) option=${word%%=*} typed=${word#*=} given=$option= ;;
        -*) option= typed=$word ;;
        *) option=${before[${#before[@]}-1]} typed=$word
           [[ $option == -*=* || $option != -* ]] && option= ;;
    esac
    option=${option#-} option=${option#-}
    case $command:${option//-/_} in
        @values@
        *) option= ;;
    esac
    [[ $shape == nothing || ( $shape == one && $words == 'true false' && ! $given ) ]] && option=
    if [[ ! $option ]]; then
        given= typed=$word shape=one
        case $command:$word in
            @options@
            @arguments@
            *) return ;;
        esac
    fi
    case $shape in
        list | files) given+=${typed%"${typed##*,}"} ;;
        output) [[ $typed == *:outfile=* ]] && return ;;
        file) return ;;
    esac
    if [[ $shape == files ]]; then
        [[ $typed == *,* ]] || return
        local IFS=$'\\n'
        words=$(compgen -f -- "${typed##*,}")
    fi
    compopt +o default 2> /dev/null
    # Bash replaces only what stands behind the last character that breaks words for it.
    local breaks=${COMP_WORDBREAKS//[^=:]/} cut=
    [[ $breaks ]] && cut=${word%"${word##*[$breaks]}"}
    for one in $words; do
        [[ $shape == list && ,$typed == *,$one,* ]] && continue
        [[ $shape == files && -d $one ]] && one+=/
        [[ $given$one == "$word"* ]] || continue
        one=$given$one
        COMPREPLY+=("${one#"$cut"}")
        case $shape:$one in list:* | files:* | *=) compopt -o nospace 2> /dev/null ;; esac
    done
}
complete -o default -F _tfprof tfprof
"""


def script() -> str:
    """The script for bash."""
    options = options_of_commands()
    alike = commands_per_option(options)
    names = [option.name for option in alike]
    values = []
    for option, commands in alike.items():
        shape, words = slot(option)
        where = ["*"] if names.count(option.name) == 1 else commands
        cases = "|".join(f"{command}:{option.name}" for command in where)
        values.append(f"{cases}) shape={shape} words='{' '.join(words)}' ;;")
    return filled(
        _BASH,
        commands=[f"{'|'.join(summaries())}) command=$one; break ;;"],
        values=values,
        options=[
            f"{command}:-*) words='{' '.join(map(_bash_option, taken))}' ;;"
            for command, taken in options.items()
        ],
        arguments=[
            f"{command}:*) words='{' '.join(words)}' ;;"
            for command, words in {NO_COMMAND: list(summaries()), **word_arguments()}.items()
        ],
    )


def _bash_option(option: Option) -> str:
    return f"--{option.name}" + ("" if option.kind == "bool" else "=")
