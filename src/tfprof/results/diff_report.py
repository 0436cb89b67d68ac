"""DiffReport: what changed between two profiles, as text or data.

    name      status   base_params  new_params  difference_params  ratio_params
    _TFProf…  changed           24          30                  6          1.25
      w       changed           12          18                  6           1.5
      b       removed           12           0                -12           0.0
      c       added              0          12                 12          None

Numbers are totals, in op view those of a type. The difference of numbers that do not count
everything is marked: nobody knows what it is.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.compare.diff import STATUS, lacks_runs, whole_model
from tfprof.compare.hidden_changes import hidden_changes
from tfprof.compare.noise import noise, noise_notes
from tfprof.foundation import units
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.model import Note, own_notes
from tfprof.results.diff_sentences import (
    FOLDED_AFTER,
    MARKS,
    by_side,
    difference_heading,
    match_counts,
    matching_sentence,
)
from tfprof.results.report_table import query_options
from tfprof.results.result import Result
from tfprof.results.table import Column, Hidden, Table, incomplete_column
from tfprof.tables.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tfprof.compare.diff import Diff
    from tfprof.compare.resample import Intervals

SCHEMA: Final = "tfprof.diff/1"
_USUAL: Final = ("float_ops", "micros")  # numbers of a headline, selected or not
_QUICK: Final = 20_000  # nodes that are counted for a headline alone
_ROWS: Final = {"op": "operation type", "code": "line of code"}


@dataclass(frozen=True, eq=False, repr=False)
class DiffReport(Result):
    """The rows that changed, with the numbers of both sides."""

    diff: Diff

    def __len__(self) -> int:
        return len(self.diff)

    @cached_property
    def totals(self) -> dict[str, dict[str, Any]]:
        """The total of each number: base, new, difference, ratio, and whether all is counted."""
        diff, totals = self.diff, {}
        for metric in diff.metrics:
            lower = [bool(column[0]) for column in diff.lower_bounds(metric)]
            numbers = zip(diff.total(metric), lower, strict=True)
            base, new = (int(column[0]) or (None if low else 0) for column, low in numbers)
            totals[_name(metric)] = _total(base, new, lower)
        return totals

    @cached_property
    def noise(self) -> dict[str, Intervals]:
        """The intervals of each selected time over the rows; none if noise is unknown."""
        return noise(self.diff)

    @cached_property
    def headline(self) -> str:
        """One line on the whole model: each total on both sides, and how much it changed."""
        selected, whole = self.diff.metrics, self.whole.totals
        others = [name for name in _USUAL if name not in selected and name in whole]
        others = [name for name in others if whole[name]["base"] or whole[name]["new"]]
        texts = [*map(self._headline, selected), self._parameters, *map(self._headline, others)]
        totals = ", ".join(filter(None, texts))
        return totals if len(self) > 1 or "→" in totals else f"No differences: {totals}"

    @cached_property
    def whole(self) -> DiffReport:
        """The difference of the whole model, whatever rows are shown: selected numbers first."""
        diff, sides = self.diff, (self.diff.base, self.diff.new)
        others = [metric for metric in _USUAL if metric not in diff.metrics]
        others = [metric for metric in others if not any(lacks_runs(s, metric) for s in sides)]
        if "float_ops" in others and not self._is_quick:
            others.remove("float_ops")
        return DiffReport(whole_model(diff, (*diff.metrics, *others)))

    @property
    def _is_quick(self) -> bool:
        return max(len(side.profile) for side in (self.diff.base, self.diff.new)) <= _QUICK

    @property
    def _parameters(self) -> str:
        """What the headline says about the parameters of the model, counted as in its summary."""
        if "params" in self.diff.metrics or not self._is_quick:
            return ""
        from tfprof.summary.model_nodes import model_nodes  # noqa: PLC0415 - of small models
        from tfprof.summary.overview import model_parameters  # noqa: PLC0415

        profiles = (self.diff.base_profile, self.diff.source)
        held = [model_parameters(each, model_nodes(each), {}) for each in profiles]
        lower = [bool(each.unknown.size) for each in held]
        counts = [int(each.elements.sum()) for each in held]
        base, new = (n or (None if low else 0) for n, low in zip(counts, lower, strict=True))
        if not any(counts):
            return ""
        return _total_text("parameters", units.count, _total(base, new, lower), lower)

    def _headline(self, metric: str) -> str:
        whole, name = self.whole, _name(metric)
        lower = [bool(column[0]) for column in whole.diff.lower_bounds(metric)]
        interval = self._interval(metric)
        return _total_text(name, _unit(metric), whole.totals[name], lower, interval)

    def _interval(self, metric: str) -> str:
        """What the headline says about the noise of a time."""
        known = self.noise if metric in self.noise else self.whole.noise
        if metric not in known:
            return ""
        low, high, stands_out, *_ = known[metric]
        return (
            f": {_between(low[0], high[0], _unit(metric))}" if stands_out[0] else ": may be noise"
        )

    def make_table(self) -> Table:
        """The rows as a Table, from which data formats are written."""
        diff = self.diff
        columns = [*self._placing(), *(c for metric in diff.metrics for c in self._numbers(metric))]
        if any(column.lower is not None for column in columns):
            columns.append(incomplete_column(columns))
        return Table(
            "",
            SCHEMA,
            tuple(columns),
            len(diff),
            tree="" if diff.new.view.chain else "depth",
            facts=self._facts(),
            notes=self.notes,
            hiding=lambda: Hidden(*hidden_changes(diff)),
            caveats=tuple(str(note) for note in self.own_notes),
            headline=(self.headline,),
            marks="status",
            folded_after=FOLDED_AFTER,
        )

    def _placing(self) -> Iterator[Column]:
        tree, status, old = self.diff.tree, self.diff.status, self.diff.old_name

        def parents(rows: slice) -> list[int | None]:
            return [None if row < 0 else row for row in tree.parent[rows].tolist()]

        yield Column("row", "number", range(len(tree)), placing=True)
        yield Column("parent", "number", parents, placing=True)
        yield Column("depth", "number", tree.depth, placing=True)
        heading = _ROWS.get(self.diff.view, "node name")
        yield Column("name", "text", self.diff.label, heading=heading, placing=True)
        marks = np.array([MARKS.get(name, "") for name in STATUS])[status].tolist()
        names = np.array(STATUS)[status].tolist()
        yield Column("status", "text", names, texts=marks, placing=True)
        if old.length.any():
            yield Column("base_name", "text", old, heading="name in base", fits=False)

    def _numbers(self, metric: str) -> Iterator[Column]:
        diff, name, unit = self.diff, _name(metric), _unit(metric)
        (base, new), (own_base, own_new) = diff.total(metric), diff.own(metric)
        lower_base, lower_new = diff.lower_bounds(metric)
        bounds: tuple[Any, Any] = lower_base, lower_new
        unsure: Any = lower_base | lower_new
        if not unsure.any():
            bounds, unsure = (None, None), None

        # Nobody knows what a lower bound of 0 is, nor what it differs by.
        unknown = (lower_base & (base == 0)) | (lower_new & (new == 0))

        def ratios(rows: slice) -> list[float | None]:
            pairs = zip(base[rows].tolist(), new[rows].tolist(), unknown[rows], strict=True)
            return [
                after / before if before and not lacks else None for before, after, lacks in pairs
            ]

        def differences(rows: slice) -> list[int | None]:
            pairs = zip(difference[rows].tolist(), unknown[rows], strict=True)
            return [None if lacks else number for number, lacks in pairs]

        change, yields = partial(units.signed, unit=unit), metric != diff.metrics[0]
        for side, total, lower in zip(("base", "new"), (base, new), bounds, strict=True):
            marks: dict[str, Any] = {"lower": lower, "yields": yields}
            yield Column(f"{side}_{name}", "number", total, unit, f"{side} {name}", **marks)
        heading = difference_heading(name, len(diff.metrics))
        difference, noise, texts = new - base, self.noise.get(metric), None
        if noise:
            marked = zip(map(change, difference.tolist()), noise.stands_out.tolist(), strict=True)
            texts = [f"{text} *" if stands_out else f"~{text}" for text, stands_out in marked]
        yield Column(
            f"difference_{name}", "number", differences, change, heading, texts, unsure=unsure
        )
        ratio: dict[str, Any] = {"unsure": unsure, "absent": ""}
        yield Column(f"ratio_{name}", "real", ratios, units.change, "change", **ratio)
        if noise:
            ends = zip(noise.low.tolist(), noise.high.tolist(), strict=True)
            texts = [_between(low, high, unit) for low, high in ends]
            yield Column(
                f"low_{name}", "real", noise.low, heading="interval", texts=texts, yields=True
            )
            yield Column(f"high_{name}", "real", noise.high, placing=True)
            yield Column(f"stands_out_{name}", "flag", noise.stands_out, placing=True)
        own = own_new - own_base
        yield Column(f"own_difference_{name}", "number", own, change, placing=True, unsure=unsure)

    def _facts(self) -> dict[str, Any]:
        diff = self.diff
        sides = {"base": diff.base_profile, "new": diff.new.profile}
        return {
            "view": diff.view,
            "query": query_options(diff.query),
            "steps": {side: [one.number for one in p.steps] for side, p in sides.items()},
            "totals": self.totals,
            "matches": match_counts(diff.matches),
        }

    @property
    def coverage(self) -> tuple[Note, ...]:
        """What the numbers of each side leave out."""
        sides = (self.diff.base, self.diff.new)
        return own_notes(by_side(*([str(side.flops)] if side.flops else [] for side in sides)))

    @cached_property
    def own_notes(self) -> tuple[Note, ...]:
        """Notes about the difference, not about what was read."""
        sides = ([str(note) for note in side.notes] for side in (self.diff.base, self.diff.new))
        ours = [*self._unsure(), *noise_notes(self.diff, self.noise)]
        if self.noise:
            ours.append("differences with ~ may be noise; those with * stand out from it")
        said = (*by_side(*sides), *ours, matching_sentence(self.diff.matches))
        return (*self.coverage, *own_notes(said))

    def _unsure(self) -> Iterator[str]:
        diff, sides = self.diff, {"base": self.diff.base, "new": self.diff.new}
        for side, answer in sides.items():
            unknown = [_name(metric) for metric in diff.metrics if lacks_runs(answer, metric)]
            if unknown:
                yield f"{side} has no runs: its {' and '.join(unknown)} are unknown"
        of_graph = [metric for metric in diff.metrics if not lacks_runs(diff.base, metric)]
        of_graph = [_name(metric) for metric in of_graph if not lacks_runs(diff.new, metric)]
        names = [name for name in of_graph if self.totals[name]["incomplete"]]
        if names:
            counted = f"not all {' and '.join(names)} are counted"
            yield f"{counted}: a difference with ? is that of the counted part"

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was missing, skipped or repaired on either side, and about the difference."""
        sides = (self.diff.base_profile, self.diff.new.profile)
        read = by_side(*([str(note) for note in side.notes] for side in sides))
        return (*own_notes(read), *self.own_notes)

    def __repr__(self) -> str:
        rows = units.plural(len(self) - 1, "row")
        return f"<DiffReport of {self.diff.view} view: {rows}; {self.headline}>"


def _name(metric: str) -> str:
    """The name of a number in columns."""
    return "runs" if metric == "occurrence" else metric


def _between(low: float, high: float, unit: units.Format) -> str:
    """An interval of differences."""
    return f"{units.signed(round(low), unit)}…{units.signed(round(high), unit)}"


def _unit(metric: str) -> units.Format:
    unit = FIELDS[metric].unit if metric in FIELDS else None
    return unit or units.count


def _total(base: int | None, new: int | None, lower: Sequence[bool]) -> dict[str, Any]:
    """A total on both sides, its change, and whether all is counted."""
    return {
        "base": base,
        "new": new,
        "difference": new - base if base is not None and new is not None else None,
        "ratio": new / base if new is not None and base else None,
        "incomplete": any(lower),
    }


def _total_text(
    name: str,
    unit: units.Format,
    total: Mapping[str, Any],
    lower: Sequence[bool],
    interval: str = "",
) -> str:
    """A total as the headline has it."""
    texts = []
    for side, is_lower in zip(("base", "new"), lower, strict=True):
        text = units.UNKNOWN if total[side] is None else unit(total[side])
        texts.append(units.at_least(text) if is_lower else text)
    if total["base"] is total["new"] is None:
        return f"{name} {units.UNKNOWN}"
    if total["difference"] == 0:
        counted = ", as far as it is counted" if total["incomplete"] else ""
        return f"{name} {texts[1]} (unchanged{counted})"
    share = "new" if total["ratio"] is None else units.change(total["ratio"])
    share = units.unsure(share) if total["incomplete"] else share
    share = units.UNKNOWN if total["difference"] is None else share
    return f"{name} {' → '.join(texts)} ({share}{interval})"
