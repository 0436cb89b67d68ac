"""Writes what an entry lacks: the profile, and what questions needed of it since."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.cache import folder as folders
from tfprof.cache.digest import digest
from tfprof.cache.entry import INPUTS, ORIGIN, SOURCES
from tfprof.cache.stored_values import to_columns as value_columns
from tfprof.columns.strings import Strings
from tfprof.errors import TfprofError
from tfprof.io.write_files import write_file
from tfprof.model import Profile
from tfprof.read.columnar import ATTRIBUTES, RUN_SHAPES, STEP_SHAPES
from tfprof.read.columnar.layout import (
    CONVERTERS,
    Attributes,
    RunShapes,
    ShapesOfSteps,
    run_shapes,
    step_shapes,
    to_columns,
)
from tfprof.writers.columnar import attributes_of, columns_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.cache.entry import Entry
    from tfprof.columns.strings import I64, U8

    NamedColumns = Iterator[tuple[str, I64 | U8]]


_MOST: Final = 30  # additions to an entry: all of them are opened
_SHARE: Final = 4  # of the cache: one entry does not drive out all others


def write_entry(entry: Entry, profile: Profile) -> None:
    """Write what the *entry* of this *profile* lacks; whatever stops that is no error."""
    with suppress(TfprofError, OSError, ValueError, MemoryError):
        if entry.lacks(profile):
            _write_parts(entry, profile)


def _write_parts(entry: Entry, profile: Profile) -> None:
    folders.make_folder(entry.folder)
    if not entry.exists:
        _write(entry, folders.PROFILE, _profile_columns(entry, profile))
    if more := dict(_more_columns(entry, profile)):
        folders.remove_oldest_parts(entry.folder, entry.key, _MOST - 1, entry.most // _SHARE)
        part = digest("\n".join(sorted(more)).encode(), 8)
        _write(entry, part, more.items())
    folders.remove_oldest(entry.folder, entry.most)


def _write(entry: Entry, part: str, columns: Iterable[tuple[str, Any]]) -> None:
    pieces = list(columns_file(columns))
    # The files may have changed while they were read.
    if sum(map(len, pieces)) <= entry.most and entry.is_current():
        write_file(entry.path(part), pieces, mode=folders.FOR_US_ALONE)


def _profile_columns(entry: Entry, profile: Profile) -> NamedColumns:
    yield from to_columns(Profile, "", profile)
    yield f"{ATTRIBUTES}.described", profile.in_graph.astype(np.int64)
    origin = [profile.graph_names] if profile.attribute_sources else []
    paths = [os.path.abspath(file.place) for file in entry.identity.files]  # noqa: PTH100
    for name, texts in ((INPUTS, paths), (ORIGIN, origin)):
        encoded = Strings.of(text.encode("utf-8", "surrogateescape") for text in texts)
        yield from CONVERTERS["Strings"].to_columns(name, encoded)
    groups = [steps for steps, _ in profile.step_shapes]
    yield SOURCES, np.array([bool(profile.shape_sources), *map(len, groups)], np.int64)
    for number, steps in enumerate(groups):
        yield f"{STEP_SHAPES}.{number}.steps", np.array(steps, np.int64)


def _more_columns(entry: Entry, profile: Profile) -> NamedColumns:
    """What questions needed: values of the caches, and what is read from the files later."""
    for name, value in entry.new_values(profile):
        yield from value_columns(name, value, profile.nodes.name)
    with suppress(TfprofError):  # damaged attributes: whoever asks for them hears of it
        yield from _read_later(entry.wanted, profile)


def _read_later(wanted: set[str], profile: Profile) -> NamedColumns:
    if ATTRIBUTES in wanted:
        yield from to_columns(Attributes, ATTRIBUTES, attributes_of(profile))
    if RUN_SHAPES in wanted:
        yield from to_columns(RunShapes, RUN_SHAPES, run_shapes(profile))
    for number in range(len(profile.step_shapes)):
        if (name := f"{STEP_SHAPES}.{number}") in wanted:
            yield from to_columns(ShapesOfSteps, name, step_shapes(profile, number))
