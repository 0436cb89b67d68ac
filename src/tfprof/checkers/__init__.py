"""CHECKERS: what to look for in a profile when nobody knows yet what to ask.

    advise(profile) ──► Advice    a section a checker: its reports, in the order of the table
                                  notes: what a checker missed

A checker is a row of the table and a module with the function `check`. Its options are given as
text, as they stand in option dictionaries; those not given have the numbers of the table.
"""

from __future__ import annotations

from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, cast

from tfprof.errors import UsageError, nearest
from tfprof.foundation.lazy_dataclasses import dataclass, field
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.checkers.findings import Findings
    from tfprof.model import Note, Profile

_CODE = VIEWS["code"]


@dataclass(frozen=True)
class CheckerOption:
    """A number that a checker goes by; a whole one where its default is."""

    name: str
    default: float
    help: str
    least: int = 0

    def parse(self, checker: str, text: object) -> float:
        """The number written as *text*; raises UsageError where it is none, or too small."""
        kind = type(self.default)
        try:
            number = kind(str(text))
        except ValueError:
            number = None
        if number is None or not self.least <= number < inf:
            what = "whole number" if kind is int else "number"
            raise UsageError(f"{checker}: {self.name} takes a {what} from {self.least}, not {text}")
        return number


@dataclass(frozen=True)
class Checker:
    """A row of the table; the module `tfprof.checkers.<module>` has the function `check`."""

    name: str
    help: str
    module: str | None  # None: the name is accepted, and that is all; it has no section
    options: Mapping[str, CheckerOption] = field(default_factory=dict)

    def parse(self, given: Mapping[str, str]) -> dict[str, float]:
        """Every option of this checker, as *given* or as in the table; raises UsageError."""
        for name in given:
            if name not in self.options:
                known = f"there are: {', '.join(self.options)}" if self.options else "it has none"
                near = nearest(name, list(self.options))
                raise UsageError(f"{self.name} has no option {name!r}{near} ({known})")
        return {
            name: option.parse(self.name, given[name]) if name in given else option.default
            for name, option in self.options.items()
        }

    def run(self, profile: Profile, options: Mapping[str, float]) -> Findings:
        """What this checker finds in *profile*."""
        module = import_module(f"tfprof.checkers.{self.module}")
        return cast("Findings", module.check(profile, **options))


def _named(*options: CheckerOption) -> dict[str, CheckerOption]:
    return {option.name: option for option in options}


CHECKERS: dict[str, Checker] = {
    checker.name: checker
    for checker in (
        Checker(
            "AcceleratorUtilizationChecker",
            "how much of the time between its first start and its last end an accelerator works",
            "accelerator_utilization",
            _named(
                CheckerOption("min_utilization", 0.5, "a lower share of the time is called low")
            ),
        ),
        Checker(
            "OperationChecker",
            "operations with a faster form: batch normalization that is not fused, NHWC on a GPU",
            "operation",
        ),
        Checker(
            "ExpensiveOperationChecker",
            "the operation types, graph nodes and lines of code that take the most time",
            "expensive_operation",
            _named(
                CheckerOption("top", 3, "how many of each, and of the lines below a line", least=1),
                CheckerOption("min_op_micros", 1, "an operation type and all after it take this"),
                CheckerOption("min_node_micros", 100, "a graph node and all below it take this"),
                CheckerOption("min_code_micros", 1000, "a line and all it calls take this"),
                CheckerOption("code_levels", 4, "how deep to go where lines call others", least=1),
            ),
        ),
        Checker(
            "JobChecker",
            "nothing: option dictionaries name it, but what it looked at was never published",
            None,
        ),
    )
}


@dataclass(frozen=True)
class Advice:
    """What the checkers say."""

    sections: Mapping[str, tuple[str, ...]]  # the reports of each checker that ran
    notes: tuple[Note, ...] = ()


def advise(profile: Profile, checkers: Mapping[str, Mapping[str, str]] | None = None) -> Advice:
    """What these checkers, each with its options, say of *profile*; None is all of them.

    Raises UsageError for a checker or an option there is not, whatever the profile.
    """
    chosen = _chosen({name: {} for name in CHECKERS} if checkers is None else checkers)
    # The original draws all views before anything else, so what one cannot draw is told first,
    # whichever checkers were named.
    notes = [*_CODE.draw(profile).notes] if profile.has_traces else []
    sections: dict[str, tuple[str, ...]] = {}
    for checker, options in chosen:
        found = checker.run(profile, options)
        sections[checker.name] = found.reports
        notes += found.notes
    return Advice(sections, tuple(notes))


def _chosen(given: Mapping[str, Mapping[str, str]]) -> list[tuple[Checker, dict[str, float]]]:
    """The checkers that run, with their options, in the order of the table (Q15)."""
    for name in given:
        if name not in CHECKERS:
            known = ", ".join(CHECKERS)
            near = nearest(name, list(CHECKERS))
            raise UsageError(f"there is no checker {name!r}{near} (there are: {known})")
    parsed = {name: CHECKERS[name].parse(options) for name, options in given.items()}
    return [
        (checker, parsed[name])
        for name, checker in CHECKERS.items()
        if name in parsed and checker.module
    ]
