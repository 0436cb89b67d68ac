"""Which runs a ProfileContext traces and which it dumps.

listed      steps that the program named, and requests for the next run
chosen      without listed steps, after a warm-up: every new set of fetches, and some runs at
            random while less than half of the graph has run
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Request = Literal["trace", "capture", "dump"]

WARM_UP: Final = 10
MOST_TRACED: Final = 100

_ENOUGH_COVERAGE: Final = 0.5
_TIMES_IN_ELEVEN: Final = 2
_SEED: Final = 111  # the original's, so that the same runs are traced


class Due(NamedTuple):
    """What to do with one run."""

    step: int
    trace: bool
    capture: bool
    dump: bool


class StepPlan:
    """Listed steps, pending requests, and the automatic choice of steps; not thread-safe."""

    def __init__(
        self, trace_steps: Iterable[int], dump_steps: Iterable[int], *, chooses: bool
    ) -> None:
        self.listed = set(trace_steps)  # the steps to trace
        self._dumps = set(dump_steps)
        self._chooses = chooses
        self._traced = 0
        self._fetched: set[str] = set()
        self._random = Random(_SEED)  # noqa: S311 - nothing secret
        self.requests: set[Request] = set()  # for the next run

    def due(self, step: int, fetches: Callable[[], str], coverage: Callable[[], float]) -> Due:
        """What to do with this run; consumes pending requests. *coverage*: the graph's so far."""
        asked = self.requests.copy()
        self.requests -= asked  # a request that another thread makes now is for the run after
        trace = "trace" in asked or step in self.listed or self._chosen(step, fetches, coverage)
        self._traced += trace
        return Due(step, trace, "capture" in asked, "dump" in asked or step in self._dumps)

    def _chosen(self, step: int, fetches: Callable[[], str], coverage: Callable[[], float]) -> bool:
        if not self._chooses or step <= WARM_UP or self._traced > MOST_TRACED:
            return False
        names = fetches()
        if names not in self._fetched:
            self._fetched.add(names)
            return True
        return (
            step < MOST_TRACED
            and coverage() < _ENOUGH_COVERAGE
            and self._random.randint(0, 10) < _TIMES_IN_ELEVEN
        )
