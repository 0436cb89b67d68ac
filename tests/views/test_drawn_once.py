"""No view of a profile is drawn twice in the same way, whatever asks for it."""

from __future__ import annotations

import io
import sys
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

import tfprof
from tfprof import cli
from tfprof.tables.formats import sample_files
from tfprof.tables.outputs import OUTPUTS
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Key = tuple[object, ...]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Counter[Key]:
    """How often each view of each profile is drawn, by the options in force."""
    count: Counter[Key] = Counter()
    caches = []  # so that no other has the same address

    def counting(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
        defaults = draw.__kwdefaults__ or {}

        def counted(profile: Any, **options: object) -> Any:
            caches.append(profile.structure_cache)
            how = tuple({**defaults, **options}.items())
            count[name, id(profile.structure_cache), how] += 1
            return draw(profile, **options)

        counted.__kwdefaults__ = defaults
        return counted

    for name in VIEWS:
        module = import_module(f"tfprof.views.{name}_view")
        monkeypatch.setattr(module, "draw", counting(name, module.draw))
    return count


def once_each(drawn: Counter[Key]) -> None:
    assert drawn
    assert not {key: times for key, times in drawn.items() if times > 1}


def flags() -> list[str]:
    files = sample_files()
    listed = {name: [it] if isinstance(it, str) else it for name, it in files.items()}
    return [f"--{name}={','.join(map(str, it))}" for name, it in listed.items()]


def test_python(drawn: Counter[Key], tmp_path: Path) -> None:
    loaded = tfprof.load_sample()
    for view in VIEWS:
        for options in ({}, {"max_depth": 3}, {"select": ["micros"], "step": 1}):
            report = getattr(loaded, view)(**options)
            assert report.text()
            assert report.to_dict()
        if view != "op":
            report = getattr(loaded, view)(select=["micros"])
            assert [*report.files(OUTPUTS["timeline"], str(tmp_path / view))]
    loaded.advice()
    loaded.overview()
    assert {name for name, *_ in drawn} == {*VIEWS}
    once_each(drawn)


@pytest.mark.parametrize(
    "words",
    [*([view] for view in VIEWS), ["advise"], ["overview"], ["page", "--outfile=OUT"]],
    ids=" ".join,
)
def test_one_command(drawn: Counter[Key], words: list[str], tmp_path: Path) -> None:
    out = str(tmp_path / "out.html")
    assert cli.run([*(word.replace("OUT", out) for word in words), *flags()]) == 0
    once_each(drawn)


def test_the_shell(drawn: Counter[Key], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"{view} -max_depth {depth}\n" for depth in (2, 3) for view in VIEWS)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{lines}advise\n".encode())))
    assert cli.run(["shell", *flags()]) == 0
    assert {name for name, *_ in drawn} == {*VIEWS}
    once_each(drawn)


@pytest.mark.parametrize("view", VIEWS)
def test_a_diff(drawn: Counter[Key], view: str) -> None:
    base, new = tfprof.load_sample(), tfprof.load_sample()
    report = base.diff(new, view, select=["micros"])
    assert b"".join(report.pieces("text"))
    once_each(drawn)
