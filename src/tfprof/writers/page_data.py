"""page_data(report) → the profile as a page carries it: columns for JavaScript, and meta data.

    nodes    op device stack dtype    types    typed
    edges    count, node less source, slot     unknown names
    views    depth of each row, and the owner of each node; labels are names, types or their own
    steps    as in the model
    float    operations of one run of a node, by all rules; of each step, where shapes differ
    shapes, stacks, formulas          each distinct one once

src/tfprof/page/profile.js reads them. What follows from other columns is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import unique_inverse
from tfprof.errors import TfprofError, UsageError
from tfprof.explain.formulas import formulas
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.stack_files import library_of
from tfprof.ops.classes import of_class
from tfprof.ops.dtypes import DTYPES
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.output_dtypes import output_dtypes
from tfprof.ops.symbols import with_recorded_shapes
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read.without_source import without_source
from tfprof.tables.eras import NOW
from tfprof.views import VIEWS
from tfprof.views.code_view import UNKNOWN_TEXT
from tfprof.writers.page_columns import Container
from tfprof.writers.page_meta import page_meta

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Profile, Stacks, Step
    from tfprof.ops.counting import Counts
    from tfprof.results.page_report import PageReport
    from tfprof.views.drawing import Drawing

_OF_STEP: Final = (
    "node", "device", "start_us", "us", "counts_as", "memory_node", "memory_us", "requested",
    "peak", "residual", "output", "in_use", "allocation_node", "allocation_us", "allocation_bytes",
)  # fmt: skip
_NO_NODES: Final = "There are no graph nodes: give a graph (--graph_path) or a run."
_NO_GRAPH: Final = "Graph view needs the inputs of nodes: give the graph (--graph_path)."
_NO_STACKS: Final = "Code view needs call stacks: give an op log with them (--op_log_path)."


def page_data(report: PageReport) -> bytes:
    """The data of a page; the same profile always gives the same bytes."""
    loaded = report.loaded
    if not report.source:
        loaded = replace(loaded, profile=without_source(loaded.profile))
    profile, out = loaded.profile, Container()
    _structure(out, profile)
    views = {name: _view(out, profile, name) for name in VIEWS}
    _stacks(out, profile.stacks)
    for number, step in enumerate(profile.steps):
        _step(out, f"step.{number}", step)
    _shapes(out, profile, report.dims)
    _float_ops(out, profile, report.dims)
    text, texts = formulas(profile, report.dims)
    out.add("formula", text)
    out.add_strings("formulas", Strings.of(line.encode() for line in texts))
    return out.packed(page_meta(report, loaded, views))


def _structure(out: Container, profile: Profile) -> None:
    nodes, edges = profile.nodes, profile.edges
    out.add_strings("name", nodes.name)
    out.add_strings("types", profile.types)
    out.add_strings("unknown", edges.unknown)
    for name in ("op", "device", "stack"):
        out.add(name, getattr(nodes, name))
    out.add("typed.node", profile.typed_node)
    out.add("typed.as", profile.typed_as)
    inputs = np.diff(edges.start)
    consumer = np.repeat(np.arange(len(profile)), inputs)
    out.add("inputs", inputs)
    # Most inputs are a few nodes before; an unknown one stays below 0.
    out.add("source", np.where(edges.source < 0, edges.source, consumer - edges.source))
    out.add("is_unknown", edges.source < 0)
    out.add("slot", edges.slot)


def _view(out: Container, profile: Profile, name: str) -> dict[str, Any]:
    """Add a view; what is missing for it, or what its rows are."""
    try:
        drawing = _drawn(profile, name)
    except TfprofError as problem:
        return {"missing": str(problem), "filler": "", "in_name_order": False}
    out.add(f"{name}.depth", drawing.tree.depth)
    out.add(f"{name}.owner", drawing.owner)
    if drawing.frame is not None and drawing.gradient is not None:
        out.add_strings(f"{name}.label", drawing.label)
        out.add(f"{name}.frame", drawing.frame)
        out.add(f"{name}.gradient", drawing.gradient)
    filler, is_ordered = drawing.filler.decode(), drawing.in_name_order
    notes = [str(note) for note in drawing.notes]
    return {"missing": "", "filler": filler, "in_name_order": is_ordered, "notes": notes}


def _drawn(profile: Profile, name: str) -> Drawing:
    """A view as its command draws it; UsageError says which file it needs."""
    if not len(profile):
        raise UsageError(_NO_NODES)
    if name == "code" and not profile.has_traces:
        raise UsageError(_NO_STACKS)
    if name == "graph" and not profile.edges.source.size and not profile.in_graph.any():
        raise UsageError(_NO_GRAPH)
    era = {option: getattr(NOW, option) for option in ("source_text", "gradient_rows")}
    return VIEWS[name].draw(profile, **era, sorts_inputs=NOW.sorts_inputs, frames="auto")


def _stacks(out: Container, stacks: Stacks) -> None:
    number = {text_id: at for at, text_id in enumerate(stacks.text_id.tolist())}
    unknown = len(number)
    out.add_strings("texts", Strings.concat([stacks.text, Strings.of([UNKNOWN_TEXT])]))
    out.add("frames", np.diff(stacks.start))
    out.add("frame.line", stacks.line)
    for name in ("file", "function", "source"):
        ids, row = unique_inverse(getattr(stacks, name))
        places = np.array([number.get(text_id, unknown) for text_id in ids.tolist()], np.int64)
        out.add(f"frame.{name}", places[row])
    texts = zip(stacks.text_id.tolist(), stacks.text, strict=True)
    libraries = [text_id for text_id, text in texts if library_of(text.decode("utf-8", "replace"))]
    out.add("frame.library", np.isin(stacks.file, libraries))


def _step(out: Container, prefix: str, step: Step) -> None:
    out.add_strings(f"{prefix}.devices", step.devices)
    for name in _OF_STEP:
        out.add(f"{prefix}.{name}", getattr(step, name))


def _shapes(out: Container, profile: Profile, dims: Mapping[str, int]) -> None:
    """The shapes of outputs, as far as known; where a node has none, its own shape."""
    outputs = with_inferred_shapes(with_recorded_shapes(profile, dims), dims).outputs
    own = np.flatnonzero(np.diff(outputs.start) == 0)
    own = own[np.diff(profile.nodes.shape.start)[own] > 0]
    owner = np.concatenate([np.repeat(np.arange(len(profile)), np.diff(outputs.start)), own])
    shapes = outputs.shape.joined(profile.nodes.shape.take(own))
    order = np.argsort(owner, kind="stable")
    shapes = shapes.take(order)
    width = shapes.dim.itemsize
    ids, first = Strings(
        shapes.dim.view(np.uint8), shapes.start[:-1] * width, np.diff(shapes.start) * width
    ).intern()
    distinct = shapes.take(first)
    out.add("outputs", np.bincount(owner, minlength=len(profile)))
    out.add("output.shape", ids)
    out.add("rank", np.diff(distinct.start))
    out.add("dim", distinct.dim)
    dtypes = output_dtypes(profile)
    out.add("dtype", dtypes)
    names = [DTYPES[n].name if n in DTYPES else "" for n in range(int(dtypes.max(initial=0)) + 1)]
    out.add_strings("dtypes", Strings.of(name.encode() for name in ["", *names[1:]]))


def _float_ops(out: Container, profile: Profile, dims: Mapping[str, int]) -> None:
    """What `values` multiplies, by all rules; ".log" is without rules."""
    out.add("params", profile.values("params", None))
    variable = of_class(profile, "variable handle", "reference variable")
    out.add("params.lower", variable & profile.in_graph & ~profile.nodes.shape.are_whole())
    out.add("float_ops.log", profile.nodes.float_ops)
    out.add("times.log", profile.times)
    own = {number: steps for steps, _ in profile.step_shapes for number in steps}
    asked: dict[Any, tuple[str, int | None]] = {None: ("all", None)}
    for at, step in enumerate(profile.steps if own else ()):
        name, of = asked.setdefault(own.get(step.number, ()), (str(at), step.number))
        counted, counts = with_float_ops(profile, "all", dims, of)
        _counted(out, str(at), counted, counts)
    counted, counts = with_float_ops(profile, "all", dims)
    _counted(out, "all", counted, counts)
    if not len(profile.regions) or not profile.steps:
        return
    out.add("region", profile.regions.of_nodes(len(profile)))
    for name, number in [("all", None), *((str(a), s.number) for a, s in enumerate(profile.steps))]:
        out.add(f"region.runs.{name}", profile.regions.runs(profile.values("occurrence", number)))


def _counted(out: Container, name: str, counted: Profile, counts: Counts) -> None:
    out.add(f"float_ops.{name}", counted.nodes.float_ops)
    out.add(f"times.{name}", counted.times)
    out.add(f"gap.{name}", counts.gap)
    out.add(f"once.{name}", counts.once)
