"""Our dataclasses do what the standard ones do, as far as they go."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from tfprof.foundation import lazy_dataclasses as light_dataclasses


def classes(module: Any) -> dict[str, Any]:
    """The same classes made by either module."""

    @module.dataclass(frozen=True)
    class Point:
        x: int
        y: int = 2
        names: list[str] = module.field(default_factory=list, repr=False)

    @module.dataclass(frozen=True)
    class Hashed:
        x: int
        y: str = "a"

    @module.dataclass(frozen=True, eq=False)
    class Checked(Hashed):
        z: float = 0.5

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError(self.x)

    @module.dataclass(frozen=True, eq=False, repr=False)
    class Named:
        x: int = 1

        def __repr__(self) -> str:
            return f"<{self.x}>"

    return {"Point": Point, "Hashed": Hashed, "Checked": Checked, "Named": Named}


@pytest.fixture(params=[dataclasses, light_dataclasses], ids=["standard", "light"])
def module(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_objects_are_made_from_places_names_and_defaults(module: Any) -> None:
    point = classes(module)["Point"]
    assert (point(1).x, point(1).y, point(1).names) == (1, 2, [])
    assert point(1).names is not point(1).names
    assert point(1, names=["a"], y=5) == point(1, 5, ["a"])
    wrong: dict[str, int]
    for wrong in ({}, {"x": 1, "z": 2}):
        with pytest.raises(TypeError, match="argument"):
            point(**wrong)


def test_objects_are_told_apart_by_their_values_or_not_at_all(module: Any) -> None:
    made = classes(module)
    hashed, checked = made["Hashed"], made["Checked"]
    assert hashed(1) == hashed(1, "a") != hashed(2)
    assert len({hashed(1), hashed(1), hashed(2)}) == 2
    assert hashed(1) != checked(1)
    assert made["Named"]() != made["Named"]()
    with pytest.raises(TypeError, match="unhashable"):
        hash(made["Point"](1))


def test_nothing_is_assigned_or_deleted(module: Any) -> None:
    one = classes(module)["Hashed"](1)
    with pytest.raises(module.FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 2
    with pytest.raises(module.FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    assert issubclass(module.FrozenInstanceError, AttributeError)


def test_what_is_inherited_comes_first_and_what_is_made_is_checked(module: Any) -> None:
    checked = classes(module)["Checked"]
    assert [field.name for field in module.fields(checked)] == ["x", "y", "z"]
    assert [field.type for field in module.fields(checked(1))] == ["int", "str", "float"]
    with pytest.raises(ValueError, match="-1"):
        checked(-1)
    with pytest.raises(ValueError, match="-1"):
        module.replace(checked(1), x=-1)


def test_texts(module: Any) -> None:
    made = classes(module)
    assert repr(made["Hashed"](1)).endswith("Hashed(x=1, y='a')")
    assert repr(made["Point"](1)).endswith("Point(x=1, y=2)")
    assert repr(made["Named"]()) == "<1>"


def test_another_like_it(module: Any) -> None:
    hashed = classes(module)["Hashed"]
    assert module.replace(hashed(1), y="b") == hashed(1, "b")
    with pytest.raises(TypeError, match="unexpected keyword"):
        module.replace(hashed(1), w=1)
    assert copy.copy(hashed(1)) == hashed(1)


def test_ours_can_be_pickled() -> None:
    from tfprof.model import Note  # noqa: PLC0415

    note = Note("a", 3)
    assert pickle.loads(pickle.dumps(note)) == note  # noqa: S301 - our own
