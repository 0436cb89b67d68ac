"""What holds for the difference of any two profiles, in every view, whatever the options.

A diff of a profile with itself is empty; turned around, all signs turn; totals differ by the sum of
the differences; each number is that of a report on one side alone; rows are aligned by name.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pytest

import ours
import sampling
from case import VIEWS, GraphDef, OpLogProto, RunMetadata
from oracle import UNRESTRICTED
from random_cases import make_case
from random_values import amount, chance
from tfprof.compare.diff import STATUS, diff_profiles
from tfprof.errors import UsageError
from tfprof.query.answer import answer
from tfprof.tables.eras import ERAS
from tfprof.tables.fields import METRICS, ORDERS
from tfprof.views import VIEWS as ROWS_OF_VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from case import Case
    from tfprof.compare.diff import Diff
    from tfprof.model import Profile
    from tfprof.query.counted import Answer

CASES, SAMPLE = 60, 4  # of a view
OPEN = {**UNRESTRICTED, "select": list(METRICS), "min_occurrence": 0}
del OPEN["output"]


# Calls a, b, b, a beside b, a, a, b: what is known of the one was once that of the other.
FOUND: Final = {"code": (1_510_599_400_016,)}


@cache
def pairs(view: str) -> list[tuple[Profile, Profile, dict[str, Any]]]:
    """(base, new, options) of random cases: a model and what became of it, or two models."""
    return [*_pairs(view)]


def _pairs(view: str) -> Iterator[tuple[Profile, Profile, dict[str, Any]]]:
    for number in (*FOUND.get(view, ()), *sampling.numbers(CASES, SAMPLE)):
        rng = random.Random(f"diff {view} {number}")  # noqa: S311 - repeatable, not secret
        case = make_case(number, view)
        other = make_case(number + 1, view) if chance(rng, 0.2) else changed(rng, case)
        profiles = [ours.load(one) for one in (case, other)]
        rng.shuffle(profiles)
        yield profiles[0], profiles[1], options_of(rng, case)


def changed(rng: random.Random, case: Case) -> Case:
    """The model after somebody worked on it: nodes come, go and change; runs take other times."""
    graph, op_log = GraphDef.FromString(case.graph), OpLogProto.FromString(case.op_log)
    nodes = [node for node in graph.node if not chance(rng, 0.15)]
    for node in nodes:
        if chance(rng, 0.1):
            node.op = rng.choice(("MatMul", "VariableV2", "Relu"))
        if chance(rng, 0.15) and node.attr:
            del node.attr[rng.choice(sorted(node.attr))]
        if chance(rng, 0.1) and node.input:
            del node.input[rng.randrange(len(node.input))]
    del graph.node[:]
    graph.node.extend(nodes)
    for at in range(rng.choice((0, 0, 1, 3))):
        graph.node.add(name=f"{rng.choice('abc')}/more{at}", op="Conv2D")
    kept = [entry for entry in op_log.log_entries if not chance(rng, 0.1)]
    for entry in kept:
        if chance(rng, 0.2):
            entry.float_ops = amount(rng, 0.1)
    del op_log.log_entries[:]
    op_log.log_entries.extend(kept)
    return replace(
        case,
        graph=graph.SerializeToString(deterministic=True),
        op_log=op_log.SerializeToString(deterministic=True),
        steps=tuple((step, _other_times(rng, run)) for step, run in case.steps),
    )


def _other_times(rng: random.Random, data: bytes) -> bytes:
    run = RunMetadata.FromString(data)
    for device in run.step_stats.dev_stats:
        for stats in device.node_stats:
            if chance(rng, 0.3):
                stats.op_end_rel_micros = amount(rng, 0.05)
    return bytes(run.SerializeToString(deterministic=True))


def options_of(rng: random.Random, case: Case) -> dict[str, Any]:
    """The options of a random case, in a random era; an unknown order is none."""
    options = {**case.options, "era": rng.choice(sorted(ERAS))}
    del options["output"]
    orders = [order for order in ORDERS if order != "occurrence" or ROWS_OF_VIEWS[case.view].groups]
    options["order_by"] = options["order_by"] if options["order_by"] in orders else "name"
    options["flops"] = rng.choice(("log", "all"))
    return options


def compared(base: Profile, new: Profile, view: str, options: dict[str, Any]) -> Diff | None:
    """The diff; None where a side cannot be asked, such as without the step."""
    try:
        return diff_profiles(base, new, view, options)
    except UsageError:
        return None


def numbers(diff: Diff) -> list[list[int]]:
    """Of each row the own and total values of every metric, base before new."""
    columns = [c for m in diff.metrics for pair in (diff.own(m), diff.total(m)) for c in pair]
    return [list(map(int, row)) for row in zip(*columns, strict=True)]


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_differs_from_itself(view: str) -> None:
    for _, profile, options in pairs(view):
        diff = compared(profile, profile, view, options)
        if diff is not None:
            assert len(diff) == 1
            assert not diff.all_rows.changed.any()
            assert {STATUS[row] for row in diff.all_rows.status} == {"same"}


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_equal_files_read_twice_do_not_differ(view: str) -> None:
    for number in sampling.numbers(CASES // 3, 1):
        case = make_case(number, view)
        diff = compared(ours.load(case), ours.load(case), view, OPEN)
        if diff is not None:
            assert len(diff) == 1
            assert not diff.all_rows.changed.any()


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_turned_around_all_signs_turn(view: str) -> None:
    """Rows may have other names and parents where nodes were renamed: there, nodes are compared."""
    for base, new, options in pairs(view):
        there, back = (compared(a, b, view, options) for a, b in ((base, new), (new, base)))
        assert (there is None) == (back is None)
        if there is None or back is None:
            continue
        assert there.metrics == back.metrics
        assert (there.matches.base_of_new == back.matches.new_of_base).all()
        whole = {m: int(there.difference(m)[0]) for m in there.metrics}
        if _keeps_rows(there) and _keeps_rows(back):
            assert _by_pair(there) == {
                (b, a): [n[at ^ 1] for at in range(len(n))] for (a, b), n in _by_pair(back).items()
            }
        if options == OPEN or _keeps_rows(there):
            assert whole == {m: _wrapped(-int(back.difference(m)[0])) for m in back.metrics}


def _keeps_rows(diff: Diff) -> bool:
    """Whether the base was answered in its own names and call stacks."""
    return diff.base.profile.nodes.name is diff.base_profile.nodes.name and (
        diff.view != "code" or diff.base.profile.stacks is diff.base_profile.stacks
    )


def _by_pair(diff: Diff) -> dict[tuple[int, int], list[int]]:
    """The numbers of each displayed row by its counted rows on both sides."""
    both = zip(diff.base_row.tolist(), diff.new_row.tolist(), strict=True)
    return dict(zip(both, numbers(diff), strict=True))


def _wrapped(value: int) -> int:
    """*value* as 64 bits hold it."""
    return (value + 2**63) % 2**64 - 2**63


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_totals_differ_by_the_sum_of_the_differences(view: str) -> None:
    for base, new, options in pairs(view):
        for asked in (options, OPEN):
            diff = compared(base, new, view, asked)
            if diff is None:
                continue
            every = diff.all_rows
            for metric in diff.metrics:
                before, after = every.own(metric)
                parts = [int(b) - int(a) for a, b in zip(before, after, strict=True)]
                assert int(every.difference(metric)[0]) == _wrapped(sum(parts))
                assert int(diff.difference(metric)[0]) == _wrapped(sum(parts))


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_each_number_is_that_of_a_report_of_one_side(view: str) -> None:
    for base, new, options in pairs(view):
        diff = compared(base, new, view, options)
        if diff is None:
            continue
        single = answer(new, view, diff.query)
        assert _displayed_numbers(single, diff.metrics) == _side(diff, diff.new, 1)
        if _keeps_rows(diff):
            single = answer(base, view, diff.query)
            assert _displayed_numbers(single, diff.metrics) == _side(diff, diff.base, 0)
        whole = compared(base, new, view, OPEN)
        assert whole is not None
        for metric in whole.metrics:
            for profile, column in zip((base, new), whole.total(metric), strict=True):
                assert int(answer(profile, view, whole.query).total(metric)[0]) == int(column[0])


def _displayed_numbers(single: Answer, metrics: tuple[str, ...]) -> dict[int, list[int]]:
    """What a report displays of each row of its drawing: own and total, in a list own twice."""
    columns = [c for m in metrics for c in (single.own(m), single.total(m))]
    rows = [list(map(int, row)) for row in zip(*columns, strict=True)]
    if single.view.chain:
        for row in rows[1:]:
            row[1::2] = row[::2]
    return dict(zip(single.row.tolist(), rows, strict=True))


def _side(diff: Diff, side: Answer, which: int) -> dict[int, list[int]]:
    """The numbers of one side of all rows that it displays, by row of its drawing."""
    every = diff.all_rows
    at = (every.base_row, every.new_row)[which]
    shown = set(side.counted_row.tolist())
    return {
        int(side.counted.row[row]): values[which::2]
        for row, values in zip(at.tolist(), numbers(every), strict=True)
        if row in shown
    }


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_rows_of_both_sides_are_one_tree(view: str) -> None:
    """Aligned by names one by one; each counted row of either side is there once."""
    for base, new, options in pairs(view):
        diff = compared(base, new, view, options)
        if diff is None:
            continue
        every, keys = diff.all_rows, [_keys(side) for side in (diff.base, diff.new)]
        rows = list(zip(every.base_row.tolist(), every.new_row.tolist(), strict=True))
        wanted = {key: [-1, -1] for side in keys for key in side}
        for which, side in enumerate(keys):
            for row, key in enumerate(side):
                wanted[key][which] = row
        assert sorted(rows) == sorted(map(tuple, wanted.values()))
        every.tree.check()
        diff.tree.check()
        if view != "op":
            place = [{row[which]: at for at, row in enumerate(rows)} for which in (0, 1)]
            for at, (old, now) in enumerate(rows[1:], 1):
                which, row = (1, now) if now >= 0 else (0, old)
                above = (diff.base, diff.new)[which].counted.tree.parent[row]
                assert every.tree.parent[at] == place[which][int(above)]


def _keys(side: Answer) -> list[tuple[bytes, ...]]:
    """What each counted row is the same by: its name, of a line of code also those above it."""
    labels, parent = side.drawing.label.tolist(), side.drawing.tree.parent.tolist()
    keys: list[tuple[bytes, ...]] = []
    for row, label in enumerate(labels):
        above = keys[parent[row]] if row and side.view.name == "code" else (b"",)
        keys.append((*above, label) if row else ())
    return [keys[row] for row in side.counted.row.tolist()]


@pytest.mark.sampled
@pytest.mark.parametrize("view", VIEWS)
def test_displayed_rows_changed_or_hold_rows_that_did(view: str) -> None:
    for base, new, options in pairs(view):
        diff = compared(base, new, view, options)
        if diff is None:
            continue
        every, shown = diff.all_rows, set(diff.row.tolist())
        displayed = [set(side.counted_row.tolist()) for side in (diff.base, diff.new)]
        changed_rows = set()
        for at, values in enumerate(numbers(every)):
            sides = (
                int(every.base_row[at]) in displayed[0],
                int(every.new_row[at]) in displayed[1],
            )
            if any(sides) and values[::2] != values[1::2]:
                changed_rows.add(at)
            if not any(sides):
                assert at not in shown
        assert changed_rows <= shown
        leaves = [int(diff.row[row]) for row in range(1, len(diff)) if diff.tree.is_leaf[row]]
        if view != "graph":  # there a row may hold others on one side alone
            assert set(leaves) <= changed_rows
        by = options["order_by"]
        if by in METRICS and by != "occurrence":
            sizes = [abs(int(value)) for value in diff.difference(by)]
            for row in range(len(diff)):
                below = [sizes[child] for child in diff.tree.children(row)]
                assert below == sorted(below, reverse=True)
