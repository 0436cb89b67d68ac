"""Report: an answer in all its forms — rows, tables, text, messages, a picture in a notebook.

    report = tfprof.load("graph.pbtxt").scope(select=["params"])
    print(report)             the text, as the command prints it
    for row in report: …      tuples with names: row.name, row.total_params
    report.to_pandas()        a table of another library

Making one writes and prints nothing. Numbers are whole; the text gives them units.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.model import Note
from tfprof.results import dataframes as frames
from tfprof.wire.schema import message
from tfprof.writers.text import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from google.protobuf.message import Message

    from tfprof.ops.counting import Counts
    from tfprof.query.counted import Answer
    from tfprof.read.checkpoint import Checkpoint
    from tfprof.read.checkpoint.tensors import Tensor
    from tfprof.writers.row_tuples import Row
    from tfprof.writers.rows import Column, Kind

_HUGE_TENSOR = 100_000
# Messages inside one another that protobuf reads; it refuses at 100, and a row's shapes are some.
_PROTOBUF_DEPTH = 90


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """The displayed rows of a view, and every form they can be had in.

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

    # --- rows ----------------------------------------------------------------------------------

    @property
    def view(self) -> str:
        """The name of the view."""
        return self.answer.view.name

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: where a row stands, and what was selected."""
        return tuple(column.name for column in self._columns)

    @cached_property
    def rows(self) -> list[Row]:
        """The rows, in order, as tuples whose items have the names of the columns."""
        from tfprof.writers.row_tuples import row_class  # noqa: PLC0415 - as the forms below

        make = row_class(self.columns)._make
        return list(map(make, zip(*self.to_dict().values(), strict=True)))

    def __len__(self) -> int:
        return len(self.answer)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """The values of each column."""
        return {column.name: _values(column, len(self)) for column in self._columns}

    def to_pandas(self) -> Any:  # noqa: ANN401 - a pandas.DataFrame, which we do not depend on
        """The rows as a pandas.DataFrame."""
        return frames.to_pandas(self.to_dict(), self._kinds)

    def to_polars(self) -> Any:  # noqa: ANN401
        """The rows as a polars.DataFrame."""
        return frames.to_polars(self.to_dict(), self._kinds)

    def to_arrow(self) -> Any:  # noqa: ANN401
        """The rows as a pyarrow.Table."""
        return frames.to_arrow(self.to_dict(), self._kinds)

    # --- what the rows do not tell -------------------------------------------------------------

    @property
    def flops(self) -> Counts | None:
        """What float_ops counts and what not; None where it is not asked for, or as logged."""
        return self.answer.flops

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was missing, skipped or repaired, of the profile and of this report."""
        return (*self.answer.profile.notes, *self.told)

    @cached_property
    def told(self) -> tuple[Note, ...]:
        """What there is to say of this report alone."""
        counted = () if self.flops is None else (Note(str(self.flops)),)
        return (*self.answer.notes, *counted, *self._missing_tensors())

    # --- forms ---------------------------------------------------------------------------------

    def text(self) -> str:
        """The report as the command prints it; below it, what float_ops does not count.

        Bytes of names that are no UTF-8 are escaped, so that it can be printed anywhere.
        """
        told = b"".join(self.pieces("text"))
        if self.flops is not None:
            told += f"\n{self.flops}\n".encode("utf-8", "surrogateescape")
        return told.decode("utf-8", "backslashreplace")

    __str__ = text

    def __repr__(self) -> str:
        return f"<Report of {self.view} view: {len(self):,} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from tfprof.writers.html_table import html_table  # noqa: PLC0415

        told = (str(note).encode("utf-8", "surrogateescape") for note in self.told)
        return html_table(self.answer, [note.decode("utf-8", "replace") for note in told])

    def proto(self, *, repaired: bool = True) -> Any:  # noqa: ANN401 - a message has no type
        """The report as a GraphNodeProto (scope, graph) or MultiGraphNodeProto (op, code).

        A message holds text alone: bytes of a name that are no UTF-8 are replaced, as in rows.
        Not *repaired*, such a name raises protobuf's DecodeError.
        """
        from google.protobuf.message import DecodeError  # noqa: PLC0415 - loaded with the schema

        try:
            return self._message(repaired=False)
        except DecodeError:
            if not repaired:
                raise
        return self._message(repaired=True)

    def pieces(self, form: str) -> Iterable[bytes]:
        """The report in one of FORMS, piece by piece."""
        return FORMS[form](self)

    # --- inside --------------------------------------------------------------------------------

    def _message(self, *, repaired: bool) -> Message:
        from tfprof.writers.proto import message_name, proto, rows  # noqa: PLC0415

        kind = message(f"tensorflow.tfprof.{message_name(self.answer)}")
        if int(self.answer.tree.depth.max()) < _PROTOBUF_DEPTH:
            return kind.FromString(proto(self.answer, self._tensors(), repaired=repaired))
        own = rows(self.answer, self._tensors(), repaired=repaired)
        return _nested(kind, self.answer.tree.parent.tolist(), own)

    @cached_property
    def _columns(self) -> list[Column]:
        from tfprof.writers.rows import columns  # noqa: PLC0415 - as the forms below

        return columns(self.answer)

    @property
    def _kinds(self) -> dict[str, Kind]:
        return {column.name: column.kind for column in self._columns}

    @property
    def _wanted(self) -> Checkpoint | None:
        """The checkpoint, where values of it are to be shown."""
        wanted = "tensor_value" in self.answer.query.select and not self.answer.view.groups
        return self.checkpoint if wanted else None

    def _missing_tensors(self) -> Iterator[Note]:
        """What is missing in the checkpoint or huge, children before parents."""
        checkpoint = self._wanted
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

    def _tensors(self) -> dict[int, bytes] | None:
        """The tensor of each row that has one, as a message."""
        checkpoint = self._wanted
        if checkpoint is None:
            return None
        return {
            row: _tensor_proto(checkpoint.tensor(name))
            for row, name in enumerate(self.answer.label)
            if row and checkpoint.has(name)
        }


def _values(column: Column, count: int) -> list[Any]:
    values = column.values(slice(0, count))
    if column.kind == "groups":
        return [[group._asdict() for group in groups] for groups in values]
    return values


def _nested(kind: type[Message], parents: list[int], own: Iterable[bytes]) -> Message:
    """Messages inside one another, made row by row: at any depth, but slower than read at once."""
    made: list[Any] = []
    for parent, fields in zip(parents, own, strict=True):
        made.append(made[parent].children.add() if made else kind())
        made[-1].MergeFromString(fields)
    root: Message = made[0]
    return root


def _tensor_proto(tensor: Tensor) -> bytes:
    made: Any = message("tensorflow.tfprof.TFProfTensorProto")(dtype=tensor.dtype)
    from tfprof.writers.tensor_values import proto_values  # noqa: PLC0415

    name, values = proto_values(tensor)
    getattr(made, name).extend(values)
    return bytes(made.SerializeToString())


# --- the forms: a report, in pieces ------------------------------------------------------------
# Each is imported when it is asked for; a plain report does not pay for the others.


def _text(report: Report) -> Iterable[bytes]:
    checkpoint = report._wanted  # noqa: SLF001 - a part of the class, kept out of its public face
    if checkpoint is None:
        return text(report.answer)
    from tfprof.writers.tensor_values import value_text  # noqa: PLC0415

    return text(
        report.answer,
        lambda name: value_text(checkpoint.tensor(name)) if checkpoint.has(name) else "",
    )


def _json(report: Report) -> Iterable[bytes]:
    from tfprof.writers.json_report import json_report  # noqa: PLC0415

    return json_report(report.answer, report.notes)


def _csv(report: Report) -> Iterable[bytes]:
    from tfprof.writers.csv_report import csv_report  # noqa: PLC0415

    return csv_report(report.answer)


def _md(report: Report) -> Iterable[bytes]:
    from tfprof.writers.md_report import md_report  # noqa: PLC0415

    return md_report(report.answer)


def _proto(report: Report) -> Iterable[bytes]:
    from tfprof.writers.proto import pieces  # noqa: PLC0415

    return pieces(report.answer, report._tensors())  # noqa: SLF001 - as above


def _pprof(report: Report) -> Iterable[bytes]:
    from tfprof.writers.pprof import pprof  # noqa: PLC0415

    return pprof(report.answer)


FORMS: dict[str, Callable[[Report], Iterable[bytes]]] = {
    "text": _text,
    "json": _json,
    "csv": _csv,
    "md": _md,
    "proto": _proto,
    "pprof": _pprof,
}
