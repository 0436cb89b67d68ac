"""The files that are read with a graph or a trace because they are beside it."""

# ruff: noqa: PTH113, PTH118, PTH120
# A report of a small file does without pathlib, which takes 3 ms and 1 MB to import.

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tfprof.tables.formats import DEBUG_INFO, GRAPH, KERAS_METADATA, NOTES, TRACE

if TYPE_CHECKING:
    from tfprof.read.source import Source
    from tfprof.tables.formats import Input

# Where TensorFlow writes traces inside a folder for logs: one folder per session, named by time.
TRACES = "plugins/profile"
BESIDE_GRAPH = (DEBUG_INFO, KERAS_METADATA)


def beside_graph(row: Input, graph: str, opened: object) -> Source | None:
    """The file of an input that belongs to the SavedModel *graph*: beside it, or in its archive."""
    from tfprof.io.open_files import ArchiveSource, open_source  # noqa: PLC0415 - only to read it

    assert row.beside is not None
    graph_names, place = row.beside
    if isinstance(opened, ArchiveSource):
        return opened.beside.get(place)
    folder, name = os.path.split(graph)
    path = os.path.join(folder, place)
    has_path = name in graph_names and os.path.isfile(path)
    return open_source(path, row.title) if has_path else None


def notes_beside(file: str) -> str | None:
    """The notes of the capture that wrote a graph or a trace, if it left any."""
    path = _notes_of(file)
    return path if os.path.isfile(path) else None


def files_beside(row: Input, file: str) -> list[str]:
    """Where files may be that are read with *file*, an input of this *row*."""
    if row is TRACE:
        return [_notes_of(file)]
    if row is not GRAPH:
        return []
    places = [each.beside[1] for each in BESIDE_GRAPH if each.beside]
    folder = os.path.dirname(file)
    return [*(os.path.join(folder, place) for place in places), _notes_of(file)]


def _notes_of(file: str) -> str:
    assert NOTES.beside is not None
    folder = os.path.dirname(file)
    above, _, session = os.path.normpath(folder).rpartition(f"{TRACES}/")
    if session and "/" not in session and (not above or above.endswith("/")):
        folder = above
    return os.path.join(folder, NOTES.beside[1])
