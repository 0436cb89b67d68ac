"""Converts a Profile to named columns and back.

    Profile ─┬─ nodes: Nodes ─┬─ name: Strings      nodes.name.text  nodes.name.length
             │                └─ op: I64            nodes.op
             ├─ steps: tuple[Step, …]               steps  steps.0.number  steps.0.node  …
             └─ notes: tuple[Note, …]               notes.text.text  notes.text.length  …

The conversion of each part depends on its declared type, so a new part of the model is included
automatically. Parts that a profile reads on demand are separate tables: Attributes and RunShapes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.foundation.lazy_dataclasses import dataclass, fields
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.model import Edges, Nodes, Note, Outputs, Profile, Regions, Stacks, Step
from tfprof.read.columnar.coding import Columns, Damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.keras_layer import KerasLayer

    NamedColumns = Iterator[tuple[str, I64 | U8]]

# Parts of a Profile that are not stored.
_NOT_STORED: Final = frozenset(
    {"attribute_sources", "shape_sources", "step_shapes", "structure_cache", "run_cache", "_cache"}
)
# Parts that formats 1 and 2 lack, and the column that shows whether a file has each.
_SINCE_3: Final = {"regions": "regions.call", "times": "times"}


@dataclass(frozen=True, eq=False)
class Attributes(Frozen):
    """The attributes of all nodes, by node; equal attributes share their text unless it is long."""

    described: Bool  # whether each node is in a graph
    node: I64
    text: I64  # a row of texts
    texts: Strings  # map entries in wire format


@dataclass(frozen=True, eq=False)
class RunShapes(Frozen):
    """The outputs with the shapes that runs record, and additional notes."""

    outputs: Outputs
    notes: tuple[Note, ...]


@dataclass(frozen=True, eq=False)
class ShapesOfSteps(Frozen):
    """The outputs with the shapes of these steps."""

    steps: I64
    outputs: Outputs


def run_shapes(profile: Profile) -> RunShapes:
    """What the runs of *profile* record; raises InputError where a run is damaged."""
    shaped = profile.with_run_shapes
    return RunShapes(shaped.outputs, shaped.notes[len(profile.notes) :])


def step_shapes(profile: Profile, number: int) -> ShapesOfSteps:
    """The shapes of the steps in a group of `profile.step_shapes`; raises likewise."""
    steps, read = profile.step_shapes[number]
    return ShapesOfSteps(np.array(steps, np.int64), read(profile).outputs)


def to_columns(kind: type, name: str, value: object) -> NamedColumns:
    """(name, column) of everything in *value*, a table of this *kind* called *name*."""
    for part, declared in parts(kind):
        yield from CONVERTERS[declared].to_columns(_within(name, part), getattr(value, part))


def from_columns(kind: type, name: str, columns: Columns) -> Any:  # noqa: ANN401 - a *kind*
    """The table of this *kind* called *name*; raises Damage."""
    return kind(
        **{
            part: CONVERTERS[declared].from_columns(columns, _within(name, part))
            for part, declared in parts(kind)
            if kind is not Profile or part not in _SINCE_3 or _SINCE_3[part] in columns
        }
    )


def parts(kind: type) -> list[tuple[str, str]]:
    """(name, declared type) of the parts of a table that are stored."""
    return [(part.name, str(part.type)) for part in fields(kind) if part.name not in _NOT_STORED]


def _within(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part


class Converter(NamedTuple):
    """Converts values of a type to columns and back."""

    to_columns: Callable[[str, Any], NamedColumns]
    from_columns: Callable[[Columns, str], Any]


def _table(kind: type) -> Converter:
    return Converter(
        partial(to_columns, kind), lambda columns, name: from_columns(kind, name, columns)
    )


# --- numbers and strings -----------------------------------------------------------------------


def _columns_of_numbers(name: str, value: I64 | Bool | int) -> NamedColumns:
    yield name, np.atleast_1d(np.asarray(value, np.int64))


def truths(columns: Columns, name: str) -> Bool:
    """The boolean column *name*; raises Damage."""
    numbers = columns.numbers(name)
    if numbers.size and (numbers.min() < 0 or numbers.max() > 1):
        raise Damage(f"the column {name} has values other than 0 and 1")
    return numbers.astype(np.bool_)


def _read_one(read: Callable[[Columns, str], I64 | Bool], columns: Columns, name: str) -> int:
    column = read(columns, name)
    if column.size != 1:
        raise Damage(f"the column {name} does not hold exactly one number")
    only: int = column.item()
    return only


def _columns_of_strings(name: str, value: Strings) -> NamedColumns:
    compact = value.compact()
    yield f"{name}.text", compact.blob
    yield f"{name}.length", compact.length


def _read_strings(columns: Columns, name: str) -> Strings:
    blob, length = columns.text(f"{name}.text"), columns.numbers(f"{name}.length")
    fits = length.min(initial=0) >= 0 and length.max(initial=0) <= blob.size
    end = np.cumsum(length)
    if not fits or int(end[-1] if end.size else 0) != blob.size:
        raise Damage(f"the lengths of {name} do not match its text")
    return Strings(blob, end - length, length)


# --- steps and notes ---------------------------------------------------------------------------


def _columns_of_steps(name: str, value: tuple[Step, ...]) -> NamedColumns:
    yield from _columns_of_numbers(name, len(value))
    for number, step in enumerate(value):
        yield from to_columns(Step, f"{name}.{number}", step)


def _read_steps(columns: Columns, name: str) -> tuple[Step, ...]:
    count = _read_one(Columns.numbers, columns, name)
    # If the number is too large, the first missing column shows it.
    if count < 0:
        raise Damage(f"the number of {name} is {count}")
    return tuple(from_columns(Step, f"{name}.{number}", columns) for number in range(count))


def _columns_of_notes(name: str, value: tuple[Note, ...]) -> NamedColumns:
    texts = Strings.of(note.text.encode("utf-8", "surrogateescape") for note in value)
    yield from _columns_of_strings(f"{name}.text", texts)
    for part in ("times", "ours", "caveat"):
        column = np.array([getattr(note, part) for note in value], np.int64)
        if part != "caveat" or column.any():
            yield f"{name}.{part}", column


def _read_notes(columns: Columns, name: str) -> tuple[Note, ...]:
    texts = _read_strings(columns, f"{name}.text")
    times = columns.numbers(f"{name}.times")
    # Format 1 did not record whether notes are ours, and files without caveats leave them out.
    ours, caveat = (
        truths(columns, each) if each in columns else np.zeros(times.size, np.bool_)
        for each in (f"{name}.ours", f"{name}.caveat")
    )
    if not times.size == ours.size == caveat.size == len(texts):
        raise Damage(f"the columns of {name} differ in length")
    return tuple(map(Note, texts.texts(), times.tolist(), ours.tolist(), caveat.tolist()))


def _columns_of_layers(name: str, value: tuple[KerasLayer, ...]) -> NamedColumns:
    if value:  # so other files stay as they were
        from tfprof.read.keras_layers import layers_as_texts  # noqa: PLC0415 - few have layers

        yield from _columns_of_strings(name, Strings.of(layers_as_texts(value)))


def _read_layers(columns: Columns, name: str) -> tuple[KerasLayer, ...]:
    if f"{name}.length" not in columns:
        return ()
    from tfprof.read.keras_layers import layers_from_texts  # noqa: PLC0415 - likewise

    return layers_from_texts(_read_strings(columns, name))


def _columns_of_amounts(name: str, value: tuple[float, ...]) -> NamedColumns:
    """Amounts are whole numbers."""
    if value:  # so other files stay as they were
        yield name, np.array(value).astype(np.int64)


def _read_amounts(columns: Columns, name: str) -> tuple[float, ...]:
    return tuple(map(float, columns.numbers(name).tolist())) if name in columns else ()


_TABLES: Final = (Nodes, Edges, Outputs, Regions, Stacks, Shapes, Profile)
CONVERTERS: Final[dict[str, Converter]] = {
    "I64": Converter(_columns_of_numbers, Columns.numbers),
    "Bool": Converter(_columns_of_numbers, truths),
    "int": Converter(_columns_of_numbers, partial(_read_one, Columns.numbers)),
    "bool": Converter(_columns_of_numbers, partial(_read_one, truths)),
    "Strings": Converter(_columns_of_strings, _read_strings),
    "tuple[Step, ...]": Converter(_columns_of_steps, _read_steps),
    "tuple[Note, ...]": Converter(_columns_of_notes, _read_notes),
    "tuple[KerasLayer, ...]": Converter(_columns_of_layers, _read_layers),
    "tuple[float, ...]": Converter(_columns_of_amounts, _read_amounts),
    **{kind.__name__: _table(kind) for kind in _TABLES},
}
