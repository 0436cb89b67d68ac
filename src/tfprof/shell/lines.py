"""A line of the shell, split into words; and options, written as a block.

scope -max_depth 3 --select="params,micros" -account_displayed_op_only -output file:outfile=a.txt

Words are separated by spaces; quotes around one are dropped. From there on a line is read as the
command line is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError
from tfprof.tables.eras import ERAS
from tfprof.tables.options import OPTIONS, Option, effective
from tfprof.tables.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME_WIDTH = 28
_QUOTES = ('"', "'")
_STDOUT = "stdout:"


def split_line(text: str) -> list[str]:
    """The words of *text*."""
    if "\0" in text or text != text.encode("utf-8", "replace").decode():
        raise UsageError("a line is UTF-8 text without NUL characters")
    return [_unquoted(word) for word in text.split(" ") if word]


def _unquoted(word: str) -> str:
    name, equals, value = word.partition("=")
    if word.startswith("-") and value.startswith(_QUOTES):
        return f"{name}{equals}{value.strip(''.join(_QUOTES))}"
    return word.strip("".join(_QUOTES)) if word.startswith(_QUOTES) else word


def options_block(options: Mapping[str, Any]) -> str:
    """The options in force, one per line, as an empty line of the shell shows them."""
    value = effective(options)
    era = ERAS[value["era"]]
    written = {name: _written(OPTIONS[name], value[name]) for name in era.block}
    if written.get("output") == _STDOUT and not era.names_stdout:
        written["output"] = ""
    return "".join(f"{f'-{name}':<{_NAME_WIDTH}}{text}\n" for name, text in written.items())


def _written(option: Option, value: Any) -> str:  # noqa: ANN401 - as parse
    if option.kind == "output":
        output = Output.of(value)
        return f"{output.kind}:{f'outfile={output.path}' if output.path else ''}"
    if option.kind == "list":
        return ",".join(sorted(set(value)))
    if option.kind == "regexes":
        return ",".join(value)
    return str(value).lower() if option.kind == "bool" else str(value)
