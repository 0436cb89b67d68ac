"""Shardings of HLO text as OpSharding.

{replicated}  {manual}  {maximal device=3}  {devices=[2,1]0,1}  {devices=[2,1,2]<=[2,2]T(1,0) …}
{{devices=[2]<=[2]}, {replicated}}
"""

from __future__ import annotations

import re
from typing import Final

from tfprof.read.hlo.text_shapes import encode_bytes, packed, scalar
from tfprof.read.hlo.text_syntax import elements, integer, integers

_REPLICATED, _MAXIMAL, _TUPLE, _OTHER = 0, 1, 2, 3
# Kinds by keyword, in the whole sharding and in last_tile_dims.
_KINDS: Final = {b"replicated": _REPLICATED, b"manual": 4, b"unknown": 5, b"unreduced": 6}
_WORD: Final = re.compile(rb"\{\s*([a-z]+)")
_MAXIMAL_DEVICE: Final = re.compile(rb"\{\s*maximal device=([0-9]+)")
_TILES: Final = re.compile(
    rb"devices=\[([0-9,]*)\]"
    rb"(?:<=\[([0-9,]*)\](?:T\(([0-9,]*)\))?|([0-9]+(?:,[0-9]+)*))"
)
_LAST_DIMENSIONS: Final = re.compile(rb"last_tile_dims=\{([a-z, ]*)\}")


def encode_sharding(number: int, value: bytes) -> bytes:
    """The field *number* with the OpSharding of *value*; b"" where its form is not known."""
    parts = elements(value[1:-1]) if value.startswith(b"{") else []
    if parts and parts[0].startswith(b"{"):
        inner = [_single(part) or b"" for part in parts]
        tuples = b"".join([encode_bytes(5, part) for part in inner])
        return encode_bytes(number, scalar(1, _TUPLE) + tuples)
    single = _single(value)
    return b"" if single is None else encode_bytes(number, single)


def _single(value: bytes) -> bytes | None:
    if match := _MAXIMAL_DEVICE.match(value):
        return scalar(1, _MAXIMAL) + packed(4, [integer(match[1])])
    if match := _TILES.search(value):
        sizes, source, order, devices = match.groups()
        message = scalar(1, _OTHER) + packed(3, integers(sizes))
        if devices is not None:
            message += packed(4, integers(devices))
        else:
            shape = integers(source)
            permutation = integers(order) if order is not None else [*range(len(shape))]
            message += packed(9, shape) + packed(10, permutation)
        if b"last_tile_dim_replicate" in value:
            message += scalar(6, 1)
        if last := _LAST_DIMENSIONS.search(value):
            kinds = [_KINDS.get(kind.strip(), _OTHER) for kind in last[1].split(b",")]
            message += packed(8, kinds)
        return message
    word = _WORD.match(value)
    return scalar(1, _KINDS[word[1]]) if word and word[1] in _KINDS else None
