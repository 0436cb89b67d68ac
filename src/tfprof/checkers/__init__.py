"""CHECKERS: looks for common problems in a profile, one row per checker.

    advise(profile) ──► Advice    one section per checker: its reports, in the order of the table
                                  notes: what a checker could not use

A checker is a row of the table and a module with the function `check`. Options are text, as in
option dictionaries; the table has the defaults.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from tfprof.errors import UsageError, check_known
from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Note, Profile

_CODE = VIEWS["code"]


class Findings(NamedTuple):
    """What one checker returns: reports of one or more lines, and notes on what it lacked."""

    reports: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class CheckerOption:
    """A number; an integer if its default is one."""

    name: str
    default: float
    help: str
    least: int = 0

    def parse(self, checker: str, text: object) -> float:
        """The number written as *text*; raises UsageError if it is not a number, or too small."""
        kind = type(self.default)
        try:
            number = kind(str(text))
        except ValueError:
            number = None
        if number is None or not self.least <= number < inf:
            what = "whole number" if kind is int else "number"
            raise UsageError(f"{checker}: {self.name} takes a {what} >= {self.least}, not {text}")
        return number


class Checker:
    """A row of the table; the module `tfprof.checkers.<module>` has the function `check`."""

    def __init__(self, name: str, module: str | None, help: str, *options: CheckerOption) -> None:  # noqa: A002
        self.name, self.help = name, help
        self.module = module  # None: accepted, but it does nothing and has no section
        self.options = {option.name: option for option in options}

    def parse(self, texts: Mapping[str, str]) -> dict[str, float]:
        """Every option of this checker, from *texts* or the table; raises UsageError."""
        for name in texts:
            if not self.options:
                raise UsageError(f"{self.name} has no option {name!r} (it has none)")
            check_known(f"{self.name} has no option", name, self.options)
        return {
            name: option.parse(self.name, texts[name]) if name in texts else option.default
            for name, option in self.options.items()
        }


# fmt: off
_CHECKERS = (
    Checker(
        "AcceleratorUtilizationChecker", "accelerator_utilization",
        "the share of time that an accelerator is busy, from its first start to its last end",
        CheckerOption("min_utilization", 0.5, "a lower share is reported as low"),
    ),
    Checker(
        "OperationChecker", "operation",
        "operations with a faster form: batch normalization that is not fused, NHWC on a GPU",
    ),
    Checker(
        "ExpensiveOperationChecker", "expensive_operation",
        "the operation types, graph nodes and lines of code that take the most time",
        CheckerOption("top", 3, "how many of each, and of the lines below a line", least=1),
        CheckerOption("min_op_micros", 1, "an operation type and all after it take this"),
        CheckerOption("min_node_micros", 100, "a graph node and all below it take this"),
        CheckerOption("min_code_micros", 1000, "a line and all it calls take this"),
        CheckerOption("code_levels", 4, "how many levels of calls to report", least=1),
    ),
    Checker("JobChecker", None,
            "nothing: option dictionaries name it, but what it checked was never published"),
)
# fmt: on
CHECKERS: dict[str, Checker] = {checker.name: checker for checker in _CHECKERS}


@dataclass(frozen=True)
class Advice:
    """The findings of all checkers."""

    sections: Mapping[str, tuple[str, ...]]  # the reports of each checker that ran
    notes: tuple[Note, ...] = ()


def advise(profile: Profile, checkers: Mapping[str, Mapping[str, str]] | None = None) -> Advice:
    """The advice of these checkers, each with its options; None: of all. Raises UsageError."""
    texts = {name: {} for name in CHECKERS} if checkers is None else checkers
    for name in texts:
        check_known("there is no checker", name, CHECKERS)
    parsed = {name: CHECKERS[name].parse(options) for name, options in texts.items()}
    # The original draws all views before anything else, so notes on these come first, whichever
    # checkers run.
    notes = [*_CODE.draw(profile).notes] if profile.has_traces else []
    sections: dict[str, tuple[str, ...]] = {}
    for name, checker in CHECKERS.items():  # in the order of the table (Q15)
        if name in parsed and checker.module:
            check = load_function(f"tfprof.checkers.{checker.module}:check")
            findings: Findings = check(profile, **parsed[name])
            sections[name] = findings.reports
            notes += findings.notes
    return Advice(sections, tuple(notes))
