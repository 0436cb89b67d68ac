"""The parameters of a model: which nodes hold them, how many, and who reads them.

    VarHandleOp, VariableV2, Variable    a variable; its shape is an attribute
    Placeholder of a resource            a variable that a function captured; its reader tells more
    Const                                a guess, where a graph has no variable left: see `guessed`

Only what the model reads counts: not what only an optimizer or a saver has, nor a variable of whole
numbers, which is a counter or a seed. A parameter belongs where it is read first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.ops.classes import of_class
from tfprof.ops.dtypes import RESOURCE
from tfprof.ops.output_dtypes import element_sizes, is_of_weights
from tfprof.read.saved_model import MODEL, TRAINABLE
from tfprof.summary.model_nodes import training_gradients
from tfprof.summary.reach import Links

if TYPE_CHECKING:
    from tfprof.columns.shapes import Shapes
    from tfprof.model import Profile


@dataclass(frozen=True, eq=False)
class Parameters:
    """A row a parameter."""

    node: I64  # what holds it
    reader: I64  # what reads it first; itself where nothing does
    elements: I64
    size: I64  # in bytes
    trainable: Bool | None  # None: not told
    guessed: bool  # constants that may be parameters
    unknown: I64  # what reads first each of those that are more, whose shapes are not known
    counters: int  # variables of whole numbers, which are none


def parameters(shaped: Profile, living: Bool, types: I64) -> Parameters:
    """Those of the nodes *living* of a profile whose shapes are known as far as can be.

    *types* is the DataType of each node's outputs.
    """
    listed = _of_type(shaped, MODEL)
    variable, shape = _variables(shaped, living | listed, types)
    kind = types[variable.read]
    counters = (kind > 0) & ~is_of_weights(kind) & ~variable.trainable
    if listed.any():
        # A capture of Keras says which variables are weights: then the others are none.
        counters &= listed[variable.node]
        keep = ~counters & listed[variable.node]
    else:
        keep = ~counters & (_is_of_model(shaped, living, variable) | variable.trainable)
    guessed = not variable.node.size
    if guessed:
        variable, shape = _constants(shaped, living & is_of_weights(types), living)
        kind = types[variable.node]
        keep = np.ones(variable.node.size, np.bool_)
    known = keep & (np.diff(shape.start) > 0) & shape.are_whole()
    elements = shape.elements()
    unknown = keep & ~known
    if guessed:
        known &= elements > 1
    told = not guessed and _tells_trainable(shaped, variable)
    size = element_sizes(np.where(kind > 0, kind, 1))  # a type that is not told is a float
    return Parameters(
        variable.node[known],
        variable.reader[known],
        elements[known],
        (elements * size)[known],
        variable.trainable[known] if told else None,
        guessed=guessed and bool((known | unknown).any()),
        unknown=variable.reader[unknown],
        counters=0 if guessed else int(counters.sum()),
    )


def casts_of_variables(profile: Profile) -> Bool:
    """What hands on a variable in another type: no work of a layer of its own."""
    edges = profile.edges
    holds = of_class(profile, "variable read", "reference variable")
    taken = (edges.source >= 0) & holds[np.maximum(edges.source, 0)]
    takes = np.zeros(len(profile), np.bool_)
    takes[np.repeat(np.arange(len(profile)), np.diff(edges.start))[taken]] = True
    return takes & of_class(profile, "cast")


def _tells_trainable(shaped: Profile, variable: _Held) -> bool:
    """Whether it is told which variables are trained, if only that none is.

    What brings functions along and the variables that they use says so; a graph alone does not.
    """
    if len(shaped.types) and int(shaped.types.find(Strings.of([TRAINABLE]))[0]) >= 0:
        return True
    handles = of_class(shaped, "variable handle")
    return len(shaped.regions) > 0 and bool(handles[variable.node].all())


@dataclass(frozen=True, eq=False)
class _Held:
    """What may hold parameters: the node, its first reader, and who tells its type."""

    node: I64
    reader: I64
    read: I64
    trainable: Bool


def _variables(shaped: Profile, living: Bool, kind: I64) -> tuple[_Held, Shapes]:
    """The variables among the nodes *living*, and their shapes."""
    own = of_class(shaped, "variable handle", "reference variable")
    captured = of_class(shaped, "placeholder") & (kind == RESOURCE)
    reads = of_class(shaped, "variable read")
    consumers = Links.consumers(shaped.edges)
    node = np.flatnonzero((own | captured) & living)
    owner, consumer = consumers.of(node)
    kept = _readers(shaped, living)[consumer]
    owner, consumer = owner[kept], consumer[kept]
    reader = _first(node, owner, consumer)
    by_read = _first(node, owner[reads[consumer]], consumer[reads[consumer]])
    # A resource that nothing reads as a variable is a table, an iterator or the like.
    is_variable = own[node] | (by_read != node)
    node, reader, by_read = node[is_variable], reader[is_variable], by_read[is_variable]
    told = np.where(own[node], node, -1)
    shape = shaped.nodes.shape.take(told)
    output = np.where(
        (np.diff(shape.start) == 0) & (by_read != node), shaped.outputs.start[by_read], -1
    )
    output = np.where(output < len(shaped.outputs.shape), output, -1)
    shape = shape.joined(shaped.outputs.shape.take(output)).take(
        np.where(output >= 0, node.size + np.arange(node.size), np.arange(node.size))
    )
    told = np.where(own[node], node, by_read)
    return _Held(node, reader, told, _of_type(shaped, TRAINABLE)[node]), shape


def _of_type(shaped: Profile, kind: bytes) -> Bool:
    """Which nodes have this as another type."""
    found = np.zeros(len(shaped), np.bool_)
    if len(shaped.types):
        row = int(shaped.types.find(Strings.of([kind]))[0])
        found[shaped.typed_node[shaped.typed_as == row]] = True
    return found


def _readers(shaped: Profile, living: Bool) -> Bool:
    """Which nodes may read a parameter: not a call, which only hands it on to those in its body."""
    readers = living.copy()
    readers[shaped.regions.call] = False
    return readers


def _first(node: I64, owner: I64, consumer: I64) -> I64:
    """The first consumer of each node in the order of the graph; itself where it has none."""
    none = np.iinfo(np.int64).max
    first = np.full(node.size, none)
    np.minimum.at(first, owner, consumer)
    return np.where(first == none, node, first)


def _is_of_model(shaped: Profile, living: Bool, held: _Held) -> Bool:
    """Which variables are read for more than to be trained: not by what follows the gradients."""
    backward = training_gradients(shaped)
    if not backward.any():
        return np.ones(held.node.size, np.bool_)
    consumers = Links.consumers(shaped.edges)
    trains = consumers.reached(backward) | of_class(shaped, "saves")
    trains |= ~_readers(shaped, living)
    reads = of_class(shaped, "variable read", "identity")
    # A read on its own says nothing: who takes it does.
    owner, consumer = consumers.of(np.flatnonzero(reads))
    by_model = np.zeros(len(shaped), np.bool_)
    by_model[np.flatnonzero(reads)[owner[~trains[consumer]]]] = True
    by_model |= ~reads & ~trains
    owner, consumer = consumers.of(held.node)
    result = np.zeros(held.node.size, np.bool_)
    result[owner[by_model[consumer] & living[consumer]]] = True
    return result


def _constants(shaped: Profile, of_weights: Bool, living: Bool) -> tuple[_Held, Shapes]:
    """The constants that may be parameters, and their shapes.

    They are *of_weights*, of a type that these have, and something takes them, or what is made of
    nothing but constants, together with what is no constant.
    """
    constant = of_class(shaped, "constant")
    edges = shaped.edges
    takes_none = np.diff(Links.inputs(edges).start) == 0
    consumers = Links.consumers(edges, data=True)
    varies = consumers.reached(takes_none & ~constant)
    fixed = living & ~varies
    owner, consumer = consumers.of(np.flatnonzero(fixed))
    meets = np.zeros(len(shaped), np.bool_)
    meets[np.flatnonzero(fixed)[owner[varies[consumer] & living[consumer]]]] = True
    used = Links.inputs(edges).reached(meets, through=fixed)
    node = np.flatnonzero(constant & of_weights & used)
    owner, consumer = consumers.of(node)
    kept = _readers(shaped, living)[consumer]
    reader = _first(node, owner[kept], consumer[kept])
    first = shaped.outputs.start[node]
    listed = np.where(shaped.outputs.start[node + 1] > first, first, -1)
    shape = shaped.outputs.shape.take(listed)
    return _Held(node, reader, node, np.zeros(node.size, np.bool_)), shape
