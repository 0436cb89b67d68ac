r"""A report as a Markdown table, to be read by people: names indented, numbers with units.

| node name | own params | total params |
| :-- | --: | --: |
| \_TFProfRoot | -- | 24 |
| &emsp;w | 12 | 24 |

Nothing in a name is taken for Markdown. Below the table stands how many rows are not in it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfprof.writers import report_metadata as context
from tfprof.writers.numbers import chunks
from tfprof.writers.rows import columns, printed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.query.counted import Answer

_INDENT = "&emsp;"
_MARKUP = re.compile(r"[\\`*_\[\]<>|~&]")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def md_report(answer: Answer) -> Iterator[bytes]:
    """The table in pieces, and what is not in it."""
    table, chain = columns(answer), answer.view.chain
    heads = printed(table, slice(0, 0), chain=chain).columns
    yield line(["node name", *(column.name for column in heads)])
    yield line([":--", *("--:" if column.right else ":--" for column in heads)])
    indent = 0 if chain else len(_INDENT) * answer.tree.depth
    for rows in chunks(len(answer), answer.label.length + indent):
        yield b"".join(
            line([_INDENT * (depth - 1) + escaped(name), *map(escaped, cells)])
            for depth, name, cells in printed(table, rows, chain=chain).rows
        )
    hidden = context.truncated(answer)
    if hidden["hidden_rows"]:
        yield f"\n{escaped(context.hidden_line(hidden))}\n".encode()


def escaped(text: str) -> str:
    """*text*, of which nothing is taken for Markdown."""
    return _NEWLINE.sub("<br>", _MARKUP.sub(r"\\\g<0>", text))


def line(cells: Iterable[str]) -> bytes:
    """A row of the table."""
    return f"| {' | '.join(cells)} |\n".encode()
