"""The function library of a SavedModel: traced functions, whatever they call, with all shapes.

A graph tells the shapes of its nodes and of all functions below it, but a function's own
FunctionDef does not; there they come from the graph that it was made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.capture.traced import Traced

_SHAPES: Final = "_output_shapes"


def library(functions: Sequence[Traced]) -> list[Any]:
    """The FunctionDefs, sorted by name, each once."""
    found: dict[str, Any] = {}
    for traced in functions:
        for definition in _definitions(traced.function):
            found.setdefault(definition.signature.name, definition)
    return [found[name] for name in sorted(found)]


def _definitions(function: Any) -> Iterator[Any]:  # noqa: ANN401 - what TensorFlow runs
    graph = function.graph.as_graph_def(add_shapes=True)
    definition = type(function.definition)()
    definition.CopyFrom(function.definition)
    shapes = {node.name: node.attr[_SHAPES].list for node in graph.node}
    for node in definition.node_def:
        if node.name in shapes and _SHAPES not in node.attr:
            node.attr[_SHAPES].list.CopyFrom(shapes[node.name])
    yield definition
    yield from graph.library.function
