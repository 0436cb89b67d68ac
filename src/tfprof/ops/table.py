"""OPS: one row per operation type, with everything that is known of it.

    OPS["Conv2D"].float_ops    counts float operations from shapes      our rule
                 .tensorflow   the same, with TensorFlow's own numbers  46 types have one
                 .shape        the shapes of the outputs                one shape: of the one output
                 .value        their numbers, if small and constant     a list: one per output
                 .item         what output handles point to
                 .no_shape     why there is no shape rule
                 .declares_shapes   none is needed: files have the shapes of all outputs
                 .dtype        how the dtype of the outputs follows from the attributes
                 .is_a(name)   classes: "no arithmetic", "function call", "variable", …

Rules stand by family in the modules of FAMILIES, which are imported when the table is first used.
Names may have braces: "Conv{2D,3D}" is Conv2D and Conv3D.

which="tensorflow"   tensorflow ◄── user                  of several float-operation rules
which="all"          tensorflow ◄── ours ◄── user         for a type, the rightmost one counts
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import product
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.ops.dtypes import DtypeRule
    from tfprof.ops.op import Item, Op
    from tfprof.ops.shape import MaybeShape

Formula: TypeAlias = "Callable[[Op], float]"
ShapeRule: TypeAlias = "Callable[[Op], MaybeShape | list[MaybeShape]]"
ValueRule: TypeAlias = "Callable[[Op], Any]"
ItemRule: TypeAlias = "Callable[[Op], Item | list[Item]]"
Origin: TypeAlias = Literal["tensorflow", "ours", "user"]
Which: TypeAlias = Literal["tensorflow", "all"]
F = TypeVar("F", bound=Callable[..., Any])
# What rules raise for an operation that TensorFlow would not build: attributes may hold anything.
NOT_MADE_FOR: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)

FAMILIES: Final = (
    "activation", "arrays", "contraction", "convolution", "elementwise", "handles", "image",
    "linalg", "normalization", "optimizers", "recurrent", "reduction", "constants", "slicing",
    "sparse", "hlo", "hlo_custom_calls",
)  # fmt: skip


class FloatOps(NamedTuple):
    """How the operations of one type are counted."""

    op: str
    formula: Formula
    attributes: tuple[str, ...] | None  # those the formula asks for; None: it may ask for any
    origin: Origin
    contraction: bool = False  # products and sums: two float operations per multiply-add
    wraps: bool = False  # parity: the original multiplies in 64 bits, and larger numbers wrap
    multiply_adds: Formula | None = None  # where they are not half of the float operations


class OpType:
    """One row of OPS."""

    float_ops: FloatOps | None = None
    tensorflow: FloatOps | None = None
    shape: ShapeRule | None = None
    value: ValueRule | None = None
    item: ItemRule | None = None
    no_shape: str = ""
    declares_shapes: bool = False

    def __init__(self, name: str) -> None:
        self.name = name

    def is_a(self, kind: str) -> bool:
        """Whether the type is in a class; see ops/classes.py."""
        from tfprof.ops.classes import CLASSES  # noqa: PLC0415 - rules need no classes

        return self.name in CLASSES[kind]

    @property
    def dtype(self) -> DtypeRule:
        """How the dtype of the outputs follows from the attributes."""
        from tfprof.ops.dtypes import dtype_rule  # noqa: PLC0415 - rules need no dtypes

        return dtype_rule(self.name)


class OpTable:
    """The rows by type; a type without rules has a row, too. Iterates over types with rules."""

    def __init__(self) -> None:
        self._rows: dict[str, OpType] = {}
        self._is_loaded = False

    def fill(self, name: str, column: str, rule: object) -> None:
        """Fill in a column of the row of a type, once."""
        row = self._rows.setdefault(name, OpType(name))
        assert column not in row.__dict__, f"two {column} rules for {name}"
        row.__dict__[column] = rule

    def __getitem__(self, name: str) -> OpType:
        return self._loaded().get(name) or OpType(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded())

    def _loaded(self) -> dict[str, OpType]:
        if not self._is_loaded:
            for family in FAMILIES:
                import_module(f"tfprof.ops.{family}")
            self._is_loaded = True
        return self._rows


OPS: Final = OpTable()
_by_user: dict[str, FloatOps] = {}
_registering = Lock()


def names(*ops: str) -> list[str]:
    """The types that texts name, separated by spaces, with all choices of their braces."""
    words = (word.replace("}", "{").split("{") for word in " ".join(ops).split())
    return [
        "".join(choice)
        for parts in words
        for choice in product(*(part.split(",") for part in parts))
    ]


class _Column:
    """shape("Conv2D") makes the function below the rule of these types in a column of OPS."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *ops: str) -> Callable[[F], F]:
        def decorate(rule: F) -> F:
            for op in names(*ops):
                OPS.fill(op, self._name, rule)
            return rule

        return decorate


shape, value, item = map(_Column, ("shape", "value", "item"))


def no_shape(reason: str, *ops: str) -> None:
    """Say why *ops* have float operations, but no shape rule."""
    for op in names(*ops):
        OPS.fill(op, "no_shape", reason)


def declares_shapes(*ops: str) -> None:
    """Say that *ops* need no shape rule: their format declares the shapes of all outputs."""
    for op in names(*ops):
        OPS.fill(op, "declares_shapes", rule=True)


def float_ops(
    *ops: str, attributes: str = "", contraction: bool = False, wraps: bool = False,
    tensorflow: bool = False, multiply_adds: Formula | None = None,
) -> Callable[[F], F]:  # fmt: skip
    """Make the function below count the float operations of *ops*.

    *attributes* names those that it asks for; *tensorflow*: it gives TensorFlow's own number.
    A *contraction* has half as many multiply-adds, another operation those that it counts itself.
    """
    asked = tuple(attributes.split())
    origin: Origin = "tensorflow" if tensorflow else "ours"

    def decorate(formula: F) -> F:
        for op in names(*ops):
            rule = FloatOps(op, formula, asked, origin, contraction, wraps, multiply_adds)
            OPS.fill(op, "tensorflow" if tensorflow else "float_ops", rule)
        return formula

    return decorate


def flops_rule(*ops: str, attributes: Iterable[str] | None = None) -> Callable[[F], F]:
    """Count operations of these types with the function that follows.

    tfprof calls it with an Op. It returns the float operations of one run: any real number from
    0 on; tfprof cuts off a fraction. It may raise UnknownShape, or let it pass. It may ask for any
    attribute, unless *attributes* names those it asks for, which is faster. A later rule for the
    same type replaces an earlier one, also a built-in one.

    >>> import tfprof
    >>> @tfprof.flops_rule("MyOp")
    ... def my_op(op):
    ...     return 2 * tfprof.size(op.output(0))
    >>> my_op(tfprof.Op("MyOp", outputs=[(3, 4)]))
    24
    """
    if not ops or not all(isinstance(op, str) for op in ops):
        raise UsageError('flops_rule needs the names of operation types, as in @flops_rule("MyOp")')
    asked = None if attributes is None else _attribute_names(attributes)

    def decorate(formula: F) -> F:
        if not callable(formula):
            raise UsageError(f"a rule must be a function that takes an Op, not {formula!r}")
        global _by_user  # noqa: PLW0603 - replaced whole, so that a running count keeps its table
        with _registering:
            _by_user = {**_by_user, **{op: FloatOps(op, formula, asked, "user") for op in ops}}
        return formula

    return decorate


def _attribute_names(attributes: Iterable[str]) -> tuple[str, ...]:
    named = (attributes,) if isinstance(attributes, str) else tuple(attributes)
    if not all(isinstance(name, str) for name in named):
        raise UsageError('attributes are names, as in @flops_rule("MyOp", attributes=["strides"])')
    return named


def rules(which: Which = "all") -> Mapping[str, FloatOps]:
    """The float-operation rule of each type that has one; raises UsageError for another *which*."""
    if which not in ("tensorflow", "all"):
        raise UsageError(f"unknown rules {which!r}: use 'tensorflow' or 'all'")
    return {**_built_in(which), **_by_user}


def has_own_rules() -> bool:
    """Whether the program registered rules of its own."""
    return bool(_by_user)


@cache
def _built_in(which: Which) -> dict[str, FloatOps]:
    rows = [OPS[op] for op in OPS]
    counted = [(row.float_ops if which == "all" else None) or row.tensorflow for row in rows]
    return {rule.op: rule for rule in counted if rule is not None}
