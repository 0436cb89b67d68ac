"""What is worked out of a profile, as columns: drawings, numbers, answers that were delivered.

    ("view", "scope")     a Drawing     structure.9c41….owner  .end  .label.node  .label.length  …
    ("micros", None)      a column      run.07aa….0
    ("largest", "bytes")  a number      own.51e0….real
    ("delivered", …)      a Delivered   own.b3d2….text  .notes  …

Values are stored by the key that they have in the caches of a Profile (foundation/caches.py).
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from tfprof.cache.delivered import Delivered
from tfprof.cache.digest import digest
from tfprof.columns.strings import I64, Strings
from tfprof.columns.tree import Tree
from tfprof.foundation.caches import Cache
from tfprof.read.columnar.coding import Damage
from tfprof.read.columnar.layout import CONVERTERS
from tfprof.views.drawing import ROOT_NAME, Drawing, under_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.cache.joined_columns import JoinedColumns
    from tfprof.columns.strings import U8
    from tfprof.model import Nodes, Profile
    from tfprof.read.columnar.coding import Columns

T = TypeVar("T")
_STRINGS: Final = CONVERTERS["Strings"]
_NOTES: Final = CONVERTERS["tuple[Note, ...]"]


class StoredCache(Cache):
    """A cache of the profile in an entry: a value that the entry has is not made again."""

    def __init__(self, kind: str, columns: JoinedColumns, nodes: Nodes) -> None:
        super().__init__()
        self._kind, self._columns, self._nodes = kind, columns, nodes

    def of(self, parts: tuple[object, ...]) -> Cache:
        """The first profile that asks has the *parts* that the values belong to."""
        self._parts = self._parts or parts
        return super().of(parts)

    def cached(self, key: object, make: Callable[[], T]) -> T:
        """The value of *key*: of the entry, or what *make* makes the first time."""
        name = "" if key in self._values else name_of(self._kind, key)
        if name in self._columns.values:
            try:
                value = _from_columns(self._columns, name, self._nodes)
                self._values.setdefault(key, value)
            except (Damage, ValueError):
                self._columns.remove(name)
        return super().cached(key, make)


def values_of(profile: Profile) -> Iterator[tuple[str, Any]]:
    """(name, value) of what was worked out of *profile* and can be stored."""
    own: Cache = vars(profile)["_cache"]
    caches = {"structure": profile.structure_cache, "run": profile.run_cache, "own": own}
    for kind, cache in caches.items():
        for key, value in cache.items():
            columns = value if isinstance(value, tuple) else (value,)
            is_stored = isinstance(value, (Drawing, float)) or all(map(_is_column, columns))
            is_stored |= isinstance(value, Delivered) and value.is_complete
            if is_stored and columns and (name := name_of(kind, key)):
                yield name, value


def name_of(kind: str, key: object) -> str:
    """How the columns of a value begin; empty for a key that only this process knows."""
    words = key if isinstance(key, tuple) else (key,)
    if not all(word is None or isinstance(word, (str, int)) for word in words):
        return ""
    return f"{kind}.{digest(repr(words).encode('utf-8', 'surrogatepass'), 8)}"


def to_columns(name: str, value: Any, names: Strings) -> Iterator[tuple[str, I64 | U8]]:  # noqa: ANN401
    """(name, column) of everything in a *value*; *names* are those of the nodes."""
    if isinstance(value, Drawing):
        yield from _drawing_columns(name, value, names)
    elif isinstance(value, Delivered):
        yield f"{name}.text", np.frombuffer(value.text_bytes, np.uint8)
        yield from _NOTES.to_columns(f"{name}.notes", value.notes)
    elif isinstance(value, float):
        yield f"{name}.real", np.array([value], np.float64).view(np.int64)
    elif isinstance(value, tuple):
        yield from ((f"{name}.{at}", column) for at, column in enumerate(value))
    else:
        yield f"{name}.only", value


def _from_columns(columns: Columns, name: str, nodes: Nodes) -> Any:  # noqa: ANN401
    if f"{name}.owner" in columns:
        return _drawing(columns, name, nodes.name)
    if f"{name}.text" in columns:
        notes = _NOTES.from_columns(columns, f"{name}.notes")
        return Delivered(columns.text(f"{name}.text").tobytes(), notes)
    if f"{name}.real" in columns:
        return float(columns.numbers(f"{name}.real").view(np.float64)[0])
    if f"{name}.only" in columns:
        return _read_only(columns.numbers(f"{name}.only"))
    width = next(at for at in count() if f"{name}.{at}" not in columns)
    if not width:
        raise Damage(f"there is no {name}")
    return tuple(_read_only(columns.numbers(f"{name}.{at}")) for at in range(width))


def _is_column(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.int64 and value.ndim == 1


def _read_only(column: I64) -> I64:
    column.flags.writeable = False
    return column


# --- drawings -------------------------------------------------------------------------------------


def _drawing_columns(name: str, drawing: Drawing, names: Strings) -> Iterator[tuple[str, I64 | U8]]:
    yield f"{name}.owner", drawing.owner
    yield f"{name}.end", drawing.tree.ends
    yield f"{name}.filler", np.frombuffer(drawing.filler, np.uint8)
    yield f"{name}.sorted", np.array([drawing.in_name_order], np.int64)
    for part in ("frame", "gradient"):
        if (column := getattr(drawing, part)) is not None:
            yield f"{name}.{part}", column
    if drawing.accounting is not None:
        yield f"{name}.accounting", drawing.accounting[1]
        yield f"{name}.accounting_end", drawing.accounting[0].ends
    yield from _NOTES.to_columns(f"{name}.notes", drawing.notes)
    node = _nodes_of_labels(drawing.label, names)
    if node is None:
        yield from _STRINGS.to_columns(f"{name}.label", drawing.label)
    else:
        yield f"{name}.label.node", node
        yield f"{name}.label.length", drawing.label.length[1:]


def _nodes_of_labels(label: Strings, names: Strings) -> I64 | None:
    """For each row but the root, a node whose name begins with its label; None: not in all."""
    root = len(ROOT_NAME)
    # Names and types may have the same size and the same starts.
    if not len(names) or not np.array_equal(label.blob[root:], names.blob):
        return None
    order = np.lexsort((names.length, names.start))
    # Of the names that begin at a place, the last is the longest.
    place = np.searchsorted(names.start[order], label.start[1:] - root, "right") - 1
    node: I64 = order[np.maximum(place, 0)]
    same = (names.start[node] == label.start[1:] - root) & (label.length[1:] <= names.length[node])
    return node if bool(same.all()) else None


def _drawing(columns: Columns, name: str, names: Strings) -> Drawing:
    def read(part: str) -> I64:
        return columns.numbers(f"{name}.{part}")

    def optional(part: str) -> I64 | None:
        return read(part) if f"{name}.{part}" in columns else None

    tree, owner = Tree.from_ends(read("end")), read("owner")
    if owner.size and (owner.min() < -1 or owner.max() >= len(tree)):
        raise Damage("its nodes have other rows")
    accounting = None
    if (place := optional("accounting")) is not None:
        accounting = Tree.from_ends(read("accounting_end")), place
    return Drawing(
        tree,
        owner,
        _label(columns, f"{name}.label", names),
        filler=columns.text(f"{name}.filler").tobytes(),
        in_name_order=bool(read("sorted")[0]),
        frame=optional("frame"),
        gradient=optional("gradient"),
        accounting=accounting,
        notes=_NOTES.from_columns(columns, f"{name}.notes"),
    )


def _label(columns: Columns, name: str, names: Strings) -> Strings:
    if f"{name}.node" not in columns:
        label: Strings = _STRINGS.from_columns(columns, name)
        return label
    node, length = columns.numbers(f"{name}.node"), columns.numbers(f"{name}.length")
    if node.size and not (node.min() >= 0 and node.max() < len(names)):
        raise Damage("its labels are of other nodes")
    if not ((length >= 0) & (length <= names.length[node])).all():
        raise Damage("its labels are longer than names")
    return under_root(Strings(names.blob, names.start[node], length))
