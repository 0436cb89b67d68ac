"""The values of a tensor as the classic report shows them below a node's line, and as protos do.

    vector   [1 2 3 ],          2x3   [[1.50 -2.25 0.00 ],          scalar   [3.14 ],
                                      [1234570.00 0.01 0.01 ],
                                      ],                            0x3      [],

The original cuts the text to 10,000 characters before each bracket it closes, and goes on behind
the cut. So a long text ends up as its first 10,000 characters and the last closing bracket, and no
more than those are ever generated, however large the tensor is.
"""

from __future__ import annotations

from itertools import accumulate
from math import copysign, isnan, nan
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.read.checkpoint.tensors import Array, Tensor

_MOST_CHARACTERS = 10_000
_OPEN, _CLOSE = "[", "],\n"
_OMITTED = "...omitted from display\n\n"
# Each value takes two characters at least, so more values than this are never seen.
_MOST_VALUES = _MOST_CHARACTERS // 2 + len(_CLOSE)
_MOST_BYTES_A_CHARACTER = 4
_CHUNK = 1 << 16


def value_text(tensor: Tensor) -> str:
    """The lines that show the values of *tensor*."""
    text = ""
    for row in _rows(tensor):
        text += row
        if len(text) - len(_CLOSE) > _MOST_CHARACTERS:
            text = text[:_MOST_CHARACTERS] + _CLOSE
            break
    return text + _OMITTED if len(text) >= _MOST_CHARACTERS else text


def _rows(tensor: Tensor) -> Iterator[str]:
    """The innermost rows, one by one, with all brackets that open before and close after them."""
    shape = tensor.shape or (1,)
    # Nothing is drawn inside of a dimension without entries.
    if 0 in shape:
        shape = shape[: shape.index(0) + 1]
    width = shape[-1]
    # How many rows each bracket spans, from the innermost but one to the outermost.
    spans = list(accumulate(reversed(shape[:-1]), mul))
    seen = min(width, _MOST_VALUES)
    for row in range(spans[-1] if spans else 1):
        opened = 1 + sum(row % span == 0 for span in spans)
        closed = 1 + sum((row + 1) % span == 0 for span in spans)
        values = tensor.values[row * width : row * width + seen]
        if isinstance(values, list):
            texts = map(_quoted, values)
        else:
            texts = map(_TEXT[values.dtype.kind], values.tolist())
        yield _OPEN * opened + "".join([f"{text} " for text in texts]) + _CLOSE * closed


def _float(value: float) -> str:
    # A NaN has a sign, and processors make negative ones; Python does not show it.
    sign = "-" if isnan(value) and copysign(1, value) < 0 else ""
    return f"{sign}{six_digits(value):.2f}"


def _quoted(value: bytes) -> str:
    seen = value[: _MOST_CHARACTERS * _MOST_BYTES_A_CHARACTER]
    text = seen.replace(b"\\", b"\\\\").replace(b"'", b"\\'").decode("utf-8", "backslashreplace")
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f"'{text}'"


_TEXT: dict[str, Callable[[Any], str]] = {
    "b": lambda value: "true" if value else "false",
    "c": lambda value: f"({six_digits(value.real):.2f}{six_digits(value.imag):+.2f}j)",
    "f": _float,
    "i": str,
    "u": str,
}


def six_digits(value: float) -> float:
    """The number rounded to six significant digits."""
    # parity Q29: protos hold rounded values, too.
    return copysign(nan, value) if isnan(value) else float(f"{value:g}")


def tensor_proto(tensor: Tensor) -> bytes:
    """*tensor* as a TFProfTensorProto."""
    from tfprof.wire.schema import message  # noqa: PLC0415 - text needs no messages

    proto: Any = message("tensorflow.tfprof.TFProfTensorProto")(dtype=tensor.dtype)
    name, values = proto_values(tensor)
    getattr(proto, name).extend(values)
    return bytes(proto.SerializeToString())


def proto_values(tensor: Tensor) -> tuple[str, Iterator[float] | Iterator[int] | Iterator[str]]:
    """The field of TFProfTensorProto that holds the values of *tensor*, and its content."""
    # Complex numbers are pairs. Unsigned 64-bit numbers keep their bits; the dtype tells them.
    values = tensor.values
    if isinstance(values, list):
        return "value_str", (value.decode("utf-8", "backslashreplace") for value in values)
    if values.dtype.kind == "c":
        values = values.view(values.real.dtype)
    if values.dtype.kind == "f":
        return "value_double", map(six_digits, _each(values))
    return "value_int64", _each(values.astype(np.int64, copy=False))


def _each(values: Array) -> Iterator[Any]:
    """The values one by one, without all of them at once."""
    for first in range(0, values.size, _CHUNK):
        yield from values[first : first + _CHUNK].tolist()
