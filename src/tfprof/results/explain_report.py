"""ExplainReport: why nodes count what they count, as text for people or as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.columns.strings import clean_text
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.foundation.units import plural
from tfprof.results.result import Result
from tfprof.results.table import Column, Hidden, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.explain import Explained, Explanation
    from tfprof.explain.tensors import Tensor, Variable
    from tfprof.results.table import Kind

SCHEMA = "tfprof.explanation/1"
_MOST_DIMS = 32
_MOST_LISTED = 64  # tensors or variables of one node


@dataclass(frozen=True, eq=False, repr=False)
class ExplainReport(Result):
    """One row per node, the most float operations first.

    >>> import tfprof
    >>> report = tfprof.load_sample().explain(name="unit_1_0/sub1/conv1/Conv2D")
    >>> report.rows[0]["formula"]
    '2 · size(output) · input1[0]·input1[1]·input1[2]'
    """

    explained: Explained
    offers = ("explanation", "table", "result")

    @property
    def explanation(self) -> Explained:
        """What text is written from."""
        return self.explained

    def make_table(self) -> Table:
        """The rows as a Table, from which data formats are written."""
        nodes, more = self.explained.nodes, self.explained.more
        columns = (
            Column(name, kind, [value(node) for node in nodes], placing=name == "name")
            for name, kind, value in _COLUMNS
        )
        facts = {
            "nodes": self.explained.count,
            "total_float_ops": self.explained.total,
            "uncounted_nodes": self.explained.uncounted,
            "notes": [clean_text(str(note)) for note in self.explained.notes],
        }
        return Table(
            "explanation",
            SCHEMA,
            tuple(columns),
            len(nodes),
            facts=facts,
            notes=self.explained.notes,
            hiding=Hidden(more, {"most": more} if more else {}),
        )

    def __repr__(self) -> str:
        return f"<ExplainReport: {plural(len(self.explained.nodes), 'node')}>"


_COLUMNS: tuple[tuple[str, Kind, Callable[[Explanation], Any]], ...] = (
    ("name", "text", lambda node: clean_text(node.name)),
    ("op", "text", lambda node: node.op),
    ("float_ops", "number", lambda node: node.counting.float_ops),
    ("runs", "number", lambda node: node.runs.times),
    ("total_float_ops", "number", lambda node: node.total),
    ("rule", "text", lambda node: node.counting.origin),
    ("rule_text", "text", lambda node: clean_text(node.counting.sentence)),
    ("formula", "text", lambda node: node.counting.formula),
    ("calculation", "text", lambda node: node.counting.numbers),
    ("runs_reason", "text", lambda node: clean_text(node.runs.why)),
    ("shapes", "texts", lambda node: _listed(_tensor, [*node.inputs, *node.outputs])),
    ("variables", "texts", lambda node: _listed(_variable, node.variables)),
    ("parameters", "number", lambda node: _parameters(node.variables)),
    ("unknown", "texts", lambda node: [clean_text(gap.what) for gap in node.gaps]),
    ("remedies", "texts", lambda node: [clean_text(gap.remedy) for gap in node.gaps]),
)


def _listed(text: Callable[[Any], str], things: list[Any]) -> list[str]:
    """One text each, up to a limit."""
    more = len(things) - _MOST_LISTED
    return [*map(text, things[:_MOST_LISTED]), *([f"and {more:,} more"] if more > 0 else [])]


def _tensor(tensor: Tensor) -> str:
    source = f" from {tensor.source}" if tensor.source else ""
    return clean_text(f"{tensor.name}: {dims_text(tensor.shape)}, {tensor.origin}{source}")


def _variable(variable: Variable) -> str:
    return clean_text(f"{variable.name}: {dims_text(variable.shape)}")


def _parameters(variables: list[Variable]) -> int | None:
    counts = [variable.elements for variable in variables]
    return None if None in counts else sum(filter(None, counts))


def dims_text(shape: tuple[int, ...] | None) -> str:
    """A shape as people read it: ? is unknown; a long one is cut."""
    if shape is None:
        return "?"
    dims = "x".join("?" if dim < 0 else str(dim) for dim in shape[:_MOST_DIMS])
    return dims if len(shape) <= _MOST_DIMS else f"{dims}x…"
