"""The variables of a checkpoint that comes alone: a graph of nothing but them.

    TensorFlow 2    names, roles and what is trained are those of the object graph
    TensorFlow 1    a role is what the name says:
                    net/w                                 a variable of the model
                    net/w/Adam, train/net/w/Adam_1        a slot: it is below the name of a variable
                    net/w/ExponentialMovingAverage        a moving average

Only variables of the model are parameters. The others are in a scope of their own, such as
optimizer/net/w/Adam, and a note gives their total.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.natural_order import natural
from tfprof.foundation.units import plural
from tfprof.model import Note, Profile
from tfprof.read import graph_def
from tfprof.read.checkpoint.object_graph import METRICS, MODEL, OPTIMIZER, tracked_tensors
from tfprof.read.checkpoint.tensors import DTYPES, STRING
from tfprof.read.keras.graph import Dims, Graph, Type
from tfprof.read.merge import with_extra_type, with_graph
from tfprof.read.saved_model import CHECKPOINT, TRAINABLE
from tfprof.read.saved_model import MODEL as MODEL_VARIABLES
from tfprof.wire.decode import WireError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.read.checkpoint import Checkpoint

AVERAGES: Final = "moving_averages"
# What variables other than those of the model are, in a sentence.
ROLES: Final = {OPTIMIZER: "of optimizers", AVERAGES: "of moving averages", METRICS: "of metrics"}
_OBJECT_GRAPH: Final = b"_CHECKPOINTABLE_OBJECT_GRAPH"
_ATTRIBUTE: Final = b"/.ATTRIBUTES/"
_SLOT_KEY: Final = re.compile(rb"(.*)/\.OPTIMIZER_SLOT/(.*)")
_BY_OPTIMIZER: Final = re.compile(rb"(?:^|/)[^/]*optimizer/(?!_trainable_variables/)")
_AVERAGE: Final = re.compile(rb"ExponentialMovingAverage|moving_average|biased|local_step")
_POWER: Final = re.compile(rb"(?:^|/)beta[12]_power(?:_\d+)?\Z")
# Slots of the optimizers of TensorFlow 1; a variable scope around the optimizer comes before.
_SLOT: Final = re.compile(
    rb"/(?:Adam|AdamW|AdaMax|LazyAdam|Nadam|Momentum|RMSProp|Adagrad|AdagradDA|Adadelta|Ftrl"
    rb"|ProximalAdagrad|adam_[mv]|lamb_[mv])(?:_\d+)?\Z"
)
_SLOT_SUFFIX: Final = re.compile(rb"_slot_(?:v[rc]?|m)\Z")  # of Mesh TensorFlow
_MOST_PARTS: Final = 16
_DIGITS: Final = re.compile(rb"(\d+)")


class Variable(NamedTuple):
    """A variable of a checkpoint."""

    name: bytes
    key: bytes  # in the checkpoint
    dtype: int
    shape: tuple[int, ...]
    role: str = MODEL
    trained: bool | None = None

    @property
    def size(self) -> int:
        """Its bytes in the file."""
        return prod(self.shape) * np.dtype(DTYPES[self.dtype].layout).itemsize


def variables(checkpoint: Checkpoint) -> tuple[list[Variable], list[str]]:
    """(the variables in the order of the model, sentences about them); raises InputError."""
    stored = [
        Variable(key, key, checkpoint.dtype(key), checkpoint.shape(key))
        for key in checkpoint.names()
    ]
    numeric = {each.key: each for each in stored if each.dtype in DTYPES and each.dtype != STRING}
    if not checkpoint.has(_OBJECT_GRAPH):
        return _by_name(numeric), []
    try:
        values = checkpoint.tensor(_OBJECT_GRAPH).values
        data = np.frombuffer(b"".join(map(bytes, values)), np.uint8)
        tracked = tracked_tensors(data)
    except (InputError, WireError, TypeError) as problem:
        return _by_key(numeric), [f"Names are keys of the checkpoint: {problem}."]
    named = [
        numeric.pop(each.key)._replace(name=each.path, role=each.role, trained=each.trained)
        for each in tracked
        if each.key in numeric
    ]
    trains = any(each.trained for each in named)
    said = ["Trainable: the variables that an optimizer in this checkpoint trains."]
    return named + _by_key(numeric), said if trains else []


def _by_key(stored: Mapping[bytes, Variable]) -> list[Variable]:
    """Tensors of objects, as their keys name them."""
    named = []
    for key, each in stored.items():
        name = key.partition(_ATTRIBUTE)[0]
        if slot := _SLOT_KEY.fullmatch(name):
            named.append(each._replace(name=b"/".join((slot[2], slot[1])), role=OPTIMIZER))
        else:
            role = OPTIMIZER if _BY_OPTIMIZER.search(name) else MODEL
            named.append(each._replace(name=name, role=role))
    return named


def _by_name(stored: Mapping[bytes, Variable]) -> list[Variable]:
    """Variables of TensorFlow 1; those that are not of the model are below the name of a role."""
    named = []
    for name in sorted(stored, key=natural):
        role = _role(name, stored)
        below = name if role == MODEL else f"{role}/".encode() + name
        named.append(stored[name]._replace(name=below, role=role))
    return named


def _role(name: bytes, stored: Mapping[bytes, Variable]) -> str:
    around, _, last = name.rpartition(b"/")
    if around in stored:
        return AVERAGES if _AVERAGE.search(last) else OPTIMIZER
    if _POWER.search(name) or _SLOT_SUFFIX.sub(b"", name) != name:
        return OPTIMIZER
    if not _SLOT.search(name):
        return MODEL
    parts, shape = around.split(b"/", _MOST_PARTS), stored[name].shape
    targets = (stored.get(b"/".join(parts[at:])) for at in range(1, len(parts)))
    return OPTIMIZER if any(each and each.shape == shape for each in targets) else MODEL


def totals(named: list[Variable]) -> dict[str, str]:
    """By role, how much the variables hold that are not of the model."""
    held = {role: [each for each in named if each.role == role] for role in ROLES}
    return {
        role: f"{plural(len(each), 'variable')} {ROLES[role]} with "
        f"{plural(sum(prod(v.shape) for v in each), 'value')} "
        f"({sum(v.size for v in each):,} bytes)"
        for role, each in held.items()
        if each
    }


def variables_profile(checkpoint: Checkpoint) -> tuple[Profile, Checkpoint]:
    """(a graph of the variables, the checkpoint by the names of its nodes); raises InputError."""
    named, sentences = variables(checkpoint)
    graph = Graph(checkpoint.prefix, len(named))
    nodes: dict[bytes, Variable] = {}
    for each in named:
        name = each.name.decode("utf-8", "replace") or "variable"
        attributes: dict[str, Any] = {"dtype": Type(each.dtype), "shape": Dims(each.shape)}
        nodes[graph.add(name, "VarHandleOp", [], attributes).encode()] = each
    data = np.frombuffer(graph.data(), np.uint8)
    columns = replace(graph_def.columns(data), file=checkpoint.prefix)
    profile = with_extra_type(with_graph(Profile(), columns), Strings.of(nodes), CHECKPOINT)
    model = [name for name, each in nodes.items() if each.role == MODEL]
    profile = with_extra_type(profile, Strings.of(model), MODEL_VARIABLES)
    if any(each.trained for each in named):
        trained = [name for name, each in nodes.items() if each.trained]
        profile = with_extra_type(profile, Strings.of(trained), TRAINABLE)
    aside = (f"Not parameters of the model: {text}." for text in totals(named).values())
    notes = (Note(text, ours=True, caveat=True) for text in (*sentences, *aside))
    keys = {name: each.key for name, each in nodes.items()}
    return replace(profile, notes=(*profile.notes, *notes)), checkpoint.renamed(keys)
