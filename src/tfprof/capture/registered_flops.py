"""Float operations of op types that the program itself registered with TensorFlow.

After `RegisterStatistics("MyOp", "flops")` TensorFlow counts an op type that tfprof has no rule
for. Only those go to TensorFlow, which counts one node at a time.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.capture.tensorflow_internals import Internal, Part, require_tensorflow
from tfprof.columns.strings import I64, Strings

if TYPE_CHECKING:
    from collections.abc import Container

    from tfprof.model import Profile

_FLOPS: Final = "flops"


def registry() -> frozenset[str]:
    """The op types that the installed TensorFlow counts; older releases count fewer."""
    require_tensorflow("counting the float operations of a live graph", Part.GRAPHS)
    keys = [key.rpartition(",") for key in Internal.STATISTICS.load().list()]
    return frozenset(op for op, _, kind in keys if kind == _FLOPS)


class Registered(NamedTuple):
    """The counts of TensorFlow's registry, and how many nodes lack a shape for it."""

    node: I64
    float_ops: I64
    incomplete: int


def registered(graph: Any, profile: Profile, known: Container[str]) -> Registered:  # noqa: ANN401
    """The registry's counts for the *profile* of a live graph, except for *known* op types."""
    types = [op for op in registry() if op not in known]
    places = profile.types.find(Strings.of(op.encode() for op in types))
    wanted = np.flatnonzero(np.isin(profile.nodes.op, places[places >= 0]))
    count = Internal.COUNT_STATISTICS.load()
    shaped = _ShapedGraph(graph, profile)
    node, float_ops, incomplete = [], [], 0
    names = profile.nodes.name.take(wanted).texts()
    for row, name in zip(wanted.tolist(), names, strict=True):
        node_def = graph.get_operation_by_name(name).node_def
        try:
            value = count(shaped, node_def, _FLOPS).value
        except ValueError:
            incomplete += 1
            continue
        if value:
            node.append(row)
            float_ops.append(int(value))
    return Registered(np.array(node, np.int64), np.array(float_ops, np.int64), incomplete)


class _ShapedGraph:
    """A graph whose tensors have the shapes of a profile where their own are unknown."""

    def __init__(self, graph: Any, profile: Profile) -> None:  # noqa: ANN401 - a tf.Graph
        self._graph, self._profile = graph, profile

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an attribute of the graph
        return getattr(self._graph, name)

    def get_tensor_by_name(self, name: str) -> Any:  # noqa: ANN401 - a tensor
        """The tensor; if its shape is not fully known, a stand-in with the profile's shape."""
        tensor, outputs = self._graph.get_tensor_by_name(name), self._profile.outputs
        row = self._rows.get(tensor.op.name)
        if row is None or tensor.shape.is_fully_defined():
            return tensor
        place = int(outputs.start[row]) + tensor.value_index
        dims = outputs.shape[place] if place < outputs.start[row + 1] else []
        shape = type(tensor.shape)([None if size < 0 else size for size in dims])
        return _ShapedTensor(tensor, shape) if dims else tensor

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The row of each node by name; looking up one name at a time takes far longer."""
        names = self._profile.nodes.name.texts()
        return {name: row for row, name in enumerate(names)}


class _ShapedTensor:
    def __init__(self, tensor: Any, shape: Any) -> None:  # noqa: ANN401
        self._tensor, self.shape = tensor, shape

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - an attribute of the tensor
        return getattr(self._tensor, name)

    def get_shape(self) -> Any:  # noqa: ANN401 - a TensorShape
        return self.shape
