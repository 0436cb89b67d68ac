"""Reads a converted profile (`tfprof convert`): the columns of a Profile in compact form.

    file ──coding──► named columns ──layout──► tables ──checks──► Profile

Everything is decoded and checked at once, except node attributes and the shapes recorded by runs:
these are read on demand, as with the files that the profile was converted from. Checksums detect
accidental damage, not a malicious file. So every index must be in range and every column as long
as its table. Every view can draw a profile that passes.
"""

from __future__ import annotations

from functools import partial
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from tfprof.columns.unique import unique
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import fields, replace
from tfprof.model import ACCELERATOR_RUN, BRANCH, AttributeSource, Outputs, Profile, Step
from tfprof.read.columnar.coding import Columns, Damage
from tfprof.read.columnar.layout import Attributes, RunShapes, ShapesOfSteps, from_columns, truths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.shapes import Shapes
    from tfprof.columns.strings import I64, Strings
    from tfprof.read.source import Source

T = TypeVar("T")

ATTRIBUTES, RUN_SHAPES, STEP_SHAPES = "attributes", "run_shapes", "step_shapes"
# Attributes with longer text do not share it: a shared text takes a byte per attribute in the file,
# but its full length per attribute in memory.
LONGEST_SHARED: Final = 256
# With fewer strings than this, a Python set is faster.
_FEW: Final = 200


def profile(source: Source) -> Profile:
    """The profile in the file; raises InputError."""
    return _checked(_profile, source)


def _checked(read: Callable[..., T], source: Source, *arguments: Any) -> T:  # noqa: ANN401
    """The result of *read*; turns Damage into an InputError that names the file."""
    try:
        return read(source, *arguments)
    except Damage as damage:
        raise InputError(f"{source.name} is damaged: {damage}") from None


def _profile(source: Source) -> Profile:
    columns = Columns(source)
    profile: Profile = from_columns(Profile, "", columns)
    check(profile)
    described = truths(columns, f"{ATTRIBUTES}.described")
    if described.size != len(profile):
        raise Damage("its attributes belong to other nodes")
    node = np.where(described, np.arange(len(profile)), -1)
    attributes = partial(_checked, _attributes, source)
    of_runs = partial(_checked, _with_shapes, source, RunShapes, RUN_SHAPES)
    has_shapes = f"{RUN_SHAPES}.outputs.start" in columns
    return replace(
        profile,
        attribute_sources=(AttributeSource(node, attributes, source.name),),
        shape_sources=(of_runs,) if has_shapes else (),
        step_shapes=tuple(_step_shapes(source, columns)),
    )


def _step_shapes(source: Source, columns: Columns) -> Iterator[Any]:
    """(numbers of steps, the profile with their shapes), as in a Profile."""
    names = (f"{STEP_SHAPES}.{number}" for number in count())
    for name in takewhile(lambda name: f"{name}.outputs.start" in columns, names):
        shapes: ShapesOfSteps = from_columns(ShapesOfSteps, name, columns)
        read = partial(_checked, _with_shapes, source, ShapesOfSteps, name)
        yield tuple(shapes.steps.tolist()), read


def _attributes(source: Source) -> tuple[I64, Strings]:
    source.check()
    attributes: Attributes = from_columns(Attributes, ATTRIBUTES, Columns(source))
    check_attributes(attributes)
    return attributes.node, attributes.texts.take(attributes.text)


def _with_shapes(
    source: Source, kind: type[RunShapes | ShapesOfSteps], name: str, profile: Profile
) -> Profile:
    source.check()
    shapes = from_columns(kind, name, Columns(source))
    check_outputs(f"{name}.outputs", shapes.outputs, len(profile))
    notes = shapes.notes if isinstance(shapes, RunShapes) else ()
    return replace(profile, outputs=shapes.outputs, notes=(*profile.notes, *notes))


def check(profile: Profile) -> None:
    """Raises Damage unless the columns of *profile* are consistent."""
    count, types = len(profile), len(profile.types)
    nodes, edges, stacks = profile.nodes, profile.edges, profile.stacks
    _shapes("nodes.shape", nodes.shape)
    _lists("stacks.start", stacks.start, stacks.start.size - 1, stacks.file.size)
    _alike("stacks", stacks, "file", "text_id")
    if unique(stacks.text_id).size < stacks.text_id.size:
        raise Damage("the column stacks.text_id has a repeated number")
    _alike("nodes", nodes, "name")
    _distinct("nodes.name", nodes.name)
    _distinct("types", profile.types)
    _below("nodes.op", nodes.op, types)
    _below("nodes.device", nodes.device, types, least=-1)
    _below("nodes.stack", nodes.stack, stacks.start.size - 1, least=-1)

    _below("typed_node", profile.typed_node, count)
    _below("typed_as", profile.typed_as, types)
    _as_long("typed_as", profile.typed_as, profile.typed_node.size)
    _as_long("covered", profile.covered, count)

    _lists("edges.start", edges.start, count, edges.source.size)
    _below("edges.source", edges.source, count, least=-len(edges.unknown))
    _as_long("edges.slot", edges.slot, edges.source.size)
    if edges.slot.min(initial=0) < -1:
        raise Damage("the column edges.slot has an output that no node has")
    check_outputs("outputs", profile.outputs, count)
    _check_regions(profile)

    for step in profile.steps:
        _check_step(step, count)
    number = np.array([step.number for step in profile.steps], np.int64)
    if not (number[1:] > number[:-1]).all():
        raise Damage("its steps are not in order")


def _check_regions(profile: Profile) -> None:
    regions, count = profile.regions, len(profile)
    _alike("regions", regions, "call")
    _below("regions.of_node", regions.of_node, len(regions), least=-1)
    _below("regions.call", regions.call, min(count, regions.of_node.size))
    _below("regions.kind", regions.kind, BRANCH + 1)
    # An outer region comes before those inside it, so a walk outwards ends.
    if (regions.of_node[regions.call] >= np.arange(len(regions))).any():
        raise Damage("its regions are not in order")
    length = profile.nodes.name.length[: regions.of_node.size]
    inside = np.flatnonzero(regions.of_node >= 0)
    if (
        regions.of_node.size > count
        or (regions.prefix < 0).any()
        or (regions.prefix[regions.of_node[inside]] > length[inside]).any()
    ):
        raise Damage("the column regions.prefix is longer than names")
    if profile.times.size:
        _as_long("times", profile.times, count)


def _check_step(step: Step, count: int) -> None:
    heads = ("node", "memory_node", "allocation_node", "output_row")
    _alike("steps", step, *heads, apart="devices")
    _distinct("steps.devices", step.devices)
    bounds = {
        "device": len(step.devices),
        "counts_as": ACCELERATOR_RUN + 1,
        "output_row": len(step.memory_node),
    }
    for name in ("node", "device", "counts_as", "memory_node", "allocation_node", "output_row"):
        _below(f"steps.{name}", getattr(step, name), bounds.get(name, count))


def check_outputs(name: str, outputs: Outputs, count: int) -> None:
    """Raises Damage unless these are the outputs of *count* nodes."""
    _shapes(f"{name}.shape", outputs.shape)
    _lists(f"{name}.start", outputs.start, count, len(outputs.shape))


def check_attributes(attributes: Attributes) -> None:
    """Raises Damage unless each attribute belongs to a node of a graph."""
    node, texts = attributes.node, attributes.texts
    _below("attributes.node", node, attributes.described.size)
    if not (node[1:] >= node[:-1]).all() or not attributes.described[node].all():
        raise Damage("its attributes are not in the order of their nodes")
    _as_long("attributes.text", attributes.text, node.size)
    _below("attributes.text", attributes.text, len(texts))
    used = np.bincount(attributes.text, minlength=len(texts))
    if used[texts.length > LONGEST_SHARED].max(initial=0) > 1:
        raise Damage("its attributes share a text that is too long to be shared")


def _below(name: str, column: I64, bound: int, least: int = 0) -> None:
    """Every number is at least *least* and below *bound*."""
    if column.size and (column.min() < least or column.max() >= bound):
        raise Damage(f"the column {name} has an index out of range")


def _as_long(name: str, column: Any, rows: int) -> None:  # noqa: ANN401 - any with a length
    if len(column) != rows:
        raise Damage(f"the column {name} is not as long as its table")


def _alike(name: str, table: object, *heads: str, apart: str = "") -> None:
    """From each of *heads* to the next one, all columns of *table* have the same length."""
    rows = None
    for part in fields(table):  # type: ignore[arg-type]
        column = getattr(table, part.name)
        if part.name in heads:
            rows = len(column)
        if rows is not None and part.name != apart:
            _as_long(f"{name}.{part.name}", column, rows)


def _lists(name: str, start: I64, owners: int, items: int) -> None:
    """The lists of *owners* are contiguous and cover all *items*."""
    fits = start.size == owners + 1 and start.size and start[0] == 0 and start[-1] == items
    # Compared, not subtracted: a difference may overflow.
    if not fits or not (start[1:] >= start[:-1]).all():
        raise Damage(f"the column {name} does not divide its table")


def _shapes(name: str, shapes: Shapes) -> None:
    _lists(f"{name}.start", shapes.start, shapes.start.size - 1, shapes.dim.size)


def _distinct(name: str, strings: Strings) -> None:
    """No string is repeated: they are looked up."""
    different = len(set(strings)) if len(strings) < _FEW else strings.intern()[1].size
    if different < len(strings):
        raise Damage(f"the column {name} has a repeated string")
