"""Float operations that the program itself taught TensorFlow to count.

`RegisterStatistics("MyOp", "flops")` makes TensorFlow count operations that no rule of ours is
for. Only those are put to it; it counts one node at a time.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings

if TYPE_CHECKING:
    from collections.abc import Container

    from tfprof.model import Profile

_FLOPS: Final = "flops"


def registry() -> frozenset[str]:
    """The operations that the TensorFlow at hand counts; older ones count fewer."""
    from tensorflow.python.framework import ops  # noqa: PLC0415 - a graph of it is at hand

    keys = [key.rpartition(",") for key in ops._stats_registry.list()]  # noqa: SLF001
    return frozenset(op for op, _, kind in keys if kind == _FLOPS)


class Registered(NamedTuple):
    """What TensorFlow's registry counts, and how many nodes it could not."""

    node: I64
    float_ops: I64
    incomplete: int


def registered(graph: Any, profile: Profile, known: Container[str]) -> Registered:  # noqa: ANN401
    """What the registry counts of the *profile* of a live graph, types that are *known* aside."""
    from tensorflow.python.framework import ops  # noqa: PLC0415 - its graph is at hand

    types = [op for op in registry() if op not in known]
    places = profile.types.find(Strings.of(op.encode() for op in types))
    wanted = np.flatnonzero(np.isin(profile.nodes.op, places[places >= 0]))
    shaped = _Shaped(graph, profile)
    node, float_ops, incomplete = [], [], 0
    names = profile.nodes.name.take(wanted).texts()
    for row, name in zip(wanted.tolist(), names, strict=True):
        node_def = graph.get_operation_by_name(name).node_def
        try:
            value = ops.get_stats_for_node_def(shaped, node_def, _FLOPS).value
        except ValueError:
            incomplete += 1
            continue
        if value:
            node.append(row)
            float_ops.append(int(value))
    return Registered(np.array(node, np.int64), np.array(float_ops, np.int64), incomplete)


class _Shaped:
    """A graph whose tensors have the shapes that a profile has for them."""

    def __init__(self, graph: Any, profile: Profile) -> None:  # noqa: ANN401 - a tf.Graph
        self._graph, self._profile = graph, profile

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the graph has
        return getattr(self._graph, name)

    def get_tensor_by_name(self, name: str) -> Any:  # noqa: ANN401 - a tensor
        """The tensor; where its shape is open, one that stands for it with a fuller one."""
        tensor = self._graph.get_tensor_by_name(name)
        if tensor.shape.is_fully_defined():
            return tensor
        dims = self._shape(tensor.op.name, tensor.value_index)
        shape = type(tensor.shape)([None if size < 0 else size for size in dims])
        return _Tensor(tensor, shape) if dims else tensor

    def _shape(self, node: str, slot: int) -> list[int]:
        """The dimensions that the profile has for an output; none where they are not known."""
        row = self._rows.get(node)
        start = self._profile.outputs.start
        if row is None or slot >= int(start[row + 1] - start[row]):
            return []
        return self._profile.outputs.shape[int(start[row]) + slot]

    @cached_property
    def _rows(self) -> dict[str, int]:
        """The node of each name, looked up all at once: a name at a time takes far longer."""
        names = self._profile.nodes.name.texts()
        return {name: row for row, name in enumerate(names)}


class _Tensor:
    """A tensor of another shape."""

    def __init__(self, tensor: Any, shape: Any) -> None:  # noqa: ANN401
        self._tensor, self.shape = tensor, shape

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the tensor has
        return getattr(self._tensor, name)

    def get_shape(self) -> Any:  # noqa: ANN401 - a TensorShape
        """As `shape`."""
        return self.shape
