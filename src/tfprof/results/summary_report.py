"""SummaryReport: a model by layer as text, rows, data frames or Markdown.

As data, a number is an int, a formula in open dimensions (text), or None where it is unknown.
Columns without content are left out: trainable parameters where the file does not record them, time
without a run. With training=True, the rows are the parts of a training step.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import clean_text
from tfprof.errors import UsageError, check_known
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.units import UNKNOWN, at_least, plural
from tfprof.results import summary_numbers
from tfprof.results.result import Result
from tfprof.results.summary_numbers import BYTES, MICROS, short, short_formula, short_names
from tfprof.results.table import Column, Hidden, Table, incomplete_column
from tfprof.summary.caveats import TRAINABLE_UNKNOWN
from tfprof.tables.command_options import SUMMARY_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from fractions import Fraction

    from tfprof.model import Note
    from tfprof.summary.build_summary import Numbers, Row, Summary
    from tfprof.summary.formula import Formula

SCHEMA = "tfprof.summary/1"
# Rows are sorted as if open dimensions had this size.
_TYPICAL: Final = 100
_OF_RUNS: Final = ("micros", "flops_per_second")
_SECOND: Final = 1_000_000  # in microseconds


@dataclass(frozen=True, eq=False, repr=False)
class SummaryReport(Result):
    """The layers of a model with their parameters, operations and bytes, and the total.

    The rows of a block follow it and add up to it.

    >>> import tfprof
    >>> report = tfprof.load_sample().summary(depth=1)
    >>> report.total["parameters"]
    464154
    """

    summary: Summary
    notes: tuple[Note, ...] = ()  # of the profile
    sort: str = ""  # a column; "": as in the model
    most: int = 0  # rows to show; 0: all

    @property
    def total(self) -> dict[str, Any]:
        """The total of each column; text is a formula in open dimensions, None is unknown."""
        return _totals(self.summary)

    @property
    def total_incomplete(self) -> list[str]:
        """The columns whose total is a lower bound, or unknown: something is not counted."""
        return _incomplete(self.summary)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is guessed, left out or unknown; first what the float operations cover."""
        return self.table().caveats

    def make_table(self) -> Table:
        """The rows as a Table, from which data formats are written."""
        rows = _sorted_rows(self.summary, self.sort)
        shown = replace(self.summary, rows=rows[: self.most or len(rows)])
        hidden = len(rows) - len(shown.rows)
        hiding = Hidden(hidden, {"--rows": hidden} if hidden else {})
        return _summary_table(shown, self.notes, hiding)

    def __repr__(self) -> str:
        return f"<SummaryReport: {plural(len(self.table()), 'row')}>"

    def _repr_markdown_(self) -> str:
        return b"".join(self.pieces("md")).decode()


def _summary_table(summary: Summary, notes: Iterable[Note], hidden: Hidden) -> Table:
    rows, counts = summary.rows, summary.counts
    heading = "Part" if summary.training else "Variable" if summary.of_variables else "Layer"
    numbers = [_column(amount, summary) for amount in amounts_of(summary)]
    names = [f"{row.name} ({row.kind})" if row.kind else row.name for row in rows]
    shape = Column(
        "output_shape",
        "shape",
        [row.shape for row in rows],
        heading="Shape" if summary.of_variables else "Output shape",
        texts=[_shape_text(row.shape, "" if summary.of_variables else UNKNOWN) for row in rows],
    )
    return Table(
        summary.title,
        SCHEMA,
        (
            Column("row", "number", range(len(rows)), placing=True),
            Column("parent", "number", [row.parent for row in rows], placing=True),
            Column("depth", "number", [row.depth for row in rows], placing=True),
            Column("name", "text", [row.name for row in rows], None, heading, names, placing=True),
            Column("type", "text", [row.kind for row in rows], placing=True),
            Column("path", "text", [row.path for row in rows], placing=True),
            *([] if summary.training else [shape]),
            *numbers,
            incomplete_column(numbers),
        ),
        len(rows),
        tree="depth",
        facts={
            "model": summary.title,
            **({"training": summary.training} if summary.training else {}),
            "symbols": list(summary.symbols),
            "total": _totals(summary),
            "total_incomplete": _incomplete(summary),
            "float_ops_coverage": {
                "operations": counts.ops,
                "counted": counts.counted,
                "uncounted": [kind._asdict() for kind in counts.uncounted],
            },
            "sentences": list(summary.sentences),
            "notes": [clean_text(str(note)) for note in notes],
        },
        hiding=hidden,
        details=tuple(_details(summary)),
        caveats=(*(() if summary.of_variables else (str(counts),)), *summary.sentences),
    )


def _totals(summary: Summary) -> dict[str, Any]:
    return {amount.name: plain_value(amount.known(summary.total)) for amount in amounts_of(summary)}


def _incomplete(summary: Summary) -> list[str]:
    return [amount.name for amount in amounts_of(summary) if amount.is_lower(summary.total)]


class Amount(NamedTuple):
    """A column of numbers: how to take one from a row, and how people write it."""

    name: str
    heading: str
    value: Callable[[Numbers], int | Formula | None]
    text: Callable[[Any], str]
    fits: bool = True
    yields: bool = False  # a narrow screen has no room for it
    follows: str = ""  # the number that decides whether it is a lower bound, if not itself

    def is_lower(self, of: Numbers) -> bool:
        """Whether something is missing in it."""
        return (self.follows or self.name) in of.lower

    def known(self, of: Numbers) -> int | Formula | None:
        """The number; None if nothing of it is known."""
        value = self.value(of)
        is_zero = value == 0 if isinstance(value, int) else value is not None and not value.terms
        return None if is_zero and self.is_lower(of) else value


def amounts_of(summary: Summary) -> list[Amount]:
    """The columns; a narrow screen leaves the last ones that yield out first."""
    names = short_names(summary.symbols)
    splits = summary.knows_trainable

    cost, size = (
        partial(short_formula, names=names),
        partial(short_formula, names=names, units=BYTES),
    )

    def unit(*units: tuple[str, ...]) -> Callable[[int | None], str]:
        return lambda count: UNKNOWN if count is None else short(count, *units)

    float_ops = Amount("float_ops", "Float ops", lambda of: of.float_ops, cost)
    products = Amount("multiply_adds", "Mult-adds", lambda of: of.multiply_adds, cost, yields=True)
    if summary.training:
        return [float_ops, products]
    trainable = [
        Amount("trainable", "Trainable", lambda of: of.trainable, _exact_number),
        Amount("non_trainable", "Non-trainable", _non_trainable, _exact_number, yields=True),
    ]
    times = [
        Amount("micros", "Time", lambda of: of.micros, unit(MICROS)),
        Amount("flops_per_second", "FLOP/s", _speed, unit(), follows="float_ops"),
    ]
    weights = Amount(
        "parameter_bytes", "Weights", lambda of: of.parameter_bytes, unit(BYTES), yields=True
    )
    held = [
        # Fitted text has no room for a number that is the sum of those beside it.
        Amount("parameters", "Parameters", lambda of: of.parameters, _exact_number, not splits),
        *(trainable if splits else []),
    ]
    if summary.of_variables:
        return [*held, weights]
    return [
        *held,
        float_ops,
        *([] if summary.total.micros is None else times),
        products,
        weights,
        Amount(
            "activation_bytes", "Activations", lambda of: of.activation_bytes, size, yields=True
        ),
    ]


def _column(amount: Amount, summary: Summary) -> Column:
    values = [amount.known(row.numbers) for row in summary.rows]
    lower = (amount.is_lower(row.numbers) for row in summary.rows)
    return Column(
        amount.name, "amount", list(map(plain_value, values)), heading=amount.heading,
        texts=list(map(amount.text, values)), total=amount.text(amount.known(summary.total)),
        lower=np.fromiter(lower, np.bool_, len(values)), fits=amount.fits, yields=amount.yields,
        total_lower=amount.is_lower(summary.total),
        whole=(summary.total.micros or 0) if amount.name == "micros" else 0,
    )  # fmt: skip


def _sorted_rows(summary: Summary, column: str) -> list[Row]:
    """The rows with those of each block sorted by a column; raises UsageError."""
    if not column:
        return summary.rows
    check_known("there is no column", column, SUMMARY_COLUMNS)
    texts = {"name": [row.name for row in summary.rows], "type": [row.kind for row in summary.rows]}
    amounts = {amount.name: amount for amount in amounts_of(summary)}
    if column not in {**texts, **amounts}:
        why = "nothing was timed" if column in _OF_RUNS else "the files do not record it"
        raise UsageError(f"this summary has no column {column} to sort by: {why}")
    keys: list[Any] = texts.get(column) or [
        -typical_size(amounts[column].known(row.numbers)) for row in summary.rows
    ]
    inside: dict[int | None, list[int]] = {}
    for at in sorted(range(len(keys)), key=keys.__getitem__):
        inside.setdefault(summary.rows[at].parent, []).append(at)
    rows: list[Row] = []
    waiting: list[tuple[int, int | None]] = [(at, None) for at in reversed(inside.get(None, []))]
    while waiting:
        at, parent = waiting.pop()
        waiting += [(inner, len(rows)) for inner in reversed(inside.get(at, []))]
        rows.append(summary.rows[at]._replace(parent=parent))
    return rows


def typical_size(value: int | Formula | None) -> Fraction | int:
    """A number to sort by; what is unknown comes last."""
    if value is None or isinstance(value, int):
        return -1 if value is None else value
    return value.at(dict.fromkeys(value.symbols, _TYPICAL))


def _details(summary: Summary) -> Iterator[str]:
    amounts = {amount.name: amount for amount in amounts_of(summary)}

    def exact(name: str) -> str:
        value = amounts[name].known(summary.total)
        text = f"{value:,}" if isinstance(value, int) else summary_numbers.exact_formula(value)
        return at_least(text) if amounts[name].is_lower(summary.total) else text

    split = " (trainable: unknown)" if TRAINABLE_UNKNOWN in summary.sentences else ""
    if "trainable" in amounts:
        split = f" ({exact('trainable')} trainable, {exact('non_trainable')} not)"
    lines = {
        "parameters": f"Parameters        {{}}{split}",
        "parameter_bytes": "Parameter bytes   {}",
        "float_ops": "Float operations  {}",
        "multiply_adds": "Multiply-adds     {}",
        "activation_bytes": "Activation bytes  {}",
        "micros": "Time per step     {} us",
        "flops_per_second": "FLOP/s            {}",
    }
    yield from (line.format(exact(name)) for name, line in lines.items() if name in amounts)
    yield ""
    yield from (f"{letter} is {name}." for name, letter in short_names(summary.symbols).items())


def _speed(of: Numbers) -> int | None:
    """Float operations per second; None where a number is missing."""
    count = None if of.float_ops is None else of.float_ops.constant
    return count * _SECOND // of.micros if count is not None and of.micros else None


def _shape_text(shape: list[int] | None, unknown: str) -> str:
    """A shape as Keras writes it; (8,) has one dimension."""
    if shape is None:
        return unknown
    sizes = ", ".join("None" if size < 0 else str(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


def _non_trainable(of: Numbers) -> int | None:
    if of.parameters is None or of.trainable is None:
        return None
    return of.parameters - of.trainable


def _exact_number(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def plain_value(value: int | Formula | None) -> int | str | None:
    """A number as a program reads it."""
    if value is None or isinstance(value, int):
        return value
    constant = value.constant
    return summary_numbers.plain_formula(value) if constant is None else constant
