"""What must hold for the columns of an entry, so that every view can draw it.

`read/columnar` checks all columns of a converted profile. Here lengths are compared in the index,
and a column is checked when it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.columns.shapes import Shapes
from tfprof.model import ACCELERATOR_RUN, Nodes, Regions, Stacks, Step
from tfprof.read.columnar.coding import Damage
from tfprof.read.columnar.layout import parts

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.read.columnar.coding import Columns

_NODES, _TYPES = "nodes.name.length", "types.length"
_LENGTH: Final = {"Strings": ".length", "Shapes": ".start"}  # the column that has a row for each
# Of each table, the columns with which a group of columns begins that are as long.
_HEADS: Final[dict[type, tuple[str, ...]]] = {
    Nodes: ("name",),
    Stacks: ("file", "text_id"),
    Regions: ("call",),
    Step: ("node", "memory_node", "allocation_node", "output_row"),
}
# Columns of indices: the column that has a row for each thing that they may name.
_INTO: Final = {
    "nodes.op": _TYPES,
    "nodes.device": _TYPES,
    "nodes.stack": "stacks.start",
    "typed_node": _NODES,
    "typed_as": _TYPES,
    "edges.source": _NODES,
    "regions.call": _NODES,
    "regions.of_node": "regions.call",
    **dict.fromkeys(("steps.node", "steps.memory_node", "steps.allocation_node"), _NODES),
    "steps.device": "steps.devices.length",
    "steps.output_row": "steps.memory_node",
}
_OR_NONE: Final = ("nodes.device", "nodes.stack", "regions.of_node")  # -1 is none
# Lists: where each begins, the column of what has one, and that of their items.
_LISTS: Final = {
    "edges.start": (_NODES, "edges.source"),
    "outputs.start": (_NODES, "outputs.shape.start"),
    "stacks.start": ("stacks.start", "stacks.file"),
}


def check_lengths(columns: Columns, kind: type, name: str) -> None:
    """Raise Damage unless the columns of a table have the lengths that they should have."""
    rows = None
    for part, declared in parts(kind):
        length = columns.rows(f"{name}.{part}{_LENGTH.get(declared, '')}") - (declared == "Shapes")
        if part in _HEADS.get(kind, ()):
            rows = length
        elif rows is not None and part != "devices" and length != rows:
            raise Damage(f"the column {name}.{part} is not as long as its table")


def check_column(columns: Columns, name: str, value: Any) -> None:  # noqa: ANN401 - any part
    """Raise Damage unless the *value* of a column fits those that it refers to."""
    head, *rest = name.split(".")
    step = f"{head}.{rest[0]}" if head == "steps" and rest else ""
    plain = f"steps.{rest[-1]}" if step else name

    def rows(of: str) -> int:
        return columns.rows(of.replace("steps", step, 1) if step else of)

    if isinstance(value, Shapes):
        _check_lists(name, value.start, value.start.size - 1, value.dim.size)
    elif plain in _LISTS:
        owners, items = _LISTS[plain]
        of, count = rows(owners) - (owners == name), rows(items) - items.endswith(".start")
        _check_lists(name, value, of, count)
    elif plain in _INTO:
        bound = rows(_INTO[plain]) - (_INTO[plain] == "stacks.start")
        least = -columns.rows("edges.unknown.length") if plain == "edges.source" else 0
        least -= plain in _OR_NONE
        if value.size and (value.min() < least or value.max() >= bound):
            raise Damage(f"the column {name} has an index out of range")
    elif plain == "steps.counts_as" and ((value < 0) | (value > ACCELERATOR_RUN)).any():
        raise Damage(f"the column {name} has an index out of range")


def _check_lists(name: str, start: I64, owners: int, items: int) -> None:
    fits = start.size == owners + 1 and start.size and start[0] == 0 and start[-1] == items
    if not fits or not (start[1:] >= start[:-1]).all():
        raise Damage(f"the column {name} does not divide its table")
