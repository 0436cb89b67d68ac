"""ExpensiveOperationChecker: where the time goes, in three reports.

top 1 operation type: MatMul, cpu: 1.21ms, …      op view, by own time
top 1 graph node: net, cpu: 0us, …                scope view, first level, by total time
model.py:12:build, cpu: 1.20ms, …                 code view, from where it first branches
  layers.py:7:dense, cpu: 1.10ms, …               its callees, heaviest first
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.checkers import Findings
from tfprof.foundation.units import micros
from tfprof.model import Note, Profile
from tfprof.query.answer import answer
from tfprof.query.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tfprof.columns.strings import I64
    from tfprof.query.counted import Answer

_NAME: Final = "ExpensiveOperationChecker"
_DEEP: Final = 100


def check(profile: Profile, **options: int) -> Findings:
    """Up to three reports; CHECKERS lists the options."""
    reports: list[str] = []
    notes: list[Note] = []
    if profile.steps:
        reports += _op_types(profile, options)
    else:
        # parity Q31: it says "Skip" and goes on.
        notes.append(Note(f"Missing RunMetadata info. Skip {_NAME}"))
        notes.append(Note(f"Missing run_meta for {_NAME}"))
    reports += _graph_nodes(profile, options)
    if profile.has_traces:
        reports += _code(profile, options)
    else:
        notes.append(Note(f"Missing op_log (code traces) for {_NAME}"))
    return Findings(tuple(reports), tuple(notes))


def _op_types(profile: Profile, options: Mapping[str, int]) -> list[str]:
    top = options["top"]
    answer = _heaviest(profile, "op", max_depth=top, min_micros=options["min_op_micros"])
    line = _lines(answer, answer.own)
    own, total = answer.own("micros").tolist(), int(answer.total("micros")[0]) + 1e-10
    lines = [
        f"top {row} operation type: {line(row)} ({100.0 * own[row] / total:.2f}%)"
        for row in range(1, min(top + 1, len(answer)))
    ]
    return ["\n".join(lines)] if lines else []


def _graph_nodes(profile: Profile, options: Mapping[str, int]) -> list[str]:
    answer = _heaviest(profile, "scope", max_depth=_DEEP, min_micros=options["min_node_micros"])
    # parity Q17: ordered by total time, but the lines show the scopes' own time.
    line = _lines(answer, answer.own)
    heaviest = answer.tree.children(0)[: options["top"]]
    lines = [f"top {place} graph node: {line(row)}" for place, row in enumerate(heaviest, 1)]
    return ["\n".join(lines)] if lines else []


def _code(profile: Profile, options: Mapping[str, int]) -> list[str]:
    least = options["min_code_micros"]
    answer = _heaviest(profile, "code", max_depth=_DEEP, min_micros=min(1, least))
    line, total = _lines(answer, answer.total), answer.total("micros")
    children = answer.tree.children

    def called(row: int, level: int) -> list[tuple[int, int]]:
        """(row, level) of the lines to report below a row, the last first."""
        below = children(row)
        if len(below) <= 1 or level >= options["code_levels"]:
            return []
        top = reversed(below[: options["top"]])
        return [(line, level) for line in top if total[line] >= least]

    # Lines with a single callee are mostly libraries; the user's code begins where calls branch.
    row = 0
    while len(below := children(row)) == 1:
        row = below[0]
    lines = []
    waiting = called(row, 0)
    while waiting:
        row, level = waiting.pop()
        lines.append("  " * level + line(row))
        waiting += called(row, level + 1)
    # parity: if no branch is heavy enough, the report is empty.
    return ["\n".join(lines)] if below else []


def _heaviest(profile: Profile, view: str, max_depth: int, min_micros: int) -> Answer:
    query = Query(max_depth=max_depth, minimum={"micros": min_micros}, order_by="micros")
    return answer(profile, view, query)


def _lines(answer: Answer, column: Callable[[str], I64]) -> Callable[[int], str]:
    """A function that writes the name and the times of a row."""
    cpu, accelerator, both = map(column, ("cpu_micros", "accelerator_micros", "micros"))

    def line(row: int) -> str:
        name = answer.label[row].decode("utf-8", "surrogateescape")
        times = [micros(int(times[row])) for times in (cpu, accelerator, both)]
        return "{}, cpu: {}, accelerator: {}, total: {}".format(name, *times)

    return line
