"""Files read a few messages at a time have the columns of files that are read at once."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tfprof.columns.mapped_pages import release_pages
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import fields
from tfprof.io.open_files import open_source
from tfprof.read import graph_def, in_chunks, op_log, run_metadata
from tfprof.read.columns import NodeDefAttributes
from tfprof.read.read_files import in_wire
from tfprof.tables.formats import GRAPH, OP_LOG, RUN, sample_files
from tfprof.wire.decode import Field

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfprof.columns.strings import U8
    from tfprof.tables.formats import Input

pytestmark = pytest.mark.usefixtures("kernels")


def sample(row: Input) -> U8:
    """The first bundled file of an input, as wire bytes."""
    named = sample_files()[row.name]
    path = named if isinstance(named, str) else named[0]
    return in_wire(open_source(path, row.name), row).data


def flat(column: Any) -> object:
    """What a column holds, to be compared."""
    if isinstance(column, Strings):
        return column.tolist()
    if isinstance(column, Shapes):
        return column.start.tolist(), column.dim.tolist()
    if isinstance(column, Field):
        return [part.tolist() for part in column]
    if isinstance(column, NodeDefAttributes):
        owner, entry = column()
        return owner.tolist(), entry.start.tolist(), entry.tolist()
    return column.tolist() if isinstance(column, np.ndarray) else column


@pytest.mark.parametrize(
    ("row", "read"),
    [(GRAPH, graph_def.columns), (RUN, run_metadata.columns), (OP_LOG, op_log.columns)],
    ids=["graph", "run", "op log"],
)
@pytest.mark.parametrize("messages", [7, 1_000])
def test_chunks_join_to_the_same_columns(
    row: Input, read: Callable[[U8], Any], messages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = sample(row)
    monkeypatch.setattr(in_chunks, "_MESSAGES", 1 << 40)
    whole = read(data)
    monkeypatch.setattr(in_chunks, "_MESSAGES", messages)
    chunked = read(data)
    for field in fields(type(whole)):
        same = flat(getattr(chunked, field.name)) == flat(getattr(whole, field.name))
        assert same, field.name


def test_pages_that_were_freed_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(range(256)) * 400)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    data = np.frombuffer(mapped, np.uint8)
    for part, begin, end in ((data, 0, data.size), (data[5_000:], 1, 90_000), (data[9:10], 0, 1)):
        before = part.copy()
        release_pages(part, begin, end)
        assert (part == before).all()


def test_memory_that_is_no_file_keeps_its_content() -> None:
    data = np.arange(100_000).view(np.uint8)
    release_pages(data, 0, data.size)
    assert (data.view(np.int64) == np.arange(100_000)).all()
