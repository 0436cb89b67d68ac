"""Value texts: what the original printed, what it refused to print, and texts that are cut."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.read.checkpoint.tensors import Tensor
from tfprof.writers import tensor_values
from tfprof.writers.tensor_values import proto_values, value_text

FLOAT, DOUBLE, INT32, STRING, COMPLEX64, INT64, BOOL, HALF, UINT64 = 1, 2, 3, 7, 8, 9, 10, 19, 23
OMITTED = "...omitted from display\n\n"


def tensor(dtype: int, values: Any, kind: str, shape: tuple[int, ...] | None = None) -> Tensor:
    array = np.array(values, kind)
    return Tensor(dtype, array.shape if shape is None else shape, array.reshape(-1))


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (tensor(INT32, [1, 2, 3], "i4"), "[1 2 3 ],\n"),
        (tensor(INT32, 7, "i4"), "[7 ],\n"),
        (tensor(INT64, [-(2**63), 2**63 - 1], "i8"), f"[{-(2**63)} {2**63 - 1} ],\n"),
        (
            tensor(FLOAT, [[1.5, -2.25, 0], [1234567.891, 0.005, 0.0149]], "f4"),
            "[[1.50 -2.25 0.00 ],\n[1234570.00 0.01 0.01 ],\n],\n",
        ),
        (tensor(DOUBLE, [0.125, 0.375, -0.0, 1e22], "f8"), f"[0.12 0.38 -0.00 {10**22}.00 ],\n"),
        (
            tensor(FLOAT, [np.nan, -np.nan, np.inf, -np.inf, 1e30, 1e-40], "f4"),
            "[nan -nan inf -inf 1000000000000000019884624838656.00 0.00 ],\n",
        ),
        (tensor(FLOAT, [], "f4", (0, 3)), "[],\n"),
        (tensor(FLOAT, [], "f4", (2, 0, 3)), "[[],\n[],\n],\n"),
        (tensor(INT32, [[[1], [2]]], "i4"), "[[[1 ],\n[2 ],\n],\n],\n"),
    ],
)
def test_as_the_original_prints(shown: Tensor, expected: str) -> None:
    assert value_text(shown) == expected


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (Tensor(STRING, (2,), [b"abc", b""]), "['abc' '' ],\n"),
        (Tensor(STRING, (), [b"it's\n\\\xff\0"]), "['it\\'s\\n\\\\\\xff\\x00' ],\n"),
        (Tensor(STRING, (), ["größer".encode()]), "['größer' ],\n"),
        (tensor(BOOL, [True, False], "?"), "[true false ],\n"),
        (tensor(HALF, [0.1, 65504], "f2"), "[0.10 65504.00 ],\n"),
        (tensor(UINT64, [2**64 - 1], "u8"), "[18446744073709551615 ],\n"),
        (tensor(COMPLEX64, [1 + 2j, -0.5 - 1.5j], "c8"), "[(1.00+2.00j) (-0.50-1.50j) ],\n"),
    ],
)
def test_what_the_original_refuses_is_shown_alike(shown: Tensor, expected: str) -> None:
    assert value_text(shown) == expected


def drawn_and_cut(shown: Tensor, most: int) -> str:
    """The text by the rule itself: cut before each closing bracket, then go on."""
    shape, flat = shown.shape or (1,), iter(np.asarray(shown.values).tolist())

    def draw(text: str, dims: tuple[int, ...]) -> str:
        text += "["
        for _ in range(dims[0]):
            text = draw(text, dims[1:]) if dims[1:] else f"{text}{next(flat)} "
        return text[:most] + "],\n"

    text = draw("", shape)
    return text + OMITTED if len(text) >= most else text


@given(st.lists(st.integers(0, 4), max_size=4), st.integers(1, 60), st.integers(0, 99))
def test_long_texts_are_cut_as_the_original_cuts(shape: list[int], most: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).integers(-2_000, 99, shape)
    shown = tensor(INT32, numbers, "i4", tuple(shape))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tensor_values, "_MOST_CHARACTERS", most)
        patch.setattr(tensor_values, "_MOST_VALUES", most // 2 + 3)
        assert value_text(shown) == drawn_and_cut(shown, most)


@pytest.mark.parametrize("shape", [(10**9,), (10**6, 10**3), (1, 10**9, 1), (10**9, 0), (1,) * 254])
def test_a_billion_values_cost_what_is_seen(shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape, dtype=object))
    # One number, seen a billion times: such an array takes no memory.
    values = np.broadcast_to(np.float32(1), (count,))
    tracemalloc.start()
    text = value_text(Tensor(FLOAT, shape, values))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10**6
    if count > 1 or shape[0] > 1:
        assert len(text) == 10_003 + len(OMITTED)
        assert text.endswith(f"],\n{OMITTED}")
    else:
        assert text == "[" * 254 + "1.00 " + "],\n" * 254


def test_a_long_string_is_not_escaped_whole() -> None:
    text = value_text(Tensor(STRING, (1,), [b"\xff" * 50_000_000]))
    assert text.startswith("['\\xff\\xff")
    assert len(text) == 10_003 + len(OMITTED)


@pytest.mark.parametrize(
    ("shown", "field", "expected"),
    [
        (tensor(FLOAT, [1234567.891, 0.1], "f4"), "value_double", [1234570.0, 0.1]),
        (tensor(INT64, [2**63 - 1], "i8"), "value_int64", [2**63 - 1]),
        (tensor(UINT64, [2**64 - 1], "u8"), "value_int64", [-1]),
        (tensor(BOOL, [True, False], "?"), "value_int64", [1, 0]),
        (tensor(COMPLEX64, [1 + 2j], "c8"), "value_double", [1.0, 2.0]),
        (Tensor(STRING, (1,), [b"a\xff"]), "value_str", ["a\\xff"]),
    ],
)
def test_what_goes_into_the_proto(shown: Tensor, field: str, expected: list[Any]) -> None:
    name, values = proto_values(shown)
    assert (name, list(values)) == (field, expected)


def test_the_proto_keeps_the_sign_of_a_nan() -> None:
    _, values = proto_values(tensor(FLOAT, [np.nan, -np.nan], "f4"))
    assert np.signbit([float(value) for value in values]).tolist() == [False, True]
