"""SummaryReport: a model by layer as text, rows, data frames or Markdown.

report = tfprof.load("saved_model").summary()
print(report)                     the table, as the command prints it
report.total["parameters"]        numbers are whole
report.to_pandas()                a data frame

As data, a number is an int, a formula in open dimensions (text), or None where it is unknown.
Columns without content are left out: trainable parameters where the file does not record them. With
training=True, the rows are the parts of a training step.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof.columns.strings import clean_text
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.foundation.units import UNKNOWN, at_least
from tfprof.results.result import Result
from tfprof.results.summary_numbers import (
    exact_formula,
    plain_formula,
    short,
    short_formula,
    short_names,
)
from tfprof.results.table import Column, Table, incomplete_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tfprof.model import Note
    from tfprof.summary import Formula, Numbers, Summary

SCHEMA = "tfprof.summary/1"


@dataclass(frozen=True, eq=False, repr=False)
class SummaryReport(Result):
    """The layers of a model with their parameters, operations and bytes, and the total.

    >>> import tfprof
    >>> report = tfprof.load_sample().summary(depth=1)
    >>> report.total["parameters"]
    464154
    """

    summary: Summary
    notes: tuple[Note, ...] = ()  # of the profile

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, in order; the rows of a block follow it and add up to it."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

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
        return _summary_table(self.summary, self.notes)

    def text(self) -> str:
        """The summary as the command prints it."""
        return b"".join(self.pieces("text")).decode()

    __str__ = text

    def __repr__(self) -> str:
        return f"<SummaryReport: {len(self.summary.rows):,} rows>"

    def _repr_markdown_(self) -> str:
        return b"".join(self.pieces("md")).decode()


def _summary_table(summary: Summary, notes: Iterable[Note]) -> Table:
    rows, counts = summary.rows, summary.counts
    heading = "Part" if summary.training else "Layer"
    numbers = [_column(amount, summary) for amount in _amounts(summary)]
    shape = Column(
        "output_shape",
        "shape",
        [row.shape for row in rows],
        heading="Output shape",
        texts=[_shape_text(row.shape) for row in rows],
    )
    return Table(
        summary.title,
        SCHEMA,
        (
            Column("row", "number", range(len(rows)), placing=True),
            Column("parent", "number", [row.parent for row in rows], placing=True),
            Column("depth", "number", [row.depth for row in rows], placing=True),
            Column(
                "name",
                "text",
                [row.name for row in rows],
                heading=heading,
                placing=True,
                texts=[f"{row.name} ({row.kind})" if row.kind else row.name for row in rows],
            ),
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
        details=tuple(_details(summary)),
        caveats=(str(counts), *summary.sentences),
    )


def _totals(summary: Summary) -> dict[str, Any]:
    return {amount.name: _plain(amount.known(summary.total)) for amount in _amounts(summary)}


def _incomplete(summary: Summary) -> list[str]:
    return [amount.name for amount in _amounts(summary) if amount.name in summary.total.lower]


class _Amount(NamedTuple):
    """A column of numbers: how to take one from a row, and how people write it."""

    name: str
    heading: str
    value: Callable[[Numbers], int | Formula | None]
    text: Callable[[Any], str]
    fits: bool = True

    def known(self, of: Numbers) -> int | Formula | None:
        """The number; None if nothing of it is known."""
        value = self.value(of)
        is_zero = value == 0 if isinstance(value, int) else value is not None and not value.terms
        return None if is_zero and self.name in of.lower else value


def _amounts(summary: Summary) -> list[_Amount]:
    names = short_names(summary.symbols)
    splits = summary.knows_trainable

    def short_cost(formula: Formula | None) -> str:
        return short_formula(formula, names)

    def short_bytes(count: int | None) -> str:
        return UNKNOWN if count is None else short(count)

    costs = [
        _Amount("float_ops", "Float ops", lambda of: of.float_ops, short_cost),
        _Amount("multiply_adds", "Mult-adds", lambda of: of.multiply_adds, short_cost),
    ]
    if summary.training:
        return costs
    trainable = [
        _Amount("trainable", "Trainable", lambda of: of.trainable, _exact_number),
        _Amount("non_trainable", "Non-trainable", _non_trainable, _exact_number),
    ]
    return [
        # Fitted text has no room for a number that is the sum of those beside it.
        _Amount("parameters", "Parameters", lambda of: of.parameters, _exact_number, not splits),
        *(trainable if splits else []),
        *costs,
        _Amount("parameter_bytes", "Param. B", lambda of: of.parameter_bytes, short_bytes),
        _Amount("activation_bytes", "Activations", lambda of: of.activation_bytes, short_cost),
    ]


def _column(amount: _Amount, summary: Summary) -> Column:
    values = [amount.known(row.numbers) for row in summary.rows]
    lower = (amount.name in row.numbers.lower for row in summary.rows)
    return Column(
        amount.name,
        "amount",
        list(map(_plain, values)),
        heading=amount.heading,
        texts=list(map(amount.text, values)),
        total=amount.text(amount.known(summary.total)),
        lower=np.fromiter(lower, np.bool_, len(values)),
        total_lower=amount.name in summary.total.lower,
        fits=amount.fits,
    )


def _details(summary: Summary) -> Iterator[str]:
    amounts = {amount.name: amount for amount in _amounts(summary)}

    def exact(name: str) -> str:
        value = amounts[name].known(summary.total)
        text = f"{value:,}" if isinstance(value, int) else exact_formula(value)
        return at_least(text) if name in summary.total.lower else text

    split = ""
    if "trainable" in amounts:
        split = f" ({exact('trainable')} trainable, {exact('non_trainable')} not)"
    if not summary.training:
        yield f"Parameters        {exact('parameters')}{split}"
        yield f"Parameter bytes   {exact('parameter_bytes')}"
    yield f"Float operations  {exact('float_ops')}"
    yield f"Multiply-adds     {exact('multiply_adds')}"
    if not summary.training:
        yield f"Activation bytes  {exact('activation_bytes')}"
    yield ""
    yield from (f"{letter} is {name}." for name, letter in short_names(summary.symbols).items())


def _shape_text(shape: list[int] | None) -> str:
    """A shape as Keras writes it; (8,) has one dimension."""
    if shape is None:
        return UNKNOWN
    sizes = ", ".join("None" if size < 0 else str(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


def _non_trainable(of: Numbers) -> int | None:
    if of.parameters is None or of.trainable is None:
        return None
    return of.parameters - of.trainable


def _exact_number(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def _plain(value: int | Formula | None) -> int | str | None:
    if value is None or isinstance(value, int):
        return value
    constant = value.constant
    return plain_formula(value) if constant is None else constant
