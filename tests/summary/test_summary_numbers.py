"""Names and numbers as a summary writes them, and the formulas that it finds."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from sampling import numbers
from tfprof.results.summary_numbers import exact_formula, plain_formula, short, short_formula
from tfprof.summary.formula import Formula, formulas
from tfprof.summary.keras_names import ScopeTree
from tfprof.summary.scopes import Call, ScopePlaces, folded
from tfprof.writers.table_text import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

# --- names -------------------------------------------------------------------------------------

CALLS: Final[Mapping[bytes, Call]] = {
    b"StatefulPartitionedCall": Call(has_bodies=False),
    b"StatefulPartitionedCall/net/lstm/while": Call(has_bodies=True),
    b"net/lstm/while": Call(has_bodies=True),
    b"net/dense/PartitionedCall_3": Call(has_bodies=False),
    b"outer/f": Call(has_bodies=False),
    b"outer/f/while": Call(has_bodies=True),
    b"model/call.1": Call(has_bodies=False, is_invented=True),
    b"model/PartitionedCall": Call(has_bodies=False, is_invented=True),
}
PARTS: Final = (b"a", b"b", b"", b"PartitionedCall", b"while", b"body")


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("", []),
        ("net/conv", ["net", "conv"]),
        ("StatefulPartitionedCall/net/conv", ["net", "conv"]),
        ("net/lstm/while/body/net/lstm/while/cell", ["net", "lstm", "while", "cell"]),
        ("StatefulPartitionedCall/net/lstm/while/body/net/lstm/while", ["net", "lstm", "while"]),
        ("net/dense/PartitionedCall_3/net/dense", ["net", "dense"]),
        ("net/dense/PartitionedCall_3/inner", ["net", "dense", "inner"]),
        ("outer/f/while/cond/while/x", ["outer", "f", "while", "x"]),
        ("model/call.1/x", ["model", "x"]),
        ("model/PartitionedCall/x", ["model", "x"]),
        ("net/body/then", ["net", "body", "then"]),  # no calls: these are names people gave
    ],
)
def test_calls_of_functions_are_folded(scope: str, expected: list[str]) -> None:
    assert folded(scope.encode(), CALLS, frozenset(map(len, CALLS))) == [
        part.encode() for part in expected
    ]


@pytest.mark.sampled
@pytest.mark.parametrize("number", numbers(3_000, 300))
def test_each_scope_is_where_its_parts_lead_from_the_root(number: int) -> None:
    random = Random(number)  # noqa: S311 - repeatable, not secret
    lengths = [*range(7), 15, 16, 17, 18]
    names = [b"/".join(random.choices(PARTS, k=random.choice(lengths))) for _ in range(5)]
    calls = {}
    for name in random.sample(names, 2):
        call = b"/".join(name.split(b"/")[: random.randint(1, 8)])
        calls[call] = Call(*(random.random() < 0.4 for _ in Call._fields))
    tree, places = ScopeTree(), ScopePlaces(calls)
    for name in names:
        here = 0
        for part in folded(name, calls, frozenset(map(len, calls))):
            here = tree.add(here, part)
        assert places.place(name) == here
    assert (places.tree.part, places.tree.parent) == (tree.part, tree.parent)


def test_long_names_lack_their_middle() -> None:
    assert shortened("short", 9) == "short"
    assert shortened("a_very_long_name_of_a_layer_7", 16) == "a_ver…_a_layer_7"
    assert len(shortened("x" * 50, 16)) == 16


# --- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "0"), (999, "999"), (1_000, "1.00k"), (11_849, "11.8k"), (999_499, "999k"),
        (999_999, "1.00M"), (7_715_995_648, "7.72G"), (5 * 10**12, "5.00T"), (10**19, "10000P"),
        (Fraction(5, 2), "2.5"),
    ],
)  # fmt: skip
def test_short_numbers_have_three_digits(number: int | Fraction, expected: str) -> None:
    assert short(number) == expected


def test_formulas_are_found_exactly_or_not_at_all() -> None:
    def cost(sizes: Mapping[str, int]) -> list[int]:
        b, t = sizes["b"], sizes["t"]
        return [3 * b * t * t + 7 * b + 5, b * (b - 1) // 2, t // 2, 12, b * t**4]

    found, unfit = formulas(cost, ["b", "t"])
    assert [exact_formula(one) for one in found] == [
        "3·b·t² + 7·b + 5",
        "0.5·b² - 0.5·b",
        "?",
        "12",
        "1·b·t⁴",
    ]
    assert unfit == ["t"]
    assert found[0] is not None
    assert found[0].at({"b": 2, "t": 10}) == 619
    assert short_formula(found[0]) == "3·b·t²+7·b+5"


def test_a_formula_has_to_hold_far_off() -> None:
    def cost(sizes: Mapping[str, int]) -> list[int]:
        t = sizes["t"]
        return [max(t, 50), t, min(t, 512), max(t, 4096), min(t, 65_536), 7 if t > 1 else 6]

    found, unfit = formulas(cost, ["t"])
    assert [exact_formula(one) for one in found] == ["?", "1·t", "?", "?", "?", "?"]
    assert unfit == ["t"]
    # What is filled up to a length: nothing is to be added where it is longer already.
    found, _ = formulas(lambda sizes: [max(128 - sizes["t"], 0), max(sizes["t"], 128)], ["t"])
    assert found == [None, None]


def test_sizes_that_cannot_be_are_not_held_against_a_formula() -> None:
    def cost(sizes: Mapping[str, int]) -> list[int]:
        # A window of 3 fits into no image of 1, and no number of 64 bits holds the largest.
        inside = [max(sizes[one] - 2, 0) for one in ("h", "w")]
        return [min(inside[0] * inside[1] * 10**12, 2**63 - 1)]

    found, unfit = formulas(cost, ["h", "w"])
    assert found[0] is not None
    assert found[0].at({"h": 4, "w": 5}) == 6 * 10**12
    assert unfit == []


def test_formulas_are_read_by_people_and_by_programs() -> None:
    made = Formula(
        ("b", "t"), {(1, 2): Fraction(1_234_567), (1, 0): Fraction(-1, 2), (0, 0): Fraction(-5000)}
    )
    assert exact_formula(made) == "1,234,567·b·t² - 0.5·b - 5,000"
    assert plain_formula(made) == "1234567*b*t**2 - 1/2*b - 5000"
    assert eval(plain_formula(made), {"b": 4, "t": 1}) == 1_234_567 * 4 - 2 - 5000  # noqa: S307


def test_formulas_add_up() -> None:
    one = Formula(("b",), {(1,): Fraction(3), (0,): Fraction(2)})
    assert exact_formula(one + one) == "6·b + 4"
    assert exact_formula(Formula.number(5) + one) == "3·b + 7"
    assert (one + Formula(("b",), {(1,): Fraction(-3)})).constant == 2
