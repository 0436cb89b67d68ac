"""The tables of rules: what the outputs of an operation are, from its inputs and attributes.

shape_rule   the shapes of its outputs      one shape is that of the one output there is,
value_rule   their numbers, if small        a list has one for each output
item_rule    what the handles lead to
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from tfprof.inference.operation import Item, Operation
    from tfprof.inference.shape import Maybe

RULE_FILES: Final = (
    "array_shapes",
    "contraction_shapes",
    "convolution_shapes",
    "elementwise_shapes",
    "fixed_shapes",
    "flow_shapes",
    "handles",
    "image_shapes",
    "normalisation_shapes",
    "reduction_shapes",
    "slice_shapes",
    "arithmetic_values",
    "array_values",
    "shape_values",
)

ShapeRule: TypeAlias = "Callable[[Operation], Maybe | list[Maybe]]"
ValueRule: TypeAlias = "Callable[[Operation], Any]"
ItemRule: TypeAlias = "Callable[[Operation], Item]"
F = TypeVar("F", bound=Callable[..., Any])

_SHAPES: dict[str, ShapeRule] = {}
_VALUES: dict[str, ValueRule] = {}
_ITEMS: dict[str, ItemRule] = {}


def _into(table: dict[str, Any], ops: tuple[str, ...]) -> Callable[[F], F]:
    def made(rule: F) -> F:
        for op in " ".join(ops).split():
            assert op not in table, f"two rules for {op}"
            table[op] = rule
        return rule

    return made


def shape_rule(*ops: str) -> Callable[[F], F]:
    """Make the function that follows tell the shapes of the outputs of *ops*."""
    return _into(_SHAPES, ops)


def value_rule(*ops: str) -> Callable[[F], F]:
    """Make the function that follows tell the numbers in the outputs of *ops*."""
    return _into(_VALUES, ops)


def item_rule(*ops: str) -> Callable[[F], F]:
    """Make the function that follows tell what the handle that *ops* give leads to."""
    return _into(_ITEMS, ops)


@cache
def rules() -> tuple[dict[str, ShapeRule], dict[str, ValueRule], dict[str, ItemRule]]:
    """All rules of shapes, values and items."""
    for file in RULE_FILES:
        import_module(f"tfprof.inference.{file}")
    return _SHAPES, _VALUES, _ITEMS
