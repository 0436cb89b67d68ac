"""A second question does no work that the first has done."""

from __future__ import annotations

import copy
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tfprof
from tfprof.columns.strings import Strings
from tfprof.columns.tree import Tree
from tfprof.foundation import units
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Step
from tfprof.views import VIEWS, drawing
from tfprof.writers import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import I64
    from tfprof.model import Profile

OPTIONS: dict[str, Any] = {
    "select": ["micros", "bytes", "params"],
    "order_by": "micros",
    "account_type_regexes": [".*"],
    "flops": "log",
}


@cache
def sample() -> Profile:
    return tfprof.load_sample().profile


def fresh() -> tfprof.Loaded:
    """The bundled sample, of which nothing is cached yet."""
    return tfprof.Loaded(copy.deepcopy(sample()))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of each piece of work, as often as it is done."""
    done: list[str] = []

    def watch(owner: Any, name: str) -> None:
        work: Callable[..., Any] = getattr(owner, name)

        def counted(*arguments: Any, **more: Any) -> Any:
            done.append(name)
            return work(*arguments, **more)

        monkeypatch.setattr(owner, name, counted)

    watch(Tree, "totals")
    watch(Tree, "sort")
    watch(Tree, "from_depth")
    watch(drawing, "matches")
    watch(Step, "add")
    watch(numbers.Texts, "__missing__")
    return done


@pytest.mark.parametrize("view", list(VIEWS))
def test_the_same_question_again_is_only_written(view: str, calls: list[str]) -> None:
    loaded = fresh()
    ask = getattr(loaded, view)
    first = str(ask(**OPTIONS))
    assert {"totals", "add"} <= {*calls}
    calls.clear()
    assert str(ask(**OPTIONS)) == first
    assert calls == []


@pytest.mark.parametrize("view", ["scope", "graph", "code"])
def test_another_threshold_adds_nothing_up_again(view: str, calls: list[str]) -> None:
    loaded = fresh()
    ask = getattr(loaded, view)
    ask(**OPTIONS).rows  # noqa: B018 - the rows are made when they are asked for
    calls.clear()
    assert len(ask(**OPTIONS, min_micros=1000).rows) > 1
    assert "totals" not in calls
    assert "add" not in calls
    assert "from_depth" not in calls


LOGGED: dict[str, Any] = {"select": ["params", "micros"], "flops": "log", "max_depth": 1000}
COUNTED: dict[str, Any] = {**LOGGED, "select": ["params", "micros", "float_ops"]}


OTHER_RULES: tuple[dict[str, Any], ...] = ({"flops": "all"}, {"flops": "tensorflow"})
OTHER_ERA: dict[str, Any] = {"era": "2017"}


@pytest.mark.parametrize(
    ("view", "other"),
    [
        *((view, other) for view in VIEWS for other in OTHER_RULES),
        # These eras draw other trees in graph and code view: inputs by name, lines with their text.
        # In 2016 a variable has another type, too.
        *((view, OTHER_ERA) for view in ("scope", "op")),
    ],
)
def test_float_operations_and_eras_redraw_nothing_and_add_no_times_up(
    view: str, other: dict[str, Any], calls: list[str]
) -> None:
    expected = str(getattr(fresh(), view)(**{**COUNTED, **other}))
    loaded = fresh()
    first = str(getattr(loaded, view)(**LOGGED))
    _ = loaded.profile.values("occurrence", None)  # float operations are multiplied by these
    calls.clear()
    assert str(getattr(loaded, view)(**{**COUNTED, **other})) == expected != first
    assert {"from_depth", "add"} & {*calls} == set()
    assert str(getattr(loaded, view)(**LOGGED)) == first


def test_profiles_of_another_structure_share_no_drawing() -> None:
    loaded = fresh()
    profile = loaded.profile
    drawn = {view.name: view.draw(profile) for view in VIEWS.values()}
    same = {
        "notes": replace(profile, notes=()),
        "float operations": replace(profile, nodes=replace(profile.nodes, float_ops=ones(profile))),
        "steps": replace(profile, steps=()),
        "outputs": profile.with_run_shapes,
    }
    for name, derived in same.items():
        assert derived is not profile or name == "outputs"
        assert all(view.draw(derived) is drawn[view.name] for view in VIEWS.values()), name
    stacks = replace(profile.stacks, line=profile.stacks.line + 1)
    names = Strings.of(profile.nodes.name)
    other = {
        "names": replace(profile, nodes=replace(profile.nodes, name=names)),
        "types": replace(profile, types=Strings.of(profile.types)),
        "edges": replace(profile, edges=replace(profile.edges)),
        "stacks": replace(profile, stacks=stacks),
        "copied nodes": replace(profile, nodes=copy.deepcopy(profile.nodes)),
    }
    for name, derived in other.items():
        assert not any(view.draw(derived) is drawn[view.name] for view in VIEWS.values()), name


def ones(profile: Profile) -> I64:
    return np.ones(len(profile), np.int64)


def test_other_steps_are_added_up_anew(calls: list[str]) -> None:
    profile = fresh().profile
    both = profile.values("micros", None)
    calls.clear()
    assert profile.values("micros", None) is both
    assert replace(profile, notes=()).values("micros", None) is both
    assert calls == []
    first = replace(profile, steps=profile.steps[:1])
    assert first.values("micros", None).tolist() == profile.values("micros", 0).tolist()
    assert first.values("micros", None).tolist() != both.tolist()


def test_a_regex_is_tried_once(calls: list[str]) -> None:
    loaded = fresh()
    for _ in range(2):
        loaded.scope(**OPTIONS, show_name_regexes=[".*unit.*"], max_depth=5)
    assert calls.count("matches") == 1


def test_many_questions_are_not_all_kept() -> None:
    loaded = fresh()
    texts = {
        pattern: str(loaded.scope(**{**OPTIONS, "account_type_regexes": [pattern]}))
        for pattern in (f"Conv2D|{number}" for number in range(20))
    }
    assert len(set(texts.values())) == 1
    again = loaded.scope(**{**OPTIONS, "account_type_regexes": ["Conv2D|0"]})
    assert str(again) == texts["Conv2D|0"]


def test_texts_of_numbers_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "_CACHED_PER_NODE", 0)
    monkeypatch.setattr(numbers, "_CACHED_ANYWAY", 10)
    profile = fresh().profile
    for first in range(0, 100, 10):
        column = np.arange(first, first + 10)
        assert numbers.texts_of(profile, column, units.micros) == [b"%dus" % n for n in column]
    kept: dict[int, bytes] = profile.cached(("texts", units.micros), dict)
    assert len(kept) <= 20
