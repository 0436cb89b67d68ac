"""The `info` command: describes each file by the `describe` function of its format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cli.fleet_inputs import names_fleet
from tfprof.console.stdio import print_error, stdout_columns
from tfprof.errors import InputError, UnsupportedError, UsageError
from tfprof.fleet.describe import describe_fleet
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io import find_inputs
from tfprof.io.beside import beside_graph, notes_beside
from tfprof.io.open_files import ArchiveSource, InputFile, checkpoint_files, open_source
from tfprof.results.info_report import FileFacts, FleetFacts, InfoReport
from tfprof.results.result import deliver
from tfprof.tables.formats import DEBUG_INFO, FORMATS, HUB_MODULE, NOTES
from tfprof.tables.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.cli.request import Request
    from tfprof.console.outcome import Outcome
    from tfprof.read.describe import Description


def run_info(request: Request) -> Outcome:
    """What files are; an error where tfprof recognises none of them."""
    paths: Sequence[str] = list(dict.fromkeys([*request.words, *request.input_paths]))
    if not paths and request.shell:
        paths = request.load(request).inputs
    if not paths:
        raise UsageError("info needs files or folders, as in: tfprof info .")
    report, problems = info(paths)
    for problem in problems if report.described else problems[:-1]:
        print_error(problem)
    if not report.described:
        raise InputError(problems[-1])
    output = Output.of(request.options.get("output", ""))
    inputs = [path for file in report.inputs for path in (file.path, *checkpoint_files(file.path))]
    outcome = deliver(report, output, inputs, columns=stdout_columns())
    fleets = {fleet.path for fleet in report.fleets}
    missing = any(path not in fleets and not find_inputs.exists(path) for path in paths)
    return replace(outcome, exit_code=InputError.exit_code if missing else 0)


def info(paths: Sequence[str]) -> tuple[InfoReport, list[str]]:
    """(what the files and folders at *paths* are, an error per bad file)."""
    files: list[FileFacts] = []
    others: list[str] = []
    unread: list[UnsupportedError] = []
    problems: list[str] = []
    fleets: list[FleetFacts] = []
    for path in paths:
        try:
            if names_fleet(path):
                fleets.append(FleetFacts(path, *describe_fleet(path)))
                continue
            for file in (
                find_inputs.detect_files(path)
                if find_inputs.is_folder(path)
                else [find_inputs.detect_file(path)]
            ):
                if isinstance(file, UnsupportedError):
                    unread.append(file)
                    continue
                if not isinstance(file, InputFile):
                    others.append(file)
                    continue
                try:
                    files.append(_described(file))
                except InputError as problem:
                    problems.append(str(problem))
        except InputError as problem:
            problems.append(str(problem))
    return InfoReport(files, others, unread, fleets), problems


def _described(file: InputFile) -> FileFacts:
    row = file.file_format
    opened = file.open()
    description: Description = row.describe(opened)
    facts, gives = dict(description.facts), set(row.gives) - description.lacks
    if isinstance(opened, ArchiveSource):
        row = replace(row, title=f"{row.title} in an archive")
        facts["member"] = f"its name there: {opened.member}"
    if beside_graph(HUB_MODULE, file, opened) is not None:
        row = replace(row, title=f"{row.title}, {HUB_MODULE.title}")
    if beside_graph(DEBUG_INFO, file, opened) is not None:
        facts["stacks"] = "beside it"
        gives.add("stacks")
    if (notes := notes_beside(file)) is not None:
        facts["notes"] = FORMATS["notes"].read(open_source(notes, NOTES.title))
    return FileFacts(str(file), row, facts, gives, description.variables, description.flags)
