"""Rows of measurements as Markdown: a table for each kind of work, and how many targets are met.

`ratio` is ours / original; `growth` is the time a node takes against the size before (1.00 is
linear). A row whose answers differ has no ratio, and what was not measured has no number.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from targets import target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rows import Row
    from worker import Measure

_TITLES = {
    "cold": "A fresh process, one report",
    "load": "Loading a graph, a step and an op log",
    "query": "Questions to a loaded profile",
    "chart": "Timelines and pprof of a loaded profile",
    "text": "Loading a text graph",
    "steps": "Loading many steps",
    "diff": "What changed between two profiles; the original is one load of ours",
    "events": "Loading event files; nodes are their images or scalars",
    "trace": "Op view of a trace of TensorFlow 2; the original is XProf, nodes are executions",
    "fleet": "Fleets, nodes × worker steps; the original is what stands after the slash",
    "page": "A page in Chromium; the original is the limit, and MB the size of a file",
}
PHASES = tuple(_TITLES)
_HEAD = (
    "work", "nodes", "runs", "ours s", "original s", "ratio", "target",
    "ours MB", "original MB", "ratio", "target", "growth ours", "growth original", "answers",
)  # fmt: skip
_WIDE = 80
_FEWEST = 2  # runs that have a spread


def tables(rows: list[Row]) -> str:
    """All tables with their titles, and the verdicts counted."""
    parts = [
        f"### {title}\n\n{_table([row for row in rows if row.phase == phase])}"
        for phase, title in _TITLES.items()
        if any(row.phase == phase for row in rows)
    ]
    return "\n".join([*parts, _summary(rows)])


def said(row: Row) -> str:
    """The row in a line, for the impatient."""
    return ", ".join(cell for cell in _cells(row, None) if cell not in {"-", ""})


def _table(rows: list[Row]) -> str:
    lines = [_HEAD, ("---", *["---:"] * (len(_HEAD) - 2), "---")]
    for name in dict.fromkeys(row.name for row in rows):
        before: Row | None = None
        for row in sorted((row for row in rows if row.name == name), key=lambda row: row.size):
            lines.append(tuple(_cells(row, before)))
            before = row
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _summary(rows: list[Row]) -> str:
    cells = [cell for row in rows for cell in _judged(row)]
    met = sum(cell.endswith(" met") for cell in cells)
    missed = sum(cell.endswith(" MISSED") for cell in cells)
    wrong = sum(row.wrong for row in rows)
    return f"Targets: {met} met, {missed} missed. Rows that differ or failed: {wrong}.\n"


def _cells(row: Row, before: Row | None) -> Iterator[str]:
    (seconds, peaks), (time_target, memory_target) = _measured(row), _judged(row)
    yield row.name
    yield row.size.label
    yield _runs(row)
    for side, measures in zip(seconds, (row.turns.ours, row.turns.original), strict=True):
        yield _number(side, "{:.4f}") + _spread(measures)
    yield _number(_ratio(row, seconds), "{:.4f}")
    yield time_target
    yield from (_number(side, "{:.0f}") for side in peaks)
    yield _number(_ratio(row, peaks), "{:.4f}")
    yield memory_target
    earlier = _measured(before)[0] if before else (None, None)
    scale = before.size.amount / row.size.amount if before else 1
    for now, then in zip(seconds, earlier, strict=True):
        yield _number(now * scale / then if now and then else None, "{:.2f}")
    yield row.verdict.replace("|", "/")[:_WIDE]


def _judged(row: Row) -> tuple[str, str]:
    """The targets of time and of memory, with the verdict on each."""
    seconds, peaks = _measured(row)
    aims = target(row)
    return (
        _judgement(_ratio(row, seconds), aims.time),
        _judgement(_ratio(row, peaks), aims.memory),
    )


def _judgement(ratio: float | None, aim: float | None) -> str:
    if aim is None:
        return "-"
    if ratio is None:
        return f"{aim:.4g}"
    return f"{aim:.4g} {'met' if ratio <= aim else 'MISSED'}"


Both = tuple[float | None, float | None]


def _measured(row: Row) -> tuple[Both, Both]:
    """The medians of ours and the original: seconds, and megabytes at the peak."""
    ours, original = row.turns.ours, row.turns.original
    peaks = (_peak(ours), _peak(original)) if row.memory else (None, None)
    return (_seconds(ours), _seconds(original)), peaks


def _runs(row: Row) -> str:
    ours, original = len(row.turns.ours), len(row.turns.original)
    return str(ours) if ours == original else f"{ours}/{original}"


def _seconds(side: list[Measure]) -> float | None:
    return median(measure.seconds for measure in side) if side else None


def _spread(side: list[Measure]) -> str:
    """How far the fastest and the slowest run are apart: half of that, as a share of the median."""
    if len(side) < _FEWEST:
        return ""
    seconds = [measure.seconds for measure in side]
    return f" ±{50 * (max(seconds) - min(seconds)) / median(seconds):.0f}%"


def _peak(side: list[Measure]) -> float | None:
    return median(measure.peak for measure in side) / 1e6 if side else None


def _ratio(row: Row, sides: Both) -> float | None:
    ours, original = sides
    return ours / original if row.counts and ours is not None and original else None


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
