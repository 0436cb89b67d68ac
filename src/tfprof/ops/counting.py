"""count(profile) → Counts: the float operations of every node, and what is not counted.

rule            a formula gives the number           or "unknown shape"
no arithmetic   0, not reported
anything else   0, reported                          "calls a function" or "no rule"
ran eagerly     0, reported                          "not in the graph"

A total over a reported node, or over one that runs more often than it counts, is a lower bound.
"""

from __future__ import annotations

from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfprof.columns.frozen import Frozen
from tfprof.columns.strings import I64, Bool, Strings
from tfprof.errors import TfprofError, UsageError
from tfprof.foundation.lazy_dataclasses import dataclass, field, replace
from tfprof.ops.classes import of_class
from tfprof.ops.shape import NoRule, UnknownShape
from tfprof.ops.signatures import Signatures, signatures
from tfprof.ops.table import NOT_MADE_FOR, FloatOps, Which, rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfprof.model import Profile
    from tfprof.ops.op import Op

NO_RULE: Final = "no rule"
UNKNOWN_SHAPE: Final = "unknown shape"
CALLS_A_FUNCTION: Final = "calls a function"
NOT_IN_GRAPH: Final = "not in the graph"

_MOST_KINDS: Final = 5
_STABLE_HLO: Final = "XlaCallModule"  # of jax2tf and jax.export: tfprof does not read its bytecode
_FEW: Final = ("nothing: there is no arithmetic in the nodes", "the one operation")
_MOST_SIZES: Final = 3
_LARGEST: Final = 2**63 - 1


class Uncounted(NamedTuple):
    """Operations of a type that are not counted, and why."""

    op: str
    nodes: int
    why: str

    def __str__(self) -> str:
        return f"{self.nodes:,} {self.op} ({self.why})"


def _no_nodes() -> Bool:
    return np.empty(0, np.bool_)


@dataclass(frozen=True, eq=False)
class Counts(Frozen):
    """The float operations of one run of each node; 0 where they are not counted."""

    float_ops: I64
    ops: int  # nodes that have a rule or need one, or have a number in an op log
    uncounted: tuple[Uncounted, ...]  # the most nodes first
    unbound: tuple[str, ...] = ()  # open dimensions whose sizes would help
    work: Bool = field(default_factory=_no_nodes)  # per node: one of the operations
    gap: Bool = field(default_factory=_no_nodes)  # per node: computes, and is not counted
    once: Bool = field(default_factory=_no_nodes)  # per node: in a loop that counts once

    @property
    def counted(self) -> int:
        """The number of operations that are counted."""
        return self.ops - sum(kind.nodes for kind in self.uncounted)

    def __str__(self) -> str:
        """One line on what the numbers cover, of the graph and not of the rows shown."""
        if not self.uncounted:
            every = f"all {self.ops:,} operations" if self.ops > 1 else _FEW[self.ops]
            return f"float_ops counts {every} of the graph"
        named = ", ".join(map(str, self.uncounted[:_MOST_KINDS]))
        more = len(self.uncounted) - _MOST_KINDS
        rest = f" and {more:,} more kind{'s' if more > 1 else ''}" if more > 0 else ""
        sizes = ",".join(f"{name}=N" for name in self.unbound[:_MOST_SIZES])
        hint = f"; give --dim {sizes}" if sizes else ""
        if any(kind.op == _STABLE_HLO for kind in self.uncounted):
            hint += f"; for the program in {_STABLE_HLO}, give the HLO that XLA compiles it to"
        whose = "run" if self.uncounted[0].why == NOT_IN_GRAPH else "graph"
        return (
            f"float_ops counts {self.counted:,} of the {whose}'s {self.ops:,} operations; "
            f"not counted: {named}{rest}{hint}"
        )


def count(profile: Profile, which: Which = "all") -> Counts:
    """The float operations of each node by TensorFlow's own rules, or by all.

    A node with a number in an op log is not counted again: it has 0 here, and is no gap. Raises
    UsageError where a rule fails, InputError where an attribute it needs is damaged.
    """
    table = list(rules(which).values())
    in_log = profile.nodes.float_ops != 0
    is_known = profile.in_graph & ~in_log
    number = np.where(is_known, _places(profile, [rule.op for rule in table]), -1)
    node = np.flatnonzero(number >= 0)
    distinct = signatures(profile, node, number[node], table)
    value, why, reasons = _values(distinct, which)
    float_ops = np.zeros(len(profile), np.int64)
    float_ops[node] = value[distinct.of_node]

    others = is_known & (number < 0)
    others[profile.regions.call] = False  # the bodies that they call are counted
    calls = of_class(profile, "function call", among=others)
    no_rule = others & ~calls & ~of_class(profile, "no arithmetic", among=others)
    eager = np.zeros(len(profile), np.bool_)
    if not (node.size or calls.any() or no_rule.any()):
        # The nodes that compute and have no graph, as those of a program that runs eagerly.
        ran = ~profile.in_graph & bool(profile.steps)
        eager = ran & ~of_class(profile, "no arithmetic", among=ran) & ~in_log
    gap = np.full(len(profile), -1, np.int64)
    gap[node] = why[distinct.of_node]
    for nodes, reason in ((calls, CALLS_A_FUNCTION), (no_rule, NO_RULE), (eager, NOT_IN_GRAPH)):
        gap[nodes] = len(reasons)
        reasons.append(reason)
    work = calls | no_rule | eager | in_log | (number >= 0)
    return Counts(
        float_ops,
        int(np.count_nonzero(work)),
        tuple(sorted(_kinds(profile, gap, reasons), key=lambda kind: (-kind.nodes, kind.op))),
        work=work,
        gap=gap >= 0,
        once=np.zeros(len(profile), np.bool_),
    )


def lower_bound_nodes(
    profile: Profile, counts: Counts, amount: I64, step: int | None = None
) -> Bool:
    """The nodes that did not add all of their *amount* to a total of float operations."""
    ones = replace(profile.nodes, float_ops=np.ones(len(profile), np.int64))
    # Without `times`: which branch of a conditional is the larger depends on what is counted.
    runs = replace(profile, nodes=ones, times=np.empty(0, np.int64)).values("float_ops", step)
    result: Bool = (counts.gap & (runs != 0)) | (counts.once & (amount != 0))
    return result


def multiply_adds(profile: Profile, float_ops: I64) -> I64:
    """The multiply-adds of each node: half of its *float_ops*, 0, or what its type counts."""
    table = rules("all").values()
    contractions = _places(profile, [rule.op for rule in table if rule.contraction]) >= 0
    result = np.where(contractions, float_ops // 2, 0)
    own = [rule._replace(formula=rule.multiply_adds) for rule in table if rule.multiply_adds]
    number = _places(profile, [rule.op for rule in own])
    node = np.flatnonzero((number >= 0) & profile.in_graph & (float_ops != 0))
    if node.size:
        distinct = signatures(profile, node, number[node], own)
        result[node] = _values(distinct, "all")[0][distinct.of_node]
    return result


def may_contract(profile: Profile) -> Bool:
    """Which nodes may be products and sums: all but those whose rule says otherwise."""
    table = rules("all").values()
    others = [rule.op for rule in table if not rule.contraction and not rule.multiply_adds]
    return _places(profile, others) < 0


def _places(profile: Profile, ops: Iterable[str]) -> I64:
    """The place of each node's type in *ops*; -1: not among them."""
    names = Strings.of(op.encode() for op in ops)
    place = np.full(len(profile.types) + 1, -1, np.int64)
    place[profile.types.find(names)] = np.arange(len(names))
    return place[profile.nodes.op]


def _kinds(profile: Profile, gap: I64, gaps: Sequence[str]) -> Iterable[Uncounted]:
    """The nodes by their type and by why they are not counted; a gap below 0 is none."""
    types = max(len(profile.types), 1)
    kind, nodes = np.unique((gap * types + profile.nodes.op)[gap >= 0], return_counts=True)
    why = (gaps[at] for at in (kind // types).tolist())
    return map(Uncounted, profile.types.take(kind % types).texts(), nodes.tolist(), why)


def _values(distinct: Signatures, which: Which) -> tuple[I64, I64, list[str]]:
    """(the number, the gap if there is none, else -1) of each signature, and the gaps by number."""
    value = np.zeros(len(distinct), np.int64)
    gap = np.full(len(distinct), -1, np.int64)
    gaps = {UNKNOWN_SHAPE: 0}
    for row in range(len(distinct)):
        rule, op = distinct.op(row)
        try:
            number = number_of(rule, op)
        except UnknownShape as problem:
            why = f"{NO_RULE} for {problem}" if isinstance(problem, NoRule) else UNKNOWN_SHAPE
            gap[row] = gaps.setdefault(why, len(gaps))
            continue
        if rule.wraps and which == "tensorflow":  # as an int64, like the original
            number = (number + _LARGEST + 1) % (2 * (_LARGEST + 1)) - (_LARGEST + 1)
        value[row] = max(min(number, _LARGEST), -_LARGEST - 1)
    return value, gap, list(gaps)


def number_of(rule: FloatOps, op: Op) -> int:
    """The result of a rule's formula as an int; raises UnknownShape, or UsageError for a user's."""
    by_user = rule.origin == "user"
    try:
        result = rule.formula(op)
        number = _whole(result) if by_user else int(result)
    except (UnknownShape, TfprofError):
        raise
    except Exception as problem:
        if by_user:
            text = f"the rule of {rule.op} failed: {type(problem).__name__}: {problem}"
            raise UsageError(text) from problem
        if isinstance(problem, NOT_MADE_FOR):
            raise UnknownShape from None
        raise
    if number is None:
        raise UsageError(
            f"the rule of {rule.op} returned {result!r}, which is not a number of operations; "
            "it must be 0 or more"
        )
    return number


def _whole(result: Any) -> int | None:  # noqa: ANN401 - whatever a user's formula returns
    """A real number from 0 on without its fraction; None for anything else."""
    try:
        number: Any = result if isinstance(result, Real) else index(result)
        return int(number) if number >= 0 else None
    except (OverflowError, TypeError, ValueError):  # not a number, or not finite
        return None
