"""WorkersReport: the workers of a fleet, who holds up the others and why, as text or data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.columns.strings import clean_text
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.foundation.units import micros
from tfprof.results.result import Result
from tfprof.results.table import Column, Hidden, Table
from tfprof.results.workers_sentences import findings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.fleet.stragglers import Cause
    from tfprof.fleet.workers import Worker, Workers
    from tfprof.foundation.units import Format
    from tfprof.results.table import Kind

SCHEMA: Final = "tfprof.workers/1"


@dataclass(frozen=True, eq=False, repr=False)
class WorkersReport(Result):
    """One row per worker, the slowest first; stragglers, servers and slow steps are facts."""

    workers: Workers
    most_rows: int = 0  # of each list; 0: all, or as text what fits the screen
    offers = ("workers_text", "table", "result")

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the comparison leaves out."""
        return self.workers.notes

    @property
    def stragglers(self) -> list[dict[str, Any]]:
        """The workers that hold up others, the worst first."""
        return [
            {
                "worker": clean_text(name),
                "factor": one.factor,
                "micros": one.micros,
                "peers_micros": one.usual,
                "others_wait": one.waits,
                "steps_stand_out": one.by_steps,
                "all_operations_factor": one.evenly,
                "causes": list(map(_cause, one.causes)),
            }
            for name, one in self.workers.stragglers
        ]

    @property
    def slow_steps(self) -> list[dict[str, Any]]:
        """The steps that stand out, the worst first; no workers: all of them."""
        return [
            {
                "step": self.workers.steps[slow.column],
                "factor": slow.factor,
                "micros": slow.micros,
                "median_micros": slow.usual,
                "workers": list(map(clean_text, names)),
                "recorded_by": slow.recorded,
                "causes": list(map(_cause, causes)),
            }
            for slow, names, causes in self.workers.slow_steps
        ]

    @property
    def servers(self) -> dict[str, Any]:
        """What each parameter server holds, the skew, and what to move."""
        held = self.workers.balance
        large = held.too_large
        return {
            "skew": held.skew,
            "servers": [
                {
                    "server": row.name, "variables": row.variables, "bytes": row.bytes,
                    "parameters": row.params, "micros": row.micros,
                }
                for row in held.servers
            ],
            "moves": [
                {
                    "variable": clean_text(move.variable), "bytes": move.bytes,
                    "slots": move.slots, "from": move.source, "to": move.target,
                }
                for move in held.moves
            ],
            "skew_after_moves": held.skew_after,
            "split": large and {"variable": clean_text(large.name), "bytes": large.bytes,
                                "server": large.server},
        }  # fmt: skip

    def make_table(self) -> Table:
        """The workers; what was found is in the facts, and as sentences below the rows."""
        every = self.workers.workers
        shown = every[: self.most_rows or None]
        columns = (
            Column(name, kind, [of(row) for row in shown], unit, heading, placing=name == "worker")
            for name, kind, of, unit, heading in _COLUMNS
        )
        hidden = len(every) - len(shown)
        return Table(
            "workers",
            SCHEMA,
            tuple(columns),
            len(shown),
            "worker",
            facts={
                "workers": len(every),
                "steps": list(self.workers.steps),
                "time": "span_us" if self.workers.is_span else "micros",
                "stragglers": self.stragglers,
                "slow_steps": self.slow_steps,
                "parameter_servers": self.servers,
                "caveats": list(self.workers.notes),
            },
            hiding=Hidden(hidden, {"--rows": hidden} if hidden else {}),
            caveats=(
                *(text for texts in findings(self.workers).values() for text in texts),
                *self.workers.notes,
            ),
        )

    def __repr__(self) -> str:
        return f"<WorkersReport: {len(self.workers.workers):,} workers>"


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "op": clean_text(cause.key.op),
        "device": clean_text(cause.key.device),
        "node": clean_text(cause.key.node) or None,
        "micros": cause.micros,
        "peers_micros": cause.usual,
        "factor": cause.factor,
        "nodes": [
            {"name": clean_text(name), "micros": own, "peers_micros": usual}
            for name, own, usual in cause.nodes
        ],
    }


def times(factor: float) -> str:
    """A factor as people read it."""
    return f"{factor:.2f}"


_COLUMNS: tuple[tuple[str, Kind, Callable[[Worker], Any], Format | None, str], ...] = (
    ("worker", "text", lambda row: clean_text(row.name), None, ""),
    ("group", "number", lambda row: row.group, None, ""),
    ("steps", "number", lambda row: row.steps, None, ""),
    ("micros", "real", lambda row: row.micros, micros, "time per step"),
    ("factor", "real", lambda row: row.factor, times, "times peers"),
    ("spread", "real", lambda row: row.spread, "{:.1%}".format, ""),
    ("share", "real", lambda row: row.share, "{:.1%}".format, ""),
    ("least_micros", "real", lambda row: row.least, micros, "fastest step"),
    ("most_micros", "real", lambda row: row.most, micros, "slowest step"),
    ("straggler", "flag", lambda row: row.is_straggler, None, ""),
)
