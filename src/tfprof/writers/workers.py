"""The workers of a fleet as text: what was found first, then one line per worker.

4 workers, 3 steps; times from the first start to the last end of a step

Stragglers
  worker_2 is the straggler: 2.7 times as slow as the median worker (step 48.0 ms against …

Parameter servers  variables   bytes  parameters  share     time
ps:1                      13  1.38 MB     344,960  93.3%  0.83 ms

Worker    steps  time per step  times peers  spread  share
worker_2      3        48.0 ms         2.66    0.3%  47.1%  straggler
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Final

from tfprof.console.escape import visible_text
from tfprof.foundation.units import plural
from tfprof.results.summary_numbers import BYTES, short
from tfprof.results.workers_sentences import SERVERS, findings, time
from tfprof.writers.table_text import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.fleet.workers import Worker, Workers
    from tfprof.results.workers_report import WorkersReport

_UNIT: Final = re.compile(r"(?<=[0-9]) (?=(?:us|ms|s|[kMGTP]?B)\b)")
_WIDTH: Final = 80
_ROWS: Final = 10
_GAP: Final = "  "
_INDENT: Final = "  "
_LEAST_NAME: Final = 12
_HEADS: Final = ("steps", "time per step", "times peers", "spread", "share", "")
_SERVER_HEADS: Final = ("variables", "parameters", "bytes", "share", "time per step")


def text(report: WorkersReport, width: int | None = None) -> Iterator[bytes]:
    """The sections, at most *width* characters wide."""
    for line in _lines(report, max(width or _WIDTH, 40)):
        yield f"{line.rstrip()}\n".encode("utf-8", "replace")


def _lines(report: WorkersReport, width: int) -> Iterator[str]:
    workers = report.workers
    most = report.most_rows or _ROWS
    yield from textwrap.wrap(_head(workers), width)
    sections = findings(workers)
    for title, sentences in sections.items():
        yield ""
        if title == SERVERS:
            yield from _servers(workers, most, width)
        else:
            yield title
        for sentence in sentences:
            yield from _wrapped(sentence, width, _INDENT)
    yield ""
    yield from _workers(workers, most, width)
    if notes := workers.notes:
        yield ""
        for note in notes:
            yield from _wrapped(note, width)


def _wrapped(sentence: str, width: int, indent: str = "") -> Iterator[str]:
    """The lines of a sentence; a number stays with its unit."""
    joined = _UNIT.sub("\u00a0", visible_text(sentence))
    lines = textwrap.wrap(
        joined, width, initial_indent=indent, subsequent_indent=indent * 2, break_on_hyphens=False
    )
    return (line.replace("\u00a0", " ") for line in lines)


def _head(workers: Workers) -> str:
    counts = f"{plural(len(workers.workers), 'worker')}, {plural(len(workers.steps), 'step')}"
    if workers.is_span:
        return f"{counts}; the time of a step is from its first start to its last end."
    return f"{counts}; the time of a step is the sum of its operations, as spans are unknown."


def _servers(workers: Workers, most: int, width: int) -> Iterator[str]:
    servers = workers.balance.servers
    total = sum(row.bytes for row in servers) or 1
    rows = [
        (
            row.name, str(row.variables), f"{row.params:,}", short(row.bytes, BYTES),
            f"{row.bytes / total:.1%}", time(row.micros),
        )
        for row in servers[:most]
    ]  # fmt: skip
    yield from _table((SERVERS, *_SERVER_HEADS), rows, width)
    if len(servers) > most:
        yield f"{_INDENT}… and {len(servers) - most:,} more: --rows={len(servers)} shows all"


def _workers(workers: Workers, most: int, width: int) -> Iterator[str]:
    rows = [_cells(row) for row in workers.workers[:most]]
    yield from _table(("Workers", *_HEADS), rows, width)
    if (count := len(workers.workers)) > most:
        yield f"{_INDENT}… and {count - most:,} more: --rows={count} shows all"


def _cells(row: Worker) -> tuple[str, ...]:
    return (
        visible_text(row.name),
        str(row.steps),
        "" if row.micros is None else time(row.micros),
        "" if row.factor is None else f"{row.factor:.2f}",
        "" if row.spread is None else f"{row.spread:.1%}",
        f"{row.share:.1%}",
        "straggler" if row.is_straggler else "",
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Rows below their headings; names at the left are shortened, the last column may go."""
    columns = list(zip(heads, *rows, strict=True))
    wide = [max(map(len, column)) for column in columns]
    while sum(wide[1:]) + len(_GAP) * (len(wide) - 1) + _LEAST_NAME > width and len(wide) > 2:  # noqa: PLR2004
        del wide[-1]
    room = width - sum(wide[1:]) - len(_GAP) * (len(wide) - 1)
    wide[0] = min(wide[0], room)
    for line in (heads, *rows):
        first = f"{shortened(line[0], wide[0]):<{wide[0]}}"
        cells = (f"{cell:>{size}}" for cell, size in zip(line[1:], wide[1:], strict=False))
        yield _GAP.join([first, *cells])
