"""Reads a chunked SavedModel (saved_model.cpb): one message, stored as records that are merged.

    record ── a part of the message, and where it belongs:  meta_graphs[0].graph_def.library
    …                                                       meta_graphs[0].graph_def.node[7]
    last record ── ChunkMetadata ─┬─ 2 ChunkInfo*           type of each record
                                  └─ 3 ChunkedMessage ─┬─ 1 record of the message itself
                                                       └─ 2 field* ─┬─ 1 path
                                                                    └─ 3 ChunkedMessage

What is merged are wire bytes: the merge of two messages is one after the other. Large values of
constants are records of their own. They are left out: no number depends on them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.errors import InputError
from tfprof.read.riegeli import records
from tfprof.read.source import Source
from tfprof.tables.formats import FORMATS
from tfprof.wire.scalar import (
    BYTES,
    Message,
    WireError,
    encode_bytes,
    encode_tag,
    encode_varint,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import U8
    from tfprof.tables.formats import Format

_VALUE: Final = 2  # ChunkInfo.Type.BYTES
_MOST_VALUE: Final = 1 << 16
_DEEPEST: Final = 64  # steps of a path; TensorFlow's have up to 9
# (field number, and of a repeated field the index, of a map the key).
_Step = tuple[int, int | bytes | None]


class ChunkedSource(Source):
    """The wire bytes of a chunked message, merged on first use and after unpickling."""

    def __init__(self, chunked: Source) -> None:
        super().__init__(chunked.name)
        self._chunked = chunked

    @property
    def format(self) -> Format:
        """A SavedModel, by what it is merged to."""
        return FORMATS["saved_model"]

    def _read(self) -> U8:
        self._chunked.check()
        try:
            return np.frombuffer(_merged(self._chunked.data, self.name), np.uint8)
        except WireError as problem:
            raise InputError(f"{self.name} is a damaged chunked SavedModel: {problem}") from None

    def __getstate__(self) -> dict[str, object]:
        return {**super().__getstate__(), "_data": None}


def _merged(data: U8, file: str) -> bytes:
    if not (parts := records(data, file)):
        raise WireError(0, "no records")
    metadata = Message(np.frombuffer(parts.pop().data, np.uint8))
    kinds = [Message(info).number(1) for info in metadata.parts(2)]
    root, placed = _Part(), set[int]()
    for path, number in _placed(metadata.part(3)):
        if number >= min(len(parts), len(kinds)):
            raise WireError(0, f"no record {number}")
        record = parts[number]
        if number in placed:
            raise WireError(0, f"record {number} twice")
        placed.add(number)
        if kinds[number] != _VALUE or len(record) <= _MOST_VALUE:
            root.at(path).chunks.append(record.data)
    if not root.inner and not root.chunks:
        raise WireError(0, "no records that are part of a model")
    # Outer parts first: an inner part begins with what the outer one has of it.
    order = [root]
    for part in order:
        part.split()
        order += part.inner.values()
    for part in reversed(order):
        part.join()
    return root.data


def _placed(message: U8) -> Iterator[tuple[tuple[_Step, ...], int]]:
    """(path, number of a record) of a ChunkedMessage and those in it, outer ones first."""
    waiting: list[tuple[tuple[_Step, ...], U8]] = [((), message)]
    for path, content in waiting:
        chunked = Message(content)
        if (number := chunked.number(1, -1)) >= 0:
            yield path, number
        for part in chunked.parts(2):
            field = Message(part)
            place = (*path, *_steps(field.parts(1)))
            if len(place) > _DEEPEST:
                raise WireError(0, f"a path of {len(place)} steps")
            waiting.append((place, field.part(3)))


def _steps(tags: list[U8]) -> Iterator[_Step]:
    """The steps of a path: a field, and the index or the key that may follow it."""
    number = 0
    for tag in tags:
        index = Message(tag)
        if (field := index.number(1)) > 0:
            if number:
                yield number, None
            number = field
        elif index.parts(2):
            yield number, Message(index.part(2)).part(1).tobytes()
            number = 2  # the value of an entry
        else:
            yield number, index.number(3)
            number = 0
    if number:
        yield number, None


class _Part:
    """A message in the message: records that belong to it, and parts in it that have records."""

    def __init__(self) -> None:
        self.own: list[memoryview | bytes] = []  # what outer parts have of it
        self.chunks: list[memoryview] = []
        self.inner: dict[_Step, _Part] = {}
        self.data = b""
        self._segments: list[memoryview | tuple[int, _Part]] = []

    def at(self, path: tuple[_Step, ...]) -> _Part:
        """The part at *path*."""
        part = self
        for step in path:
            part = part.inner.setdefault(step, _Part())
        return part

    def split(self) -> None:
        """Hand inner parts what this one has of them."""
        view = memoryview(b"".join([*self.own, *self.chunks]))
        numbers = {number for number, _ in self.inner}
        if not numbers:
            self._segments = [view]
            return
        seen: Counter[int] = Counter()
        waiting = dict(sorted(self.inner.items(), key=lambda item: _place(item[0])))
        copied = begin = 0
        keyed = {number for number, key in self.inner if isinstance(key, bytes)}
        for number, kind, start, end, _ in walk(view, 0, len(view)):
            if number in numbers and kind == BYTES:
                key = _key(view[start:end]) if number in keyed else seen[number]
                steps: tuple[_Step, ...] = ((number, None), (number, key))
                seen[number] += 1
                if step := next((step for step in steps if step in self.inner), None):
                    self._segments.append(view[copied:begin])
                    copied = end
                    self.inner[step].own.append(view[start:end])
                    if waiting.pop(step, None):
                        self._segments.append((number, self.inner[step]))
            begin = end
        self._segments.append(view[copied:])
        for (number, key), part in waiting.items():
            if isinstance(key, bytes):
                part.own.append(encode_bytes(1, key))
            self._segments.append((number, part))

    def join(self) -> None:
        """Put the inner parts, which are joined, in their places."""
        pieces: list[memoryview | bytes] = []
        for segment in self._segments:
            if isinstance(segment, tuple):
                number, part = segment
                pieces += [encode_tag(number, BYTES), encode_varint(len(part.data)), part.data]
            else:
                pieces.append(segment)
        self.data = b"".join(pieces)


def _place(step: _Step) -> tuple[int, int]:
    """In which order parts come that the outer part has nothing of."""
    number, key = step
    return number, key if isinstance(key, int) else -1


def _key(entry: memoryview) -> bytes:
    """The key of an entry of a map, if it is one with a text as key."""
    number, kind, start, end, _ = next(walk(entry, 0, len(entry)), (0, 0, 0, 0, 0))
    return bytes(entry[start:end]) if (number, kind) == (1, BYTES) else b""
