"""What one training step costs: forward, backward, optimizer.

    x ─► forward ─► loss          what the outputs of the model need
            │        │
            ▼        ▼
         backward                 what is in the name scopes that TensorFlow gives to gradients, or
            │                     between these, or sums them up; and what only that needs
            ▼
         optimizer                what follows the gradients: clipping, updates; and what only that
                                  needs, such as slots and rates

Metrics and moving averages are part of the way forward. A graph without gradients that change
variables gets the usual estimate: the way back costs twice the way forward, once for the gradients
of the inputs of each layer and once for those of its weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.unique import marked
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.ops.classes import of_class
from tfprof.ops.optimizers import UPDATES
from tfprof.ops.output_dtypes import output_dtypes
from tfprof.ops.reach import Links
from tfprof.ops.symbols import symbols
from tfprof.summary.build_summary import COSTS, Numbers, Row, RowCosts, Summary, summary
from tfprof.summary.caveats import Gaps, caveats
from tfprof.summary.costs import CostModel, without_others
from tfprof.summary.formula import Formula
from tfprof.summary.model_nodes import (
    behind_gradients,
    makes_tensors,
    model_nodes,
    program_results,
    training_gradients,
)
from tfprof.summary.parameters import NO_PARAMETERS, variable_reads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.columns.strings import I64, Bool
    from tfprof.model import Profile

PARTS: Final = ("forward", "backward", "optimizer")
_NONE, _FORWARD, _BACKWARD, _OPTIMIZER = range(-1, 3)
_ADAM: Final = next(update.steps for update in UPDATES if update.optimizer == "Adam")


def training_summary(
    profile: Profile, dims: Mapping[str, int] | None = None, outputs: Sequence[str] = ()
) -> Summary:
    """The parts of one training step; raises TfprofError."""
    layers = summary(profile, 1, dims, outputs)
    part = training_parts(profile, model_nodes(profile, outputs))
    return _estimate(layers) if part is None else _counted(profile, part, dict(dims or {}), layers)


def _counted(profile: Profile, part: I64, dims: Mapping[str, int], layers: Summary) -> Summary:
    """The parts of the graph."""
    in_step = part != _NONE
    step = without_others(profile, in_step)
    computes = makes_tensors(step) & in_step
    model = CostModel(step, computes, output_dtypes(step), np.maximum(part, 0), len(PARTS))
    unbound = [symbol.name for symbol in symbols(step) if symbol.name not in dims]
    costs = RowCosts(model, dims, unbound, is_known=True)
    float_ops, multiply_adds, _ = costs.columns
    used = {name for cost in (*float_ops, *multiply_adds) if cost for name in cost.used}
    known = tuple(name for name in unbound if name in used)
    gaps = Gaps(0, known, costs.unfit, costs.sizes, True, costs.is_opaque, 0, False)  # noqa: FBT003
    how = "From the training graph: backward is its gradients, optimizer is what follows them."
    sentences = (how, *caveats(step, in_step, NO_PARAMETERS, gaps))
    layers = replace(layers, symbols=known, counts=costs.example.counts, sentences=sentences)
    return _with_parts(layers, "graph", (float_ops, multiply_adds), costs.lower[:2])


def _estimate(layers: Summary) -> Summary:
    """The parts of a training step of a model that is not trained here."""
    total = layers.total
    knows = total.trainable is not None
    trained = total.trainable if knows else total.parameters
    update = None if trained is None else Formula.number(_ADAM * trained)
    which = "trainable parameter" if knows else "parameter, trainable or not"
    sentences = (
        "Estimate: the graph has no gradients. Backward is 2 × forward.",
        f"Optimizer: unknown. It counts as Adam, {_ADAM} operations per {which}.",
        *layers.sentences,
    )
    columns = [
        [cost, None if cost is None else cost + cost, last]
        for cost, last in ((total.float_ops, update), (total.multiply_adds, Formula()))
    ]
    lacks = [name in total.lower for name in (*COSTS[:2], "trainable")]
    lower = [[lacks[0], lacks[0], lacks[2]], [lacks[1], lacks[1], False]]
    return _with_parts(replace(layers, sentences=sentences), "estimate", columns, lower)


def _with_parts(
    layers: Summary,
    training: str,
    columns: Sequence[Sequence[Formula | None]],
    lower: Sequence[Sequence[bool] | Bool],
) -> Summary:
    """*layers* with rows of float operations and multiply-adds; *lower* says which are bounds."""
    marks = [*zip(COSTS, lower, strict=False)]
    bounds = [frozenset(name for name, mark in marks if mark[row]) for row in range(len(PARTS))]
    numbers = [
        Numbers(None, None, None, float_ops, multiply_adds, None, lower=lacks)
        for float_ops, multiply_adds, lacks in zip(*columns, bounds, strict=True)
    ]
    rows = [
        Row(name, name, None, 1, is_block=False, numbers=own)
        for name, own in zip(PARTS, numbers, strict=True)
    ]
    total = numbers[0] + numbers[1] + numbers[2]
    return replace(layers, rows=rows, total=total, knows_trainable=False, training=training)


def training_parts(profile: Profile, in_model: Bool) -> I64 | None:
    """The part of a training step that each node is in, -1: in none; None: nothing is trained."""
    backward = training_gradients(profile)
    if not backward.any():
        return None
    edges = profile.edges
    changes = of_class(profile, "changes a variable")
    waits = _reads_of_slots(profile, in_model)
    follows = behind_gradients(profile, backward, waits)
    data = Links.inputs(edges, aside=np.ones(len(profile), np.bool_))
    # A tape sums gradients up outside of their name scopes.
    backward |= follows & data.reached(backward)
    backward |= of_class(profile, "sum of tensors") & ~_takes(profile, ~backward)
    follows &= ~backward
    changes_weights = (changes & follows) | program_results(profile)
    in_step = Links.inputs(edges).reached(changes_weights | in_model)
    others = in_step & ~in_model & ~backward & ~follows

    def with_needed(begin: Bool) -> Bool:
        """These and the other nodes that they need."""
        return data.reached(begin, through=others)

    optimizer = with_needed(in_step & follows)
    # What changes a variable that only the optimizer reads: a counter of steps, a power of beta.
    change = np.flatnonzero(changes & others & (np.diff(edges.start) > 0))
    target = edges.source[edges.start[change]]
    change = change[(target >= 0) & (optimizer & others)[np.maximum(target, 0)]]
    optimizer[change] = True
    optimizer = with_needed(optimizer)
    part = np.where(in_step, _FORWARD, _NONE)
    part[in_step & with_needed(in_step & backward)] = _BACKWARD
    part[in_step & optimizer & ~backward] = _OPTIMIZER
    return part


def _takes(profile: Profile, source: Bool) -> Bool:
    """Which nodes have one of these as an input."""
    return marked(
        Links.consumers(profile.edges, data=True).of(np.flatnonzero(source))[1], len(profile)
    )


def _reads_of_slots(profile: Profile, in_model: Bool) -> Bool:
    """The reads of variables that the model does not read: they may wait for a change of these."""
    variable = np.flatnonzero(of_class(profile, "variable handle", "reference variable"))
    slot = variable[~variable_reads(profile, in_model, variable)[0]]
    is_slot = marked(slot, len(profile))
    return _takes(profile, is_slot) & of_class(profile, "variable read", "identity")
