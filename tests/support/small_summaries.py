"""Summaries of graphs small enough to be summed up by hand."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from google.protobuf import text_format

from case import GraphDef
from tfprof.read import Source, load
from tfprof.results.loaded import Loaded

VARIABLE: Final = 'attr { key: "dtype" value { type: DT_FLOAT } }'

FLOAT: Final = 'attr { key: "T" value { type: DT_FLOAT } }'


def shapes(*listed: str) -> str:
    """The attribute that lists the shapes of outputs, written as 4x8; ? is unknown."""
    made = "".join(f"shape {{ {dims(one)} }}" for one in listed)
    return f'attr {{ key: "_output_shapes" value {{ list {{ {made} }} }} }}'


def dims(shape: str) -> str:
    sizes = [-1 if size == "?" else int(size) for size in shape.split("x") if size]
    return " ".join(f"dim {{ size: {size} }}" for size in sizes)


def node(name: str, op: str, *inputs: str, attributes: str = FLOAT, of: str = "") -> str:
    named = " ".join(f'input: "{one}"' for one in inputs)
    outputs = shapes(of) if of else ""
    return f'node {{ name: "{name}" op: "{op}" {named} {attributes} {outputs} }}'


def variable(name: str, shape: str, kind: str = "DT_FLOAT") -> str:
    of = f'attr {{ key: "shape" value {{ shape {{ {dims(shape)} }} }} }}'
    typed = f'attr {{ key: "dtype" value {{ type: {kind} }} }}'
    return node(name, "VariableV2", attributes=of + typed, of=shape) + node(
        f"{name}/read", "Identity", name, of=shape
    )


def placeholder(name: str, shape: str) -> str:
    of = f'attr {{ key: "shape" value {{ shape {{ {dims(shape)} }} }} }}'
    return node(name, "Placeholder", attributes=VARIABLE + of, of=shape)


def graph_of(*nodes: str) -> Any:
    graph = text_format.Parse("".join(nodes), GraphDef())
    return np.frombuffer(graph.SerializeToString(), np.uint8)


def loaded(*nodes: str) -> Loaded:
    return Loaded(load(Source("graph", graph_of(*nodes))))


def perceptron(batch: str = "4") -> list[str]:
    """Two layers in a block and one outside: 8x16, 16x16, 16x3 and two biases."""
    return [
        placeholder("x", f"{batch}x8"),
        variable("net/body/a/w", "8x16"),
        node("net/body/a/MatMul", "MatMul", "x", "net/body/a/w/read", of=f"{batch}x16"),
        variable("net/body/b/w", "16x16"),
        node(
            "net/body/b/MatMul",
            "MatMul",
            "net/body/a/MatMul",
            "net/body/b/w/read",
            of=f"{batch}x16",
        ),
        variable("net/body/b/bias", "16"),
        node(
            "net/body/b/add", "BiasAdd", "net/body/b/MatMul", "net/body/b/bias/read",
            of=f"{batch}x16",
        ),
        node("net/body/Relu", "Relu", "net/body/b/add", of=f"{batch}x16"),
        variable("net/head/w", "16x3"),
        node("net/head/MatMul", "MatMul", "net/body/Relu", "net/head/w/read", of=f"{batch}x3"),
        node("out", "Identity", "net/head/MatMul", of=f"{batch}x3"),
    ]  # fmt: skip
