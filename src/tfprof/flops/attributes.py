"""The attributes that formulas ask for, each distinct key and value numbered once.

Only the nodes whose rule asks for any are looked at, and a value is decoded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import dataclass, field
from tfprof.wire.decode import BYTES, WireError, scan
from tfprof.wire.maps import last_of
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.columns.strings import Bool
    from tfprof.flops.op import Value
    from tfprof.flops.table import Rule
    from tfprof.model import Profile

_ONE_GRAPH = 2  # the empty beginning and one more


@dataclass(frozen=True, eq=False)
class Attributes:
    """The attributes of some nodes, a row each, by owner and key; the numbers are of texts."""

    owner: I64
    key: I64
    value: I64
    _keys: Strings
    _values: Strings
    _names: str  # of the files they stand in
    _decoded: dict[tuple[int, int], tuple[str, Value | None]] = field(default_factory=dict)

    def pair(self, key: int, value: int) -> tuple[str, Value | None]:
        """The key and value of these numbers."""
        if (key, value) not in self._decoded:
            name = self._keys[key].decode("utf-8", "surrogateescape")
            self._decoded[key, value] = name, self._value(value)
        return self._decoded[key, value]

    def _value(self, number: int) -> Value | None:
        from google.protobuf.message import DecodeError  # noqa: PLC0415 - few profiles need it

        try:
            return _decoded(self._values[number])
        except DecodeError as problem:
            raise _damage(self._names, problem) from None


def attributes_of(profile: Profile, node: I64, rule: I64, rules: Sequence[Rule]) -> Attributes:
    """What the rules ask of the nodes that they count; the owner of a row is a place in *node*."""
    asks = np.array([one.attributes is None or bool(one.attributes) for one in rules], np.bool_)
    place = np.full(len(profile), -1, np.int64)
    asking = np.flatnonzero(asks[rule])
    place[node[asking]] = asking
    try:
        owner, key, value = _entries(profile, place)
    except WireError as problem:  # loading leaves attributes it does not need unopened
        raise _damage(profile.graph_names, problem) from None
    wanted = np.flatnonzero(_is_asked_for(rule[owner], key, rules))
    owner, key, value = owner[wanted], key.take(wanted), value.take(wanted)
    key_number, a_key = key.intern()
    value_number, a_value = value.intern()
    rows = last_of(owner, key_number)
    return Attributes(
        owner[rows],
        key_number[rows],
        value_number[rows],
        key.take(a_key),
        value.take(a_value),
        profile.graph_names,
    )


def _damage(names: str, problem: Exception) -> InputError:
    return InputError(f"{names}: an attribute of the graph is damaged: {problem}")


def _entries(profile: Profile, place: I64) -> tuple[I64, Strings, Strings]:
    """(place, key, value) of every attribute of the nodes that have a place."""
    owners, entries = [np.empty(0, np.int64)], [Strings.of([])]
    for source in profile.attribute_sources if bool((place >= 0).any()) else ():
        row, entry = source.read()
        node = source.node[row]
        kept = np.flatnonzero((node >= 0) & (place[node] >= 0))
        owners.append(place[node[kept]])
        entries.append(entry.take(kept))
    # Most profiles are of one graph, whose bytes need not be copied.
    entry = Strings.concat(entries) if len(entries) > _ONE_GRAPH else entries[-1]
    part = scan(entry.blob, entry.start, entry.start + entry.length, {1: BYTES, 2: BYTES})
    key, value = (Strings(entry.blob, *part[n].last_slice(len(entry))) for n in (1, 2))
    return np.concatenate(owners), key, value


def _is_asked_for(rule: I64, key: Strings, rules: Sequence[Rule]) -> Bool:
    """Which of the keys the rule beside it asks for."""
    names = sorted({name for one in rules for name in one.attributes or ()})
    asks = np.zeros((len(rules), len(names) + 1), np.bool_)
    for number, one in enumerate(rules):
        asks[number] = one.attributes is None
        asks[number, [names.index(name) for name in one.attributes or ()]] = True
    # A key that no rule names is in the last column.
    asked: Bool = asks[rule, Strings.of(name.encode() for name in names).find(key)]
    return asked


def _decoded(value: bytes) -> Value | None:
    """What an AttrValue holds; None for a type, a tensor or a function. Raises DecodeError."""
    held: Any = message("tensorflow.AttrValue")()
    held.ParseFromString(value)
    kind = held.WhichOneof("value")
    if kind != "list":
        return None if kind in (None, "func") else _item(getattr(held, kind))
    lists = [values for _, values in held.list.ListFields()]
    return [_item(one) for one in lists[0]] if lists else []


def _item(held: Any) -> Any:  # noqa: ANN401 - protobuf's messages have no types here
    if isinstance(held, bytes):
        return held.decode("utf-8", "surrogateescape")
    return [dim.size for dim in held.dim] if hasattr(held, "dim") else held
