"""LISTS: the lists of an overview; each says in which of its rows a node counts.

layer            as in the summary; a gradient counts in the layer that it is the gradient of
operation type   as in op view; what XLA fused counts with the fusion, which has the time
line of code     the innermost line of a call stack that is not in TensorFlow, Keras or Python
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, clean_text
from tfprof.columns.unique import marked, sum_by
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.stack_files import library_of
from tfprof.ops.classes import of_class
from tfprof.summary.keras_names import Scopes, with_keras_names
from tfprof.summary.layers import layers
from tfprof.summary.model_nodes import makes_tensors
from tfprof.summary.parameters import casts_of_variables
from tfprof.summary.scopes import scopes
from tfprof.views import VIEWS
from tfprof.views.code_view import GRADIENT_MARK

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.model import Profile
    from tfprof.summary.parameters import Parameters

_DEPTH: Final = 2  # as in a summary
# Classes of what most of the time of a fusion goes to; the last one that is in it names it.
_SHOWN_IN_FUSIONS: Final = ("sort", "reduce", "convolution", "dot")
_GRADIENTS: Final = re.compile(rb"gradients(?:_\d+)?|gradient_tape")


class Rows(NamedTuple):
    """The rows of a list."""

    names: list[str]
    of_node: I64  # -1: none
    parameters: I64 | None = None  # of each row, if it can have some
    unknown: Bool | None = None  # the rows that have more parameters, of unknown shape


NO_ROWS: Final = Rows([], np.empty(0, np.int64))


def layer_rows(profile: Profile, in_model: Bool, held: Parameters) -> Rows:
    """The layers of the model, blocks split as in its summary."""
    computes = makes_tensors(profile) & ~casts_of_variables(profile)
    if in_model.any():
        computes &= in_model
    readers = np.concatenate([held.reader, held.unknown])
    tree = with_keras_names(_with_gradients(scopes(profile, renamed=False), in_model), profile)
    placed = layers(tree, computes, readers, _DEPTH)
    if len(placed.rows) == 1:  # nothing but (other)
        return NO_ROWS
    elements = sum_by(placed.of_node[held.reader], held.elements, len(placed.rows))
    names: list[str] = []
    for layer in placed.rows:
        above = names[layer.parent] + "/" if layer.parent >= 0 else ""
        names.append(above + clean_text(layer.name.decode("utf-8", "replace")))
    unknown = np.bincount(placed.of_node[held.unknown], minlength=elements.size) > 0
    return Rows(names, placed.of_node, elements, unknown)


def _with_gradients(all_scopes: Scopes, in_model: Bool) -> Scopes:
    """*all_scopes*, but gradients/unit_1/conv/Conv2D_grad is in unit_1/conv."""
    inside = {
        (around, part): scope
        for scope, (around, part) in enumerate(zip(all_scopes.parent, all_scopes.part, strict=True))
    }
    target = [0] * len(all_scopes)
    for scope in range(1, len(all_scopes)):
        part, around = all_scopes.part[scope], target[all_scopes.parent[scope]]
        is_gradient = _GRADIENTS.fullmatch(part)
        target[scope] = around if is_gradient else inside.get((around, part), around)
    moved = np.array(target, np.int64)[all_scopes.of_node]
    return replace(all_scopes, of_node=np.where(in_model, all_scopes.of_node, moved))


def type_rows(profile: Profile, *_: object) -> Rows:
    """The operation types."""
    if not profile.in_graph.any():
        # In a run alone, the names of nodes may stand for their types.
        types = profile.types.take(profile.nodes.op)
        if all(name == kind for name, kind in zip(profile.nodes.name, types, strict=True)):
            return NO_ROWS
    drawing = VIEWS["op"].draw(profile)
    rows = Rows([clean_text(name) for name in drawing.label.texts()], drawing.owner)
    return _with_fusions(profile, rows) if profile.steps else rows


def _with_fusions(profile: Profile, rows: Rows) -> Rows:
    """*rows* where fused instructions count in that of their fusion: `fusion`, `fusion of dot`."""
    fusion, regions = np.arange(len(profile)), profile.regions
    is_fused = np.append(of_class(profile, "fusion")[regions.call], False)
    region = regions.of_nodes(len(profile))
    inside = np.flatnonzero(is_fused[region])
    if not inside.size:
        return rows
    fusion[inside] = regions.call[region[inside]]
    for _ in range(len(profile).bit_length()):  # each round follows twice as many fusions
        fusion = fusion[fusion]
    of_node, names = rows.of_node[fusion], [*rows.names]
    for kind in _SHOWN_IN_FUSIONS:
        has = marked(fusion[inside[of_class(profile, kind)[inside]]], len(profile))
        of_node = np.where(has[fusion], len(names), of_node)
        names.append(f"fusion of {kind}")
    return Rows(names, of_node)


def line_rows(profile: Profile, *_: object) -> Rows:
    """The lines of code of the user."""
    if not profile.has_traces or not profile.stacks.file.size:
        return NO_ROWS
    drawing, stacks = VIEWS["code"].draw(profile, frames="all"), profile.stacks
    assert drawing.frame is not None
    file, line = stacks.file[drawing.frame], stacks.line[drawing.frame]
    file[0] = line[0] = -1  # the root is no line
    others = [
        number
        for number, text in zip(stacks.text_id.tolist(), stacks.text, strict=True)
        if library_of(text.decode("utf-8", "replace"))
    ]
    is_user = ~np.isin(file, others)
    is_user[0] = True
    row = drawing.tree.nearest_kept(is_user)
    row = np.where(row > 0, row, np.arange(row.size))  # a stack without a line of the user
    numbers: dict[tuple[int, int], int] = {}
    pairs = zip(file[row].tolist(), line[row].tolist(), strict=True)
    number = np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs], np.int64)
    first = np.unique(number, return_index=True)[1]
    names = (name.removesuffix(GRADIENT_MARK) for name in drawing.label.take(row[first]))
    of_node = np.where(drawing.owner >= 0, number[drawing.owner], -1)
    return Rows([name.decode("utf-8", "replace") for name in names], of_node)


LAYER, TYPE, LINE = "layer", "operation type", "line of code"
LISTS: Final[dict[str, Callable[[Profile, Bool, Parameters], Rows]]] = {
    LAYER: layer_rows,
    TYPE: type_rows,
    LINE: line_rows,
}
