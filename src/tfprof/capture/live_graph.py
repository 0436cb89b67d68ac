"""A tf.Graph as it is now: its nodes, its operations and its trainable variables.

tfprof only reads the graph. The original writes run-time shapes into it; here they stay outside.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.read import graph_def

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.read.columns import GraphColumns

_TRAINABLE: Final = "trainable_variables"


class LiveGraph:
    """A graph that may grow between two reads."""

    def __init__(self, graph: Any) -> None:  # noqa: ANN401 - a tf.Graph
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
        return graph_def.columns(data) if functions else graph_def.outermost(data)

    def operations(self) -> list[Any]:
        """The operations, oldest first."""
        return list(self.graph.get_operations())

    def trainable(self) -> Iterator[str]:
        """The name of the node of each trainable variable."""
        for variable in self.graph.get_collection(_TRAINABLE):
            # A variable that was created eagerly has no operation.
            if (operation := getattr(variable, "op", None)) is not None:
                yield operation.name


def default_graph() -> Any:  # noqa: ANN401 - a tf.Graph
    """The graph that new operations go to; None in eager execution."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None or tensorflow.executing_eagerly():
        return None
    return tensorflow.compat.v1.get_default_graph()
