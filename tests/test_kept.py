"""A second question does no work that the first has done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import tfprof
from tfprof.columns.tree import Tree
from tfprof.foundation import units
from tfprof.model import Step
from tfprof.views import VIEWS, drawing
from tfprof.writers import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIONS: dict[str, Any] = {
    "select": ["micros", "bytes", "params"],
    "order_by": "micros",
    "account_type_regexes": [".*"],
    "flops": "log",
}


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
    loaded = tfprof.load_sample()
    ask = getattr(loaded, view)
    first = str(ask(**OPTIONS))
    assert {"totals", "add"} <= {*calls}
    calls.clear()
    assert str(ask(**OPTIONS)) == first
    assert calls == []


@pytest.mark.parametrize("view", ["scope", "graph", "code"])
def test_another_threshold_adds_nothing_up_again(view: str, calls: list[str]) -> None:
    loaded = tfprof.load_sample()
    ask = getattr(loaded, view)
    ask(**OPTIONS).rows  # noqa: B018 - the rows are made when they are asked for
    calls.clear()
    assert len(ask(**OPTIONS, min_micros=1000).rows) > 1
    assert "totals" not in calls
    assert "add" not in calls
    assert "from_depth" not in calls


def test_a_regex_is_tried_once(calls: list[str]) -> None:
    loaded = tfprof.load_sample()
    for _ in range(2):
        loaded.scope(**OPTIONS, show_name_regexes=[".*unit.*"], max_depth=5)
    assert calls.count("matches") == 1


def test_many_questions_are_not_all_kept() -> None:
    loaded = tfprof.load_sample()
    texts = {
        pattern: str(loaded.scope(**{**OPTIONS, "account_type_regexes": [pattern]}))
        for pattern in (f"Conv2D|{number}" for number in range(20))
    }
    assert len(set(texts.values())) == 1
    again = loaded.scope(**{**OPTIONS, "account_type_regexes": ["Conv2D|0"]})
    assert str(again) == texts["Conv2D|0"]


def test_texts_of_numbers_are_not_kept_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np  # noqa: PLC0415

    monkeypatch.setattr(numbers, "_KEPT_A_NODE", 0)
    monkeypatch.setattr(numbers, "_KEPT_ANYWAY", 10)
    profile = tfprof.load_sample().profile
    for first in range(0, 100, 10):
        column = np.arange(first, first + 10)
        assert numbers.texts_of(profile, column, units.micros) == [b"%dus" % n for n in column]
    kept: dict[int, bytes] = profile.keep(("texts", units.micros), dict)
    assert len(kept) <= 20
