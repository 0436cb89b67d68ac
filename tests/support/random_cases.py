"""Random differential cases: the same number and view always give the same case.

    @batches(2_000, 200, 100)               numbers of 2,000 cases, or of 200 in a sample
    def test_ours_is_theirs(numbers):
        agree(numbers, lambda number: make_case(number, "scope"), differences)

The commit chooses the numbers; `sampling` says how. A case that fails is printed small enough to
paste into `fixed_cases.py`, where it stays.

Nothing drawn here ends the original's process. Two things it accepts in silence are drawn now and
then and can be told from the options: an unknown `order_by` and an unknown `step`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

import sampling
from case import Case, survivable
from random_graphs import frame_names, make_graph, make_names, make_op_log
from random_options import make_options
from random_runs import make_steps
from random_values import chance
from shrink import shrink

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Test = TypeVar("Test", bound="Callable[..., object]")

__all__ = ["Case", "agree", "batches", "make_case", "shrink", "survivable"]


def batches(total: int, count: int, size: int) -> Callable[[Test], Test]:
    """One test per *size* cases; *total* cases in a whole run, *count* in a sample."""
    numbers = sampling.numbers(total, count)
    parts = [numbers[first : first + size] for first in range(0, len(numbers), size)]
    names = [f"batch from {part[0]}" for part in parts]

    def marked(test: Test) -> Test:
        pytest.mark.parametrize("numbers", parts, ids=names)(test)
        pytest.mark.sampled(test)
        return test

    return marked


def agree(
    numbers: Sequence[int],
    make: Callable[[int], Case],
    differences: Callable[[Case], list[str] | None],
) -> None:
    """Fail at the first case with differences; print it small, and how to see it again."""
    for number in numbers:
        case = make(number)
        if differences(case):
            small = shrink(case, lambda candidate: bool(differences(candidate)))
            found = "\n".join(differences(small) or [])
            pytest.fail(
                f"random case {number} differs; pytest {sampling.again()} tries it again.\n"
                f"Mend it, and keep it for good in fixed_cases.py:\n{small.paste()}\n{found}",
                pytrace=False,
            )


def make_case(number: int, view: str) -> Case:
    """A model, its runs and one question for this view."""
    rng = random.Random(f"{view} {number}")  # noqa: S311  repeatable, not secret
    names = make_names(rng)
    graph = make_graph(rng, names)
    op_log = make_op_log(rng, names, traces=chance(rng, 0.95 if view == "code" else 0.3))
    steps = make_steps(rng, names)
    if chance(rng, 0.04):
        op_log.Clear()
    options = make_options(
        rng,
        view,
        _row_names(view, graph, op_log),
        _types(graph, op_log, steps),
        [number for number, _ in steps],
    )
    case = _case(view, graph, op_log, steps, options)
    if not survivable(case):
        for entry in op_log.log_entries:
            entry.ClearField("code_def")
        case = _case(view, graph, op_log, steps, options)
    return case


def _case(
    view: str, graph: Any, op_log: Any, steps: Sequence[tuple[int, Any]], options: dict[str, Any]
) -> Case:
    return Case(
        view,
        graph.SerializeToString(deterministic=True),
        op_log.SerializeToString(deterministic=True),
        tuple((number, run.SerializeToString(deterministic=True)) for number, run in steps),
        options,
    )


def _row_names(view: str, graph: Any, op_log: Any) -> list[str]:
    """Names of the rows the view will have, for regexes to hit."""
    if view == "op":
        return [node.op for node in graph.node]
    if view == "code":
        return frame_names(op_log)
    names = [node.name for node in graph.node]
    if view == "scope":
        names += [name.rpartition("/")[0] for name in names]
    return names


def _types(graph: Any, op_log: Any, steps: Sequence[tuple[int, Any]]) -> list[str]:
    """Types that nodes may have: ops, lower-case devices, types of the op log."""
    types = [node.op for node in graph.node]
    types += [text for entry in op_log.log_entries for text in entry.types]
    types += [device.device.lower() for _, run in steps for device in run.step_stats.dev_stats]
    return types
