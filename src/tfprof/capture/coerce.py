"""Arguments in any form a caller may have them: live objects, messages, bytes and paths.

tf.Graph   whatever has as_graph_def; see live_graph
function   a tf.function, a ConcreteFunction or a Keras model; see traced
message    TensorFlow's class or ours, recognised by its full name
bytes      a message in wire format or in text format
path       a file, binary or text, also gzip-compressed
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof import read
from tfprof.capture.live_functions import LiveFunctions, live_functions
from tfprof.capture.live_graph import LiveGraph
from tfprof.capture.traced import is_traceable
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


@dataclass(frozen=True)
class _Argument:
    """An argument that may come in several forms."""

    name: str
    messages: tuple[str, ...]  # the full names of the messages it may be
    expected: str  # as in the errors of files
    live: str = ""

    def error(self, value: object) -> UsageError:
        """The error for a *value* of none of the forms."""
        word = self.messages[0].rpartition(".")[2]
        article = "an" if word.startswith("O") else "a"
        return UsageError(
            f"{self.name} takes {self.live}{article} {word} message, its bytes or the path of a "
            f"file, not {_described(value)}{self._hint(value)}"
        )

    def _hint(self, value: object) -> str:
        """What to give instead, if *value* has or makes it."""
        if hasattr(value, self.name):
            return f" (give its .{self.name})"
        if self.live and callable(value) and not isinstance(value, type):
            return " (give tf.function(it).get_concrete_function(...) with what it takes)"
        return ""


_GRAPH: Final = _Argument(
    "graph", ("tensorflow.GraphDef", "tensorflow.MetaGraphDef"), "a graph", _LIVE
)
_RUN: Final = _Argument("run_meta", ("tensorflow.RunMetadata",), "a RunMetadata")
_LOG: Final = _Argument(
    "op_log", ("tensorflow.tfprof.OpLogProto", "tensorflow.tfprof.OpLog"), "an op log"
)
_PROFILE: Final = _Argument("profile", ("tensorflow.tfprof.ProfileProto",), "a saved profile")


class Run(NamedTuple):
    """A RunMetadata; `columns` is None if it has no step stats."""

    source: read.Source
    columns: RunColumns | None


def graph_of(value: Any) -> LiveGraph | LiveFunctions | GraphColumns | None:  # noqa: ANN401
    """The graph, a live one or its columns; None if the value is None or empty."""
    if callable(getattr(value, "as_graph_def", None)):
        return LiveGraph(value)
    if is_traceable(value):
        return live_functions(value)
    full_name = _full_name(value)
    listed = None
    if full_name == "tensorflow.MetaGraphDef":
        listed = trainable(np.frombuffer(value.SerializeToString(deterministic=True), np.uint8))
        value = value.graph_def
    source = _source(_GRAPH, value)
    if source is None or _is_empty_message(value, source):
        return None
    if not full_name:
        return read.read_graph(source)
    return replace(graph_def.columns(source.data), trainable=listed)


def listed_variables(graph: LiveGraph | GraphColumns | None) -> list[str]:
    """The nodes of the trainable variables that came with a graph which is not live."""
    if graph is None or isinstance(graph, LiveGraph) or graph.trainable is None:
        return []
    return [name.decode("utf-8", "replace") for name in graph.trainable]


def run_of(value: Any) -> Run | None:  # noqa: ANN401 - any of the forms
    """The run; None if the value is None."""
    source = _source(_RUN, _step_stats(value))
    if source is None:
        return None
    return Run(source, None if _is_empty_message(value, source) else read.read_run(source))


def _step_stats(value: Any) -> Any:  # noqa: ANN401
    """The step stats of a message: nothing else is read, and the graphs in it are large."""
    if _full_name(value) not in _RUN.messages:
        return value
    if not value.HasField("step_stats"):
        return b""
    stats = value.step_stats.SerializeToString(deterministic=True)
    return encode_bytes(_STEP_STATS_FIELD, stats)


def log_of(value: Any) -> OpLogColumns | None:  # noqa: ANN401 - any of the forms
    """The op log; None if the value is None or empty."""
    source = _source(_LOG, value)
    if source is None or _is_empty_message(value, source):
        return None
    return op_log.columns(source.data) if _full_name(value) else read.read_op_log(source)


def paths(*values: object) -> tuple[str, ...]:
    """Those of *values* that are paths of files."""
    return tuple(str(os.fspath(one)) for one in values if isinstance(one, (str, os.PathLike)))


def profile_source(value: Any) -> read.Source | None:  # noqa: ANN401 - any of the forms
    """The bytes of a saved profile; None if the value is None."""
    return _source(_PROFILE, value)


def _source(argument: _Argument, value: Any) -> read.Source | None:  # noqa: ANN401
    """The content of a value in any form but a live one."""
    if value is None:
        return None
    if isinstance(value, (str, os.PathLike)):
        if not os.fspath(value):
            raise UsageError(f"the path of {argument.expected} is empty")
        return open_source(os.fspath(value), argument.expected)
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
    """The full name of a message; "" for other values."""
    is_message = callable(getattr(value, "SerializeToString", None))
    return getattr(getattr(value, "DESCRIPTOR", None), "full_name", "") if is_message else ""


def _described(value: object) -> str:
    """The type of a value, for an error."""
    if name := _full_name(value):
        return f"a {name.rpartition('.')[2]} message"
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
