"""Views of a fleet against reports of single workers, and against NumPy.

sum          what one profile gives whose only step holds all worker steps, with every option
all others   NumPy or Python over the totals that single workers report for each step
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sampling
from random_fleets import RandomFleet
from tfprof.errors import UsageError
from tfprof.tables.fields import METRICS
from tfprof.tables.statistics import STATS
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfprof.results.fleet import Fleet
    from tfprof.results.loaded import Loaded
    from tfprof.results.report import Report

OF_NUMPY: dict[str, Callable[[list[int]], float]] = {
    "sum": lambda numbers: int(np.sum(np.array(numbers))),
    # np.mean adds up in float64, which loses the last digit of sums over 2**53.
    "mean": lambda numbers: sum(numbers) / len(numbers),
    "min": min,
    "max": max,
    "p50": lambda numbers: np.percentile(numbers, 50),
    "p90": lambda numbers: np.percentile(numbers, 90),
    "p99": lambda numbers: np.percentile(numbers, 99),
}
Row = tuple[str, ...]
LEAST = -(2**63)


def test_every_statistic_has_an_expectation() -> None:
    assert OF_NUMPY.keys() == STATS.keys()


@pytest.mark.sampled
@pytest.mark.parametrize("number", sampling.numbers(100, 3))
def test_sums_are_those_of_one_profile_with_all_runs(number: int, tmp_path: Path) -> None:
    made = RandomFleet(number, tmp_path / "fleet")
    for view in VIEWS:
        options = made.options(view)
        only = made.rng.choice([-1, -1, *made.fleet.steps])
        without_rules = [name for name in options["select"] if name != "float_ops"]
        asked = {**options, "select": without_rules or ["micros"]}
        # Sums may exceed 64 bits; like the original, a report of one profile hides such rows.
        asked |= {n: LEAST for n, v in options.items() if n.startswith("min_") and v <= 0}
        asked["min_float_ops"] = LEAST
        if asked["order_by"] == "float_ops":
            asked["order_by"] = "micros"
        merged = made.merged(None if only < 0 else only)
        expected = outcome(merged, view, {**asked, "step": 0})
        of_fleet = outcome(made.fleet, view, {**asked, "step": only, "stat": "sum"})
        assert of_fleet == expected, (view, options)


def outcome(loaded: Loaded | Fleet, view: str, options: dict[str, Any]) -> Any:
    try:
        return loaded.ask(view, options).to_dict()
    except UsageError as problem:
        return str(problem)


@pytest.mark.sampled
@pytest.mark.parametrize("number", sampling.numbers(100, 3))
def test_every_statistic_is_that_of_numpy(number: int, tmp_path: Path) -> None:
    made = RandomFleet(number, tmp_path / "fleet")
    ops = sorted({node.op for node in made.graph.node if node.op})
    for view in VIEWS:
        options = {
            "select": list(METRICS),
            "order_by": "name",
            "flops": "log",
            **{f"min_{metric}": LEAST for metric in METRICS},
            "max_depth": made.rng.choice([3 if view != "op" else 1000, 1000]),
            "account_displayed_op_only": made.rng.random() < 0.3,
            "account_type_regexes": made.rng.choice([[".*"], [made.rng.choice([*ops, "x"])]]),
        }
        if not VIEWS[view].recounts:
            del options["account_displayed_op_only"]
        step = made.rng.choice([-1, -1, *made.fleet.steps])
        samples = [(of, at) for of, at in made.samples if step in (-1, at)]
        try:
            single = [numbers(of.ask(view, {**options, "step": at})) for of, at in samples]
        except UsageError:
            assert view == "code"
            continue  # without call stacks
        for stat in STATS:
            report = made.fleet.ask(view, {**options, "step": step, "stat": stat})
            for row, columns in numbers(report).items():
                is_in_all = all(row in sample for sample in single)
                for name, value in columns.items():
                    if view == "op" and name.startswith("total") and not is_in_all:
                        continue  # it counts the rows behind it
                    each = [sample[row][name] if row in sample else 0 for sample in single]
                    if name.endswith("params"):  # the same in every step
                        assert value in each
                        continue
                    expected = OF_NUMPY[stat](each)
                    assert value == expected, (view, row, name, stat, options)
                    assert isinstance(value, int) == STATS[stat].whole


def numbers(report: Report) -> dict[Row, dict[str, Any]]:
    """The numbers of each row, by the names from the root down to it."""
    paths: list[Row] = []
    result = {}
    for row in report.rows:
        above = () if row.parent is None or report.view == "op" else paths[row.parent]
        paths.append((*above, row.name))
        columns = {name: getattr(row, name) for name in report.columns}
        result[paths[-1]] = {
            name: value
            for name, value in columns.items()
            if name.startswith(("own_", "total_")) and not name.endswith("defined")
        }
    return result
