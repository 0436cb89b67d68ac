"""Stragglers, slow steps and skewed servers in matrices that were made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import sampling
from tfprof.fleet.robust import factors, spread, spread_of_steps
from tfprof.fleet.server_balance import Variable, balance
from tfprof.fleet.slow_steps import find_slow_steps
from tfprof.fleet.stragglers import Key, Sums, compare, groups_of_peers
from tfprof.fleet.worker_sums import Devices, task_of

if TYPE_CHECKING:
    from tfprof.fleet.robust import F64
    from tfprof.fleet.stragglers import Compared, Straggler

OPS: Final = ("Conv2D", "MatMul", "BiasAdd", "Relu", "ApplyAdam", "_Recv")
USUAL: Final = np.array([60_000, 20_000, 8_000, 6_000, 3_000, 3_000.0])
KEYS: Final = [Key(op, "gpu:0") for op in OPS]


class Fleet:
    """Times by worker, step and operation, with noise of each and of each step."""

    def __init__(self, workers: int, steps: int, seed: int = 0, noise: float = 0.04) -> None:
        rng = np.random.default_rng(seed)
        shape = workers, steps, len(OPS)
        self.micros: F64 = USUAL * np.exp(rng.normal(0, noise, shape))
        self.micros *= np.exp(rng.normal(0, noise, (workers, steps, 1)))
        self.times: F64 | None = None
        self.nodes = np.full((workers, len(OPS)), 10.0)

    @property
    def steps(self) -> F64:
        return self.micros.sum(axis=2) if self.times is None else self.times

    def compare(self) -> list[Compared]:
        spreads = np.stack([spread_of_steps(each) for each in self.micros])
        sums = Sums(KEYS, np.median(self.micros, axis=1), spreads, self.nodes)
        return compare(self.steps, sums)

    def stragglers(self) -> list[Straggler]:
        return [one for group in self.compare() for one in group.stragglers]


@pytest.mark.parametrize("op", range(5))  # from 60% to 3% of a step
@pytest.mark.parametrize(("workers", "steps"), [(3, 5), (4, 3), (8, 2), (30, 4)])
def test_an_operation_that_is_three_times_slower_on_one_worker(
    op: int, workers: int, steps: int
) -> None:
    for seed in range(5):
        fleet = Fleet(workers, steps, seed)
        fleet.micros[1, :, op] *= 3
        first, *others = fleet.stragglers()
        assert not others
        assert first.worker == 1
        assert first.causes[0].key.op == OPS[op]
        assert first.causes[0].factor == pytest.approx(3, rel=0.25)
        assert first.causes[0].extra == pytest.approx(2 * USUAL[op], rel=0.4)


def test_how_much_longer_a_straggler_takes_and_how_long_others_wait() -> None:
    fleet = Fleet(5, 3, noise=0)  # a step takes 100 ms
    fleet.micros[3, :, 0] *= 1.5  # 30 ms more
    (one,) = fleet.stragglers()
    assert one.worker == 3
    assert one.by_steps
    assert [one.micros, one.usual] == pytest.approx([130_000, 100_000])
    assert one.waits == pytest.approx(30 / 130)
    (cause,) = one.causes
    assert (cause.micros, cause.usual, cause.extra) == (90_000, 60_000, 30_000)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (2, 1), (2, 6), (3, 4), (12, 1), (12, 5)])
def test_nothing_is_found_where_nothing_is_planted(shape: tuple[int, int]) -> None:
    for seed in range(12):
        fleet = Fleet(*shape, seed)
        assert fleet.stragglers() == []
        assert find_slow_steps(fleet.steps) == []


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("workers", "steps", "scale"), [(100, 5, 0.2), (20, 10, 0.3), (8, 2, 0.2), (4, 3, 0.3)]
)
def test_outliers_of_heavy_tailed_noise_raise_few_alarms(
    workers: int, steps: int, scale: float
) -> None:
    seeds = 200 if sampling.is_whole() else 20
    stragglers = slow_steps = 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        fleet = Fleet(workers, steps, noise=0)
        fleet.micros *= np.exp(scale * rng.standard_t(3, fleet.micros.shape))
        stragglers += bool(fleet.stragglers())
        slow_steps += bool(find_slow_steps(fleet.steps))
    assert stragglers <= max(1, 0.02 * seeds)
    assert slow_steps <= max(2, 0.05 * seeds)


def test_one_slow_step_makes_no_straggler() -> None:
    for workers, steps in ((8, 2), (8, 3), (20, 4)):
        fleet = Fleet(workers, steps)
        fleet.micros[2, 1, 0] *= 50
        assert fleet.stragglers() == []


def test_workers_that_wait_for_each_other_take_equally_long() -> None:
    fleet = Fleet(6, 4)
    fleet.micros[2, :, 1] *= 3  # 40 ms more; the others wait for it
    fleet.micros[[0, 1, 3, 4, 5], :, 5] += 40_000
    fleet.times = np.full((6, 4), 140_000.0) * np.exp(np.random.default_rng(1).normal(0, 0.01, 4))
    first, *others = fleet.stragglers()
    assert not others
    assert first.worker == 2
    assert not first.by_steps
    assert [cause.key.op for cause in first.causes] == ["MatMul"]
    assert first.waits == pytest.approx(40 / 140, rel=0.1)


def test_time_in_operations_that_wait_is_no_evidence() -> None:
    fleet = Fleet(6, 4)
    fleet.micros[2, :, 5] *= 5
    fleet.times = np.full((6, 4), 120_000.0)
    assert fleet.stragglers() == []


def test_a_slow_machine_slows_all_operations() -> None:
    fleet = Fleet(6, 5)
    fleet.micros[4] *= 1.3
    (one,) = fleet.stragglers()
    assert one.worker == 4
    assert one.evenly == pytest.approx(1.3, abs=0.1)
    fleet = Fleet(6, 5)
    fleet.micros[4, :, 0] *= 1.6
    (one,) = fleet.stragglers()
    assert one.evenly is None


def test_of_two_stragglers_the_worse_comes_first() -> None:
    fleet = Fleet(10, 4)
    fleet.micros[3, :, 0] *= 1.6
    fleet.micros[7, :, 0] *= 2.5
    assert [one.worker for one in fleet.stragglers()] == [7, 3]


def test_a_straggler_beside_one_other_worker() -> None:
    fleet = Fleet(2, 6)
    fleet.micros[1, :, 0] *= 3
    (one,) = fleet.stragglers()
    assert (one.worker, one.peers) == (1, 1)
    assert one.factor == pytest.approx(2.2, rel=0.1)


def test_a_slow_step_makes_no_straggler_of_the_worker_that_has_few_others() -> None:
    fleet = Fleet(8, 5)
    fleet.micros[:, 2] *= 4
    fleet.times = fleet.steps.copy()
    fleet.times[5, [0, 1, 3]] = np.nan  # it recorded the slow step and one more
    assert fleet.stragglers() == []


def test_steps_that_nobody_else_recorded() -> None:
    fleet = Fleet(6, 3)
    steps, fleet.times = fleet.steps, np.full((6, 18), np.nan)
    for worker in range(6):
        fleet.times[worker, worker * 3 : worker * 3 + 3] = steps[worker]
    fleet.times[4] *= 1.5
    assert [one.worker for one in fleet.stragglers()] == [4]


def test_only_workers_that_run_the_same_are_compared() -> None:
    fleet = Fleet(9, 4)
    fleet.micros[[0, 8]] *= 0.3  # an evaluator runs the forward pass, a chief saves besides
    fleet.nodes[0, 3:] = 0
    fleet.nodes[8, 1:] = 0
    fleet.nodes[3, 5] = 12
    groups = fleet.compare()
    assert [group.workers.tolist() for group in groups] == [[1, 2, 3, 4, 5, 6, 7], [0], [8]]
    assert fleet.stragglers() == []


def test_groups_of_peers_by_hand() -> None:
    nodes = np.array([[10.0, 10], [10, 6], [0, 10], [10, 9]])
    # 16 of 20 are alike, 10 of 20 are not, 19 of 20 are
    assert [group.tolist() for group in groups_of_peers(nodes)] == [[0, 1, 3], [2]]


def test_workers_without_times() -> None:
    fleet = Fleet(4, 3)
    fleet.times = fleet.steps.copy()
    fleet.times[1] = np.nan
    fleet.micros[1] = 0
    assert fleet.stragglers() == []
    fleet.times = np.full((4, 3), np.nan)
    fleet.micros[:] = 0
    assert fleet.stragglers() == []
    assert find_slow_steps(fleet.steps) == []


def test_factors_are_those_that_the_times_were_made_of() -> None:
    worker, step = np.array([1, 1, 2, 1, 0.5]), np.array([1, 4, 1, 1.0])
    found = factors(100 * worker[:, None] * step)
    assert found.worker == pytest.approx(np.log(worker))
    assert found.step == pytest.approx(np.log(step))
    assert found.usual == pytest.approx(np.log(100))
    assert found.noise == pytest.approx(0)


def test_noise_is_that_of_the_numbers() -> None:
    rng = np.random.default_rng(5)
    times = np.exp(rng.normal(0, 0.1, (40, 40)))
    assert factors(times).noise == pytest.approx(0.1, rel=0.1)
    assert spread(np.log(times), axis=1).mean() == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("workers", [1, 2, 3, 20])
@pytest.mark.parametrize("steps", [4, 12])
def test_a_slow_step_of_all_workers(workers: int, steps: int) -> None:
    for seed in range(5):
        fleet = Fleet(workers, steps, seed)
        fleet.micros[:, 2] *= 3
        first, *others = find_slow_steps(fleet.steps)
        assert not others
        assert first.column == 2
        assert first.workers == ()
        assert first.recorded == workers
        assert first.factor == pytest.approx(3, rel=0.25)


def test_a_step_that_is_slow_on_some_workers() -> None:
    for workers in (2, 3, 9):
        fleet = Fleet(workers, 6)
        fleet.micros[1, 4] *= 3
        (one,) = find_slow_steps(fleet.steps)
        assert (one.column, one.workers, one.recorded) == (4, (1,), workers)
        assert one.factor == pytest.approx(3, rel=0.25)


def test_steps_of_all_workers_come_before_those_of_some() -> None:
    fleet = Fleet(6, 9)
    fleet.micros[1, 4] *= 6
    fleet.micros[:, 7] *= 2
    fleet.micros[:, 2] *= 3
    assert [one.column for one in find_slow_steps(fleet.steps)] == [2, 7, 4]


def test_beside_a_fast_step_a_usual_one_is_not_slow() -> None:
    # Two workers, one of which has much less to do in its last step.
    times = np.array([[980.0, 989.0, 275.0], [375.0, 381.0, 388.0]])
    assert find_slow_steps(times) == []


def test_two_steps_do_not_say_which_one_is_slow() -> None:
    fleet = Fleet(5, 2)
    fleet.micros[:, 1] *= 3
    assert find_slow_steps(fleet.steps) == []


def held(**sizes: str) -> list[Variable]:
    """Variables with their server and bytes: a="0 400"."""
    split = {name.replace("__", "/"): text.split() for name, text in sizes.items()}
    return [
        Variable(name, f"ps:{server}", int(size), int(size) // 4)
        for name, (server, size) in split.items()
    ]


def moves(found: Any) -> list[tuple[str, str, str]]:
    return [(move.variable, move.source, move.target) for move in found.moves]


def test_the_skew_of_servers_and_what_to_move() -> None:
    variables = held(a="0 400", b="0 200", c="0 100", d="1 100")
    found = balance(variables, ["ps:0", "ps:1"])
    assert [(row.name, row.variables, row.bytes, row.params) for row in found.servers] == [
        ("ps:0", 3, 700, 175), ("ps:1", 1, 100, 25)
    ]  # fmt: skip
    assert found.skew == 700 / 400
    # 300 are too many: moving b and then c leaves 400 and 400
    assert moves(found) == [("b", "ps:0", "ps:1"), ("c", "ps:0", "ps:1")]
    assert found.skew_after == 1
    assert found.too_large is None


def test_a_server_that_holds_nothing_counts() -> None:
    found = balance(held(a="0 400", b="0 400"), ["ps:0", "ps:1"])
    assert found.skew == 2
    assert moves(found) == [("a", "ps:0", "ps:1")]
    assert found.skew_after == 1


def test_slots_move_with_their_variable() -> None:
    variables = held(w="0 400", w__Adam="0 400", v="0 300", w__small="0 4", u="1 100")
    (move, *_) = balance(variables, []).moves
    assert (move.variable, move.bytes, move.slots) == ("v", 300, 0)
    variables = held(w="0 400", w__Adam="0 400", v="0 900", u="1 100")
    (move, *_) = balance(variables, []).moves
    assert (move.variable, move.bytes, move.slots) == ("w", 800, 1)


def test_a_variable_that_no_move_evens_out() -> None:
    found = balance(held(embedding="0 1000", a="0 50", b="1 60"), [])
    assert found.too_large is not None
    assert found.too_large.name == "embedding"
    assert moves(found) == [("a", "ps:0", "ps:1")]
    assert found.skew_after == pytest.approx(1000 / 555)


def test_balanced_servers_and_none() -> None:
    found = balance(held(a="0 100", b="1 110", c="2 90"), [])
    assert not found.is_skewed
    assert found.moves == ()
    assert found.skew == pytest.approx(1.1)
    assert balance([], []).servers == ()
    assert balance([], ["ps:0"]).skew == 1


@pytest.mark.parametrize(
    ("device", "parts"),
    [
        ("/job:worker/replica:0/task:3/device:gpu:0/stream:all", ("worker:3", "gpu:0")),
        ("/job:ps/task:1/cpu:0", ("ps:1", "cpu:0")),
        ("/device:gpu:1", ("", "gpu:1")),
        ("", ("", "")),
    ],
)
def test_the_parts_of_a_device(device: str, parts: tuple[str, str]) -> None:
    assert task_of(device) == parts


def test_devices_of_a_worker_have_the_names_that_others_have() -> None:
    places = ("worker/task:3/device:gpu:0", "worker/task:4/device:gpu:0", "ps/task:0/device:cpu:0")
    devices = Devices([f"/job:{place}" for place in places])
    assert devices.labels(np.array([5, 2, 90])) == ["gpu:0", "worker:4/gpu:0", "ps:0/cpu:0"]
    assert devices.labels(np.array([0, 1, 0])) == ["worker:3/gpu:0", "gpu:0", "ps:0/cpu:0"]
