"""page_data(report) → the profile as a page carries it: columns for JavaScript, and meta data.

    nodes    op device stack dtype    types    typed
    edges    count, node less source, slot     unknown names
    views    depth of each row, and the owner of each node; labels are names, types or their own
    steps    as in the model
    shapes, stacks, formulas          each distinct one once
    numbers  page_numbers.py
    fleet    page_fleet.py, where there is one
    changes  page_changes.py, where there is a base to compare with

src/tfprof/page/profile.js reads them. What follows from other columns is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import unique_inverse
from tfprof.errors import TfprofError
from tfprof.explain.formulas import formulas
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.stack_files import library_of
from tfprof.ops.dtypes import DTYPES
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.output_dtypes import output_dtypes
from tfprof.ops.symbols import with_recorded_shapes
from tfprof.query.answer import DRAWN_BY_ERA
from tfprof.read.without_source import without_source
from tfprof.tables.eras import NOW
from tfprof.tables.limits import limit
from tfprof.views import VIEWS
from tfprof.views.code_view import UNKNOWN_TEXT
from tfprof.writers.page_changes import add_changes
from tfprof.writers.page_columns import Container
from tfprof.writers.page_fleet import add_fleet
from tfprof.writers.page_fold import fold
from tfprof.writers.page_meta import page_meta
from tfprof.writers.page_numbers import folded_numbers, page_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.columns.strings import I64
    from tfprof.model import Profile, Stacks, Step
    from tfprof.results.page_report import PageReport
    from tfprof.views.drawing import Drawing
    from tfprof.writers.page_fold import Fold

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
    profile, dims, out = loaded.profile, report.sizes, Container()
    drawings, missing = _drawings(profile)
    folded = None
    if report.fold_note and "scope" in drawings:
        folded = fold(profile, drawings, limit("page_nodes"))
        drawings = {name: _folded_view(folded, name, drawn) for name, drawn in drawings.items()}
    shown = profile if folded is None else folded.profile
    _structure(out, shown)
    for name, drawing in drawings.items():
        _view(out, name, drawing)
    _stacks(out, profile.stacks)
    for number, step in enumerate(shown.steps):
        _step(out, f"step.{number}", step)
    alone = None if folded is None else np.where(folded.size == 1, folded.first, -1)
    _tensors(out, profile, dims, alone)
    text, texts = formulas(profile, dims)
    out.add("formula", text if alone is None else np.append(text, 0)[alone])
    out.add_strings("formulas", Strings.of(line.encode() for line in texts))
    if folded is None:
        page_numbers(out, profile, dims)
    else:
        folded_numbers(out, profile, dims, folded)
    meta = page_meta(report, loaded, drawings, missing)
    if report.fleet is not None:
        meta["fleet"] |= add_fleet(out, report.fleet.times)
    if report.base is not None:
        meta["changes"] = add_changes(out, report, alone)
    return out.packed(meta)


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


def _drawings(profile: Profile) -> tuple[dict[str, Drawing], dict[str, str]]:
    """(the views, why there is none) by name."""
    drawn = {name: _drawn(profile, name) for name in VIEWS}
    missing = {name: view for name, view in drawn.items() if isinstance(view, str)}
    return {n: view for n, view in drawn.items() if not isinstance(view, str)}, missing


def _drawn(profile: Profile, name: str) -> Drawing | str:
    """A view as its command draws it, or the sentence that says which file it needs."""
    if not len(profile):
        return _NO_NODES
    if name == "code" and not profile.has_traces:
        return _NO_STACKS
    if name == "graph" and not profile.edges.source.size and not profile.in_graph.any():
        return _NO_GRAPH
    era = {option: getattr(NOW, option) for option in DRAWN_BY_ERA}
    try:
        return VIEWS[name].draw(profile, **era, frames="auto")
    except TfprofError as problem:
        return str(problem)


def _folded_view(folded: Fold, name: str, drawing: Drawing) -> Drawing:
    """Views that follow from names and types are drawn anew."""
    return (
        folded.drawing(drawing) if name in ("graph", "code") else VIEWS[name].draw(folded.profile)
    )


def _view(out: Container, name: str, drawing: Drawing) -> None:
    out.add(f"{name}.depth", drawing.tree.depth)
    out.add(f"{name}.owner", drawing.owner)
    if drawing.frame is not None:  # the labels of other views are names and types of nodes
        out.add_strings(f"{name}.label", drawing.label)


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


def _tensors(out: Container, profile: Profile, dims: Mapping[str, int], alone: I64 | None) -> None:
    """The shapes of outputs, as far as known; where a node has none, its own shape."""
    outputs = with_inferred_shapes(with_recorded_shapes(profile, dims), dims).outputs
    own = np.flatnonzero(np.diff(outputs.start) == 0)
    own = own[np.diff(profile.nodes.shape.start)[own] > 0]
    owner = np.concatenate([np.repeat(np.arange(len(profile)), np.diff(outputs.start)), own])
    row = np.argsort(owner, kind="stable")
    dtypes = output_dtypes(profile)
    if alone is not None:  # what stands for many has no shape
        place = np.full(len(profile), -1, np.int64)
        place[alone[alone >= 0]] = np.flatnonzero(alone >= 0)
        row = row[place[owner[row]] >= 0]
        row = row[np.argsort(place[owner[row]], kind="stable")]
        owner, dtypes = place[owner], np.append(dtypes, 0)[alone]
    shapes = outputs.shape.joined(profile.nodes.shape.take(own)).take(row)
    width = shapes.dim.itemsize
    ids, first = Strings(
        shapes.dim.view(np.uint8), shapes.start[:-1] * width, np.diff(shapes.start) * width
    ).intern()
    distinct = shapes.take(first)
    out.add("outputs", np.bincount(owner[row], minlength=dtypes.size))
    out.add("output.shape", ids)
    out.add("rank", np.diff(distinct.start))
    out.add("dim", distinct.dim)
    # A file may declare any number as a dtype.
    dtypes = np.where(np.isin(dtypes, [*DTYPES]), dtypes, 0)
    out.add("dtype", dtypes)
    names = [DTYPES[n].name if n in DTYPES else "" for n in range(int(dtypes.max(initial=0)) + 1)]
    out.add_strings("dtypes", Strings.of(name.encode() for name in ["", *names[1:]]))
