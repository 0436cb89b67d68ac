"""SummaryDiffReport: what changed between two models, layer by layer, as text or data.

As data, a difference is an int, a formula in open dimensions (text), or None where a side is
unknown; a ratio of formulas is there only if it is the same for all sizes.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.compare.diff import dims_by_side
from tfprof.compare.match_nodes import match_nodes
from tfprof.compare.noise import few_steps
from tfprof.compare.summary_rows import Pair, alike_rows, paired_rows
from tfprof.errors import UsageError, check_known
from tfprof.foundation import units
from tfprof.foundation.arguments import whole_number
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.model import own_notes
from tfprof.query.query import Query
from tfprof.results.diff_report import SCHEMA
from tfprof.results.diff_sentences import (
    FOLDED_AFTER,
    MARKS,
    by_side,
    difference_heading,
    match_counts,
    matching_sentence,
)
from tfprof.results.result import Result
from tfprof.results.summary_report import Amount, amounts_of, plain_value, typical_size
from tfprof.results.table import Column, Hidden, Table, incomplete_column
from tfprof.summary.build_summary import COSTS, DEPTH, summary
from tfprof.summary.formula import Formula
from tfprof.summary.training import training_summary
from tfprof.tables.command_options import SUMMARY_COLUMNS, SUMMARY_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from fractions import Fraction

    from tfprof.compare.match_nodes import Matches
    from tfprof.model import Note, Profile
    from tfprof.summary.build_summary import Numbers, Summary

_ON_NOISE: Final = "layers have no intervals: --view=scope shows which times stand out from noise"
# The amounts whose change decides the order of rows, the first that differs.
_FIRST: Final = ("float_ops", "parameters", "micros", "multiply_adds")
_DATA_ONLY: Final = "flops_per_second"  # follows from others
_PARTS: Final = ("trainable", "non_trainable")  # of the parameters


class _Change(NamedTuple):
    """An amount on both sides; None: unknown. A side without the row has 0."""

    base: Formula | None
    new: Formula | None
    is_lower: tuple[bool, bool] = (False, False)

    @property
    def difference(self) -> Formula | None:
        """New less base."""
        return None if self.base is None or self.new is None else self.new - self.base

    @property
    def ratio(self) -> float | None:
        """New to base."""
        return None if self.base is None or self.new is None else self.new.ratio(self.base)

    @property
    def is_none(self) -> bool:
        """Whether nothing changed."""
        if self.difference is None:
            return (self.base, self.is_lower[0]) == (self.new, self.is_lower[1])
        return not self.difference.terms

    @property
    def is_unsure(self) -> bool:
        """Whether a side does not count everything."""
        return any(self.is_lower)

    def data(self) -> dict[str, Any]:
        """Its numbers as a program reads them."""
        numbers = {"base": self.base, "new": self.new, "difference": self.difference}
        return {**{name: plain_value(n) for name, n in numbers.items()}, "ratio": self.ratio}


@dataclass(frozen=True, eq=False, repr=False)
class SummaryDiffReport(Result):
    """The layers that changed, with the amounts of both sides, and the totals."""

    base: Summary
    new: Summary
    matches: Matches
    notes: tuple[Note, ...] = ()
    sort: str = ""  # a column whose change orders the rows; "": the first that changed
    most: int = 0  # rows to show; 0: all
    on_noise: str = ""  # a sentence about the noise of times

    def __len__(self) -> int:
        return len(self._pairs)

    @cached_property
    def amounts(self) -> list[Amount]:
        """The amounts that both sides have."""
        timed = [side.total.micros is not None for side in (self.base, self.new)]
        total = self.new.total if all(timed) else self.new.total._replace(micros=None)
        both = replace(
            self.new,
            total=total,
            symbols=tuple(dict.fromkeys((*self.new.symbols, *self.base.symbols))),
            knows_trainable=self.base.knows_trainable and self.new.knows_trainable,
            of_variables=self.base.of_variables or self.new.of_variables,
        )
        return amounts_of(both)

    @cached_property
    def totals(self) -> dict[str, _Change]:
        """What the total of each amount changes."""
        return {a.name: _change(a, self.base.total, self.new.total) for a in self.amounts}

    @property
    def headline(self) -> str:
        """One line: the totals that changed, or that nothing did."""
        changed = [a for a in self.amounts if not self.totals[a.name].is_none]
        shown = [a for a in changed if a.name in self._shown and not a.yields] or changed
        if shown:
            return ", ".join(_written(amount, self.totals[amount.name]) for amount in shown)
        return "No total changed." if self._pairs else "No differences."

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is guessed, left out or unknown on either side."""
        sides = (self.base, self.new)
        counts = ([str(side.counts)] * (not side.of_variables) for side in sides)
        said = ([*count, *side.sentences] for count, side in zip(counts, sides, strict=True))
        noise = [self.on_noise] if self.on_noise and "micros" in self.totals else []
        return (*by_side(*said), *noise, matching_sentence(self.matches))

    @property
    def own_notes(self) -> tuple[Note, ...]:
        """The same as notes."""
        return own_notes(self.sentences)

    @cached_property
    def _pairs(self) -> list[Pair]:
        by = {amount.name: amount for amount in self.amounts}
        if self.sort:
            check_known("there is no column", self.sort, SUMMARY_COLUMNS)
            if self.sort not in {**by, "name": 0, "type": 0}:
                raise UsageError(f"the summaries of both sides have no column {self.sort}")
        ranked = [by[name] for name in (self.sort, *_FIRST) if name in by]

        def order(pair: Pair) -> object:
            if self.sort in ("name", "type"):
                return pair.row.name if self.sort == "name" else pair.row.kind
            return [-abs(_size(_of_pair(amount, pair))) for amount in ranked]

        def differs(pair: Pair) -> bool:
            return any(not _of_pair(amount, pair).is_none for amount in self.amounts)

        alike = alike_rows(self.base, self.new, self.matches)
        return paired_rows(self.base.rows, self.new.rows, differs, order, alike)

    def make_table(self) -> Table:
        """The rows as a Table, from which data formats are written."""
        pairs = self._pairs[: self.most or None]
        hidden = len(self._pairs) - len(pairs)
        numbers = [column for amount in self._ordered for column in self._columns(amount, pairs)]
        rows = [pair.row for pair in pairs]
        names = [f"{row.name} ({row.kind})" if row.kind else row.name for row in rows]
        marks = [MARKS.get(pair.status, "") for pair in pairs]
        return Table(
            "",
            SCHEMA,
            (
                Column("row", "number", range(len(pairs)), placing=True),
                Column("parent", "number", [pair.parent for pair in pairs], placing=True),
                Column("depth", "number", [pair.depth for pair in pairs], placing=True),
                Column("name", "text", [row.name for row in rows], None, "Layer", names,
                       placing=True),
                Column("status", "text", [p.status for p in pairs], texts=marks, placing=True),
                Column("type", "text", [row.kind for row in rows], placing=True),
                Column("path", "text", [row.path for row in rows], placing=True),
                *numbers,
                incomplete_column(numbers),
            ),
            len(pairs),
            tree="depth",
            facts={
                "view": "summary",
                "model": {"base": self.base.title, "new": self.new.title},
                "totals": {
                    name: {**total.data(), "incomplete": total.is_unsure}
                    for name, total in self.totals.items()
                },
                "matches": match_counts(self.matches),
                "sentences": list(self.sentences),
            },
            notes=self.notes,
            hiding=Hidden(hidden, {"--rows": hidden} if hidden else {}),
            caveats=self.sentences,
            headline=(self.headline,),
            marks="status",
            folded_after=FOLDED_AFTER,
        )  # fmt: skip

    @property
    def _ordered(self) -> list[Amount]:
        """The amounts, first the one that rows are sorted by."""
        return sorted(self.amounts, key=lambda amount: amount.name != self.sort)

    def _columns(self, amount: Amount, pairs: list[Pair]) -> Iterator[Column]:
        """Base, new, difference and ratio; people see fewer of an amount that says little."""
        changes, total = [_of_pair(amount, pair) for pair in pairs], self.totals[amount.name]
        is_shown = amount.name in self._shown
        is_main = is_shown and not amount.yields
        is_first = is_main and amount.name == self._shown[0]
        name, heading = amount.name, amount.heading.lower()
        lower = np.array([change.is_lower for change in changes], np.bool_).reshape(-1, 2)
        for at, side in enumerate(("base", "new")):
            values = [(change.base, change.new)[at] for change in changes]
            yield Column(
                f"{side}_{name}", "amount", list(map(plain_value, values)),
                heading=f"{side} {heading}", texts=[_text(amount, value) for value in values],
                total=_text(amount, (total.base, total.new)[at]), total_lower=total.is_lower[at],
                lower=lower[:, at], placing=not is_main, yields=not is_first,
            )  # fmt: skip
        unsure = lower[:, 0] | lower[:, 1]
        differences = [change.difference for change in changes]
        yield Column(
            f"difference_{name}", "amount", list(map(plain_value, differences)),
            heading=difference_heading(heading, len(self._shown) if is_main else 2),
            texts=[_signed(amount, value) for value in differences], unsure=unsure,
            total=_signed(amount, total.difference, is_unsure=total.is_unsure),
            placing=not is_shown, yields=not is_main,
        )  # fmt: skip
        yield Column(
            f"ratio_{name}", "real", [change.ratio for change in changes], units.change, "change",
            total=_percent(total), unsure=unsure, absent="", placing=not is_main,
        )  # fmt: skip

    @cached_property
    def _shown(self) -> list[str]:
        """The amounts that people see: those that changed in some row."""
        changed = [
            amount.name
            for amount in self._ordered
            if any(not _of_pair(amount, pair).is_none for pair in self._pairs)
        ]
        others = (_DATA_ONLY, *(_PARTS if "parameters" in changed else ()))
        return [name for name in changed if name not in others]


def summary_diff(base: Profile, new: Profile, options: Mapping[str, Any]) -> SummaryDiffReport:
    """What changed from *base* to *new*, by layer; *options* are those of `summary`."""
    given = {"dim" if name == "dims" else name: value for name, value in options.items()}
    for name in given:
        check_known("the diff of a summary has no option", name, SUMMARY_OPTIONS)
    dims = Query.of({"dim": given.pop("dim", ())}).dims
    sort, most = given.pop("sort", ""), whole_number("rows", given.pop("rows", 0), least=0)
    sides = zip((base, new), dims_by_side(base, new, dims), strict=True)
    before, after = (_summary(side, own, **given) for side, own in sides)
    matches = match_nodes(base, new)
    notes = own_notes(by_side(*([str(note) for note in side.notes] for side in (base, new))))
    on_noise = few_steps(len(base.steps), len(new.steps)) or _ON_NOISE
    return SummaryDiffReport(before, after, matches, notes, sort, most, on_noise)


def _summary(
    profile: Profile,
    dims: Mapping[str, int],
    depth: int = DEPTH,
    outputs: Sequence[str] = (),
    *,
    training: bool = False,
) -> Summary:
    if training:
        return training_summary(profile, dims, outputs)
    return summary(profile, whole_number("depth", depth, least=1), dims, outputs)


def _change(amount: Amount, base: Numbers | None, new: Numbers | None) -> _Change:
    sides = [
        Formula() if numbers is None else _formula(amount.known(numbers)) for numbers in (base, new)
    ]
    lower = [numbers is not None and amount.is_lower(numbers) for numbers in (base, new)]
    return _Change(sides[0], sides[1], (lower[0], lower[1]))


def _of_pair(amount: Amount, pair: Pair) -> _Change:
    return _change(amount, pair.base and pair.base.numbers, pair.new and pair.new.numbers)


def _formula(value: int | Formula | None) -> Formula | None:
    return Formula.number(value) if isinstance(value, int) else value


def _size(change: _Change) -> Fraction | int:
    """The difference to sort by; what is unknown comes last."""
    return 0 if change.difference is None else typical_size(change.difference)


def _text(amount: Amount, value: Formula | None) -> str:
    """An amount as a summary writes it: some are plain numbers there."""
    return amount.text(value if value is None or amount.name in COSTS else value.constant)


def _signed(amount: Amount, value: Formula | None, *, is_unsure: bool = False) -> str:
    constant = None if value is None else value.constant
    if value is None or constant is None:
        text = _text(amount, value)
        text = text if text.startswith(("-", units.UNKNOWN)) else f"+{text}"
    else:
        text = units.signed(constant, lambda number: _text(amount, Formula.number(int(number))))
    return units.unsure(text) if is_unsure else text


def _percent(change: _Change) -> str:
    if change.difference is None:
        return units.UNKNOWN
    text = "" if change.ratio is None else units.change(change.ratio)
    return units.unsure(text) if change.is_unsure else text


def _written(amount: Amount, change: _Change) -> str:
    """Both sides, and the change in percent; of formulas that have none, the difference."""
    sides = zip((change.base, change.new), change.is_lower, strict=True)
    texts = ((_text(amount, value), is_lower) for value, is_lower in sides)
    both = " → ".join(units.at_least(text) if is_lower else text for text, is_lower in texts)
    signed = _signed(amount, change.difference, is_unsure=change.is_unsure)
    return (
        f"{amount.heading.lower()} {both} ({signed if change.ratio is None else _percent(change)})"
    )
