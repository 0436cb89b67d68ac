"""Reads a chunked SavedModel (saved_model.cpb): one message, stored as records that are merged.

    record ── a part of the message, and where it belongs:  meta_graphs[0].graph_def.library
    …                                                       meta_graphs[0].graph_def.node[7]
    last record ── ChunkMetadata ─┬─ 2 ChunkInfo*           type of each record
                                  └─ 3 ChunkedMessage ─┬─ 1 record of the message itself
                                                       └─ 2 field* ─┬─ 1 path
                                                                    └─ 3 ChunkedMessage

Wire bytes are merged: the merge of two messages is one after the other. Records of bytes are the
values of large constants. They are left out: no number depends on them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.errors import InputError
from tfprof.read.riegeli import records
from tfprof.read.source import Source
from tfprof.tables.formats import FORMATS
from tfprof.wire.scalar import BYTES, Message, WireError, encode_tag, encode_varint, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import U8
    from tfprof.tables.formats import Format

_VALUE: Final = 2  # ChunkInfo.Type.BYTES
_DEEPEST: Final = 64  # steps of a path; TensorFlow's have up to 6
_SINGLE: Final = -1
# (field number, index or _SINGLE for a field that is not repeated).
_Step = tuple[int, int]


class ChunkedSource(Source):
    """The wire bytes of a chunked SavedModel, merged on first use and after unpickling."""

    def __init__(self, chunked: Source, _: str) -> None:
        super().__init__(chunked.name)
        self._chunked = chunked

    @property
    def format(self) -> Format:
        """A SavedModel: that is what it is merged to."""
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
    unused = dict(enumerate(parts[: len(kinds)]))
    root = _Part()
    for path, number in _placed(metadata.part(3)):
        if number not in unused:
            raise WireError(0, f"no record {number} for a part of the model")
        record = unused.pop(number)
        if kinds[number] != _VALUE:
            part = root
            for step in path:
                part = part.inner.setdefault(step, _Part())
            part.content.append(record.data)
    # Outer parts first: an inner part begins with what the outer one has of it.
    order = [root]
    for part in order:
        part.split()
        order += part.inner.values()
    for part in reversed(order):
        part.join()
    if not root.data:
        raise WireError(0, "no part of a model")
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
    """The steps of a path: fields, and the indices that may follow them."""
    number = 0
    for tag in map(Message, tags):
        # A key leads to a value of a map; of these, only those of constants are chunks.
        if (field := tag.number(1)) or tag.parts(2):
            if number:
                yield number, _SINGLE
            number = field
        else:
            yield number, tag.number(3)
            number = 0
    if number:
        yield number, _SINGLE


class _Part:
    """A message in the message: what is known of it, and parts in it that have records."""

    def __init__(self) -> None:
        self.before: list[memoryview] = []  # what outer parts have of it
        self.content: list[memoryview] = []
        self.inner: dict[_Step, _Part] = {}
        self.data = b""
        self._segments: list[memoryview | tuple[int, _Part]] = []

    def split(self) -> None:
        """Hand inner parts what this one has of them."""
        view = memoryview(b"".join([*self.before, *self.content]))
        waiting = dict(sorted(self.inner.items()))
        seen: Counter[int] = Counter()
        copied = begin = 0
        for number, kind, start, end, _ in walk(view, 0, len(view)) if waiting else ():
            single, indexed = (number, _SINGLE), (number, seen[number])
            step = single if single in self.inner else indexed
            if step in self.inner and kind == BYTES:
                self._segments.append(view[copied:begin])
                if waiting.pop(step, None):
                    self._segments.append((number, self.inner[step]))
                self.inner[step].before.append(view[start:end])
                copied = end
            seen[number] += 1
            begin = end
        self._segments += [
            view[copied:],
            *((number, part) for (number, _), part in waiting.items()),
        ]

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
