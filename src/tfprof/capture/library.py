"""The function library of a SavedModel: traced functions and all they call, with all shapes.

A GraphDef has the shapes of its nodes and of all functions below it, but a function's own
FunctionDef does not: its shapes come from the graph that it was made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.capture.tensorflow_internals import Internal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.capture.traced import Traced

_SHAPES: Final = "_output_shapes"


def library(functions: Sequence[Traced]) -> list[Any]:
    """The FunctionDefs, sorted by name, each once."""
    by_name: dict[str, Any] = {}
    for traced in functions:
        for definition in _definitions(traced.function):
            by_name.setdefault(definition.signature.name, definition)
    return [by_name[name] for name in sorted(by_name)]


def _definitions(function: Any) -> Iterator[Any]:  # noqa: ANN401 - an AtomicFunction
    graph = Internal.GRAPH.of(function).as_graph_def(add_shapes=True)
    original = Internal.DEFINITION.of(function)
    definition = type(original)()
    definition.CopyFrom(original)
    shapes = {node.name: node.attr[_SHAPES].list for node in graph.node}
    for node in definition.node_def:
        if node.name in shapes and _SHAPES not in node.attr:
            node.attr[_SHAPES].list.CopyFrom(shapes[node.name])
    yield definition
    yield from graph.library.function
