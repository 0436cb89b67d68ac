"""A fitted table as people read it, taken apart again and added up.

Layer      Output shape  Time   FLOP/s       a cell ends where its heading ends, if it is a
conv       (4, 16)       12 ms     22k       number
─────
Total                    12 ms     22k
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_UNITS: Final = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "us": 1, "ms": 1000}
_NUMBER: Final = re.compile(r"([\d,.]+) ?(us|ms|s|[kMGT]?)B?")
# Headings of numbers that add up.
SUMS: Final = (
    *("Parameters", "Trainable", "Non-trainable", "Float ops", "Time", "Mult-adds"),
    *("Weights", "Activations"),
)


class Printed(NamedTuple):
    """The cells of each column by its heading; the first column has the names."""

    names: list[str]
    cells: dict[str, list[str]]
    total: dict[str, str]


def printed(text: str) -> Printed:
    """The table in *text*."""
    lines = text.splitlines()
    first, *rest = (at for at, line in enumerate(lines) if line.startswith("─"))
    last = rest[0] if rest else len(lines)
    heads = list(re.finditer(r"\S+(?: \S+)*", lines[first - 1]))
    begins = [0, *(head.end() for head in heads[1:])]
    rows = lines[first + 1 : last]

    def cut(line: str, column: int) -> str:
        return line[begins[column - 1] : begins[column]].strip().removeprefix("≥ ")

    numbers = [at for at, head in enumerate(heads) if head[0] in (*SUMS, "FLOP/s")]
    names = [row[: heads[1].start()].rstrip() for row in rows]
    return Printed(
        names,
        {heads[at][0]: [_after_text(cut(row, at)) for row in rows] for at in numbers},
        {heads[at][0]: _after_text(cut(lines[last + 1], at)) for at in numbers},
    )


def _after_text(cell: str) -> str:
    """The number at the end of a cell: a column of text before it has a heading on its left."""
    return re.split(r"\s{2,}", cell)[-1].removeprefix("≥ ")


def read_back(cell: str) -> tuple[float, float]:
    """The number in a cell of the table, and by how much it may be off."""
    found = _NUMBER.fullmatch(cell)
    assert found, cell
    unit = _UNITS.get(found[2], 10**6)  # seconds
    digits = found[1].replace(",", "")
    places = len(digits.partition(".")[2])
    return float(digits) * unit, (0.5 * 10**-places * unit if unit > 1 else 0)


def check_sums(text: str) -> Printed:
    """The outermost rows add up to the printed total, as far as rounding lets them."""
    table = printed(text)
    outer = [at for at, name in enumerate(table.names) if not name.startswith(" ")]
    assert outer
    added = 0
    for heading in SUMS:
        if heading in table.cells:
            numbers = [read_back(table.cells[heading][at]) for at in outer]
            total, rounded = read_back(table.total[heading])
            off = sum(each for _, each in numbers) + rounded
            assert abs(sum(number for number, _ in numbers) - total) <= off + 1e-6, heading
            added += 1
    assert added > 3
    return table
