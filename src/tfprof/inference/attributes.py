"""The attributes that rules ask for: where each stands, and what it says when it is asked for.

Places are looked up once for a whole profile, in columns; a value is decoded at the first request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, U8, Strings
from tfprof.errors import InputError
from tfprof.inference.attr_values import attribute
from tfprof.wire.decode import BYTES, WireError, scan

if TYPE_CHECKING:
    from tfprof.model import Profile

_NAMES: Final = """
DstT T _output_shapes adj_x adj_y axis batch_dims begin_mask block_size data_format dilations
ellipsis_mask end_mask equation explicit_paddings k keep_dims ksize new_axis_mask num num_elements
num_split output_shapes padding pooling_ratio rates shape shrink_axis_mask squeeze_dims strides
transpose_a transpose_b value
"""
NAMES: Final = tuple(_NAMES.split())
_NUMBER: Final = {name: number for number, name in enumerate(NAMES)}
_KEYS: Final = Strings.of(name.encode() for name in NAMES)


class _Place(NamedTuple):
    """Attributes by node and name: their code, the blob they stand in, and where."""

    code: I64
    blob: I64
    start: I64
    length: I64


class Attributes:
    """The attributes of all nodes of a profile."""

    def __init__(self, profile: Profile) -> None:
        self._names = profile.graph_names
        self._blobs: list[memoryview] = []
        self._decoded: dict[int, Any] = {}
        try:
            self._place = self._places(profile)
        except WireError as problem:
            raise self._damage(problem) from None

    def get(self, node: int, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """What an attribute of a node says; *default* where it has none of this name."""
        code = node * len(NAMES) + _NUMBER[name]
        if code not in self._decoded:
            at = int(np.searchsorted(self._place.code, code))
            if at == self._place.code.size or int(self._place.code[at]) != code:
                return default
            self._decoded[code] = self._value(at)
        return self._decoded[code]

    def _value(self, at: int) -> Any:  # noqa: ANN401 - as its operation has it
        start = int(self._place.start[at])
        view = self._blobs[int(self._place.blob[at])]
        try:
            return attribute(view[start : start + int(self._place.length[at])])
        except WireError as problem:
            raise self._damage(problem) from None

    def _damage(self, problem: Exception) -> InputError:
        return InputError(f"{self._names}: an attribute of the graph is damaged: {problem}")

    def _places(self, profile: Profile) -> _Place:
        """Where the attributes of these names stand, by node and name."""
        pieces = [_Place(*np.empty((4, 0), np.int64))]
        known: dict[int, int] = {}
        for source in profile.attribute_sources:
            row, entry = source.read()
            part = scan(entry.blob, entry.start, entry.start + entry.length, {1: BYTES, 2: BYTES})
            name = _KEYS.find(Strings(entry.blob, *part[1].last_slice(len(entry))))
            start, length = part[2].last_slice(len(entry))
            node = source.node[row]
            kept = np.flatnonzero((name >= 0) & (node >= 0))
            blob = np.full(kept.size, self._blob(entry.blob, known))
            code = node[kept] * len(NAMES) + name[kept]
            pieces.append(_Place(code, blob, start[kept], length[kept]))
        joined = _Place(*map(np.concatenate, zip(*pieces, strict=True)))
        order = np.argsort(joined.code, kind="stable")
        last = np.ones(order.size, np.bool_)  # of an attribute that stands twice the last counts
        last[:-1] = np.diff(joined.code[order]) != 0
        return _Place(*(column[order[last]] for column in joined))

    def _blob(self, blob: U8, known: dict[int, int]) -> int:
        """The number of a blob; many sources may share one."""
        if id(blob) not in known:
            known[id(blob)] = len(self._blobs)
            self._blobs.append(memoryview(np.ascontiguousarray(blob)))  # type: ignore[arg-type]
        return known[id(blob)]


def attributes_of(profile: Profile) -> Attributes:
    """The attributes of a profile; their places are looked up once."""
    return profile.cached("places of attributes", lambda: Attributes(profile))
