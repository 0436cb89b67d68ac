"""NumPy's choice of pages: changed while files are read, and then as before."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from profiles import PROFILES
from tfprof.columns.small_pages import small_pages
from tfprof.io.open_files import open_source
from tfprof.read.loading import load

if TYPE_CHECKING:
    from collections.abc import Iterator

multiarray: Any = import_module("numpy._core.multiarray")


@pytest.fixture(params=[True, False])
def chosen(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether the user's program lets NumPy ask for huge pages."""
    before = multiarray._set_madvise_hugepage(request.param)
    yield request.param
    multiarray._set_madvise_hugepage(before)


def test_the_choice_of_the_program_comes_back(chosen: bool) -> None:  # noqa: FBT001
    with small_pages():
        assert not multiarray._get_madvise_hugepage()
    assert multiarray._get_madvise_hugepage() == chosen
    with pytest.raises(ValueError, match="damaged"), small_pages():
        raise ValueError("damaged")
    assert multiarray._get_madvise_hugepage() == chosen


def test_the_choice_comes_back_when_the_last_of_several_threads_is_done(*, chosen: bool) -> None:
    first, second = small_pages(), small_pages()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not multiarray._get_madvise_hugepage()  # the other one still reads
    second.__exit__(None, None, None)
    assert multiarray._get_madvise_hugepage() == chosen


def test_files_are_read_into_ordinary_pages(chosen: bool) -> None:  # noqa: FBT001
    seen = []
    graph = open_source(str(PROFILES["handmade"].graph), "a graph")
    load(graph, progress=lambda _: seen.append(multiarray._get_madvise_hugepage()))
    assert seen
    assert not any(seen)
    assert multiarray._get_madvise_hugepage() == chosen
