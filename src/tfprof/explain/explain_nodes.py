"""explain_nodes(profile, nodes) → Explained: rule, formula, shapes, runs, variables of each node.

    rule       who counts it: the op log, TensorFlow's own rule, ours, the user's, or nobody
    formula    2 · size(output) · input1[0]·input1[1]·input1[2]
    numbers    2 · 8·28·28·32 · 3·3·16 = 57,802,752

Everything is taken from the same counting that the views and the summary use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.explain.run_reasons import RunReasons, Runs
from tfprof.explain.tensors import Tensor, Tensors, Variable, Variables
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.ops.classes import of_class
from tfprof.ops.counting import number_of
from tfprof.ops.kinds import CUSTOM_CALL
from tfprof.ops.shape import NoRule, UnknownShape
from tfprof.ops.signatures import signatures
from tfprof.ops.table import rules
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.ops.written_formula import sentence_of, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.columns.strings import I64
    from tfprof.model import Note, Profile
    from tfprof.ops.table import Which

MOST: Final = 20  # nodes that are explained unless the caller wants more
_OP_LOG, _NOBODY = "op log", "none"
_OWN_RULE: Final = "a rule of your own: @tfprof.flops_rule({op!r})"
_LARGEST: Final = 2**63 - 1
_GRAPH: Final = "--graph_path: rules need the graph itself"


class Gap(NamedTuple):
    """Something that is not known, and the option that would settle it."""

    what: str
    remedy: str


class Counting(NamedTuple):
    """How one run of a node is counted."""

    origin: str  # "tensorflow", "ours", "user", "op log" or "none"
    sentence: str  # what is counted, in words
    formula: str = ""
    numbers: str = ""
    computed: int | None = None  # what the formula gives
    float_ops: int | None = 0  # None: unknown


class Explanation(NamedTuple):
    """Why one node counts what it counts."""

    name: str
    op: str
    counting: Counting
    runs: Runs
    inputs: list[Tensor]
    outputs: list[Tensor]
    variables: list[Variable]
    gaps: list[Gap]

    @property
    def total(self) -> int | None:
        """The float operations of all runs; None: unknown."""
        once = self.counting.float_ops
        return None if once is None else once * self.runs.times


@dataclass(frozen=True, eq=False)
class Explained:
    """The nodes with the most float operations first, and what all of them add up to."""

    nodes: list[Explanation]
    count: int  # of all nodes, also those not explained
    total: int  # the float operations of all nodes that are counted
    uncounted: int  # nodes whose float operations are unknown
    notes: tuple[Note, ...]

    @property
    def more(self) -> int:
        """How many nodes are not explained."""
        return self.count - len(self.nodes)


def explain_nodes(
    profile: Profile,
    nodes: I64,
    dims: Mapping[str, int] | None = None,
    which: Which = "all",
    most: int = MOST,
) -> Explained:
    """The explanations of *nodes*, at most *most*; raises UsageError for an unknown dimension."""
    sizes = dict(dims or {})
    counted, _ = with_float_ops(profile, which, sizes)
    totals = counted.values("float_ops", None)[nodes]
    first = nodes[np.argsort(-totals, kind="stable")][:most]
    explainer = _Explainer(profile, counted, sizes, which, nodes)
    unknown = sum(explainer.float_ops(node) is None for node in nodes.tolist())
    explanations = [explainer.explanation(node) for node in first.tolist()]
    return Explained(explanations, nodes.size, sum(totals.tolist()), unknown, counted.notes)


class _Explainer:
    """What the explanations of some nodes share."""

    def __init__(
        self, profile: Profile, counted: Profile, dims: Mapping[str, int], which: Which, nodes: I64
    ) -> None:
        self._profile = profile
        self._tensors = Tensors(profile, dims, which)
        self._runs = RunReasons(counted, dims)
        self._variables = Variables(self._tensors.final)
        self._calls = frozenset(profile.regions.call.tolist())
        self._moves = of_class(profile, "no arithmetic")
        self._functions = of_class(profile, "function call")
        table = rules(which)
        number = {op: at for at, op in enumerate(table)}
        of_type = [number.get(op, -1) for op in profile.types.texts()]
        of_rule = np.array(of_type, np.int64)[profile.nodes.op[nodes]]
        ruled = nodes[of_rule >= 0]
        of_rule = of_rule[of_rule >= 0]
        self._signatures = signatures(self._tensors.final, ruled, of_rule, list(table.values()))
        self._place = dict(zip(ruled.tolist(), self._signatures.of_node.tolist(), strict=True))
        self._unruled: dict[int, str] = {}  # by signature: the part of it that has no rule
        self._numbers = [self._number(row) for row in range(len(self._signatures))]

    def _op(self, node: int) -> str:
        return self._profile.types[int(self._profile.nodes.op[node])].decode("utf-8", "replace")

    def _number(self, signature: int) -> int | None:
        try:
            number = number_of(*self._signatures.op(signature))
        except UnknownShape as problem:
            if isinstance(problem, NoRule):
                self._unruled[signature] = str(problem)
            return None
        return max(min(number, _LARGEST), -_LARGEST - 1)  # as it is counted

    def float_ops(self, node: int) -> int | None:
        """The float operations of one run of a node; None: unknown."""
        if recorded := int(self._profile.nodes.float_ops[node]):
            return recorded
        if not self._profile.in_graph[node]:
            return None
        if node in self._place:
            return self._numbers[self._place[node]]
        return self._without_rule(node).float_ops

    def explanation(self, node: int) -> Explanation:
        """All about one node."""
        inputs, outputs = self._tensors.inputs(node), self._tensors.outputs(node)
        runs = self._runs.of(node)
        counting = self._counting(node, inputs, outputs)
        variables = self._variables.of(node)
        gaps = [Gap(text, runs.remedy) for text in runs.assumed]
        gaps += [
            Gap(f"the shape of {each.name}", "") for each in variables if each.elements is None
        ]
        if counting.float_ops is None:
            gaps = [*self._uncounted(node, counting, [*inputs, *outputs]), *gaps]
        name = self._profile.nodes.name[node].decode("utf-8", "surrogateescape")
        op = self._op(node)
        return Explanation(name, op, counting, runs, inputs, outputs, variables, gaps)

    def _counting(self, node: int, inputs: list[Tensor], outputs: list[Tensor]) -> Counting:
        recorded = int(self._profile.nodes.float_ops[node])
        ruled = self._ruled(node, inputs, outputs) if node in self._place else None
        if recorded and ruled is None:
            return Counting(_OP_LOG, "The op log has the number.", float_ops=recorded)
        if recorded and ruled is not None:
            same = "the same" if ruled.float_ops == recorded else "another number"
            sentence = f"The op log has the number; the rule ({ruled.origin}) gives {same}."
            return ruled._replace(origin=_OP_LOG, sentence=sentence, float_ops=recorded)
        if not self._profile.in_graph[node]:
            return Counting(_NOBODY, "The graph with this node is not loaded.", float_ops=None)
        return self._without_rule(node) if ruled is None else ruled

    def _without_rule(self, node: int) -> Counting:
        """Why there is no rule, or none is needed."""
        if node in self._calls:
            return Counting(_NOBODY, "It calls functions; their nodes count instead.")
        if self._functions[node]:
            sentence = "It calls a function whose body is not in the graph."
            return Counting(_NOBODY, sentence, float_ops=None)
        if self._moves[node]:
            return Counting(_NOBODY, "It moves, stores or describes data: no arithmetic.")
        return Counting(_NOBODY, "There is no rule for this type.", float_ops=None)

    def _ruled(self, node: int, inputs: list[Tensor], outputs: list[Tensor]) -> Counting:
        signature = self._place[node]
        (rule, op), number = self._signatures.op(signature), self._numbers[signature]
        shapes = [[tensor.shape for tensor in side] for side in (inputs, outputs)]
        text = written(rule, op, *shapes)
        if text is None:
            return Counting(rule.origin, sentence_of(rule, op), float_ops=number)
        return Counting(rule.origin, text.sentence, text.names, text.numbers, number, number)

    def _uncounted(self, node: int, counting: Counting, tensors: list[Tensor]) -> Iterator[Gap]:
        """Why there is no number."""
        unknown = [tensor.name for tensor in tensors if not tensor.is_known]
        if counting.origin == _NOBODY:
            own = _OWN_RULE.format(op=self._op(node))
            yield Gap("float operations", own if self._profile.in_graph[node] else _GRAPH)
        elif (part := self._unruled.get(self._place[node])) is not None:
            op = part if self._op(node) == CUSTOM_CALL else self._op(node)
            yield Gap(f"float operations: there is no rule for {part}", _OWN_RULE.format(op=op))
        elif unknown:
            one = len(unknown) == 1
            which = f"the {'shape' if one else 'shapes'} of {', '.join(unknown)}"
            what = f"float operations: {which} {'is' if one else 'are'} unknown"
            yield Gap(what, self._tensors.remedy(tensors, node))
        else:
            yield Gap("float operations: the rule does not fit these shapes and attributes", "")
