"""How a profile is laid out as named columns, and made of them again: side by side.

    Profile ─┬─ nodes: Nodes ─┬─ name: Strings      nodes.name.text  nodes.name.length
             │                └─ op: I64            nodes.op
             ├─ steps: tuple[Step, …]               steps  steps.0.number  steps.0.node  …
             └─ notes: tuple[Note, …]               notes.text.text  notes.text.length  …

Each part goes the way of the type that the model declares for it, so that what the model gains the
file gains too. What a profile reads only when it is needed is laid out behind it: Attributes and
RunShapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.foundation.lazy_dataclasses import dataclass, fields
from tfprof.model import Edges, Nodes, Note, Outputs, Profile, Regions, Stacks, Step
from tfprof.read.columnar.coding import Damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.read.columnar.coding import Columns

    Laid = Iterator[tuple[str, I64 | U8]]

# Parts of a Profile that are not columns.
_NOT_LAID: Final = frozenset(
    {"attribute_sources", "shape_sources", "structure_cache", "run_cache", "_cache"}
)
# What formats 1 and 2 did not have: what tells that it is there, by part.
_SINCE_3: Final = {"regions": "regions.call", "times": "times"}


@dataclass(frozen=True, eq=False)
class Attributes(Frozen):
    """The attributes of all nodes, by node; equal ones share a text unless it is long."""

    described: Bool  # which nodes a graph describes
    node: I64
    text: I64  # a row of texts
    texts: Strings  # map entries in wire format


@dataclass(frozen=True, eq=False)
class RunShapes(Frozen):
    """What the runs tell of shapes: the outputs then, and the notes more."""

    outputs: Outputs
    notes: tuple[Note, ...]


def laid(kind: type, name: str, value: object) -> Laid:
    """(name, column) of all that is in *value*, a table of this *kind* called *name*."""
    for part, declared in _parts(kind):
        yield from _WAYS[declared].lay(_within(name, part), getattr(value, part))


def made(kind: type, name: str, columns: Columns) -> Any:  # noqa: ANN401 - a *kind*
    """The table that was laid out so; raises Damage."""
    return kind(
        **{
            part: _WAYS[declared].make(_within(name, part), columns)
            for part, declared in _parts(kind)
            if kind is not Profile or part not in _SINCE_3 or _SINCE_3[part] in columns
        }
    )


def _parts(kind: type) -> list[tuple[str, str]]:
    """(name, declared type) of the parts of a table that are laid out."""
    return [(part.name, str(part.type)) for part in fields(kind) if part.name not in _NOT_LAID]


def _within(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part


class _Way(NamedTuple):
    """How values of a type become columns, and columns such a value."""

    lay: Callable[[str, Any], Laid]
    make: Callable[[str, Columns], Any]


def _table(kind: type) -> _Way:
    return _Way(
        lambda name, value: laid(kind, name, value),
        lambda name, columns: made(kind, name, columns),
    )


# --- numbers and texts -------------------------------------------------------------------------


def _lay_numbers(name: str, value: I64 | Bool) -> Laid:
    yield name, value.astype(np.int64, copy=False)


def truths(name: str, columns: Columns) -> Bool:
    """The column of this *name*, which holds true and false; raises Damage."""
    numbers = columns.numbers(name)
    if numbers.size and (numbers.min() < 0 or numbers.max() > 1):
        raise Damage(f"the column {name} holds more than true and false")
    return numbers.astype(np.bool_)


def _lay_number(name: str, value: int) -> Laid:
    yield name, np.array([value], np.int64)


def _make_number(name: str, columns: Columns) -> int:
    return _only(name, columns.numbers(name))


def _make_truth(name: str, columns: Columns) -> bool:
    return bool(_only(name, truths(name, columns)))


def _only(name: str, column: I64 | Bool) -> int:
    if column.size != 1:
        raise Damage(f"the column {name} is to hold one number")
    return int(column[0])


def _lay_strings(name: str, value: Strings) -> Laid:
    compact = value.compact()
    yield f"{name}.text", compact.blob
    yield f"{name}.length", compact.length


def _make_strings(name: str, columns: Columns) -> Strings:
    blob, length = columns.text(f"{name}.text"), columns.numbers(f"{name}.length")
    fits = length.min(initial=0) >= 0 and length.max(initial=0) <= blob.size
    end = np.cumsum(length)
    if not fits or int(end[-1] if end.size else 0) != blob.size:
        raise Damage(f"the lengths of {name} do not fit its text")
    return Strings(blob, end - length, length)


# --- many of a kind ----------------------------------------------------------------------------


def _lay_steps(name: str, value: tuple[Step, ...]) -> Laid:
    yield from _lay_number(name, len(value))
    for number, step in enumerate(value):
        yield from laid(Step, f"{name}.{number}", step)


def _make_steps(name: str, columns: Columns) -> tuple[Step, ...]:
    count = _make_number(name, columns)
    # A number that is too large is found out at the first column that is not there.
    if count < 0:
        raise Damage(f"there is no such number of {name} as {count}")
    return tuple(made(Step, f"{name}.{number}", columns) for number in range(count))


def _lay_notes(name: str, value: tuple[Note, ...]) -> Laid:
    texts = Strings.of(note.text.encode("utf-8", "surrogateescape") for note in value)
    yield from _lay_strings(f"{name}.text", texts)
    yield f"{name}.times", np.array([note.times for note in value], np.int64)
    yield f"{name}.ours", np.array([note.ours for note in value], np.int64)


def _make_notes(name: str, columns: Columns) -> tuple[Note, ...]:
    texts = _make_strings(f"{name}.text", columns)
    times = columns.numbers(f"{name}.times")
    # Format 1 did not tell whose notes they are.
    told = f"{name}.ours" in columns
    ours = truths(f"{name}.ours", columns) if told else np.zeros(times.size, np.bool_)
    if not times.size == ours.size == len(texts):
        raise Damage(f"the columns of {name} are not of one length")
    return tuple(map(Note, texts.texts(), times.tolist(), ours.tolist()))


_TABLES: Final = (Nodes, Edges, Outputs, Regions, Stacks, Shapes, Profile)
_WAYS: Final[dict[str, _Way]] = {
    "I64": _Way(_lay_numbers, lambda name, columns: columns.numbers(name)),
    "Bool": _Way(_lay_numbers, truths),
    "int": _Way(_lay_number, _make_number),
    "bool": _Way(_lay_number, _make_truth),
    "Strings": _Way(_lay_strings, _make_strings),
    "tuple[Step, ...]": _Way(_lay_steps, _make_steps),
    "tuple[Note, ...]": _Way(_lay_notes, _make_notes),
    **{kind.__name__: _table(kind) for kind in _TABLES},
}
