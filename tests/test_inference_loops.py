"""Loops run as often as their counters say, choices one branch; the products are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from tfprof.model import LOOP_BODY, LOOP_CONDITION
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.run_counts import trip_counts
from tfprof.ops.symbols import symbols
from tfprof.ops.table import rules
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import Source, load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tfprof.model import Profile

PRODUCT: Final = 2 * 8 * 64 * 64  # of 8 rows and a matrix of 64 by 64


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("loops")


def read(folder: Path, name: str) -> Profile:
    path = folder / f"{name}.pb"
    path = path if path.exists() else folder / name / "saved_model.pb"
    return load(Source(path.name, np.fromfile(path, np.uint8)))


def products(profile: Profile) -> int:
    """The float operations of products and convolutions in one run."""
    table = rules("all")
    marked = [
        number
        for number, op in enumerate(profile.types.texts())
        if op in table and (table[op].contraction or table[op].multiply_adds)
    ]
    values = profile.values("float_ops", None)
    return int(values[np.isin(profile.nodes.op, marked)].sum())


def trips(profile: Profile, dims: Mapping[str, int] | None = None) -> list[int]:
    """How often the body of each loop runs."""
    counts: list[int] = trip_counts(profile, dims)[profile.regions.kind == LOOP_BODY].tolist()
    return counts


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mapped", [8]),
        ("nested", [5, 3]),
        ("down", [4]),
        ("bounded", [6]),
        ("growing", [4]),
        ("by_counter", [3]),
        ("learned", [7, 7]),
        ("endless", [-1]),
    ],
)
def test_a_body_runs_as_often_as_its_counter_allows(
    name: str, expected: list[int], folder: Path
) -> None:
    assert sorted(trips(read(folder, name))) == sorted(expected)


@pytest.mark.parametrize("name", ["mapped", "nested", "down", "learned"])
def test_a_condition_is_asked_once_more(name: str, folder: Path) -> None:
    profile = read(folder, name)
    regions, runs = profile.regions, trip_counts(profile)
    bodies = dict(zip(regions.call.tolist(), runs.tolist(), strict=True))
    asked = np.flatnonzero(regions.kind == LOOP_CONDITION)
    for region in np.flatnonzero(regions.kind == LOOP_BODY).tolist():
        bodies[int(regions.call[region])] = int(runs[region])
    assert asked.size
    assert all(int(runs[one]) == bodies[int(regions.call[one])] + 1 for one in asked.tolist())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("twice", 2 * PRODUCT),
        ("compiled", 2 * PRODUCT),
        ("mapped", 65_536),
        ("chosen", 2 * PRODUCT),  # of one product and two, the two
        ("nested", 5 * (3 + 2) * PRODUCT),
        ("down", 4 * PRODUCT),
        ("bounded", 6 * PRODUCT),
        ("endless", PRODUCT),
        ("learned", 7 * 3 * PRODUCT),  # forward, and the gradients of both factors
    ],
)
@pytest.mark.parametrize("which", ["tensorflow", "all"])
def test_products_of_a_function_are_exact(
    name: str, expected: int, which: str, folder: Path
) -> None:
    profile, counts = with_float_ops(read(folder, name), which)  # type: ignore[arg-type]
    assert products(profile) == expected
    assert which == "tensorflow" or counts.counted == counts.ops


MODELS: Final = {
    "lstm": ({"batch": 1, "frames_1": 50}, 9_830_400),
    "gru": ({"batch": 1, "frames_1": 50}, 7_372_800),
    "transformer": ({"batch": 1, "tokens_1": 128}, 501_743_616),
    "convolutional": (
        {"batch": 8},
        8
        * 2
        * (
            15 * 15 * 16 * 3 * 3 * 3
            + 15 * 15 * 16 * 3 * 3
            + 15 * 15 * 16 * 3 * 3 * 8  # transposed: each element of its input, to 8 channels
            + 13 * 13 * 8 * 3 * 3
            + 13 * 13 * 8 * 8
            + 8 * 10
        ),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_keras_are_counted_in_full_once_their_inputs_have_sizes(
    name: str, folder: Path
) -> None:
    dims, expected = MODELS[name]
    profile = read(folder, name)
    assert {one.name for one in symbols(profile)} == dims.keys()
    counted, counts = with_float_ops(profile, "all", dims)
    assert products(counted) == expected
    assert str(counts).startswith("float_ops counts all ")


@pytest.mark.parametrize("name", MODELS)
def test_twice_the_batch_is_twice_the_products(name: str, folder: Path) -> None:
    dims, expected = MODELS[name]
    counted, _ = with_float_ops(read(folder, name), "all", {**dims, "batch": 3 * dims["batch"]})
    assert products(counted) == 3 * expected


def test_without_sizes_a_hint_says_which_would_help(folder: Path) -> None:
    counted, counts = with_float_ops(read(folder, "lstm"), "all")
    assert str(counts).endswith("; give --dim batch=N,frames_1=N")
    assert "1 loop has no constant bound, and is counted once: " in "".join(
        note.text for note in counted.notes
    )
    _, counts = with_float_ops(read(folder, "lstm"), "all", {"frames_1": 50})
    assert str(counts).endswith("; give --dim batch=N")


def test_notes_name_loops_without_a_bound_and_count_choices(folder: Path) -> None:
    def ours(name: str) -> list[str]:
        profile = read(folder, name)
        return [note.text for note in with_float_ops(profile, "all")[0].notes[len(profile.notes) :]]

    assert ours("endless") == [
        "1 loop has no constant bound, and is counted once: StatefulPartitionedCall/while"
    ]
    assert ours("nested") == ["1 cond counts its larger branch"]
    assert ours("doubling") == [
        "1 loop has no constant bound, and is counted once: StatefulPartitionedCall/while"
    ]
    assert ours("bounded") == [
        (
            "1 loop counts as long as the bound allows, and may end sooner: "
            "StatefulPartitionedCall/while"
        )
    ]
    assert ours("mapped") == []


def test_numbers_that_change_each_turn_are_not_taken_for_the_first(folder: Path) -> None:
    profile = with_inferred_shapes(read(folder, "by_counter"))
    types = [*profile.types.texts()]
    (product,) = np.flatnonzero(profile.nodes.op == types.index("MatMul")).tolist()
    assert profile.outputs.shape[int(profile.outputs.start[product])] == [-1, 64]


def test_what_grows_in_a_loop_has_no_known_length_behind_it(folder: Path) -> None:
    profile = with_inferred_shapes(read(folder, "growing"))
    types = [*profile.types.texts()]
    kinds = [number for number, op in enumerate(types) if op in ("While", "StatelessWhile")]
    (loop,) = np.flatnonzero(np.isin(profile.nodes.op, kinds)).tolist()
    start, end = profile.outputs.start[loop : loop + 2].tolist()
    assert [-1, 64] in [profile.outputs.shape[row] for row in range(start, end)]


def test_calls_whose_bodies_are_there_are_no_gap(folder: Path) -> None:
    _, counts = with_float_ops(read(folder, "twice"), "all")
    assert counts.uncounted == ()
    assert counts.ops == 2
