"""Attributes of instructions in HLO text as fields of HloInstructionProto.

    ATTRIBUTES: keyword ──► field, and the function that encodes its value

A keyword without a row is skipped. Precisions, slices and the like have none: no number of tfprof
depends on them. Of literals, single whole numbers are encoded, which may bound loops.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.read.hlo.text_shapes import encode_bytes, packed, scalar
from tfprof.read.hlo.text_sharding import encode_sharding
from tfprof.read.hlo.text_syntax import (
    HloTextError,
    integer,
    integers,
    pairs_in,
    quoted,
    unquoted,
    without_comments,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DOT, RAGGED_DOT = 30, 90


@dataclass(frozen=True)
class Attribute:
    """A row of ATTRIBUTES: the field number, and what encodes a value as this field."""

    number: int
    encode: Callable[[int, bytes], bytes]
    inside: int = 0  # the field of the instruction whose message holds it


@dataclass(frozen=True)
class Call:
    """A row of CALLS: a keyword that names computations, and its turn among those called."""

    turn: int = 0


# --- one function per kind of value ---------------------------------------------------------------


def number(field: int, value: bytes) -> bytes:
    """A number."""
    return scalar(field, integer(value))


def numbers(field: int, value: bytes) -> bytes:
    """A list of numbers, or one number as a list."""
    return packed(field, integers(value))


def text(field: int, value: bytes) -> bytes:
    """A string, a word, or braces as they are."""
    return encode_bytes(field, unquoted(value))


_FFT_TYPES: Final = (b"FFT", b"IFFT", b"RFFT", b"IRFFT")


def fft_type(field: int, value: bytes) -> bytes:
    """FFT, IFFT, RFFT or IRFFT."""
    if value not in _FFT_TYPES:
        raise HloTextError(f"expected an FFT type, found {quoted(value)}")
    return scalar(field, _FFT_TYPES.index(value))


# (part of a window, the field of WindowDimension, what it is where the text leaves it out)
_WINDOW: Final = {
    b"size": (1, 1), b"stride": (2, 1), b"rhs_dilate": (5, 1), b"lhs_dilate": (6, 1),
    b"rhs_reversal": (7, 0),
}  # fmt: skip
_PADDING: Final = re.compile(rb"(-?[0-9]+)_(-?[0-9]+)")


def window(field: int, value: bytes) -> bytes:
    """{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=2x2 rhs_dilate=1x1}."""
    parts = {key: part.split(b"x") for key, part in pairs_in(value)}
    count = len(parts.get(b"size", ()))
    if any(len(part) != count for part in parts.values()):
        raise HloTextError(f"expected as many sizes as dimensions in {quoted(value)}")
    encoded = []
    for place in range(count):
        dimension = b"".join(
            scalar(inner, integer(parts[key][place]) if key in parts else default)
            for key, (inner, default) in _WINDOW.items()
        )
        if b"pad" in parts:
            if not (pad := _PADDING.fullmatch(parts[b"pad"][place])):
                raise HloTextError(f"expected a padding such as 0_1 in {quoted(value)}")
            dimension += scalar(3, integer(pad[1])) + scalar(4, integer(pad[2]))
        encoded.append(encode_bytes(1, dimension))
    return encode_bytes(field, b"".join(encoded))


# Of input, kernel and output: (letter, its field), then the field of spatial dimensions.
_LABELS: Final = (
    ((b"b", 7), (b"f", 8), 11),
    ((b"i", 3), (b"o", 4), 6),
    ((b"b", 9), (b"f", 10), 12),
)
_DIMENSION_LABELS: Final = re.compile(rb"([0-9bf?]+)_([0-9io?]+)->([0-9bf?]+)")


def dimension_labels(field: int, value: bytes) -> bytes:
    """b01f_01io->b01f as ConvolutionDimensionNumbers."""
    match = _DIMENSION_LABELS.fullmatch(value)
    if match is None:
        raise HloTextError(f"expected dimension labels, found {quoted(value)}")
    inner = b""
    for labels, (first, second, spatial) in zip(match.groups(), _LABELS, strict=True):
        for letter, place in (first, second):
            inner += scalar(place, max(labels.find(letter), 0))
        digits = sorted(set(labels) & set(b"0123456789"))
        inner += packed(spatial, [labels.index(digit) for digit in digits])
    return encode_bytes(field, inner)


_METADATA: Final = {
    b"op_type": (1, text), b"op_name": (2, text), b"source_file": (3, text),
    b"source_line": (4, number), b"stack_frame_id": (15, number),
}  # fmt: skip


def metadata(field: int, value: bytes) -> bytes:
    """{op_name="…" source_file="…" source_line=7 stack_frame_id=3} as OpMetadata."""
    inner = [
        _METADATA[key][1](_METADATA[key][0], part)
        for key, part in pairs_in(value)
        if key in _METADATA
    ]
    return encode_bytes(field, b"".join(inner))


# Of a scalar of whole numbers: how its ShapeProto begins, and the field of a literal.
_WHOLE: Final = {scalar(2, kind): field for kind, field in ((4, 4), (5, 5), (8, 6), (9, 7))}
_DIGITS: Final = re.compile(rb"\s*(-?[0-9]{1,18})\s*")


def literal(shape: bytes, value: bytes) -> bytes:
    """The literal of a constant that is one whole number; b"" for others."""
    field, match = _WHOLE.get(shape[:2]), _DIGITS.fullmatch(value)
    if field is None or match is None:
        return b""
    number = int(match[1]) & (1 << 64) - 1
    return encode_bytes(8, encode_bytes(1, shape) + packed(field, [number]))


# fmt: off
ATTRIBUTES: Final = {
    keyword.encode(): row
    for keyword, row in {
        "metadata": Attribute(7, metadata),
        "kind": Attribute(11, text),
        "index": Attribute(13, number),
        "dimensions": Attribute(14, numbers),
        "iota_dimension": Attribute(14, numbers),
        "window": Attribute(15, window),
        "dim_labels": Attribute(16, dimension_labels),
        "custom_call_target": Attribute(28, text),
        "lhs_contracting_dims": Attribute(1, numbers, DOT),
        "rhs_contracting_dims": Attribute(2, numbers, DOT),
        "lhs_batch_dims": Attribute(3, numbers, DOT),
        "rhs_batch_dims": Attribute(4, numbers, DOT),
        "fft_type": Attribute(31, fft_type),
        "fft_length": Attribute(32, numbers),
        "sharding": Attribute(40, encode_sharding),
        "backend_config": Attribute(43, text),
        "feature_group_count": Attribute(50, number),
        "batch_group_count": Attribute(58, number),
        "direction": Attribute(63, text),
        "lhs_ragged_dims": Attribute(2, numbers, RAGGED_DOT),
        "rhs_group_dims": Attribute(3, numbers, RAGGED_DOT),
    }.items()
}
# The condition of a loop is printed before its body and called after it.
CALLS: Final = {
    keyword.encode(): row
    for keyword, row in {
        "to_apply": Call(), "calls": Call(), "called_computations": Call(), "body": Call(),
        "condition": Call(turn=1), "branch_computations": Call(), "true_computation": Call(),
        "false_computation": Call(turn=1), "select": Call(), "scatter": Call(turn=1),
    }.items()
}
# fmt: on


def names_in(value: bytes) -> list[bytes]:
    """The names in %name, name or {%name, name}."""
    content = without_comments(value).strip(b"{} \t\r\n")
    return [name.strip().lstrip(b"%") for name in content.split(b",")] if content else []
