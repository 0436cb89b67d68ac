"""A line of the shell, read: a command and its options; and options, written as a block.

scope -max_depth 3 -select "params,micros" -account_displayed_op_only -output file:outfile=a.txt

Words stand between spaces. An option is one exact word with one dash, its value the next word.
The refusals are the original's, to the letter: people search for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.errors import UsageError
from tfprof.tables.eras import ERAS
from tfprof.tables.options import OPTIONS, Option, effective, parse
from tfprof.tables.outputs import OUTPUTS, Output
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMANDS = (*VIEWS, "advise", "summary", "set", "help")

_NAME_WIDTH = 28
_QUOTES = "\"'"
_KEY_AND_VALUE = 2
_STDOUT = "stdout:"


class Line(NamedTuple):
    """What a line says."""

    command: str
    options: dict[str, Any]


def read_line(text: str) -> Line:
    """The command and the options of *text*; raises UsageError with the original's words."""
    if "\0" in text or text != text.encode("utf-8", "replace").decode():
        raise UsageError("a line is UTF-8 text without NUL characters")
    words = [word for word in text.split(" ") if word]
    if not words or words[0] not in COMMANDS:
        raise _refusal("First string must be a valid command.")
    options: dict[str, Any] = {}
    rest = words[1:]
    while rest:
        word = rest.pop(0)
        option = OPTIONS.get(word[1:]) if word.startswith("-") else None
        refusal = _refusal(f"Invalid option '{word}' value: '{rest[0] if rest else ''}'")
        if option is None:
            raise refusal
        options[option.name] = _value(option, rest, refusal)
    return Line(words[0], options)


def options_block(options: Mapping[str, Any]) -> str:
    """The options in force, a line each, as an empty line of the shell shows them."""
    value = effective(options)
    era = ERAS[value["era"]]
    written = {name: _written(OPTIONS[name], value[name]) for name in era.block}
    if written.get("output") == _STDOUT and not era.names_stdout:
        written["output"] = ""
    return "".join(f"{f'-{name}':<{_NAME_WIDTH}}{text}\n" for name, text in written.items())


def _value(option: Option, rest: list[str], refusal: UsageError) -> Any:  # noqa: ANN401 - as parse
    """The value that the words after *option* begin with, taken from them."""
    if option.kind == "bool" and (not rest or rest[0].startswith("-")):
        return True
    if not rest:
        raise refusal
    text = rest.pop(0)
    if option.kind == "output":
        return _output(text)
    if option.kind in ("list", "regexes"):
        text = text.strip(_QUOTES)
    try:
        value = parse(option, text)
    except UsageError:
        raise refusal from None
    chosen = value if option.kind == "list" else [value]
    if option.choices and not set(chosen) <= set(option.choices):
        raise refusal
    return value


def _output(text: str) -> str:
    """TYPE or TYPE:outfile=PATH in its plainest spelling."""
    kind, _, pairs = text.partition(":")
    if kind not in OUTPUTS:
        known = ",".join(sorted(OUTPUTS))
        raise _refusal(f"E.g. Unknown output type: {kind}, Valid types: {known}\n")
    given = {}
    for pair in filter(None, pairs.split(",")):
        parts = [part for part in pair.split("=") if part]
        if len(parts) < _KEY_AND_VALUE:
            raise _refusal("Visualize format: -output timeline:key=value,key=value,...")
        given[parts[0]] = "=".join(parts[1:])
    for key in given:
        if key != "outfile" or OUTPUTS[kind].file == "never":
            raise _refusal(f"Unrecognized options {key} for output_type: {kind}\n")
    if OUTPUTS[kind].file == "always" and not given:
        raise _refusal(
            f"Missing required output_options for {kind}\nE.g. -output {kind}:outfile=...\n"
        )
    return f"{kind}:outfile={given['outfile']}" if given else kind


def _written(option: Option, value: Any) -> str:  # noqa: ANN401 - as parse
    """A value as the block shows it."""
    if option.kind == "output":
        output = Output.of(value)
        return f"{output.kind}:{f'outfile={output.path}' if output.path else ''}"
    if option.kind == "list":
        return ",".join(sorted(set(value)))
    if option.kind == "regexes":
        return ",".join(value)
    return str(value).lower() if option.kind == "bool" else str(value)


def _refusal(sentence: str) -> UsageError:
    return UsageError(f"INVALID_ARGUMENT: {sentence}")
