"""OUTPUTS: one row per output, with the functions that write it.

    tfprof scope graph.pbtxt --output=csv:outfile=rows.csv
                                      └┬┘         └───┬──┘
                              OUTPUTS["csv"]     Output.path

A writer takes one form of a result: its Table, or the report, advice or profile itself. A result
lists the forms it offers, and so the outputs that a command has follow from this table. `--output`,
`--format`, help, completion and `Report.pieces` are derived from it, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tfprof.errors import UsageError, check_known
from tfprof.foundation.arguments import expand_home
from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.tables.statistics import STATS, Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True)
class Output:
    """Where a result goes: a row of OUTPUTS and a file."""

    kind: str = "stdout"
    path: str | None = None

    @classmethod
    def of(cls, text: str) -> Output:
        """Parse KIND or KIND:outfile=PATH; empty text means stdout."""
        kind, _, rest = text.partition(":")
        kind = kind or "stdout"
        if not rest and kind not in OUTPUTS and {".", "/"} & set(kind):
            row = OUTPUTS.get(kind.rpartition(".")[2].lower(), OUTPUTS["file"])
            form = "file" if row.file == "never" else row.name
            hint = f"to write this file: --output={form}:outfile={kind}"
            raise UsageError(f"unknown output type {kind!r}; {hint}")
        check_known("unknown output type", kind, OUTPUTS)
        path = None
        for pair in filter(None, rest.split(",")):
            key, _, value = pair.partition("=")
            if key != "outfile" or OUTPUTS[kind].file == "never":
                raise UsageError(f"output {kind} takes no {key!r}")
            path = expand_home(value) or None
        if OUTPUTS[kind].file == "always" and path is None:
            raise UsageError(f"output {kind} needs a file, as in {kind}:outfile=PATH")
        return cls(kind, path)


@dataclass(frozen=True)
class OutputKind:
    """A row of the table. Writers are named by dotted path and imported when used."""

    name: str
    help: str
    file: Literal["never", "maybe", "always"]  # maybe: stdout unless a file is named
    writers: Mapping[str, str]  # form of a result → function that returns pieces of bytes
    names_files: bool = False  # the functions take (result, path) and return Files
    fitted: tuple[str, ...] = ()  # forms whose function takes (result, width of the screen or None)
    folds_frames: bool = False  # code view folds the frames of libraries by itself
    has_sentences: bool = True  # what it writes says what its numbers leave out
    for_reading: bool = False  # on a terminal, each name stays on one line
    of_fleets: Literal["all", "whole", "none"] = "all"  # whether it holds the numbers of a fleet
    not_for_lists: str = ""  # error where the rows of a view are one list; {view} is its name

    @property
    def form(self) -> str:
        """The name of the data it writes: stdout and file both hold text."""
        return "text" if self.for_reading else self.name

    @property
    def printed(self) -> bool:
        """Whether it is text on standard output."""
        return self.for_reading and self.file == "never"

    def writer(self, offers: Iterable[str]) -> tuple[str, Callable[..., Any]]:
        """The first form in *offers* that this output takes, and the function that writes it."""
        form = next(form for form in offers if form in self.writers)
        return form, load_function(self.writers[form])


_TEXT: Mapping[str, str] = {
    "report": "tfprof.writers.classic_text:report_text",
    "advice": "tfprof.writers.advice:text",
    "info": "tfprof.writers.info:info_text",
    "explanation": "tfprof.writers.explanation:text",
    "overview_text": "tfprof.writers.overview:text",
    "workers_text": "tfprof.writers.workers:text",
    "table": "tfprof.writers.table_text:table_text",
}

# fmt: off
OUTPUTS: dict[str, OutputKind] = {
    row.name: row
    for row in (
        OutputKind("stdout", "text on standard output", "never", _TEXT, for_reading=True,
                   fitted=("table", "workers_text")),
        OutputKind("file", "the same text in a file; of save and convert, the profile", "always",
                   {**_TEXT, "profile": "tfprof.writers.saved:saved",
                    "converted": "tfprof.writers.columnar:columnar",
                    "page": "tfprof.writers.page:page_file"}, for_reading=True),
        OutputKind("json", "rows and metadata as JSON", "maybe",
                   {"table": "tfprof.writers.json_table:json_table"}),
        OutputKind("csv", "rows as CSV", "maybe", {"table": "tfprof.writers.csv_table:csv_table"},
                   has_sentences=False),
        OutputKind("md", "rows as a Markdown table", "maybe",
                   {"table": "tfprof.writers.markdown_table:markdown_table"}),
        OutputKind("html", "rows as an HTML document", "maybe",
                   {"table": "tfprof.writers.html_table:html_page"}),
        OutputKind("table", "rows as a table with shares, fitted to the terminal", "maybe",
                   {"table": "tfprof.writers.table_text:table_text"}, fitted=("table",),
                   folds_frames=True),
        OutputKind(
            "timeline", "Chrome trace events, one file per step", "always",
            {"report": "tfprof.writers.timeline:timeline_files"}, names_files=True,
            of_fleets="none", has_sentences=False,
            not_for_lists="{view} view doesn't support timeline yet. "
                          "Consider graph/scope/code view.",
        ),
        OutputKind("pprof", "a profile for pprof", "always",
                   {"report": "tfprof.writers.pprof:pprof_file"}, names_files=True,
                   of_fleets="none", has_sentences=False),
        OutputKind("proto", "the message that the original returns", "always",
                   {"report": "tfprof.writers.proto:report_proto",
                    "advice": "tfprof.writers.advice:proto"}, of_fleets="whole",
                   has_sentences=False),
        OutputKind("junit", "JUnit XML, for reports of tests", "maybe",
                   {"check": "tfprof.writers.check:junit"}, has_sentences=False),
        OutputKind("github", "annotations of GitHub Actions", "maybe",
                   {"check": "tfprof.writers.check:github"}, has_sentences=False),
        OutputKind("none", "nothing; errors and notes still appear", "never",
                   {"result": "tfprof.results.result:no_pieces"}, has_sentences=False),
    )
}
# fmt: on

# Objects that Python code asks a result for. They are not outputs: nothing is written.
OBJECTS: dict[str, str] = {
    "pandas": "tfprof.writers.dataframes:to_pandas",
    "polars": "tfprof.writers.dataframes:to_polars",
    "arrow": "tfprof.writers.dataframes:to_arrow",
    "pandas of arrow": "tfprof.writers.dataframes:arrow_to_pandas",
    "polars of arrow": "tfprof.writers.dataframes:arrow_to_polars",
    "html": "tfprof.writers.html_table:html_table",
    "message": "tfprof.writers.proto:proto_message",
}


def kinds(offers: Iterable[str], *, is_list: bool = False) -> tuple[str, ...]:
    """The outputs of a result that offers these forms; *is_list* where a view has no tree."""
    forms = set(offers)
    return tuple(
        row.name
        for row in OUTPUTS.values()
        if forms & row.writers.keys() and not (is_list and row.not_for_lists)
    )


def check_output(command: str, output: Output, offers: Iterable[str], *, is_list: bool) -> None:
    """Raise UsageError unless *command*, whose result offers these forms, has this output."""
    row, known = OUTPUTS[output.kind], kinds(offers)
    if row.name not in known:
        if all(OUTPUTS[name].file == "always" for name in known):
            raise UsageError(f"{command} needs -o PATH or --output={known[0]}:outfile=PATH")
        raise UsageError(f"{command} has no output {row.name} (there are: {', '.join(known)})")
    if is_list and row.not_for_lists:
        raise UsageError(row.not_for_lists.format(view=command))


def check_fleet_output(row: OutputKind, stat: Statistic) -> None:
    """Raise UsageError for an output that cannot hold this statistic of a fleet."""
    if row.of_fleets == "none":
        raise UsageError(
            f"a fleet has no output {row.name}, which shows the executions of one worker: "
            "name the files of that worker instead"
        )
    if row.of_fleets == "whole" and not stat.whole:
        whole = ", ".join(each.name for each in STATS.values() if each.whole)
        raise UsageError(f"output {row.name} holds whole numbers only: use a stat of {whole}")


def row_of_form(form: str) -> OutputKind:
    """The row that writes "text", "json" or data of another name."""
    return next(row for row in OUTPUTS.values() if form in (row.form, row.name))


def formats(names: Iterable[str] = OUTPUTS) -> tuple[str, ...]:
    """The choices of --format among these outputs: what can go to standard output."""
    rows = map(OUTPUTS.__getitem__, names)
    return tuple(row.form for row in rows if row.file == "maybe" or row.printed)


def option_help(names: Iterable[str]) -> str:
    """The help of --output where there are only these outputs."""
    rows = [OUTPUTS[name] for name in names]
    bare = [row.name for row in rows if row.file == "never"]
    files = [row.name for row in rows if row.file != "never"]
    return f"{', '.join(bare)}{' or ' * bool(bare)}KIND:outfile=PATH; KIND: {', '.join(files)}"


def option_words(names: Iterable[str]) -> tuple[str, ...]:
    """What completes the value of --output where there are only these outputs."""
    rows = [OUTPUTS[name] for name in names]
    return (
        *(row.name for row in rows if row.file != "always"),
        *(f"{row.name}:outfile=" for row in rows if row.file != "never"),
    )
