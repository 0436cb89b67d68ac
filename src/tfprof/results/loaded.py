"""Loaded: a profile and what it came from, ready to be asked.

loaded = tfprof.load("graph.pbtxt", "run_meta")
loaded.scope(select=["params"])  ─┐
loaded.graph(…)  .op(…)           ├─► Report
loaded.code(…)                   ─┘

Nothing in it changes, so it may be asked from any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import UsageError
from tfprof.foundation.arguments import path as path_of
from tfprof.foundation.arguments import whole_number
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.io.files import write_apart
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.results.report import Report

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from tfprof.model import Note, Profile
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.results.summary_report import SummaryReport
    from tfprof.tables.options import Flops


@dataclass(frozen=True, eq=False, repr=False)
class Loaded:
    """What there is to ask: a profile, the checkpoint for its values, and their files.

    The views take the options of the command line by name. Float operations that the op log
    does not give are counted by rule: with flops="tensorflow" those that TensorFlow counts,
    with "log" none, by default all.

    >>> import tfprof
    >>> resnet = tfprof.load_sample()
    >>> by_type = resnet.op(select=["float_ops"], order_by="float_ops")
    >>> [row.name for row in by_type.rows[1:4]]
    ['Conv2D', 'Conv2DBackpropFilter', 'Conv2DBackpropInput']
    """

    profile: Profile
    checkpoint: Checkpoint | None = None
    inputs: tuple[str, ...] = ()

    def scope(self, **options: object) -> Report:
        """The graph nodes by name scope."""
        return self._ask("scope", options)

    def graph(self, **options: object) -> Report:
        """The graph nodes below those that consume them."""
        return self._ask("graph", options)

    def op(self, **options: object) -> Report:
        """The operation types."""
        return self._ask("op", options)

    def code(self, **options: object) -> Report:
        """The lines of Python that made the graph nodes, by call stack."""
        return self._ask("code", options)

    def summary(
        self,
        depth: int = 2,
        dims: Mapping[str, int] | None = None,
        outputs: Sequence[str] = (),
    ) -> SummaryReport:
        """The layers of the model down to *depth*: parameters, float operations, bytes.

        *dims* gives sizes to open dimensions, as in {"batch": 8}. *outputs* names the nodes whose
        needs are the model, where a graph holds more than that.
        """
        from tfprof.results.summary_report import SummaryReport  # noqa: PLC0415
        from tfprof.summary import summary  # noqa: PLC0415 - as in answer

        made = summary(self.profile, whole_number("depth", depth, least=1), dims, outputs)
        return SummaryReport(made, self.profile.notes)

    def report(self, view: str, query: Query) -> Report:
        """What *query* asks of a view."""
        return Report(answer(self.profile, view, query), self.checkpoint)

    def counted(self, flops: Flops) -> Profile:
        """The profile, with its float operations counted by these rules."""
        if flops == "log":
            return self.profile
        from tfprof.ops.with_float_ops import with_float_ops  # noqa: PLC0415 - as in answer

        return with_float_ops(self.profile, flops)[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the profile as one file, which `load(profile=path)` and the original read.

        A file that the profile was made from is never overwritten.
        """
        from tfprof.writers.saved import saved  # noqa: PLC0415

        write_apart(path_of("path", path), saved(self.profile), self.inputs)

    def convert(self, path: str | os.PathLike[str]) -> None:
        """Write the profile as one file, which `load(profile=path)` reads many times faster.

        It gives every answer that this one gives, but for the values in a checkpoint. A file that
        the profile was made from is never overwritten.
        """
        from tfprof.writers.columnar import columnar  # noqa: PLC0415

        write_apart(path_of("path", path), columnar(self.profile), self.inputs)

    @property
    def steps(self) -> tuple[int, ...]:
        """The numbers of the steps that there are stats of."""
        return tuple(step.number for step in self.profile.steps)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was missing, skipped or repaired when it was read."""
        return self.profile.notes

    def __len__(self) -> int:
        return len(self.profile)

    def __repr__(self) -> str:
        return f"<Loaded: {len(self):,} graph nodes, {len(self.steps)} steps>"

    def _ask(self, view: str, options: dict[str, object]) -> Report:
        if "output" in options or "dump_to_file" in options:
            raise UsageError("a report goes nowhere by itself: print(report) shows its text")
        return self.report(view, Query.of({"flops": "all", **options}))
