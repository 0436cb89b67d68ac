"""Writes subgraphs as a GraphDef: the operators as nodes of TensorFlow's operation types.

    net/conv/kernel         VarHandleOp   a constant that the operator computes with
    net/conv/Conv2D         CONV_2D       as the rows of `operators` expand it
    net/conv/BiasAdd, Relu                its bias and its fused activation
    net/while/While         WHILE         its subgraphs are functions: subgraph_1, subgraph_2

Subgraphs that signatures run are the graph itself. Variables belong to it, too; a node in a
function refers to one by its name.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError
from tfprof.read.functions.calls import op_outputs
from tfprof.read.keras.graph import Dims, Graph, Tensor, Type, Unexpandable
from tfprof.read.tflite.model import NOTHING
from tfprof.read.tflite.step import Step, clean, function_name
from tfprof.tables.limits import LIMITS, limit
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.read.tflite.model import Model
    from tfprof.read.tflite.model import Tensor as Stored

_SHARE, _BYTES_PER_NODE = 100, 64
_ON_VARIABLES: Final = ("READ_VARIABLE", "ASSIGN_VARIABLE")
# What rows raise for an operator that no converter writes.
_NOT_MADE_FOR: Final = (Unexpandable, ArithmeticError, LookupError, TypeError, ValueError)


class Builder:
    """The graph, variables and functions of a model."""

    def __init__(self, model: Model, file: str) -> None:
        self.model, self.file = model, file
        self._names: dict[str, int] = {}
        self.variables, self.main = self.graph(), self.graph()
        self._functions: list[Any] = []
        self._variable: dict[object, str] = {}
        self.uses: dict[int, dict[str, None]] = {}  # variables, by subgraph
        self.calls: dict[int, dict[int, None]] = {}  # subgraphs, by subgraph
        self.integer: set[tuple[int, int]] = set()  # operators that compute with integers
        self._nodes = 0

    def graph(self) -> Graph:
        """A graph in the making; `count` is its limit."""
        return Graph(self.file, limit("function_nodes"), self._names)

    def variable(self, key: object, name: str, dtype: int, shape: tuple[int, ...] | None) -> str:
        """The variable of this key; a new one gets this name."""
        if key not in self._variable:
            attributes: dict[str, Any] = {"dtype": Type(dtype)}
            if shape is not None and min(shape, default=0) >= 0:
                attributes["shape"] = Dims(shape)
            self._variable[key] = self.variables.add(name, "VarHandleOp", [], attributes)
        return self._variable[key]

    def count(self, nodes: int) -> None:
        """Count nodes; raises InputError if there are more than a file of this size can need."""
        self._nodes += nodes
        most = limit("function_nodes") // _SHARE + self.model.size // _BYTES_PER_NODE
        if self._nodes > most:
            raise InputError(
                f"{self.file}: its operators expand to more than {most:,} nodes "
                f"({LIMITS['function_nodes'].flag} raises this limit)"
            )

    def root(self, number: int, prefix: str) -> list[str]:
        """Write a subgraph into the graph itself; its outputs, and nodes with effects."""
        body = Body(self, number, self.main, prefix)
        for at in body.subgraph.inputs:
            if at >= 0:
                stored = body.stored(at)
                attributes: dict[str, Any] = {"dtype": Type(stored.type)}
                if stored.shape is not None:
                    attributes["shape"] = Dims(stored.shape)
                name = self.main.add(prefix + clean(stored.name), "Placeholder", [], attributes)
                body.refs[at] = Tensor(name, stored.sides)
        return [*(each.name for each in body.outputs()), *body.effects]

    def function(self, number: int) -> None:
        """Write a subgraph as a function."""
        graph = self.graph()
        body = Body(self, number, graph, "")
        function: Any = message("tensorflow.FunctionDef")()
        function.signature.name = function_name(number)
        for place, at in enumerate(body.subgraph.inputs):
            name = f"{function_name(number)}_argument_{place}"
            function.signature.input_arg.add(name=name)
            if at >= 0:
                body.refs[at] = Tensor(name, body.stored(at).sides)
        returned = [each.name for each in body.outputs()]
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
        graph.node.extend([*self.variables.nodes, *self.main.nodes])
        graph.library.function.extend(self._functions)
        return graph


class Body:
    """A subgraph whose operators become nodes."""

    def __init__(self, builder: Builder, number: int, graph: Graph, prefix: str) -> None:
        self.builder, self.number, self.graph, self.prefix = builder, number, graph, prefix
        self.subgraph = builder.model.subgraphs[number]
        self.refs: dict[object, Tensor] = {}
        self.unpacked: dict[int, int] = {}  # tensors that are a constant with another dtype
        self.effects: list[str] = []
        self.uses = builder.uses.setdefault(number, {})
        self.calls = builder.calls.setdefault(number, {})

    def outputs(self) -> list[Tensor]:
        """Expand all operators; the outputs of the subgraph."""
        from tfprof.read.tflite.operators import expand  # noqa: PLC0415 - its rows need this module

        for number, operator in enumerate(self.subgraph.operators):
            step, length, refs = Step(self, operator), len(self.graph), len(self.refs)
            try:
                outputs = expand(step)
            except _NOT_MADE_FOR:
                self.graph.cut(length)
                for key in list(self.refs)[refs:]:
                    del self.refs[key]
                outputs = [step.out(operator.row.name, *step.values())]
            self.builder.count(len(self.graph) - length)
            self.effects += [each.name for each in outputs if not operator.outputs]
            for place, at in enumerate(operator.outputs):
                if at >= 0 and outputs:
                    first = outputs[0].name
                    new = outputs[place].name if place < len(outputs) else f"{first}:{place}"
                    self.refs[at] = Tensor(new, self.stored(at).sides)
            if any(self.stored(at).is_quantized for at in operator.outputs if at >= 0):
                self.builder.integer.add((self.number, number))
        last = Step(self, NOTHING)
        return [last.value(at) for at in self.subgraph.outputs if at >= 0]

    def stored(self, at: int) -> Stored:
        """A tensor of the file."""
        return self.subgraph.tensors[at]

    def variable(self, *of: Any) -> str:  # noqa: ANN401 - as Builder.variable
        """A variable that the subgraph uses."""
        name = self.builder.variable(*of)
        self.uses[name] = None
        return name

    @cached_property
    def values_of(self) -> dict[int, int]:
        """A tensor that was read from, or is assigned to, the variable of each handle."""
        pairs = [
            (each.inputs[0], (each.outputs or each.inputs[1:])[0])
            for each in self.subgraph.operators
            if each.row.name in _ON_VARIABLES and len(each.inputs) + len(each.outputs) > 1
        ]
        return {handle: value for handle, value in pairs if value >= 0}


def _in_function(name: str, kinds: dict[str, str]) -> str:
    """An input as functions write it: `node:1` of a type with several outputs names that one."""
    node, _, number = name.partition(":")
    outputs = op_outputs().get(kinds.get(node, "").encode())
    if not outputs or not number or int(number) >= len(outputs):
        return name
    return f"{node}:{outputs[int(number)].decode()}:0"
