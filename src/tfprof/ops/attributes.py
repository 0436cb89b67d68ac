"""Reads node attributes; no other module does.

    entries(profile)          (node, key, value) columns of every attribute, one batch per file
    Attributes.get(node, key) one decoded value; decoded on first request
    asked_attributes(…)       those that float-operation rules ask for, equal values numbered once

Values stay where they are in the file until somebody asks: tensors may be most of a graph, and of a
large one only the shape is read. An AttrValue is decoded to

    b, i, f, type    bool, int, float, int          list     a list of these
    s                str                            shape    a tuple; None: unknown rank
    tensor           Tensor: its shape, and its values if there are few
"""

from __future__ import annotations

import struct
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import dataclass, field
from tfprof.ops.dtypes import DTYPES
from tfprof.ops.shape import MOST_VALUES, MaybeShape, Value, sanitized
from tfprof.wire.decode import WireError, scan
from tfprof.wire.maps import last_of
from tfprof.wire.scalar import BYTES, FIXED32, FIXED64, VARINT, decode_varint, fields, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.model import Profile
    from tfprof.ops.table import FloatOps


def entries(profile: Profile, wanted: Bool | None = None) -> Iterator[tuple[I64, Strings, Strings]]:
    """(node, key, AttrValue in wire format) of the attributes of the *wanted* nodes, by file.

    Raises InputError where an attribute is damaged: loading a graph does not look into them.
    """
    for source in profile.attribute_sources:
        row, entry = source.read()
        node = source.node[row]
        rows = np.flatnonzero(node >= 0 if wanted is None else (node >= 0) & wanted[node])
        if rows.size < node.size:
            node, entry = node[rows], entry.take(rows)
        try:
            part = scan(entry.blob, entry.start, entry.start + entry.length, {1: BYTES, 2: BYTES})
        except WireError as problem:
            raise damaged(profile.graph_names, problem) from None
        key, value = (Strings(entry.blob, *part[n].last_slice(len(entry))) for n in (1, 2))
        yield node, key, value


def damaged(files: str, problem: Exception) -> InputError:
    """The error for an attribute that cannot be decoded."""
    return InputError(f"{files}: an attribute of the graph is damaged: {problem}")


class Attributes:
    """The attributes of all nodes of a profile, decoded one by one."""

    def __init__(self, profile: Profile) -> None:
        self._files = profile.graph_names
        self._number: dict[str, int] = {}  # of each attribute name
        self._blobs: list[memoryview] = []  # of each file
        self._decoded: dict[int, Any] = {}
        batches = [np.empty((5, 0), np.int64)]  # node, name, file, start, length
        for node, key, value in entries(profile):
            number, first = key.intern()
            texts = key.take(first).texts()
            numbers = [self._number.setdefault(text, len(self._number)) for text in texts]
            name, file = np.array(numbers, np.int64)[number], np.full(node.size, len(self._blobs))
            batches.append(np.stack([node, name, file, value.start, value.length]))
            self._blobs.append(memoryview(np.ascontiguousarray(value.blob)))  # type: ignore[arg-type]
        node, name, *place = np.concatenate(batches, axis=1)
        code = node * len(self._number) + name
        order = np.argsort(code, kind="stable")
        last = np.ones(order.size, np.bool_)  # the last of several attributes of a name counts
        last[:-1] = np.diff(code[order]) != 0
        self._code = code[order[last]]
        self._place = np.stack(place)[:, order[last]]

    def get(self, node: int, name: str, default: Any = None) -> Any:  # noqa: ANN401
        """The value of an attribute of a node; *default* if it has no such attribute."""
        if name not in self._number:
            return default
        code = node * len(self._number) + self._number[name]
        if code not in self._decoded:
            at = int(np.searchsorted(self._code, code))
            if at == self._code.size or int(self._code[at]) != code:
                return default
            file, start, length = self._place[:, at].tolist()
            value = self._blobs[file][start : start + length]  # a tensor may be large: no copy
            self._decoded[code] = _decode(value, self._files)
        return self._decoded[code]


def attributes_of(profile: Profile) -> Attributes:
    """The attributes of a profile, looked up once."""
    return profile.cached("attributes", lambda: Attributes(profile))


def _decode(value: memoryview, files: str) -> Any:  # noqa: ANN401 - of any kind
    try:
        return decode(value)
    except WireError as problem:
        raise damaged(files, problem) from None


@dataclass(frozen=True, eq=False)
class AskedAttributes:
    """One row per attribute that a rule asks for, by owner and key; keys and values as numbers."""

    owner: I64
    key: I64
    value: I64
    _keys: Strings
    _values: Strings
    _files: str
    _decoded: dict[tuple[int, int], tuple[str, Any]] = field(default_factory=dict)

    def pair(self, key: int, value: int) -> tuple[str, Any]:
        """The attribute name and the decoded value with these row numbers."""
        if (key, value) not in self._decoded:
            decoded = _decode(memoryview(self._values[value]), self._files)
            name = self._keys[key].decode("utf-8", "surrogateescape")
            self._decoded[key, value] = name, _with_lists(decoded)
        return self._decoded[key, value]


def _with_lists(decoded: Any) -> Any:  # noqa: ANN401 - of any kind
    """The same for users' rules: shapes are lists, tensors None."""
    if isinstance(decoded, list):
        return [_with_lists(item) for item in decoded]
    if isinstance(decoded, Tensor):
        return None
    return list(decoded) if isinstance(decoded, tuple) else decoded


def asked_attributes(
    profile: Profile, node: I64, rule: I64, rules: Sequence[FloatOps]
) -> AskedAttributes:
    """What the *rules* ask of the nodes that they count; an owner is a place in *node*."""
    asks = np.array([bool(row.attributes is None or row.attributes) for row in rules], np.bool_)
    place = np.full(len(profile), -1, np.int64)
    asking = np.flatnonzero(asks[rule])
    place[node[asking]] = asking
    owners, keys, values = [np.empty(0, np.int64)], [], []
    for of_node, key, value in entries(profile, place >= 0) if asking.size else ():
        owner = place[of_node]
        wanted = np.flatnonzero(_is_asked_for(rule[owner], key, rules))
        owners.append(owner[wanted])
        keys.append(key.take(wanted))
        values.append(value.take(wanted))
    owner, key, value = np.concatenate(owners), _joined(keys), _joined(values)
    key_number, a_key = key.intern()
    value_number, a_value = value.intern()
    rows = last_of(owner, key_number)
    numbers = owner[rows], key_number[rows], value_number[rows]
    return AskedAttributes(*numbers, key.take(a_key), value.take(a_value), profile.graph_names)


def _joined(parts: list[Strings]) -> Strings:
    """All of them in one; most profiles are of one graph, whose bytes need not be copied."""
    return parts[0] if len(parts) == 1 else Strings.concat(parts)


def _is_asked_for(rule: I64, key: Strings, rules: Sequence[FloatOps]) -> Bool:
    """Whether the rule in each row asks for the key beside it."""
    names = sorted({name for row in rules for name in row.attributes or ()})
    asks = np.zeros((len(rules), len(names) + 1), np.bool_)
    for number, row in enumerate(rules):
        asks[number] = row.attributes is None
        asks[number, [names.index(name) for name in row.attributes or ()]] = True
    # The last column is for keys that no rule names.
    asked: Bool = asks[rule, Strings.of(name.encode() for name in names).find(key)]
    return asked


# --- AttrValue ---

_LIST, _TEXT, _NUMBER, _FLOAT, _BOOL, _TYPE, _SHAPE, _TENSOR, _, _FUNCTION = range(1, 11)
# Fields of a TensorProto that hold small numbers as they are, and how floats are packed.
_INTEGERS: Final = (7, 10, 11, 16, 17)
_FLOATS: Final = {5: "<f4", 6: "<f8"}


class Tensor(NamedTuple):
    """A tensor in a graph; without a value where it is large or not numeric."""

    shape: MaybeShape
    value: Value | None


def decode(view: memoryview) -> Any:  # noqa: ANN401 - of any kind
    """What an AttrValue holds; None for a function. Raises WireError."""
    held: Any = None
    for number, wire, value in fields(view):
        if number == _LIST and wire == BYTES:
            held = _list(value)
        elif number <= _FUNCTION:
            held = _item(number, wire, value)
    return held


def _list(view: memoryview) -> list[Any]:
    items: list[Any] = []
    for number, wire, value in fields(view):
        if number in (_NUMBER, _BOOL, _TYPE) and wire == BYTES:
            items.extend(_item(number, VARINT, integer) for integer in _varints(value))
        elif number == _FLOAT and wire == BYTES:
            items.extend(np.frombuffer(value, "<f4", len(value) // 4).tolist())
        else:
            items.append(_item(number, wire, value))
    return items


def _item(number: int, wire: int, value: Any) -> Any:  # noqa: ANN401 - of any kind
    if wire == VARINT:
        return bool(value) if number == _BOOL else signed(value)
    if wire == FIXED32:
        return struct.unpack("<f", value)[0]
    if number == _TEXT:
        return bytes(value).decode("utf-8", "surrogateescape")
    if number == _SHAPE:
        return shape(value)
    return tensor(value) if number == _TENSOR else None


def shape(view: memoryview) -> MaybeShape:
    """The dimensions of a TensorShapeProto; None: unknown rank."""
    dims: list[int] = []
    for number, wire, value in fields(view):
        if number == 2 and wire == BYTES:  # noqa: PLR2004 - TensorShapeProto.dim
            sizes = [size for field, kind, size in fields(value) if (field, kind) == (1, VARINT)]
            dims.append(signed(sizes[-1]) if sizes else 0)
        elif number == 3 and wire == VARINT and value:  # noqa: PLR2004 - unknown_rank
            return None
    return sanitized(dims)


def tensor(view: memoryview) -> Tensor:
    """A TensorProto."""
    kind, content = 0, None
    of_shape: MaybeShape = ()
    listed: list[Any] = []
    for number, wire, value in fields(view):
        if number == 1 and wire == VARINT:
            kind = value
        elif number == 2 and wire == BYTES:  # noqa: PLR2004 - tensor_shape
            of_shape = shape(value)
        elif number == 4 and wire == BYTES:  # noqa: PLR2004 - tensor_content
            content = value
        elif len(listed) <= MOST_VALUES:
            listed.extend(_values(number, wire, value))
    dtype = DTYPES.get(kind, DTYPES[0])
    if of_shape is None or -1 in of_shape or prod(of_shape) > MOST_VALUES or not dtype.numpy:
        return Tensor(of_shape, None)
    return Tensor(of_shape, _array(np.dtype(dtype.numpy), of_shape, content, listed))


def _values(number: int, wire: int, value: Any) -> list[Any]:  # noqa: ANN401
    """The values of one of the repeated fields of a TensorProto, packed or not."""
    if number in _INTEGERS:
        numbers = [value] if wire == VARINT else _varints(value) if wire == BYTES else []
        return [signed(integer) for integer in islice(numbers, MOST_VALUES + 1)]
    if number in _FLOATS and wire in (BYTES, FIXED32, FIXED64):
        width = np.dtype(_FLOATS[number]).itemsize
        whole = value[: min(len(value) // width, MOST_VALUES) * width]
        return [*np.frombuffer(whole, _FLOATS[number]).tolist()]
    return []


def _array(
    kind: np.dtype[Any], of_shape: tuple[int, ...], content: memoryview | None, listed: list[Any]
) -> Value | None:
    """The values as int64, float64 or bool; the last one repeats where there are too few."""
    size = prod(of_shape)
    wide = {"f": np.float64, "b": np.bool_}.get(kind.kind, np.int64)
    if content is not None and len(content):
        if len(content) != size * kind.itemsize:
            return None
        values = np.frombuffer(content, kind)
    elif len(listed) <= size:
        filler = listed[-1] if listed else 0
        try:
            values = np.array([*listed, *[filler] * (size - len(listed))], wide)
        except (OverflowError, ValueError):  # floats in a tensor of integers, infinite or large
            return None
    else:
        return None
    array: Value = values.astype(wide).reshape(of_shape)
    return array


def _varints(view: memoryview) -> Iterator[int]:
    at = 0
    while at < len(view):
        number, at = decode_varint(view, at, len(view))
        yield number
