"""CheckReport: the bounds of a budget, which of them hold, and the commands that show why not."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import clean_text
from tfprof.compare.bounds import FLOAT_OPS, MULTIPLY_ADDS, OCCURRENCE, PARAMS, UNCOUNTED, written
from tfprof.compare.budget import DEVICE, LAYER, MODEL, OP, SCOPE
from tfprof.compare.check import check, recorded
from tfprof.compare.lock import lock_text, read_lock
from tfprof.compare.measure import Measures
from tfprof.compare.steps import with_steps
from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.units import UNKNOWN, plural
from tfprof.io.write_files import write_file
from tfprof.results.overview_report import Naming
from tfprof.results.result import Result
from tfprof.results.table import Column, Table
from tfprof.summary.layers import OTHER
from tfprof.tables.fields import FIELDS
from tfprof.tables.options import flags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tfprof.compare.budget import Budget
    from tfprof.compare.check import Verdict
    from tfprof.model import Profile

SCHEMA: Final = "tfprof.check/1"
# What the summary shows, and by which column it is sorted.
_COLUMNS: Final = {
    **{name: (f"--sort={name}",) for name in (FLOAT_OPS, MULTIPLY_ADDS, "micros")},
    PARAMS: ("--sort=parameters",),
    UNCOUNTED: (),
}
_SIZED: Final = (FLOAT_OPS, MULTIPLY_ADDS, UNCOUNTED)  # open dimensions change these
_EVERY_TYPE: Final = "--max_depth=10000"  # op view shows no more types than this
_REST: Final = OTHER.decode()


@dataclass(frozen=True, eq=False, repr=False)
class CheckReport(Result):
    """One row per bound and row; `ok` says whether all of them hold.

    >>> import tfprof
    >>> report = tfprof.load_sample().check({"model": {"params": "<= 400K"}})
    >>> report.ok, report.rows[0]["value"]
    (False, 464154)
    """

    verdicts: tuple[Verdict, ...]
    path: str = ""  # of the budget; "": it is no file
    sentences: tuple[str, ...] = ()  # what is assumed
    dims: Mapping[str, int] | None = None  # as given and as assumed
    naming: Naming = Naming()
    offers = ("check", "table", "result")

    @property
    def ok(self) -> bool:
        """Whether every bound holds."""
        return all(verdict.ok for verdict in self.verdicts)

    @property
    def headline(self) -> str:
        """How many bounds hold, in one line."""
        broken = sum(not verdict.ok for verdict in self.verdicts)
        every = plural(len(self.verdicts), "bound")
        text = f"{broken:,} of {every} broken" if broken else f"{every}: all hold"
        return f"{self.path}: {text}" if self.path else text

    def command(self, verdict: Verdict) -> str:
        """The command that shows what a number consists of; "" where there is no file to name."""
        before, after = self.naming
        if before and not after:
            return ""
        sizes = {"dim": tuple(f"{name}={size}" for name, size in (self.dims or {}).items())}
        command, *options = _words(verdict)
        given = flags(sizes) if self.dims and verdict.bound.metric in _SIZED and options else []
        return shlex.join([*before, command, *after, *options, *given])

    def _broken_lines(self) -> Iterator[str]:
        """Each broken bound: what is wrong, and the command that shows why."""
        for verdict in self.verdicts:
            if not verdict.ok:
                yield f"{clean_text(verdict.title)}: {clean_text(verdict.reason)}"
                if command := self.command(verdict):
                    yield f"    {clean_text(command)}"

    def make_table(self) -> Table:
        """The bounds, in the order of the budget."""
        rows = self.verdicts

        def texts(of: Callable[[Verdict], str]) -> list[str]:
            return [clean_text(of(row)) for row in rows]

        lower = np.array([row.is_lower for row in rows], np.bool_)
        labels, values = texts(lambda row: f"{row.table} {row.name}".rstrip()), texts(_number)
        commands = texts(lambda row: "" if row.ok else self.command(row))
        columns = (
            Column("table", "text", texts(lambda row: row.table), placing=True),
            Column("name", "text", texts(lambda row: row.name), None, "row", labels, placing=True),
            Column("pattern", "text", texts(lambda row: row.pattern), placing=True),
            Column("metric", "text", texts(lambda row: row.bound.metric)),
            Column("bound", "text", texts(lambda row: row.bound.text)),
            Column("limit", "real", [row.limit for row in rows], placing=True),
            Column("value", "real", [row.value for row in rows], texts=values, lower=lower),
            Column("incomplete", "flag", lower, placing=True),
            Column("base", "real", [row.base for row in rows], placing=True),
            Column("result", "text", texts(lambda row: "ok" if row.ok else "broken")),
            Column("reason", "text", texts(lambda row: row.reason), fits=False),
            Column("command", "text", commands, fits=False),
            Column("line", "number", [row.line for row in rows], placing=True),
        )
        facts = {"budget": clean_text(self.path), "ok": self.ok, "sentences": list(self.sentences)}
        above, below = (clean_text(self.headline),), tuple(self._broken_lines())
        table = Table("", SCHEMA, columns, len(rows), facts=facts, headline=above, details=below)
        return replace(table, caveats=self.sentences)

    def __repr__(self) -> str:
        return f"<CheckReport: {self.headline}>"


def check_report(
    profile: Profile, budget: Budget, steps: str, dims: Mapping[str, int] | None, *, record: bool
) -> CheckReport:
    """Whether *profile* keeps to *budget*; with *record*, relative bounds compare with it."""
    measures, lock = Measures(with_steps(profile, steps), dims), {}
    relative = [entry for entry in budget.entries if entry.bound.is_relative]
    if (record or relative) and not budget.path:
        raise UsageError("only a budget in a file has recorded numbers, beside it in a .lock file")
    if record:
        lock = recorded(measures, budget)
        write_file(budget.lock_path, [lock_text(lock).encode()], [budget.path])
    elif relative:
        lock = read_lock(budget.lock_path)
    sentences = [
        f"Open dimension: {name} counts as {size}; --dim {name}=N sets it."
        for name, size in measures.assumed.items()
    ]
    if steps:
        sentences.append(f"Times and bytes are those of steps {steps}; other commands show all.")
    return CheckReport(check(measures, budget, lock), budget.path, tuple(sentences), measures.dims)


def _number(verdict: Verdict) -> str:
    value = verdict.value
    is_known = value is not None and (value or not verdict.is_lower)
    return written(verdict.bound.metric, value or 0) if is_known else UNKNOWN


def _words(verdict: Verdict) -> tuple[str, ...]:
    """The command, and the options behind the files, that show what a number consists of."""
    table, metric, name = verdict.table, verdict.bound.metric, verdict.name
    # A comma separates regexes; terminals do not get control characters.
    regex = re.sub(r"\\?([\x00-\x1f\x7f,])", lambda m: f"\\x{ord(m[1]):02x}", re.escape(name))
    views = {
        MODEL: ("scope", "--max_depth=3"),
        SCOPE: ("scope", f"--start_name_regexes={regex}"),
        OP: ("op", f"--show_name_regexes={regex}", _EVERY_TYPE),
        DEVICE: ("scope", f"--device_regexes={regex}", "--account_displayed_op_only"),
        LAYER: ("scope", f"--show_name_regexes=(.*/)?{regex}(/.*)?"),
    }
    nodes = {SCOPE: f"--name={regex}(/.*)?", OP: f"--op={regex}", LAYER: f"--layer={name}"}
    if verdict.value is None and "--dim" not in verdict.reason:
        return ("info",)
    # Views count slots and copies as parameters, too.
    as_summary = table == LAYER or metric == PARAMS or (table == MODEL and metric != "micros")
    if as_summary and metric in _COLUMNS:
        depth = name.count("/") + 1 if table in {SCOPE, LAYER} else 1
        return ("summary", f"--depth={depth}", *_COLUMNS[metric])
    if table == DEVICE and metric == OCCURRENCE:
        return ("op", views[DEVICE][1], _EVERY_TYPE, f"--select={metric}", f"--order_by={metric}")
    if table == DEVICE and metric not in FIELDS:
        metric = FLOAT_OPS  # which says how many of them are not counted
    if metric in FIELDS and (metric != OCCURRENCE or table == OP) and not name.endswith(_REST):
        return (*views[table], f"--select={metric}", f"--order_by={metric}")
    return ("explain", nodes[table]) if table in nodes else ("overview",)
