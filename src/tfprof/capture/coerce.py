"""Arguments in any form: live objects, messages, bytes and paths.

tf.Graph   whatever has as_graph_def
function   a tf.function, a ConcreteFunction or a Keras model, through a SavedModel in memory
message    TensorFlow's class or ours, recognised by its full name
bytes      a message in wire format or in text format
path       a file, binary or text, also gzip-compressed
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof import read
from tfprof.capture import keras_models
from tfprof.capture.saved_model import saved_model_of
from tfprof.capture.tensorflow_internals import Part, require_tensorflow
from tfprof.capture.traced_functions import Traced, concrete_functions, is_traceable
from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.io.open_files import open_source
from tfprof.read import graph_def, op_log
from tfprof.read.saved_model import trainable
from tfprof.wire.scalar import encode_bytes

if TYPE_CHECKING:
    from tfprof.read.columns import GraphColumns, OpLogColumns, RunColumns

_LIVE: Final = "a tf.Graph, a tf.function, a Keras model, "
_STEP_STATS_FIELD: Final = 1
_TRAINABLE: Final = "trainable_variables"


@dataclass(frozen=True)
class _Argument:
    """An argument that may come in several forms."""

    name: str
    messages: tuple[str, ...]  # the full names of the messages it may be
    expected: str  # as in the errors of files
    live: str = ""

    def error(self, value: object) -> UsageError:
        """The error for *value*, with what to give instead if it has or makes that."""
        word = self.messages[0].rpartition(".")[2]
        article = "an" if word.startswith("O") else "a"
        hint = ""
        if hasattr(value, self.name):
            hint = f" (give its .{self.name})"
        elif self.live and callable(value) and not isinstance(value, type):
            hint = " (give tf.function(it).get_concrete_function(...) with what it takes)"
        given = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        if name := _full_name(value):
            given = f"a {name.rpartition('.')[2]} message"
        return UsageError(
            f"{self.name} takes {self.live}{article} {word} message, its bytes or the path of a "
            f"file, not {given}{hint}"
        )


_GRAPH: Final = _Argument(
    "graph", ("tensorflow.GraphDef", "tensorflow.MetaGraphDef"), "a graph", _LIVE
)
_RUN: Final = _Argument("run_meta", ("tensorflow.RunMetadata",), "a RunMetadata")
_LOG: Final = _Argument(
    "op_log", ("tensorflow.tfprof.OpLogProto", "tensorflow.tfprof.OpLog"), "an op log"
)
_PROFILE: Final = _Argument("profile", ("tensorflow.tfprof.ProfileProto",), "a saved profile")


class LiveGraph:
    """A tf.Graph, which may grow between two reads. tfprof writes nothing into it."""

    def __init__(self, graph: Any) -> None:  # a tf.Graph
        self.graph = graph
        self._version: int | None = None

    def has_grown(self) -> bool:
        """Whether the graph has nodes that `columns` did not return yet."""
        version = getattr(self.graph, "version", None)
        return version is None or version != self._version

    def columns(self, *, functions: bool) -> GraphColumns:
        """The nodes with their output shapes; with *functions*, also those of function bodies."""
        self._version = getattr(self.graph, "version", None)
        message = self.graph.as_graph_def(add_shapes=True)
        # Otherwise the order of attributes is random, and so are the bytes of a saved profile.
        wire = message.SerializeToString(deterministic=True)
        data = np.frombuffer(wire, np.uint8)
        return graph_def.columns(data, functions=functions)

    def operations(self) -> list[Any]:
        """The operations, oldest first."""
        return list(self.graph.get_operations())

    def trainable(self) -> list[str]:
        """The name of the node of each trainable variable."""
        variables = self.graph.get_collection(_TRAINABLE)
        # A variable that was created eagerly has no operation.
        return [each.op.name for each in variables if getattr(each, "op", None) is not None]


class LiveFunctions(NamedTuple):
    """The nodes of live functions, and the lines of the program that created them."""

    columns: GraphColumns
    lines: read.Source  # a GraphDebugInfo


class Run(NamedTuple):
    """A RunMetadata; `columns` is None if it has no step stats."""

    source: read.Source
    columns: RunColumns | None


def graph_of(
    value: Any, *, functions: bool = True
) -> LiveGraph | LiveFunctions | GraphColumns | None:
    """The graph, a live one or its columns; None if empty. None stands for the default graph."""
    # Without *functions*, the columns leave out what is inside of functions.
    tensorflow = sys.modules.get("tensorflow")
    if value is None and tensorflow is not None and not tensorflow.executing_eagerly():
        value = tensorflow.compat.v1.get_default_graph()
    if callable(getattr(value, "as_graph_def", None)):
        return LiveGraph(value)
    if is_traceable(value):
        return _live_functions(value, functions=functions)
    full_name = _full_name(value)
    listed = None
    if full_name == "tensorflow.MetaGraphDef":
        listed = trainable(np.frombuffer(value.SerializeToString(deterministic=True), np.uint8))
        value = value.graph_def
    source = _source(_GRAPH, value)
    if source is None or _is_empty_message(value, source):
        return None
    if not full_name:
        return read.read_graph(source, functions=functions)
    return replace(graph_def.columns(source.data, functions=functions), trainable=listed)


def _live_functions(holder: Any, *, functions: bool) -> LiveFunctions:  # see traced
    """The functions that a live object holds; raises UsageError where none was traced."""
    require_tensorflow("reading a live function or model", Part.FUNCTIONS)
    is_model = keras_models.is_model(holder)
    traced = [
        Traced.of(name, concrete)._replace(model=holder if is_model else None)
        for name, concrete in concrete_functions(holder)
    ]
    weights = keras_models.weights(holder) if is_model else None
    layers = keras_models.layers(holder) if is_model else ()
    model, lines = (
        read.Source("the graph given", np.frombuffer(data, np.uint8))
        for data in saved_model_of(traced, weights, layers=layers)
    )
    graph = read.read_graph(model, functions=functions)
    notes = keras_models.size_caveats(holder) if is_model else ()
    return LiveFunctions(replace(graph, notes=(*graph.notes, *notes)), lines)


def run_of(value: Any) -> Run | None:  # any of the forms
    """The run; None if the value is None."""
    if _full_name(value) in _RUN.messages:
        # The step stats alone: nothing else is read, and the graphs in a message are large.
        stats = value.step_stats.SerializeToString(deterministic=True)
        value = encode_bytes(_STEP_STATS_FIELD, stats) if value.HasField("step_stats") else b""
    source = _source(_RUN, value)
    if source is None:
        return None
    return Run(source, None if _is_empty_message(value, source) else read.read_run(source))


def log_of(value: Any) -> OpLogColumns | None:  # any of the forms
    """The op log; None if the value is None or empty."""
    source = _source(_LOG, value)
    if source is None or _is_empty_message(value, source):
        return None
    return op_log.columns(source.data) if _full_name(value) else read.read_op_log(source)


def paths(*values: object) -> tuple[str, ...]:
    """Those of *values* that are paths of files."""
    return tuple(str(os.fspath(value)) for value in values if isinstance(value, (str, os.PathLike)))


def profile_source(value: Any) -> read.Source | None:  # any of the forms
    """The bytes of a saved profile; None if the value is None."""
    return _source(_PROFILE, value)


def _source(argument: _Argument, value: Any) -> read.Source | None:
    """The content of a value in any form but a live one."""
    if value is None:
        return None
    if isinstance(value, (str, os.PathLike)):
        if not os.fspath(value):
            raise UsageError(f"the path of {argument.expected} is empty")
        return open_source(os.fspath(value), argument.expected, is_named=True)
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
    elif _full_name(value) in argument.messages:
        data = value.SerializeToString(deterministic=True)
    else:
        raise argument.error(value)
    return read.Source(f"the {argument.name} given", np.frombuffer(data, np.uint8))


def _is_empty_message(value: object, source: read.Source) -> bool:
    """Whether this is a message without content; an empty file is an error of its own."""
    return not source.data.size and not isinstance(value, (str, os.PathLike))


def _full_name(value: object) -> str:
    is_message = callable(getattr(value, "SerializeToString", None))
    return getattr(getattr(value, "DESCRIPTOR", None), "full_name", "") if is_message else ""
