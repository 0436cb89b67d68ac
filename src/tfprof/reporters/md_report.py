r"""A report as a Markdown table, to be read by people: names indented, numbers with units.

| node name | own params | total params |
| :-- | --: | --: |
| \_TFProfRoot | -- | 24 |
| &emsp;w | 12 | 24 |

Nothing in a name is taken for Markdown. Below the table stands how many rows are not in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tfprof.reporters import context
from tfprof.reporters.rows import columns, flat, runs_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.answered import Answer
    from tfprof.reporters.rows import Column

# These tell where a row stands; here the order of rows and the indent do.
_PLACES = ("row", "parent", "depth", "name", "accounted")
_INDENT = "&emsp;"
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&]")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def md_report(answer: Answer) -> Iterator[bytes]:
    """The table in pieces, and what is not in it."""
    table = columns(answer)
    places = [column for column in table if column.name in _PLACES]
    told = table[len(places) :]
    yield _line(["node name", *(column.name.replace("_", " ") for column in told)])
    yield _line([":--", *("--:" if column.unit else ":--" for column in told)])
    for run in runs_of_rows(table, len(answer)):
        values = dict(zip((column.name for column in table), run, strict=True))
        depths = values["depth"] if not answer.view.chain else [1] * len(values["depth"])
        names = [
            _INDENT * (depth - 1) + _escaped(name)
            for depth, name in zip(depths, values["name"], strict=True)
        ]
        cells = [_cells(column, values[column.name], values["accounted"]) for column in told]
        yield b"".join(map(_line, zip(names, *cells, strict=True)))
    yield _hidden(answer)


def _cells(column: Column, values: list[Any], accounted: list[bool]) -> list[str]:
    if column.unit is None:
        return [_escaped(flat(column.kind, value)) for value in values]
    known = {value: column.unit(value) for value in set(values)}
    texts = [known[value] for value in values]
    if not column.name.startswith("own_"):
        return texts
    return [text if counts else "--" for text, counts in zip(texts, accounted, strict=True)]


def _hidden(answer: Answer) -> bytes:
    """A sentence on the rows that are not in the table; nothing where all are."""
    hidden = context.truncated(answer)
    if not hidden["hidden_rows"]:
        return b""
    reasons = ", ".join(f"{option} hides {n}" for option, n in hidden["reasons"].items())
    return f"\n{hidden['hidden_rows']} rows are not shown ({_escaped(reasons)}).\n".encode()


def _escaped(text: str) -> str:
    return _NEWLINE.sub("<br>", _MARKUP.sub(r"\\\g<0>", text))


def _line(cells: Iterable[str]) -> bytes:
    return f"| {' | '.join(cells)} |\n".encode()
