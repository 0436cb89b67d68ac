"""Result: what every command makes, the forms that writers take of it, and its delivery.

    Report         report, table, result        a view
    SummaryReport  table, result                a model by layer
    OverviewReport overview_text, table, result one screen about a model and its steps
    AdviceReport   advice, table, result        what the checkers find
    ExplainReport  explanation, table, result   why nodes count what they count
    InfoReport     info, table, result          what files are
    WorkersReport  workers_text, table, result  the workers of a fleet
    CheckReport    check, table, result         the bounds of a budget
    DiffReport     table, result                what changed; likewise SummaryDiffReport
    ProfileFile    profile or converted         the profile itself
    PageReport     page                         the profile as a page to look at

A Result knows no writer: tables/outputs.py names the one for each output and each form. Writers
know nothing of files; deliver() is where their bytes find one.

    deliver(report, Output("csv", "rows.csv"), loaded.inputs)  ─►  Outcome
                    │                          └ files that are never overwritten
                    └ a row of OUTPUTS, which names the writer, and a file
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from tfprof.console.outcome import Outcome
from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.io.write_files import write_file
from tfprof.model import Note
from tfprof.tables.outputs import OBJECTS, OUTPUTS, Output, row_of_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfprof.model import Profile
    from tfprof.results.table import Table
    from tfprof.tables.outputs import OutputKind


class File(NamedTuple):
    """A file to write, the result it shows, and what to print once it is written."""

    path: str
    result: Result
    pieces: Iterable[bytes]
    message: str = ""


class Result:
    """What outputs are written from; a class below it says which forms it offers."""

    offers: tuple[str, ...] = ("table", "result")

    def make_table(self) -> Table:
        """The rows as typed columns, with all that data formats say about them."""
        raise NotImplementedError

    def table(self) -> Table:
        """The table, made once."""
        return self._table

    @cached_property
    def _table(self) -> Table:
        return self.make_table()

    def take(self, form: str) -> object:
        """What a writer of *form* takes: the table, the attribute called *form*, or the result."""
        return self.table() if form == "table" else getattr(self, form, self)

    @property
    def own_notes(self) -> tuple[Note, ...]:
        """Notes about this result alone, not about the profile."""
        return ()

    @property
    def coverage(self) -> tuple[Note, ...]:
        """What the numbers leave out, among `own_notes`: it is printed before all other notes."""
        return ()

    def for_terminal(self) -> Result:
        """The same with each name on one line."""
        return self

    def folded(self) -> Result:
        """The same with the frames of libraries folded, if it has any."""
        return self

    def pieces(self, form: str) -> Iterable[bytes]:
        """The bytes of an output of OUTPUTS ("text", "json", …), in pieces."""
        return chain.from_iterable(file.pieces for file in self.files(row_of_form(form), ""))

    def files(self, row: OutputKind, path: str, width: int | None = None) -> Iterable[File]:
        """The files that an output writes at *path*; *width* is that of the screen, if any."""
        form, write = row.writer(self.offers)
        source = self.take(form)
        if row.names_files:
            files: Iterable[File] = write(source, path)
            return files
        fitting = (width,) if form in row.fitted else ()
        return [File(path, self, write(source, *fitting))]

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, in order, as dictionaries."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def text(self) -> str:
        """The result as its command prints it; bytes of names that are not UTF-8 are escaped."""
        return b"".join(self.pieces("text")).decode("utf-8", "backslashreplace")

    def __str__(self) -> str:
        return self.text()

    def to_dict(self) -> dict[str, list[Any]]:
        """The values of each column."""
        return self.table().to_dict()

    def to_pandas(self) -> Any:  # noqa: ANN401 - a pandas.DataFrame, which we do not depend on
        """The rows as a pandas.DataFrame."""
        return load_function(OBJECTS["pandas"])(self.table())

    def to_polars(self) -> Any:  # noqa: ANN401
        """The rows as a polars.DataFrame."""
        return load_function(OBJECTS["polars"])(self.table())

    def to_arrow(self) -> Any:  # noqa: ANN401
        """The rows as a pyarrow.Table."""
        return load_function(OBJECTS["arrow"])(self.table())


def no_pieces(result: Result) -> Iterable[bytes]:
    """The writer of the output `none`."""
    del result
    return ()


class SharedFile(Result):
    """A profile in a file that people share; it notes what the file says about the machine."""

    profile: Profile
    source_off: str  # how to leave out source text and absolute paths
    name: str

    def files(self, row: OutputKind, path: str, width: int | None = None) -> Iterable[File]:
        """The file, which its notes name."""
        named = replace(self, name=path)  # type: ignore[type-var]  # the classes below are
        return [file._replace(result=named) for file in super().files(row, path, width)]

    @property
    def embedded(self) -> str:
        """What the file says about the machine that the program ran on, as a phrase."""
        from tfprof.read.without_source import embedded  # noqa: PLC0415 - views need no such thing

        return embedded(self.profile.stacks)

    @property
    def own_notes(self) -> tuple[Note, ...]:
        """What the file says about that machine."""
        from tfprof.foundation.stack_files import embeds  # noqa: PLC0415 - as above

        what = self.embedded
        return (Note(embeds(self.name, what, self.source_off)),) if what else ()


@dataclass(frozen=True, eq=False)
class ProfileFile(SharedFile):
    """The profile as one file: "profile" is the original's format, "converted" our fast one."""

    profile: Profile
    offers: tuple[str, ...] = ("profile",)
    source_off: str = "--source=off"
    name: str = "the file"

    def take(self, form: str) -> Profile:
        """The profile, in whichever format."""
        del form
        return self.profile


def with_loading_notes(
    outcome: Outcome, result: Result, loading: Iterable[Note], output: Output
) -> Outcome:
    """*outcome* with the notes on what was read, behind what its numbers leave out."""
    others = [note for note in outcome.notes if note not in result.coverage]
    said = getattr(result, "sentences", ()) if OUTPUTS[output.kind].has_sentences else ()
    loading = [note for note in loading if not note.caveat or str(note) not in said]
    return replace(outcome, notes=[*result.coverage, *loading, *others])


def deliver(
    result: Result,
    output: Output,
    inputs: Sequence[str] = (),
    *,
    columns: int | None = None,
    passing: Callable[[Iterable[bytes]], Iterable[bytes]] | None = None,
) -> Outcome:
    """Write *result*, but never over one of *inputs*; *columns*: of a terminal that is stdout.

    The bytes go through *passing*, those of one file after the other.
    """
    passing = passing or iter
    row = OUTPUTS[output.kind]
    result = result.folded() if row.folds_frames else result
    if output.path is None:
        if row.printed and columns is not None:
            result = result.for_terminal()
        files = result.files(row, "", columns)
        pieces = chain.from_iterable(file.pieces for file in files)
        return Outcome(passing(pieces), result.own_notes)
    messages = b""
    notes: list[Note] = []
    written = []
    for file in result.files(row, output.path):
        notes += file.result.own_notes
        write_file(file.path, passing(file.pieces), inputs)
        messages += file.message.encode("utf-8", "surrogateescape")
        written.append(file.path)
    return Outcome([messages] if messages else (), notes, written)
