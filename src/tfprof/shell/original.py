"""Texts of the original shell, to the letter: its help, its options, its errors (--era=original).

It reads words between spaces; an option is one exact word with one dash, its value the next word.
What people find when they search for these sentences is the original's.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.cli.argv import QUOTES
from tfprof.errors import UsageError
from tfprof.query.defaults import fitted_options
from tfprof.tables.commands import shell_commands
from tfprof.tables.eras import ERAS
from tfprof.tables.options import OPTIONS, Option, effective, option_line, parse
from tfprof.tables.outputs import OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Profile

_KEY_AND_VALUE = 2
_STDOUT = "stdout:"


def original_help() -> str:
    """The help of the original shell."""
    return Path(__file__).with_name("original_help.txt").read_text(encoding="utf-8")


def options_block(profile: Profile, options: Mapping[str, Any]) -> str:
    """The options in force, one per line, as an empty line of the shell shows them."""
    value = effective(fitted_options(profile, options))
    era = ERAS[value["era"]]
    lines = [row if row.startswith("#") else option_line(row, value[row]) for row in era.block]
    if era.bare_options:
        lines = [line.removesuffix(_STDOUT).rstrip(" ") for line in lines]
    return "".join(f"{line}\n" for line in lines)


def original_error(text: str) -> str | None:
    """The sentence with which the original rejects a line; None where it accepts it."""
    words = [word for word in text.split(" ") if word]
    if not words or words[0] not in shell_commands():
        return _invalid("First string must be a valid command.")
    rest = words[1:]
    while rest:
        word = rest.pop(0)
        option = OPTIONS.get(word[1:]) if word.startswith("-") else None
        invalid = _invalid(f"Invalid option '{word}' value: '{rest[0] if rest else ''}'")
        if option is None:
            return invalid
        if option.kind == "bool" and (not rest or rest[0].startswith("-")):
            continue
        if not rest:
            return invalid
        value = rest.pop(0)
        error = _output_error(value) if option.kind == "output" else None
        if error or not _is_value(option, value.strip("".join(QUOTES))):
            return error or invalid
    return None


def _is_value(option: Option, text: str) -> bool:
    try:
        parse(option, text)
    except UsageError:
        return False
    chosen = filter(None, text.split(",")) if option.kind == "list" else [text]
    return not option.choices or set(chosen) <= set(option.choices)


def _output_error(text: str) -> str | None:
    kind, _, pairs = text.partition(":")
    if kind not in OUTPUTS:
        known = ",".join(sorted(OUTPUTS))
        return _invalid(f"E.g. Unknown output type: {kind}, Valid types: {known}\n")
    keys = []
    for pair in filter(None, pairs.split(",")):
        parts = [part for part in pair.split("=") if part]
        if len(parts) < _KEY_AND_VALUE:
            return _invalid("Visualize format: -output timeline:key=value,key=value,...")
        keys.append(parts[0])
    for key in keys:
        if key != "outfile" or OUTPUTS[kind].file == "never":
            return _invalid(f"Unrecognized options {key} for output_type: {kind}\n")
    if OUTPUTS[kind].file == "always" and not keys:
        return _invalid(
            f"Missing required output_options for {kind}\nE.g. -output {kind}:outfile=...\n"
        )
    return None


def _invalid(sentence: str) -> str:
    return f"INVALID_ARGUMENT: {sentence}"
