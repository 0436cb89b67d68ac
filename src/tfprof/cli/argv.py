"""The words of a line, on the command line or in the shell: plain words, and options.

--max_depth=3    --max_depth 3    -max_depth 3    --max-depth=3
--account_displayed_op_only       --account_displayed_op_only=false

In the shell, words are separated by spaces, and quotes around one are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError, nearest
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.tables.options import FALSE_WORDS, TRUE_WORDS, Option, parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_EXAMPLES = {"int": "3", "regexes": "'.*conv.*'", "output": "file:outfile=PATH"}
QUOTES = ('"', "'")


class Words(NamedTuple):
    """The plain words of a line, and its options with their values."""

    plain: list[str]
    options: dict[str, Any]


def read_words(line: Sequence[str], known: Mapping[str, Option]) -> Words:
    """The words of *line*; raises UsageError for an option that is not *known* or lacks a value."""
    plain: list[str] = []
    options: dict[str, Any] = {}
    rest = list(line)
    while rest:
        word = rest.pop(0)
        if word == "--":
            plain += rest
            break
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        spelled, equals, text = word.partition("=")
        option = option_spelled(spelled, known)
        if option is None:
            near = nearest(spelled.lstrip("-").replace("-", "_"), list(known))
            near = near.replace("mean '", "mean '--")
            raise UsageError(f"there is no option {spelled}{near}")
        if not equals:
            text = _next_word(option, rest, known)
        options[option.name] = parse(option, text)
    return Words(plain, options)


def option_spelled(spelled: str, known: Mapping[str, Option]) -> Option | None:
    """The option that a word such as -max_depth or --max-depth means."""
    if not spelled.startswith("-") or spelled.startswith("---"):
        return None
    return known.get(spelled.lstrip("-").replace("-", "_"))


def _next_word(option: Option, rest: list[str], known: Mapping[str, Option]) -> str:
    if option.kind == "bool":
        is_value = bool(rest) and rest[0].lower() in TRUE_WORDS | FALSE_WORDS
        return rest.pop(0) if is_value else "true"
    following = rest[0].partition("=")[0] if rest else ""
    if not rest or option_spelled(following, known):
        example = option.choices[0] if option.choices else _EXAMPLES.get(option.kind, "PATH")
        raise UsageError(f"--{option.name} needs a value, as in --{option.name}={example}")
    return rest.pop(0)


def split_line(text: str) -> list[str]:
    """The words of *text*, a line of the shell."""
    if "\0" in text or text != text.encode("utf-8", "replace").decode():
        raise UsageError("the line is not UTF-8 text, or contains a NUL character")
    return [_unquoted(word) for word in text.split(" ") if word]


def _unquoted(word: str) -> str:
    name, equals, value = word.partition("=")
    if word.startswith("-") and value.startswith(QUOTES):
        return f"{name}{equals}{value.strip(''.join(QUOTES))}"
    return word.strip("".join(QUOTES)) if word.startswith(QUOTES) else word
