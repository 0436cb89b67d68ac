"""Loops run as often as their counters say, choices one branch; the products are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from hlo_made import computation, instruction, module, packed, parameter
from hlo_made import number as varint
from tfprof.model import LOOP_BODY, LOOP_CONDITION
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.run_counts import trip_counts
from tfprof.ops.symbols import symbols
from tfprof.ops.table import rules
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import Source, load
from tfprof.wire.scalar import encode_bytes

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
    [("mapped", [8]), ("nested", [5, 3]), ("down", [4]), ("bounded", [6]), ("growing", [4]),
     ("by_counter", [3]), ("learned", [7, 7]), ("endless", [-1])],
)  # fmt: skip
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
    # Of the third, transposed: each element of its input, to 8 channels.
    "convolutional": (
        {"batch": 8},
        8 * 2 * (15 * 15 * 16 * 9 * (3 + 1 + 8) + 13 * 13 * 8 * (3 * 3 + 8) + 8 * 10),
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

    loop = "StatefulPartitionedCall/while"
    once = f"1 loop has no constant bound, and is counted once: {loop}"
    assert ours("endless") == ours("doubling") == [once]
    assert ours("nested") == ["1 cond counts its larger branch"]
    sooner = f"1 loop counts as long as the bound allows, and may end sooner: {loop}"
    assert ours("bounded") == [sooner]
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


# --- conditions of several comparisons ------------------------------------------------------------

INT32: Final = 4


def whole(name: str, at: int, value: int) -> bytes:
    literal = encode_bytes(1, varint(2, INT32)) + packed(4, [value])
    return instruction(name, "constant", at, (), encode_bytes(8, literal), dims=())


def element(at: int, of: int, place: int) -> bytes:
    return instruction(f"e{at}", "get-tuple-element", at, [of], varint(13, place), dims=())


def counting(bounds: list[int], steps: list[int], *, alike: int) -> Profile:
    """A loop of counters that start at 0; each has its step, and all stay below their bounds.

    The last ones that are *alike* start as the same constant.
    Then the same loop again, whose counters all start where the first one ended.
    """
    count = len(steps)
    starts = [100 + min(at, count - alike) for at in range(count)]
    body, condition, places = 10_000, 20_000, range(count)
    main = [
        *(whole(f"s{at}", at, 0) for at in sorted({*starts})),
        instruction("all", "tuple", 1, starts),
        instruction("loop", "while", 2, [1], calls=[2, 3]),
        element(3, 2, 0),
        instruction("ends", "tuple", 4, [3] * count),
        instruction("again", "while", 5, [4], calls=[2, 3]),
    ]
    turn = [
        parameter("state", body),
        *(element(body + 1000 + at, body, at) for at in places),
        *(whole(f"k{at}", body + 2000 + at, step) for at, step in enumerate(steps)),
        *(
            instruction("a", "add", body + 3000 + at, [body + 1000 + at, body + 2000 + at], dims=())
            for at in places
        ),
        instruction("next", "tuple", body + 1, [body + 3000 + at for at in places]),
    ]
    below, compared = encode_bytes(63, b"LT"), range(len(bounds))
    asked = [
        parameter("state", condition),
        *(element(condition + 1000 + at, condition, at) for at in compared),
        *(whole(f"b{at}", condition + 2000 + at, bound) for at, bound in enumerate(bounds)),
        *(
            instruction(
                "c", "compare", condition + 3000 + at,
                [condition + 1000 + at, condition + 2000 + at], below, dims=(),
            )
            for at in compared
        ),
        instruction("both", "and", condition + 1, [condition + 3000 + at for at in compared]),
    ]  # fmt: skip
    data = module(
        "m",
        1,
        computation("main", 1, 5, *main),
        computation("body", 2, body + 1, *turn),
        computation("condition", 3, condition + 1, *asked),
    )
    return load(Source("made", np.frombuffer(data, np.uint8)))


@pytest.mark.parametrize(
    ("bounds", "steps", "alike", "expected"),
    [
        ([9], [2], 0, [5, 0]),  # 0, 2, 4, 6, 8; it ends at 10
        ([9, 7, 100], [1, 2, 30], 0, [4, -1]),  # 9, 4 (0, 2, 4, 6) and 4 (0, 30, 60, 90)
        ([9, 9], [2, 2], 0, [5, 0]),
        ([9, 4], [1, 1], 0, [4, 0]),  # the first ends at 4
        ([-9, 4], [1, 1], 0, [0, 0]),
        ([100] * 15 + [3], [1] * 16, 0, [3, 0]),
        ([100] * 16 + [3], [1] * 17, 0, [-1, -1]),  # more than 16 comparisons: unknown
        # Any that start as the same constant may be the counter: they are alike, or the loop has no
        # known bound.
        ([6, 6], [2, 2], 2, [3, 0]),
        ([6, 6], [2, 1], 2, [-1, -1]),
        ([6] * 16, [2] * 16, 16, [3, 0]),
        # Too many are not tried; the loop may end sooner than the one by itself allows.
        ([6], [2] * 17, 17, [-1, -1]),
        ([4, 6], [1] + [2] * 17, 17, [4, -1]),
    ],
)
def test_the_comparison_that_ends_first_counts(
    bounds: list[int], steps: list[int], alike: int, expected: list[int]
) -> None:
    assert trips(counting(bounds, steps, alike=alike)) == expected


@pytest.mark.parametrize("start", ["t", "s"])
def test_a_loop_may_start_from_a_whole_tuple(start: str) -> None:
    """The bound of the inner loop is an element that the outer one changes: 1, 2, 3, 4, 5."""
    whole = "(s32[], s32[], f32[4,64])"
    element = "{0} = {1} get-tuple-element(p), index={2}"
    parts = [
        element.format(*part)
        for part in (("i", "s32[]", 0), ("m", "s32[]", 1), ("x", "f32[4,64]", 2))
    ]
    lines = [
        "HloModule m", f"inner (p: {whole}) -> {whole} {{", f"p = {whole} parameter(0)", *parts,
        "one = s32[] constant(1)", "j = s32[] add(i, one)", "n = f32[4,64] negate(x)",
        f"ROOT t = {whole} tuple(j, m, n)", "}",
        f"below (p: {whole}) -> pred[] {{", f"p = {whole} parameter(0)", *parts,
        "ROOT c = pred[] compare(i, m), direction=LT", "}",
        f"outer (p: {whole}) -> {whole} {{", f"p = {whole} parameter(0)", *parts,
        "one = s32[] constant(1)", "zero = s32[] constant(0)",
        f"first = {whole} tuple(zero, m, x)",
        f"w = {whole} while(first), condition=below, body=inner",
        "y = f32[4,64] get-tuple-element(w), index=2",
        "k = s32[] add(i, one)", "n = s32[] add(m, one)", f"ROOT t = {whole} tuple(k, n, y)", "}",
        f"five (p: {whole}) -> pred[] {{", f"p = {whole} parameter(0)", *parts,
        "most = s32[] constant(5)", "ROOT c = pred[] compare(i, most), direction=LT", "}",
        f"start (x: f32[4,64]) -> {whole} {{", "x = f32[4,64] parameter(0)",
        "zero = s32[] constant(0)", "one = s32[] constant(1)",
        f"ROOT t = {whole} tuple(zero, one, x)", "}",
        "ENTRY main (x: f32[4,64]) -> f32[4,64] {", "x = f32[4,64] parameter(0)",
        "zero = s32[] constant(0)", "one = s32[] constant(1)",
        f"t = {whole} tuple(zero, one, x)", f"s = {whole} call(x), to_apply=start",
        f"o = {whole} while({start}), condition=five, body=outer",
        "ROOT r = f32[4,64] get-tuple-element(o), index=2", "}", "",
    ]  # fmt: skip
    profile = load(Source("f", np.frombuffer("\n".join(lines).encode(), np.uint8)))
    negations = profile.nodes.op == list(profile.types.texts()).index("negate")
    counted, counts = with_float_ops(profile, "all")
    assert counts.once[negations].all()  # the inner loop counts once
    known = counted.values("float_ops", None)[negations]
    assert known.tolist() in ([5 * 4 * 64], [4 * 64])
