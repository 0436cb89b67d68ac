"""Our NamedTuple behaves as that of typing: the same class body on both sides."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

from tfprof.foundation import named_tuples
from tfprof.foundation.named_tuples import NamedTuple


class Ours(NamedTuple):
    """Two fields and a method."""

    first: int
    second: str = "b"

    @property
    def both(self) -> str:
        """Text of all fields."""
        return f"{self.first}{self.second}"

    @classmethod
    def of(cls, number: int) -> Ours:
        """An instance from a classmethod."""
        return cls(number)


class Standard(typing.NamedTuple):
    """Two fields and a method."""

    first: int
    second: str = "b"

    @property
    def both(self) -> str:
        """Text of all fields."""
        return f"{self.first}{self.second}"

    @classmethod
    def of(cls, number: int) -> Standard:
        """An instance from a classmethod."""
        return cls(number)


CALLS: list[Any] = [
    lambda kind: kind(1),
    lambda kind: kind(1, "x"),
    lambda kind: kind(second="x", first=1),
    lambda kind: kind.of(3).both,
    lambda kind: kind(1)._replace(second="y"),
    lambda kind: kind._make([4, "z"]),
    lambda kind: kind(1)._asdict(),
    lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__mro__[1:]),
    lambda kind: (kind(1) == (1, "b"), hash(kind(1)), len(kind(1)), kind(1)[0], [*kind(1)]),
    lambda kind: pickle.loads(pickle.dumps(kind(1, "q"))),  # noqa: S301
    lambda kind: copy.deepcopy(kind(1, "q")),
    lambda kind: kind.__doc__,
    lambda kind: kind.__slots__,
    lambda kind: kind(),
    lambda kind: kind(1, 2, 3),
    lambda kind: kind(1, first=2),
    lambda kind: kind(1, third=2),
    lambda kind: kind._make([1]),
    lambda kind: kind(1)._replace(third=2),
    lambda kind: setattr(kind(1), "first", 2),
    lambda kind: setattr(kind(1), "third", 2),
]


def outcome(call: Any, kind: Any) -> str:
    """What a call gives: a value, or the type and words of an exception."""
    try:
        return repr(call(kind)).replace("Standard", "Ours")
    except (AttributeError, TypeError, ValueError) as problem:
        return f"{type(problem).__name__} {problem}".replace("Standard", "Ours")


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_as_the_standard_one(call: Any, many: bool) -> None:  # noqa: FBT001
    for _ in range(25 * many):
        assert Ours(1, second="c") == (1, "c")
    expected = outcome(call, Standard)
    assert outcome(call, Ours) == expected


def test_nothing_is_compiled_for_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_tuples, "_compiled_new", lambda _: pytest.fail("compiled"))

    class Few(NamedTuple):
        first: int

    assert [Few(number).first for number in range(5)] == [*range(5)]
