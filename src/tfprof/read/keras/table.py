"""LAYERS: one row per Keras layer, the function that expands a call of it into nodes.

    @layer("Flatten")
    def flatten(call): return call.reshaped(call.x, None, -1)

A row returns the output, or the outputs. What it needs and does not find in the configuration
raises Unexpandable, KeyError, TypeError and the like: the layer is then one node of its class,
whose float operations are unknown, as those of a class without a row.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.read.keras.graph import Call, Tensor

    Row = Callable[[Call], Tensor | list[Tensor]]

FAMILIES: Final = (
    "activation", "attention", "convolution", "dense", "merging", "normalization", "pooling",
    "preprocessing", "recurrent", "reshaping",
)  # fmt: skip
LAYERS: Final[dict[str, Row]] = {}
OPERATIONS: Final[dict[str, Row]] = {}  # keras.ops: the same for operations that are not layers


def layer(*names: str, table: dict[str, Row] = LAYERS) -> Callable[[Row], Row]:
    """Make the function below the row of these layers; names are separated by spaces."""

    def decorate(row: Row) -> Row:
        for name in " ".join(names).split():
            assert name not in table, f"two rows for {name}"
            table[name] = row
        return row

    return decorate


operation: Final = partial(layer, table=OPERATIONS)


def row_of(kind: str, *, is_layer: bool = True) -> Row | None:
    """The row of a class; None: there is none."""
    for family in FAMILIES:
        import_module(f"tfprof.read.keras.layers.{family}")
    return (LAYERS if is_layer else OPERATIONS).get(kind)
