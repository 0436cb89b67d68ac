"""Writes subgraphs as a GraphDef: the operators as nodes of TensorFlow's operation types.

    net/conv/kernel         VarHandleOp   a constant that the operator computes with
    net/conv/Conv2D         CONV_2D       as the rows of `operators` expand it
    net/conv/BiasAdd, Relu                its bias and its fused activation
    net/while/While         WHILE         its subgraphs are functions: subgraph_1, subgraph_2

Subgraphs that signatures run are the graph itself. Variables belong to it, too; a node in a
function refers to one by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError
from tfprof.read.functions.calls import op_outputs
from tfprof.read.keras.graph import Dims, Graph, Tensor, Type, Unexpandable
from tfprof.read.tflite.model import NOTHING
from tfprof.read.tflite.operators import expand
from tfprof.read.tflite.step import Body, Step, Variables, clean, function_name
from tfprof.tables.limits import LIMITS, limit
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.read.tflite.model import Model

_SHARE, _BYTES_PER_NODE = 100, 64
# What rows raise for an operator that no converter writes.
_NOT_MADE_FOR: Final = (Unexpandable, ArithmeticError, LookupError, TypeError, ValueError)


class Builder:
    """The graph, variables and functions of a model."""

    def __init__(self, model: Model, file: str) -> None:
        self.model, self.file = model, file
        self._names: dict[str, int] = {}
        self._variables, self._main = Variables(self._graph(), {}), self._graph()
        self._functions: list[Any] = []
        self.uses: dict[int, dict[str, None]] = {}  # variables, by subgraph
        self.calls: dict[int, dict[int, None]] = {}  # subgraphs, by subgraph
        self.integers = 0  # operators that compute with integers
        self._nodes = 0

    def _graph(self) -> Graph:
        return Graph(self.file, limit("function_nodes"), self._names)

    def count(self, nodes: int) -> None:
        """Raise InputError if there are now more nodes than a file of this size can need."""
        self._nodes += nodes
        most = limit("function_nodes") // _SHARE + self.model.size // _BYTES_PER_NODE
        if self._nodes > most:
            raise InputError(
                f"{self.file}: its operators expand to more than {most:,} nodes "
                f"({LIMITS['function_nodes'].flag} raises this limit)"
            )

    def _outputs(self, number: int, body: Body) -> list[Tensor]:
        """Expand all operators; the outputs of the subgraph."""
        self.uses[number], self.calls[number] = body.uses, body.calls
        for operator in body.subgraph.operators:
            step, length, refs = Step(body, operator), len(body.graph), len(body.refs)
            try:
                outputs = expand(step)
            except _NOT_MADE_FOR:
                body.graph.cut(length)
                while len(body.refs) > refs:
                    body.refs.popitem()
                outputs = [step.out(operator.row.name, *step.values())]
            self.count(len(body.graph) - length)
            body.effects += [each.name for each in outputs if not operator.outputs]
            for place, at in enumerate(operator.outputs):
                if at >= 0 and outputs:
                    first = outputs[0].name
                    new = outputs[place].name if place < len(outputs) else f"{first}:{place}"
                    body.refs[at] = Tensor(new, body.stored(at).sides)
            if any(body.stored(at).is_quantized for at in operator.outputs if at >= 0):
                self.integers += 1
        last = Step(body, NOTHING)
        return [last.value(at) for at in body.subgraph.outputs if at >= 0]

    def root(self, number: int, prefix: str) -> list[str]:
        """Write a subgraph into the graph itself; its outputs, and nodes with effects."""
        body = Body(self.model, number, self._main, self._variables, prefix)
        for at in body.subgraph.inputs:
            if at >= 0:
                stored = body.stored(at)
                attributes: dict[str, Any] = {"dtype": Type(stored.type)}
                if stored.shape is not None:
                    attributes["shape"] = Dims(stored.shape)
                name = self._main.add(prefix + clean(stored.name), "Placeholder", [], attributes)
                body.refs[at] = Tensor(name, stored.sides)
        return [*(each.name for each in self._outputs(number, body)), *body.effects]

    def function(self, number: int) -> None:
        """Write a subgraph as a function."""
        graph = self._graph()
        body = Body(self.model, number, graph, self._variables, "")
        function: Any = message("tensorflow.FunctionDef")()
        function.signature.name = function_name(number)
        for place, at in enumerate(body.subgraph.inputs):
            name = f"{function_name(number)}_argument_{place}"
            function.signature.input_arg.add(name=name)
            if at >= 0:
                body.refs[at] = Tensor(name, body.stored(at).sides)
        returned = [each.name for each in self._outputs(number, body)]
        kinds = {node.name: node.op for node in graph.nodes}
        for place, name in enumerate(returned):
            function.signature.output_arg.add(name=f"output_{place}")
            function.ret[f"output_{place}"] = _in_function(name, kinds)
        for node in graph.nodes:
            node.input[:] = [_in_function(name, kinds) for name in node.input]
        function.node_def.extend(graph.nodes)
        self._functions.append(function)

    def called_by(self, roots: Iterable[int]) -> dict[int, None]:
        """The subgraphs that these ones call, directly or not, and themselves; all are written."""
        waiting = list(roots)
        reached = dict.fromkeys(waiting)
        while waiting:
            number = waiting.pop()
            if number not in self.uses:
                self.function(number)
            for each in self.calls[number]:
                if each not in reached:
                    reached[each] = None
                    waiting.append(each)
        return reached

    def graph_def(self) -> Any:  # noqa: ANN401 - a message
        """The GraphDef."""
        graph: Any = message("tensorflow.GraphDef")()
        graph.node.extend([*self._variables.graph.nodes, *self._main.nodes])
        graph.library.function.extend(self._functions)
        return graph


def _in_function(name: str, kinds: dict[str, str]) -> str:
    """An input as functions write it: `node:1` of a type with several outputs names that one."""
    node, _, number = name.partition(":")
    outputs = op_outputs().get(kinds.get(node, "").encode())
    if not outputs or not number or int(number) >= len(outputs):
        return name
    return f"{node}:{outputs[int(number)].decode()}:0"
