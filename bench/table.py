"""Rows of measurements as one Markdown table.

`ratio` is ours / original; `growth` is the time a node takes against the size before (1.00 is
linear). A row whose answers differ has no ratio.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phases import Row
    from worker import Measure

_HEAD = (
    "what", "nodes", "runs", "ours s", "original s", "ratio", "ours MB", "original MB", "ratio",
    "growth ours", "growth original", "answer",
)  # fmt: skip
_WIDE = 60


def short(nodes: int) -> str:
    """1000000 → 1M, 10000 → 10k."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if nodes % size == 0:
            return f"{nodes // size}{letter}"
    return str(nodes)


def table(rows: list[Row]) -> str:
    """The table, rows of one kind together, small sizes first."""
    lines = [_HEAD, ("---", *["---:"] * (len(_HEAD) - 2), "---")]
    for name in dict.fromkeys(row.name for row in rows):
        before: Row | None = None
        for row in sorted((row for row in rows if row.name == name), key=lambda row: row.nodes):
            lines.append(tuple(_cells(row, before)))
            before = row
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def verdict(row: Row) -> str:
    """Whether the answers are the same."""
    if row.turns.trouble:
        return f"FAILED {row.turns.trouble[:_WIDE]}"
    return "same" if row.same else "MISMATCH"


def _cells(row: Row, before: Row | None) -> Iterator[str]:
    counts = verdict(row) == "same"
    ours, original = _seconds(row.turns.ours), _seconds(row.turns.original)
    yield row.name
    yield short(row.nodes)
    yield str(len(row.turns.original))
    yield _number(ours)
    yield _number(original)
    yield _ratio(ours, original) if counts else "-"
    ours_peak, original_peak = (
        _peak(side) if row.memory else None for side in (row.turns.ours, row.turns.original)
    )
    yield _number(ours_peak, "{:.0f}")
    yield _number(original_peak, "{:.0f}")
    yield _ratio(ours_peak, original_peak) if counts else "-"
    then = before.turns if before else None
    scale = before.nodes / row.nodes if before else 1
    yield _growth(ours, _seconds(then.ours) if then else None, scale)
    yield _growth(original, _seconds(then.original) if then else None, scale)
    yield verdict(row)


def _seconds(side: list[Measure]) -> float | None:
    return median(measure.seconds for measure in side) if side else None


def _peak(side: list[Measure]) -> float | None:
    return median(measure.peak for measure in side) / 1e6 if side else None


def _growth(now: float | None, then: float | None, scale: float) -> str:
    return _number(now * scale / then if now and then else None, "{:.2f}")


def _number(value: float | None, form: str = "{:.4f}") -> str:
    return "-" if value is None else form.format(value)


def _ratio(ours: float | None, original: float | None) -> str:
    return "-" if ours is None or not original else f"{ours / original:.4f}"
