"""An overview as one screen of text.

Training graph of 5,174 nodes; 74% of them ran in steps 0, 1 on cpu:0
Parameters   464,154, all trainable
Float ops    53.8G in a step, 22.0 GFLOP/s achieved
Time         3.80sec of operations in a step, 2.45sec from start to end
Peak memory  56.6 MB by one operation, 3.61 GB requested in a step

Layer                                   share      time  float ops  FLOP/s
unit_1_0/sub1                     ▌      5.6%  214.60ms      1.81G   8.44G
…
Next         tfprof summary folder

If a screen is too small, lists are shorter and fewer notes and commands are shown.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from tfprof.console.escape import visible_text
from tfprof.foundation.units import UNKNOWN, at_least, micros, plural
from tfprof.results.summary_numbers import BYTES, short
from tfprof.summary.overview import FLOAT_OPS, MICROS, PARAMETERS, PEAK, RATE
from tfprof.writers.numbers import percent, share_bar
from tfprof.writers.table_text import shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import terminal_size

    from tfprof.results.overview_report import OverviewReport
    from tfprof.summary.overview import Overview, Ranked

_LABEL: Final = 13
_RATES: Final = tuple(f" {prefix}FLOP/s" for prefix in ("", "k", "M", "G", "T", "P", "E"))
_GAP: Final = "  "
_ROWS: Final = (5, 4, 3)  # of each list, as many as fit; three on a screen of 24 lines
_USUAL_LINES: Final = 24
_NAME: Final = 14  # with less room for names, columns at the right are left out
_MOST_LISTED: Final = 3  # steps or devices
_LEAST_NOTES: Final = 2  # lines, if there are as many


def text(report: OverviewReport) -> Iterator[bytes]:
    """The lines that fit the screen of *report*."""
    over, screen = report.overview, report.screen
    notes = _wrapped(map(visible_text, over.sentences), screen.columns - _LABEL)
    commands = [visible_text(command) for command in report.next_commands]
    wanted = min(len(notes), _LEAST_NOTES) + _height(commands, screen)
    choices = _ROWS if screen.lines > _USUAL_LINES else _ROWS[-1:]
    for rows in choices if report.rows_shown is None else [report.rows_shown]:
        lines = [*_head(over, screen.columns), "", *_lists(over, rows, screen.columns)]
        room = screen.lines - 1 - len(lines)  # the prompt of the shell has a line, too
        if wanted <= room:
            break
    end = _end(notes, commands, room, screen)
    lines = [*(shortened(line, screen.columns) for line in lines), *end]
    yield "".join(f"{line.rstrip()}\n" for line in lines).encode("utf-8", "replace")


def _end(notes: list[str], commands: list[str], room: int, screen: terminal_size) -> list[str]:
    """Notes and commands, as many as there is room for, but at least one of each."""
    while len(commands) > 1 and min(len(notes), _LEAST_NOTES) + _height(commands, screen) > room:
        commands = commands[:-1]
    space = max(room - _height(commands, screen), 1)
    if len(notes) > space:
        cut = len(notes) - space + 1
        notes = [*notes[: space - 1], f"… and {cut} lines more: --format=json has them"]
    blank = [""] if len(notes) < space else []
    return [*blank, *_labelled("Notes", notes), *_labelled("Next", commands)]


def _height(commands: Sequence[str], screen: terminal_size) -> int:
    """How many lines of the screen the commands take; they stay whole, to be copied."""
    return sum(-(-(_LABEL + len(command)) // screen.columns) for command in commands)


def _head(over: Overview, width: int) -> Iterator[str]:
    """What there is, and the totals; clauses at the end of a line that do not fit are left out."""
    yield _joined(what(over), "; ", width)
    for label, clauses in _TOTALS.items():
        if parts := list(filter(None, clauses(over))):
            yield f"{label:<{_LABEL}}{_joined(parts, ', ', width - _LABEL)}"


def _joined(clauses: Iterable[str], mark: str, width: int) -> str:
    first, *others = clauses
    for clause in others:
        if len(first) + len(mark) + len(clause) > width:
            break
        first += mark + clause
    return first


def what(over: Overview) -> Iterator[str]:
    """What was profiled, in clauses."""
    if over.of_variables:
        yield f"Checkpoint of {plural(over.nodes, 'variable')}"
        return
    kind = ("Training graph" if over.trains else "Graph") if over.types else "Run without a graph"
    types = "" if over.steps else f" and {plural(over.types, 'operation type')}"
    yield f"{kind} of {plural(over.nodes, 'node')}{types}"
    if over.steps:
        ran = f"{over.ran:.0%} of them ran in " if over.types else ""
        yield f"{ran}{_few('step', over.steps)} on {_few('device', over.devices)}"


def _few(noun: str, things: Sequence[object]) -> str:
    """The things if they are few, else how many there are."""
    if len(things) > _MOST_LISTED:
        return f"{len(things):,} {noun}s"
    names = ", ".join(visible_text(str(thing)) for thing in things)
    return names if noun == "device" else f"{noun}{'s' * (len(things) > 1)} {names}"


def _parameters(over: Overview) -> Iterator[str]:
    count, trained = over.total[PARAMETERS], over.total["trainable"]
    if count is not None:
        yield _marked(f"{count:,}", count, is_lower=PARAMETERS in over.lower)
    if count and trained is not None:
        yield f"{'all' if trained == count else f'{trained:,}'} trainable"


def _operations(over: Overview) -> Iterator[str]:
    is_lower = FLOAT_OPS in over.lower
    if total := _amount(over.total[FLOAT_OPS], is_lower=is_lower):
        yield total + " in a step" * bool(over.steps)
    if rate := over.total[RATE]:
        yield _marked(short(rate, _RATES), rate, is_lower=is_lower) + " achieved"
    if rate and (peak := over.total.get(PEAK)):
        share = _marked(percent(rate / peak), rate, is_lower=is_lower)
        yield f"{share} of the {short(peak, _RATES)} peak"


def _time(over: Overview) -> Iterator[str]:
    if (total := over.total[MICROS]) is not None:
        yield f"{micros(total)} of operations in a step"
    if wall := over.total["wall_micros"]:
        yield f"{micros(wall)} from start to end"


def _memory(over: Overview) -> Iterator[str]:
    for name, what in _BYTES.items():
        if number := over.total[name]:
            yield f"{short(number, BYTES)} {what}"


_BYTES: Final = {
    "bytes_in_use": "in use",
    "largest_operation_bytes": "by one operation",
    "requested_bytes": "requested in a step",
}


def _plan(over: Overview) -> Iterator[str]:
    """The sum, then its parts; what is in two of them is in the sum once."""
    parts = [
        f"{short(number, BYTES)} {name}"
        for name in ("arguments", "outputs", "temporary", "constants")
        if (number := over.total.get(f"planned_{name}_bytes"))
    ]
    total = over.total.get("planned_bytes")
    if total and parts:
        first, *others = parts
        yield f"{short(total, BYTES)}: {first}"
        yield from others
    if shared := over.total.get("planned_shared_bytes"):
        yield f"{short(shared, BYTES)} of them shared"


_TOTALS: Final[dict[str, Callable[[Overview], Iterable[str]]]] = {
    "Parameters": _parameters,
    "Float ops": _operations,
    "Time": _time,
    "Peak memory": _memory,
    "Memory plan": _plan,
}


def _lists(over: Overview, rows: int, width: int) -> Iterator[str]:
    """The lists, one below the other, with the same columns."""
    shown = {title.capitalize(): ranked[:rows] for title, ranked in over.lists.items()}
    every = [row for ranked in shown.values() for row in ranked]
    cells = {head: [cell(row) for row in every] for head, cell in _COLUMNS.items()}
    widths = {head: max(map(len, [head, *cells[head]])) for head in cells if any(cells[head])}
    bar = min(max((width - 64) // 2, 4), 20)
    share = bar + len("100.0%")
    while (room := width - share - sum(widths.values()) - len(_GAP) * (len(widths) + 1)) < _NAME:
        if not widths:
            break
        widths.popitem()
    names = [*(visible_text(row.name) for row in every), *shown]
    name = min(max(map(len, names), default=0), max(_NAME, room))
    heads = _GAP.join(
        [f"{'share':>{share}}", *(f"{head:>{wide}}" for head, wide in widths.items())]
    )
    percent = "      " if over.shares_of in over.lower else "{:>6.1%}"  # of what is not known
    for title, ranked in shown.items():
        yield f"{title:<{name}}{_GAP}{heads}"
        heads = ""
        for row in ranked:
            first = f"{shortened(visible_text(row.name), name):<{name}}"
            right = (f"{_COLUMNS[head](row):>{wide}}" for head, wide in widths.items())
            drawn = f"{share_bar(row.share, bar):<{bar}}{percent.format(row.share)}"
            yield _GAP.join([first, drawn, *right])


def _labelled(label: str, lines: Iterable[str]) -> list[str]:
    """*lines*, the first behind its label."""
    return [f"{'' if at else label:<{_LABEL}}{line}" for at, line in enumerate(lines)]


def _wrapped(sentences: Iterable[str], width: int) -> list[str]:
    return [line for sentence in sentences for line in textwrap.wrap(sentence, max(width, 20))]


def _marked(text: str, number: int, *, is_lower: bool) -> str:
    """The text of a number that may be a lower bound; one of 0 is unknown."""
    return (at_least(text) if number else UNKNOWN) if is_lower else text


def _amount(number: int | None, *, is_lower: bool) -> str:
    if number is None:
        return UNKNOWN if is_lower else ""
    return _marked(short(number), number, is_lower=is_lower)


def _row_parameters(row: Ranked) -> str:
    """Only beside float operations: beside times there is no room for them."""
    is_lower = PARAMETERS in row.lower
    if row.micros or not (row.parameters or is_lower):
        return ""
    return _marked(f"{row.parameters or 0:,}", row.parameters or 0, is_lower=is_lower)


# The columns behind the share: heading and cell; a column without content is left out.
_COLUMNS: Final[dict[str, Callable[[Ranked], str]]] = {
    "time": lambda row: "" if row.micros is None else micros(row.micros),
    "float ops": lambda row: _amount(row.float_ops, is_lower=FLOAT_OPS in row.lower),
    "FLOP/s": lambda row: _amount(row.rate, is_lower=FLOAT_OPS in row.lower) if row.rate else "",
    "parameters": _row_parameters,
}
