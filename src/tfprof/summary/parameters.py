"""The parameters of a model: which nodes hold them, how many, and which nodes read them.

    VarHandleOp, VariableV2, Variable    a variable; its shape is an attribute
    Placeholder of a resource            a variable that a function captured; its reader has a shape
    parameter                            an argument of an XLA program that is listed as a weight
    Const                                a guess, if a graph has no variable left: see `guessed`

Variables that the model reads count. So do those that nothing reads and no output needs, such as an
embedding that is only saved, if the file lists what is trainable. Slots of optimizers and moving
averages do not count, nor do integer variables, which are counters or seeds. A parameter belongs to
its first reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import marked
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.ops.classes import of_class, with_type
from tfprof.ops.dtypes import FLOAT, RESOURCE
from tfprof.ops.output_dtypes import is_of_weights, weight_bytes
from tfprof.ops.possible_weights import possible_weights
from tfprof.ops.reach import Links
from tfprof.read.saved_model import MODEL, TRAINABLE
from tfprof.summary.model_nodes import is_checkpoint, training_gradients

if TYPE_CHECKING:
    from tfprof.columns.shapes import Shapes
    from tfprof.model import Profile


class Held(NamedTuple):
    """Some variables, and how many values they hold."""

    variables: int = 0
    values: int = 0


@dataclass(frozen=True, eq=False)
class Parameters:
    """One row per parameter."""

    node: I64  # what holds it
    reader: I64  # the first node that reads it; itself if none does
    elements: I64
    size: I64  # in bytes
    trainable: Bool | None  # None: not recorded
    guessed: bool  # constants that may be parameters
    unknown: I64  # the first readers of further parameters, which are not known
    arguments: int  # of an XLA program, if none is known to be a weight; these are the unknown
    counters: int  # integer variables of the model, which are no parameters
    unneeded: Held  # of these, what no output needs
    unread: Held  # variables that are no parameters, since the model does not read them


_NONE: Final = np.empty(0, np.int64)
NO_PARAMETERS: Final = Parameters(
    _NONE,
    _NONE,
    _NONE,
    _NONE,
    trainable=None,
    guessed=False,
    unknown=_NONE,
    arguments=0,
    counters=0,
    unneeded=Held(),
    unread=Held(),
)


def parameters(
    shaped: Profile, in_model: Bool, dtypes: I64, *, unneeded: bool = True
) -> Parameters:
    """The parameters of the nodes *in_model*; *dtypes* are those of each node's outputs.

    With *unneeded*, variables count that no output needs.
    """
    # A list of trainable variables, if only an empty one; a graph alone has none.
    recorded = len(shaped.types) > 0 and int(shaped.types.find(Strings.of([TRAINABLE]))[0]) >= 0
    listed = with_type(shaped, MODEL)
    variable, shape = _variables(shaped, in_model | listed | variable_nodes(shaped), dtypes)
    needed = (in_model | listed)[variable.node]
    dtype = dtypes[variable.typed_by]
    counters = (dtype > 0) & ~is_of_weights(dtype) & ~variable.trainable
    if listed.any() or is_checkpoint(shaped):
        # A capture of Keras and a checkpoint list the variables that are weights, and no others.
        counters &= listed[variable.node]
        keep = ~counters & listed[variable.node]
    else:
        read, used = variable_reads(shaped, in_model, variable.node)
        # Not slots, which only training reads. What nothing reads is a weight, if it is trainable.
        trains = bool(training_gradients(shaped).any())
        keep = read | (~used & (variable.trainable | (not trains)))
        # Without a list of variables, those that no output needs may be copies, as in SavedModels.
        keep |= variable.trainable & ~needed & (not trains)
        keep &= ~counters & (needed | (unneeded and recorded))
        if not keep.any() and not trains:  # a graph that saves variables, and nothing else
            keep = ~counters & needed
        counters &= needed
    guessed = not (needed | keep).any()
    outside = _held(keep & ~needed, shape)
    unread = Held() if is_checkpoint(shaped) else _held(~keep & ~counters, shape)
    if guessed:
        variable, shape = _constants(shaped, in_model & is_of_weights(dtypes), in_model)
        dtype = dtypes[variable.node]
        keep = np.ones(variable.node.size, np.bool_)
    known = keep & (np.diff(shape.start) > 0) & shape.are_whole()
    elements = shape.elements()
    unknown = keep & ~known
    if guessed:
        known &= elements > 1
    size = weight_bytes(np.where(dtype > 0, dtype, FLOAT), elements)
    arguments = possible_weights(shaped)
    in_doubt = _first_readers(Links.consumers(shaped.edges), arguments, _readers(shaped, in_model))
    return Parameters(
        variable.node[known],
        variable.reader[known],
        elements[known],
        size[known],
        variable.trainable[known] if recorded and not guessed else None,
        guessed=guessed and bool((known | unknown).any()),
        unknown=np.append(variable.reader[unknown], in_doubt),
        arguments=arguments.size,
        counters=0 if guessed else int(counters.sum()),
        unneeded=outside,
        unread=unread,
    )


def variable_nodes(profile: Profile) -> Bool:
    """Which nodes are variables, or weights that a program takes as parameters."""
    weights = of_class(profile, "placeholder") & with_type(profile, MODEL)
    return of_class(profile, "variable handle", "reference variable") | weights


def _held(which: Bool, shape: Shapes) -> Held:
    known = which & shape.are_whole()
    return Held(int(which.sum()), int(shape.elements()[known].sum()))


def casts_of_variables(profile: Profile) -> Bool:
    """Which nodes cast a variable to another dtype: no work of a layer of its own."""
    edges = profile.edges
    holds = of_class(profile, "variable read", "reference variable")
    taken = (edges.source >= 0) & holds[np.maximum(edges.source, 0)]
    takes = marked(np.repeat(np.arange(len(profile)), np.diff(edges.start))[taken], len(profile))
    return takes & of_class(profile, "cast")


class _Holders(NamedTuple):
    """Nodes that may hold parameters."""

    node: I64
    reader: I64  # the first one
    typed_by: I64  # the node whose dtype is that of the parameter
    trainable: Bool


def _variables(shaped: Profile, in_model: Bool, dtypes: I64) -> tuple[_Holders, Shapes]:
    """The variables among the nodes *in_model*, and their shapes."""
    own = variable_nodes(shaped)
    captured = of_class(shaped, "placeholder") & (dtypes == RESOURCE)
    reads = of_class(shaped, "variable read")
    consumers, readers = Links.consumers(shaped.edges), _readers(shaped, in_model)
    node = np.flatnonzero((own | captured) & in_model)
    reader = _first_readers(consumers, node, readers)
    read = _first_readers(consumers, node, readers & reads)
    # A resource that nothing reads as a variable is a table, an iterator or the like.
    is_variable = own[node] | (read != node)
    node, reader, read = node[is_variable], reader[is_variable], read[is_variable]
    reader = np.where(_are_in_layers(shaped, node), node, reader)
    shape = shaped.nodes.shape.take(np.where(own[node], node, -1))
    undeclared = (np.diff(shape.start) == 0) & (read != node)
    first, end = shaped.outputs.start[read], shaped.outputs.start[read + 1]
    output = np.where(undeclared & (first < end), first, -1)
    rows = np.arange(node.size)
    both = shape.joined(shaped.outputs.shape.take(output))
    shape = both.take(np.where(output >= 0, node.size + rows, rows))
    typed_by = np.where(own[node], node, read)
    return _Holders(node, reader, typed_by, with_type(shaped, TRAINABLE)[node]), shape


def _are_in_layers(profile: Profile, node: I64) -> Bool:
    """Which of these weights of an XLA program are named below a scope that computes.

    A fusion may read the weights of several layers.
    """
    is_weight = of_class(profile, "placeholder")
    if not (is_weight & with_type(profile, MODEL)).any():
        return np.zeros(node.size, np.bool_)
    around = profile.nodes.name.around()
    scope, _ = around.intern()
    computes = marked(scope[~is_weight & (around.length > 0)], len(profile))
    return is_weight[node] & computes[scope[node]]


def _readers(shaped: Profile, in_model: Bool) -> Bool:
    """Which nodes may read a parameter: not calls, which pass it on to their bodies."""
    readers = in_model.copy()
    readers[shaped.regions.call] = False
    return readers


def _first_readers(consumers: Links, node: I64, readers: Bool) -> I64:
    """The first consumer of each node that is one of the *readers*; itself if it has none."""
    owner, consumer = consumers.of(node)
    reads = readers[consumer]
    none = np.iinfo(np.int64).max
    first = np.full(node.size, none)
    np.minimum.at(first, owner[reads], consumer[reads])
    return np.where(first == none, node, first)


def variable_reads(shaped: Profile, in_model: Bool, variable: I64) -> tuple[Bool, Bool]:
    """(which variables the model reads, which anything reads); saving is no reading."""
    # What follows the gradients is not the model.
    backward = training_gradients(shaped)
    consumers = Links.consumers(shaped.edges)
    saves = of_class(shaped, "saves")
    passes = ~_readers(shaped, np.ones(len(shaped), np.bool_))
    by_model = in_model & ~consumers.reached(backward) & ~saves & ~passes
    by_any = ~saves & ~passes
    # The consumers of a read decide.
    reads = np.flatnonzero(of_class(shaped, "variable read", "identity"))
    owner, consumer = consumers.of(reads)
    for users in (by_model, by_any):
        is_used = marked(owner[users[consumer]], reads.size)
        users[reads] = is_used
    owner, consumer = consumers.of(variable)
    read, used = np.zeros((2, variable.size), np.bool_)
    read[owner[by_model[consumer] & in_model[consumer]]] = True
    used[owner[by_any[consumer]]] = True
    return read, used


def _constants(shaped: Profile, of_weights: Bool, in_model: Bool) -> tuple[_Holders, Shapes]:
    """The constants that may be parameters, and their shapes."""
    # They have a dtype *of_weights*, and meet something that is not constant, directly or through
    # nodes that depend on constants only. What a loop changes is not constant, nor is the value
    # that it starts with a parameter.
    constant = of_class(shaped, "constant")
    edges = shaped.edges
    takes_none = np.diff(Links.inputs(edges).start) == 0
    consumers = Links.consumers(edges, data=True)
    changes = _changed_by_loops(shaped)
    varies = consumers.reached((takes_none & ~constant) | changes)
    fixed = in_model & ~varies
    owner, consumer = consumers.of(np.flatnonzero(fixed))
    meets = np.zeros(len(shaped), np.bool_)
    meeting = varies[consumer] & in_model[consumer] & ~changes[consumer]
    meets[np.flatnonzero(fixed)[owner[meeting]]] = True
    used = Links.inputs(edges).reached(meets, through=fixed)
    node = np.flatnonzero(constant & of_weights & used)
    reader = _first_readers(consumers, node, _readers(shaped, in_model))
    first = shaped.outputs.start[node]
    output = np.where(shaped.outputs.start[node + 1] > first, first, -1)
    shape = shaped.outputs.shape.take(output)
    return _Holders(node, reader, node, np.zeros(node.size, np.bool_)), shape


def _changed_by_loops(profile: Profile) -> Bool:
    """The variables of loops of single nodes (TensorFlow 1): merges that an iteration changes.

    Enter ─► Merge ─► Switch ─► Identity ─► … ─► NextIteration     back to Merge; it is changed if
                                                                   … is more than an Identity
    """
    edges = profile.edges
    passes = of_class(profile, "passes a loop variable") & (np.diff(edges.start) > 0)
    origin = np.arange(len(profile))
    origin[passes] = edges.source[edges.start[:-1][passes]]
    origin = np.where(origin < 0, np.arange(len(profile)), origin)
    for _ in range(len(profile).bit_length()):  # each round follows twice as many links
        origin = origin[origin]
    is_back = of_class(profile, "next iteration")
    merge = np.repeat(np.arange(len(profile)), np.diff(edges.start))
    back = np.flatnonzero(edges.source >= 0)
    back = back[is_back[edges.source[back]]]
    return marked(merge[back[origin[edges.source[back]] != merge[back]]], len(profile))
