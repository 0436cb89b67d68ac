"""The table of rules: which formula counts which operation.

tensorflow   the 46 operations that TensorFlow counts, with its results
ours         what it leaves out, and what it counts wrong (Q44)
user         what `flops_rule` registered

which="tensorflow"   tensorflow ◄── user         of two rules for an operation
which="all"          tensorflow ◄── ours ◄── user         the one further right counts
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Final, Literal, SupportsIndex, SupportsInt, TypeAlias, TypeVar

from tfprof.errors import UsageError
from tfprof.flops.rule_files import RULE_FILES
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tfprof.flops.op import Op

Formula: TypeAlias = "Callable[[Op], SupportsInt | SupportsIndex]"
Origin: TypeAlias = Literal["tensorflow", "ours", "user"]
Which: TypeAlias = Literal["tensorflow", "all"]
F = TypeVar("F", bound="Formula")

_ORIGINS: Final[dict[str, tuple[Origin, ...]]] = {
    "tensorflow": ("tensorflow",),
    "all": ("tensorflow", "ours"),
}


@dataclass(frozen=True)
class Rule:
    """How the operations of one type are counted."""

    op: str
    formula: Formula
    attributes: tuple[str, ...] | None  # those the formula asks for; None: it may ask for any
    origin: Origin
    contraction: bool  # products and sums: two operations a multiply-add
    wraps: bool = False  # the original multiplies in 64 bits, and larger numbers wrap around


_built_in: dict[tuple[Origin, str], Rule] = {}
_by_user: dict[str, Rule] = {}
_registering = Lock()


def rule(
    *ops: str,
    attributes: tuple[str, ...] = (),
    contraction: bool = False,
    wraps: bool = False,
    origin: Origin = "ours",
) -> Callable[[F], F]:
    """Make the function that follows the rule of *ops*; for the files named in RULE_FILES."""

    def made(formula: F) -> F:
        for op in ops:
            assert (origin, op) not in _built_in, f"two rules for {op}"
            _built_in[origin, op] = Rule(op, formula, attributes, origin, contraction, wraps)
        return formula

    return made


def flops_rule(*ops: str, attributes: Iterable[str] | None = None) -> Callable[[F], F]:
    """Count operations of these types with the function that follows.

    It is called with an Op and returns how many float operations one run of it takes: any real
    number from 0 on, whose fraction is cut off. It may raise UnknownShape, or let it pass. It may
    ask for any attribute, unless *attributes* names those it asks for, which is faster. A later
    rule for the same type replaces an earlier one, also a built-in one.

    >>> import tfprof
    >>> @tfprof.flops_rule("MyOp")
    ... def my_op(op):
    ...     return 2 * tfprof.size(op.output(0))
    >>> my_op(tfprof.Op("MyOp", outputs=[(3, 4)]))
    24
    """
    if not ops or not all(isinstance(op, str) for op in ops):
        raise UsageError('flops_rule names the operations it counts, as in @flops_rule("MyOp")')
    named = None if attributes is None else _names(attributes)

    def made(formula: F) -> F:
        if not callable(formula):
            raise UsageError(f"a rule is a function of an Op, not {formula!r}")
        global _by_user  # noqa: PLW0603 - replaced whole, so a count under way keeps its table
        with _registering:
            _by_user = {
                **_by_user,
                **{op: Rule(op, formula, named, "user", contraction=False) for op in ops},
            }
        return formula

    return made


def _names(attributes: Iterable[str]) -> tuple[str, ...]:
    """The names of attributes; a text is one name."""
    named = (attributes,) if isinstance(attributes, str) else tuple(attributes)
    if not all(isinstance(name, str) for name in named):
        raise UsageError('attributes are names, as in @flops_rule("MyOp", attributes=["strides"])')
    return named


def rules(which: Which = "all") -> Mapping[str, Rule]:
    """The rule of each operation that is counted; raises UsageError for another *which*."""
    if which not in _ORIGINS:
        raise UsageError(f"there are no rules {which!r}; there are 'tensorflow' and 'all'")
    return {**_built_ins(which), **_by_user}


@cache
def _built_ins(which: Which) -> dict[str, Rule]:
    for file in RULE_FILES:
        import_module(f"tfprof.flops.{file}")
    origins = _ORIGINS[which]
    return {op: one for origin in origins for (of, op), one in _built_in.items() if of == origin}
