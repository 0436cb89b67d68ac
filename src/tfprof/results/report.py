"""Report: the displayed rows of a view as text, rows, data frames, messages or HTML.

Making one writes and prints nothing. Numbers are whole; the text adds units.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache, cached_property
from math import prod
from typing import TYPE_CHECKING, Any, cast

from tfprof.columns.strings import Strings
from tfprof.errors import UsageError
from tfprof.foundation.arguments import whole_number
from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.units import plural
from tfprof.model import Note, own_notes
from tfprof.query.answer import answer as answer_query
from tfprof.results.result import Result
from tfprof.tables.eras import NOW
from tfprof.tables.outputs import OBJECTS, OUTPUTS, check_fleet_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.model import Profile
    from tfprof.ops.counting import Counts
    from tfprof.ops.table import Which
    from tfprof.query.counted import Answer
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.results.explain_report import ExplainReport
    from tfprof.results.result import File
    from tfprof.results.table import Table
    from tfprof.tables.outputs import OutputKind

_HUGE_TENSOR = 100_000


class Row(tuple[Any, ...]):
    """A row of a report as a named tuple: where it stands, and what was selected.

    Each set of columns has its own subclass, created once; unpickling creates it again.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        row: int
        parent: int | None  # the row above it
        depth: int
        name: str
        accounted: bool
        _fields: tuple[str, ...]

        def _asdict(self) -> dict[str, Any]: ...

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Row: ...

        # The columns that were selected, such as total_params.
        def __getattr__(self, name: str) -> Any: ...  # noqa: ANN401

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self._fields, tuple(self))


@cache
def _row_class(columns: tuple[str, ...]) -> type[Row]:
    named = namedtuple("Row", columns)  # type: ignore[misc]  # noqa: PYI024
    return cast("type[Row]", type("Row", (Row, named), {"__slots__": (), "__doc__": Row.__doc__}))


def _unpickled(columns: tuple[str, ...], values: tuple[Any, ...]) -> Row:
    return _row_class(columns)._make(values)


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """The displayed rows of a view, in every form.

    >>> import tfprof
    >>> report = tfprof.load_sample().scope(
    ...     account_type_regexes=["VariableV2"], select=["params"], max_depth=2
    ... )
    >>> root = report.rows[0]
    >>> root.name, root.total_params
    ('_TFProfRoot', 930581)
    >>> largest = max(report.rows[1:], key=lambda row: row.total_params)
    >>> largest.name
    'unit_3_1'
    """

    answer: Answer
    checkpoint: Checkpoint | None = None
    source: Profile | None = None  # what the query was put to, before rules counted anything
    offers = ("report", "table", "result")

    @property
    def view(self) -> str:
        """The name of the view."""
        return self.answer.view.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: where a row stands, and what was selected."""
        return tuple(column.name for column in self.table().columns)

    @cached_property
    def rows(self) -> list[Row]:  # type: ignore[override]  # of its own, with names
        """The rows, in order, as tuples whose items have the names of the columns."""
        make = _row_class(self.columns)._make
        return list(map(make, zip(*self.to_dict().values(), strict=True)))

    def __len__(self) -> int:
        return len(self.answer)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def files(self, row: OutputKind, path: str, width: int | None = None) -> Iterable[File]:
        """The files of an output; raises UsageError where a fleet does not have it."""
        if self.answer.counted.samples is not None:
            check_fleet_output(row, self.answer.counted.samples.statistic)
        return super().files(row, path, width)

    def make_table(self) -> Table:
        """The rows as a Table, from which data formats are written."""
        from tfprof.results.report_table import report_table  # noqa: PLC0415 - text needs no table

        return report_table(self.answer, self.notes)

    @property
    def flops(self) -> Counts | None:
        """What float_ops counts and leaves out; None where no rule counted."""
        return self.answer.flops

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was missing, skipped or repaired, in the profile and in this report."""
        return (*self.answer.profile.notes, *self.own_notes)

    @cached_property
    def own_notes(self) -> tuple[Note, ...]:
        """Notes about this report alone."""
        return (*self.coverage, *self.answer.notes, *self._missing_tensors())

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the numbers of a fleet lack, which stands above them."""
        samples = self.answer.counted.samples
        return () if samples is None else tuple(samples.facts["incomplete"])

    @property
    def coverage(self) -> tuple[Note, ...]:
        """What float_ops counts and leaves out, if rules counted it, and what params leaves out."""
        counts = () if self.flops is None else (Note(str(self.flops)),)
        return (*counts, *own_notes(self._unknown_sizes()))

    def _unknown_sizes(self) -> Iterator[str]:
        query = self.answer.query
        if "params" not in query.select or query.era is not NOW:
            return
        unknown = self.answer.nodes_of_unknown_size()
        if unknown.size:
            name = self.answer.profile.nodes.name[int(unknown[0])].decode("utf-8", "replace")
            variables = plural(unknown.size, "variable")
            yield f"params does not count {variables} of unknown shape, such as {name!r}"

    def text(self) -> str:
        """The report as the command prints it; below it, what float_ops does not count."""
        if self.flops is None:
            return super().text()
        below = f"\n{self.flops}\n".encode("utf-8", "surrogateescape")
        return super().text() + below.decode("utf-8", "backslashreplace")

    def __repr__(self) -> str:
        rows = plural(len(self), "row")
        return f"<Report of {self.view} view: {rows} of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        report = self.folded()
        encoded = (str(note).encode("utf-8", "surrogateescape") for note in report.own_notes)
        notes = [note.decode("utf-8", "replace") for note in encoded]
        html: str = load_function(OBJECTS["html"])(report.table(), notes)
        return html

    def proto(self, *, repaired: bool = True) -> Any:  # noqa: ANN401 - a message has no type
        """The report as a GraphNodeProto (scope, graph) or MultiGraphNodeProto (op, code).

        Messages hold text: bytes of a name that are not UTF-8 are replaced, as in rows. With
        repaired=False, such a name raises protobuf's DecodeError.
        """
        if self.answer.counted.samples is not None:
            check_fleet_output(OUTPUTS["proto"], self.answer.counted.samples.statistic)
        return load_function(OBJECTS["message"])(self, repaired=repaired)

    def explain(self, row: Row | int, most: int = 20) -> ExplainReport:
        """Why the graph nodes of a row count what they count; of a scope, the nodes inside it."""
        from tfprof.explain import explain_nodes  # noqa: PLC0415 - as in Loaded
        from tfprof.results.explain_report import ExplainReport  # noqa: PLC0415

        at = whole_number("row", row.row if isinstance(row, Row) else row, least=0)
        if at >= len(self):
            raise UsageError(f"there is no row {at}: the report has {plural(len(self), 'row')}")
        profile, query = self.source or self.answer.profile, self.answer.query
        which: Which = "tensorflow" if query.flops == "tensorflow" else "all"
        if self.answer.counted.samples is not None:
            profile = replace(profile, steps=())  # a fleet does not hold single runs
        nodes, limit = self.answer.nodes_of(at), whole_number("most", most, least=1)
        return ExplainReport(explain_nodes(profile, nodes, query.dims, which, limit))

    def asked(self, **changes: Any) -> Report:  # noqa: ANN401 - fields of a Query
        """The answer to the same query with these changes."""
        profile = self.answer.profile if self.source is None else self.source
        query = replace(self.answer.query, **changes)
        samples = self.answer.counted.samples
        samples = samples and samples.asked(query)
        answer = answer_query(profile, self.view, query, samples)
        return Report(answer, self.checkpoint, self.source)

    def folded(self) -> Report:
        """The same with the frames of libraries folded, unless the query says otherwise."""
        frames = self.answer.query.frames
        can_fold = "frames" in self.answer.view.draw_options and frames == "auto"
        return self.asked(frames="fold") if can_fold else self

    def for_terminal(self) -> Report:
        """The same, folded, with each name on one line, so that one does not look like two."""
        report = self.folded()
        drawing = report.answer.drawing
        if not bool((drawing.label.blob == ord("\n")).any()):
            return report
        names = Strings.of(name.replace(b"\n", b"\\n") for name in drawing.label)
        counted = replace(report.answer.counted, drawing=replace(drawing, label=names))
        return replace(report, answer=replace(report.answer, counted=counted))

    @property
    def shown_checkpoint(self) -> Checkpoint | None:
        """The checkpoint, where its values are to be shown."""
        wanted = "tensor_value" in self.answer.query.select and not self.answer.view.groups
        return self.checkpoint if wanted else None

    def _missing_tensors(self) -> Iterator[Note]:
        """Tensors that the checkpoint lacks or that are huge, children before parents."""
        checkpoint = self.shown_checkpoint
        if checkpoint is None:
            return
        names = self.answer.label
        for row in self.answer.tree.post_order().tolist():
            name = names[row]
            if row == 0:
                continue
            if not checkpoint.has(name):
                shown = name.decode("utf-8", "surrogateescape")
                yield Note(f"Key {shown} not found in checkpoint")
            elif prod(checkpoint.shape(name)) > _HUGE_TENSOR:
                yield Note("Showing huge tensor, the tool might halt...")
