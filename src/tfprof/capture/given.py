"""What callers hand in, told apart: live objects, messages, bytes and paths.

tf.Graph   whatever has as_graph_def; see live_graph
function   a tf.function, a ConcreteFunction or a Keras model; see traced
message    TensorFlow's class or ours; known by its full name, so its content is not guessed at
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
from tfprof.io.files import open_source
from tfprof.read import graph_def, op_log
from tfprof.read.variable_collections import trainable
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
    expected: str  # as a sentence about a file says it
    live: str = ""

    def refusal(self, given: object) -> UsageError:
        """The error where *given* is none of the forms."""
        word = self.messages[0].rpartition(".")[2]
        article = "an" if word.startswith("O") else "a"
        return UsageError(
            f"{self.name} takes {self.live}{article} {word} message, its bytes or the path of a "
            f"file, not {_described(given)}{self._hint(given)}"
        )

    def _hint(self, given: object) -> str:
        """What to give instead of something that can tell it."""
        if hasattr(given, self.name):
            return f" (give its .{self.name})"
        if self.live and callable(given) and not isinstance(given, type):
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
    """A RunMetadata that was handed in; without columns it has no step stats."""

    source: read.Source
    columns: RunColumns | None


def graph_of(given: Any) -> LiveGraph | LiveFunctions | GraphColumns | None:  # noqa: ANN401
    """The graph: a live one to be read when needed, or its columns; None where there is none."""
    if callable(getattr(given, "as_graph_def", None)):
        return LiveGraph(given)
    if is_traceable(given):
        return live_functions(given)
    full_name = _full_name(given)
    listed = None
    if full_name == "tensorflow.MetaGraphDef":
        listed = trainable(np.frombuffer(given.SerializeToString(deterministic=True), np.uint8))
        given = given.graph_def
    source = _source(_GRAPH, given)
    if source is None or _holds_nothing(given, source):
        return None
    if not full_name:
        return read.read_graph(source)
    return replace(graph_def.columns(source.data), trainable=listed)


def listed_variables(graph: LiveGraph | GraphColumns | None) -> list[str]:
    """The nodes of the trainable variables that came with a graph which is not live."""
    if graph is None or isinstance(graph, LiveGraph) or graph.trainable is None:
        return []
    return [name.decode("utf-8", "replace") for name in graph.trainable]


def run_of(given: Any) -> Run | None:  # noqa: ANN401 - any of the forms
    """The run; None where none is given."""
    source = _source(_RUN, _step_stats(given))
    if source is None:
        return None
    return Run(source, None if _holds_nothing(given, source) else read.read_run(source))


def _step_stats(given: Any) -> Any:  # noqa: ANN401
    """Of a message the step stats alone: nothing else is read, and the graphs in it are large."""
    if _full_name(given) not in _RUN.messages:
        return given
    if not given.HasField("step_stats"):
        return b""
    stats = given.step_stats.SerializeToString(deterministic=True)
    return encode_bytes(_STEP_STATS_FIELD, stats)


def log_of(given: Any) -> OpLogColumns | None:  # noqa: ANN401 - any of the forms
    """The op log; None where there is none."""
    source = _source(_LOG, given)
    if source is None or _holds_nothing(given, source):
        return None
    return op_log.columns(source.data) if _full_name(given) else read.read_op_log(source)


def paths(*given: object) -> tuple[str, ...]:
    """Those of *given* that name files."""
    return tuple(str(os.fspath(one)) for one in given if isinstance(one, (str, os.PathLike)))


def profile_source(given: Any) -> read.Source | None:  # noqa: ANN401 - any of the forms
    """The bytes of a saved profile; None where there is none."""
    return _source(_PROFILE, given)


def _source(argument: _Argument, given: Any) -> read.Source | None:  # noqa: ANN401
    """The content of what was given in any form but a live one."""
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        if not os.fspath(given):
            raise UsageError(f"the path of {argument.expected} is empty")
        return open_source(os.fspath(given), argument.expected)
    if isinstance(given, (bytes, bytearray, memoryview)):
        data = bytes(given)
    elif _full_name(given) in argument.messages:
        data = given.SerializeToString(deterministic=True)
    else:
        raise argument.refusal(given)
    return read.Source(f"the {argument.name} given", np.frombuffer(data, np.uint8))


def _holds_nothing(given: object, source: read.Source) -> bool:
    """Whether an empty message was given; an empty file is another matter, and told as such."""
    return not source.data.size and not isinstance(given, (str, os.PathLike))


def _full_name(given: object) -> str:
    """What a message is called, "" for what is none."""
    is_message = callable(getattr(given, "SerializeToString", None))
    return getattr(getattr(given, "DESCRIPTOR", None), "full_name", "") if is_message else ""


def _described(given: object) -> str:
    """A few words on what was given instead."""
    if name := _full_name(given):
        return f"a {name.rpartition('.')[2]} message"
    return f"{type(given).__module__}.{type(given).__qualname__}".removeprefix("builtins.")
