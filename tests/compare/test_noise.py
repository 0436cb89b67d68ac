"""Noise is not change: intervals hold, equal runs give no alarm, slowdowns are found.

Times are simulated, so that it is known what differs: rows of 20 µs to 20 ms, a standard deviation
of 3 % from step to step.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import draw
import sampling
import tfprof
from tfprof.compare.diff import diff_profiles
from tfprof.compare.noise import noise, noise_notes
from tfprof.compare.resample import LEAST, intervals

if TYPE_CHECKING:
    from tfprof.model import Profile

Times = np.ndarray[Any, np.dtype[np.float64]]

MEANS: Final = np.geomspace(20, 20_000, 30)[:, None]
SLOWER: Final = 15  # the row that is


def normal(rng: np.random.Generator, size: tuple[int, int]) -> Times:
    """The usual noise."""
    return 1 + 0.03 * rng.normal(size=size)


def heavy(rng: np.random.Generator, size: tuple[int, int]) -> Times:
    """Some steps take far longer: the variance of Student's t with 2 degrees is infinite."""
    return 1 + 0.03 * np.abs(rng.standard_t(2, size=size))


def together(rng: np.random.Generator, size: tuple[int, int]) -> Times:
    """A slow step is slow in all rows."""
    result: Times = normal(rng, (1, size[1])) * (1 + 0.01 * rng.normal(size=size))
    return result


def warming_up(rng: np.random.Generator, size: tuple[int, int]) -> Times:
    """The first steps take longer."""
    result: Times = normal(rng, size) * (1 + np.exp(-np.arange(size[1])))
    return result


def drifting(rng: np.random.Generator, size: tuple[int, int]) -> Times:
    """Half of each deviation stays in the next step."""
    noise = rng.normal(size=size)
    for step in range(1, size[1]):
        noise[:, step] = 0.5 * noise[:, step - 1] + np.sqrt(0.75) * noise[:, step]
    return 1 + 0.03 * noise


def measured(times: Any, rng: np.random.Generator, steps: int) -> Times:
    """The rows in whole microseconds, as runs record them."""
    result: Times = np.rint(MEANS * times(rng, (len(MEANS), steps)))
    return result


def alarms(draw_sides: Any, total: int) -> float:
    """The share of reports on equal runs in which a row stands out."""
    seeds = sampling.numbers(total, 40)
    found = 0
    for seed in seeds:
        base, new = draw_sides(np.random.default_rng(seed))
        found += bool(intervals(base, new).stands_out.any())
    return found / len(seeds)


def allowed(share: float) -> float:
    """A sample says little. Without any care, a report has an alarm in 3 of 4 cases."""
    return share if sampling.is_whole() else 0.25


@pytest.mark.sampled
@pytest.mark.parametrize("times", [normal, heavy])
def test_1000_resamplings_of_one_run_give_at_most_5_alarms_in_100(times: Any) -> None:
    def sides(rng: np.random.Generator) -> tuple[Times, Times]:
        run = measured(times, rng, 20)
        return run[:, rng.integers(0, 20, 20)], run[:, rng.integers(0, 20, 20)]

    assert alarms(sides, 1000) <= allowed(0.05)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("total", "times", "steps", "share"),
    [
        (1000, normal, (20, 20), 0.05),
        # Of 300 reports, so that a share of 3 % stays below the bound whatever the seed is.
        (300, heavy, (20, 20), 0.08), (300, together, (20, 20), 0.08),
        (300, warming_up, (20, 20), 0.08), (300, normal, (5, 5), 0.08),
        (300, heavy, (4, 9), 0.08), (300, drifting, (20, 20), 0.15),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)  # fmt: skip
def test_equal_runs_give_few_alarms(total: int, times: Any, steps: Any, share: float) -> None:
    found = alarms(lambda rng: tuple(measured(times, rng, count) for count in steps), total)
    assert found <= allowed(share)


@pytest.mark.sampled
def test_10_percent_of_one_row_is_found_in_3_percent_of_noise() -> None:
    seeds = sampling.numbers(200, 30)
    found = others = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        base, new = (measured(normal, rng, 20) for _ in range(2))
        new[SLOWER] = np.rint(new[SLOWER] * 1.1)
        stands_out = intervals(base, new).stands_out
        found += bool(stands_out[SLOWER])
        others += bool(np.delete(stands_out, SLOWER).any())
    assert found >= 0.95 * len(seeds)
    # As many reports as above are needed for 5 %; of 200, chance alone may give more than 10.
    assert others <= (0.08 * len(seeds) if sampling.is_whole() else 8)


@pytest.mark.sampled
@pytest.mark.parametrize("steps", [(2, 2), (3, 3), (2, 20), (20, 3)], ids=str)
def test_with_too_few_steps_nothing_stands_out(steps: tuple[int, int]) -> None:
    for seed in sampling.numbers(100, 10):
        rng = np.random.default_rng(seed)
        base, new = (measured(normal, rng, count) for count in steps)
        found = intervals(base, new * 3)
        assert not found.stands_out.any()
        assert (found.low < found.high).any()
        assert not found.drifts


@pytest.mark.sampled
@pytest.mark.parametrize("steps", [(2, 2), (3, 3), (5, 5), (4, 12), (20, 20)], ids=str)
def test_intervals_hold_the_difference_in_95_of_100_cases(steps: tuple[int, int]) -> None:
    for seed in sampling.numbers(20, 1):
        rng = np.random.default_rng(seed)
        base, new = (np.rint(1000 * normal(rng, (2000, count))) for count in steps)
        found = intervals(base, new + 200)
        held = ((found.low <= 200) & (found.high >= 200)).mean()
        assert 0.9 <= held <= 0.995
        # 1.96 standard errors to each side would be 2 · 1.96 · 30 · √(1/20 + 1/20) = 37.2 µs.
        if steps == (20, 20):
            assert 37 < np.median(found.high - found.low) < 47


def test_intervals_are_wider_where_steps_drift() -> None:
    rng = np.random.default_rng(sampling.seed())
    widths = []
    for times in (normal, drifting):
        found = intervals(*(np.rint(1000 * times(rng, (2000, 20))) for _ in range(2)))
        widths.append(np.median(found.high - found.low))
    # The mean of such steps has about three times the variance.
    assert 1.4 < widths[1] / widths[0] < 2


def test_strong_drift_leaves_nothing_to_tell() -> None:
    rng = np.random.default_rng(sampling.seed())
    base, new = (1000 + np.cumsum(rng.normal(size=(200, 12)), axis=1) * 10 for _ in range(2))
    found = intervals(base, new)
    assert found.drifts
    assert not found.stands_out.any()


def test_constant_steps_have_an_interval_of_width_0() -> None:
    base, new = np.full((3, 6), 100.0), np.full((3, 6), 100.0)
    new[1] = 101
    base[2] = 130
    found = intervals(base, new)
    assert found.low.tolist() == found.high.tolist() == [0, 1, -30]
    assert found.stands_out.tolist() == [False, True, True]


def test_the_same_input_has_the_same_interval_and_the_other_way_round_its_negative() -> None:
    rng = np.random.default_rng(sampling.seed())
    base, new = measured(heavy, rng, 7), measured(normal, rng, 9)
    one, again, turned = intervals(base, new), intervals(base, new), intervals(new, base)
    for column in ("low", "high", "stands_out"):
        assert getattr(one, column).tolist() == getattr(again, column).tolist()
    assert one.low.tolist() == (-turned.high).tolist()
    assert one.high.tolist() == (-turned.low).tolist()
    assert one.stands_out.tolist() == turned.stands_out.tolist()


@pytest.mark.parametrize("view", ["scope", "op"])
def test_turned_round_a_diff_has_turned_intervals(view: str) -> None:
    # Each side has a row of its own, so the rows are in another order.
    base, new = drawn({**simulated(1), "gone": [9] * 20}), drawn({"new": [8] * 20, **simulated(2)})
    one = diff_profiles(base, new, view, {"select": ["micros"]})
    turned = diff_profiles(new, base, view, {"select": ["micros"]})
    low = dict(zip(one.label.tolist(), noise(one)["micros"].low, strict=True))
    high = dict(zip(turned.label.tolist(), -noise(turned)["micros"].high, strict=True))
    assert len(low) > 1
    assert low == pytest.approx(high)


def test_rows_in_other_chunks_are_the_same_rows() -> None:
    rng = np.random.default_rng(sampling.seed())
    base, new = (np.tile(measured(normal, rng, 8), (20, 1)) for _ in range(2))
    found = intervals(base, new)
    low = found.low.reshape(20, -1)
    np.testing.assert_allclose(low, np.broadcast_to(low[0], low.shape))


def drawn(rows: dict[str, Any]) -> Profile:
    """A profile of these nodes, with the microseconds of each step; None: no record."""
    lines = []
    for name, times in rows.items():
        us = "+".join("-" if each is None else str(int(each)) for each in times)
        lines.append(f"{name} op=MatMul us={us}")
    return draw.profile("\n".join(lines))


def found_in(base: dict[str, Any], new: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Low, high and whether it stands out, of each row that changed."""
    diff = diff_profiles(drawn(base), drawn(new), "scope", {"select": ["micros"], **options})
    (known,) = noise(diff).values()
    labels = [name.decode() for name in diff.label.tolist()]
    rows = zip(known.low.tolist(), known.high.tolist(), known.stands_out.tolist(), strict=True)
    return dict(zip(labels, rows, strict=True))


def simulated(seed: int, factor: float = 1.0) -> dict[str, Any]:
    """Two layers of two nodes each over 20 steps; one node takes *factor* times as long."""
    rng = np.random.default_rng(seed)
    times = np.rint(1000 * normal(rng, (4, 20)))
    times[2] = np.rint(times[2] * factor)
    return dict(zip(("a/x", "a/y", "b/x", "b/y"), times, strict=True))


def test_a_slower_operation_stands_out_in_a_view_and_so_do_the_scopes_around_it() -> None:
    found = found_in(simulated(1), simulated(2, 1.1))
    marks = {name: stands_out for name, (_, _, stands_out) in found.items()}
    assert marks["b/x"]
    assert marks["b"]
    assert not marks["a"]
    assert not marks["b/y"]
    low, high, _ = found["b/x"]
    assert low < 100 < high
    assert high - low < 60


def test_totals_are_those_of_each_step_added_up() -> None:
    # One takes longer whenever the other takes less: each has noise, their sum has none.
    up, down = [90, 110, 90, 110, 90, 110], [110, 90, 110, 90, 110, 90]
    base, new = {"s/a": up, "s/b": down}, {"s/a": down, "s/b": [each + 5 for each in up]}
    found = found_in(base, new)
    assert found["s"] == (5, 5, True)
    low, high, stands_out = found["s/b"]
    assert low < 0 < high
    assert not stands_out


def test_a_node_that_some_steps_did_not_record_is_averaged_over_the_others() -> None:
    every_other = [100, None] * 5
    base, new = {"a": [7] * 10, "b": every_other}, {"a": [7] * 10, "b": [120, None] * 5}
    assert found_in(base, new)["b"] == (20, 20, True)


def test_a_node_with_one_record_among_many_steps_never_stands_out() -> None:
    base = {"a": [7] * 10, "once": [None] * 5 + [1000] + [None] * 4}
    new = {"a": [8] * 10, "once": [None] * 5 + [9000] + [None] * 4}
    found = found_in(base, new)
    low, high, stands_out = found["once"]
    assert low < 0
    assert high > 8000
    assert not stands_out
    assert found["a"] == (1, 1, True)


def test_a_new_row_is_compared_with_nothing() -> None:
    found = found_in({"a": [50] * 6}, {"a": [50] * 6, "b": [30, 34] * 3})
    low, high, stands_out = found["b"]
    assert 25 < low < 32 < high < 39
    assert stands_out


def test_intervals_hold_the_difference_that_a_view_shows() -> None:
    # Views round the mean of each node down: 100 nodes of 1 µs or 2 µs differ by 100 µs less.
    rng = np.random.default_rng(sampling.seed())
    base, new = ({f"n{i}": rng.integers(1, 3, size) for i in range(100)} for size in (5, 8))
    diff = diff_profiles(drawn(base), drawn(new), "op", {"select": ["micros"]})
    known = noise(diff)["micros"]
    assert (known.low <= diff.difference("micros")).all()
    assert (known.high >= diff.difference("micros")).all()


@pytest.mark.parametrize(
    ("steps", "options", "words"),
    [
        ((1, 1), {}, "noise is unknown: base has 1 step, new has 1"),
        ((1, 9), {}, "noise is unknown: base has 1 step, new has 9"),
        ((9, 9), {"step": 1}, "noise is unknown"),
        ((3, 9), {}, f"too few steps to tell change from noise: .* {LEAST} or more"),
        ((9, 9), {}, "micros: 2 rows stand out from noise \\(base has 9 steps, new has 9\\)"),
        ((9, 9), {"select": ["params"]}, None),
        ((0, 0), {}, None),
    ],
)
def test_a_sentence_says_what_is_known(
    steps: tuple[int, int], options: dict[str, Any], words: str | None
) -> None:
    sides = (f"a us={'+'.join([us] * n)}" if n else "a" for us, n in zip("78", steps, strict=True))
    base, new = (draw.profile(f"{side} op=Variable params=2x3") for side in sides)
    diff = diff_profiles(base, new, "scope", {"select": ["micros"], **options})
    said = list(noise_notes(diff, noise(diff)))
    if words is None:
        assert not said
    else:
        (sentence,) = said
        assert re.search(words, sentence)


@pytest.mark.parametrize(
    ("steps", "words"),
    [(1, "noise is unknown: base has 1 step, new has 1"), (5, "layers have no intervals")],
)
def test_a_summary_says_that_it_knows_no_noise(steps: int, words: str) -> None:
    drawing = "a op=MatMul out=2x3 us={} < w\nw op=VariableV2 params=2x3"
    sides = (draw.profile(drawing.format("+".join([us] * steps))) for us in "79")
    base, new = map(tfprof.Loaded, sides)
    notes = base.diff(new, "summary").own_notes
    assert any(words in note.text for note in notes)
