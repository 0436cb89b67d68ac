"""The `page` command: a page in a file, or served to the browser of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.cli.diff import load_side, notes_of_sides
from tfprof.cli.fleet_inputs import names_fleet
from tfprof.cli.overview import naming
from tfprof.cli.result_commands import loading_notes
from tfprof.console.detached import run_detached
from tfprof.console.outcome import Outcome
from tfprof.console.progress import Progress
from tfprof.console.stdio import print_notes
from tfprof.errors import UsageError
from tfprof.foundation import after_answer
from tfprof.foundation.arguments import magnitude
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io.open_files import InputFile
from tfprof.query.query import Query
from tfprof.results.loaded import Loaded
from tfprof.results.page_report import file_name
from tfprof.results.result import deliver, with_loading_notes
from tfprof.tables.command_options import (
    BASE,
    NO_OPEN,
    OUTFILE,
    PEAK_BANDWIDTH,
    PEAK_FLOPS,
    PORT,
    SOURCE,
)
from tfprof.tables.formats import INPUTS
from tfprof.tables.outputs import Output

if TYPE_CHECKING:
    from tfprof.cli.page_server import ServedPage
    from tfprof.cli.request import Request
    from tfprof.results.page_report import PageReport

_PORTS: Final = range(1024, 65536)  # lower ones need rights, and browsers leave out 80


def run_page(request: Request) -> Outcome:
    """Write the page of the loaded files to -o PATH, or serve it until Ctrl-C."""
    options = request.options
    dims = Query.of(request.query_options).dims
    peaks = {
        name: magnitude(f"--{row.name}", text)
        for name, row in (("flops", PEAK_FLOPS), ("bandwidth", PEAK_BANDWIDTH))
        if (text := options.get(row.name))
    }
    path = options.get(OUTFILE.name)
    if path == "":
        raise UsageError("page needs a path behind -o; without -o it opens your browser")
    port = options.get(PORT.name, PORT.default)
    if port != PORT.default and port not in _PORTS:
        raise UsageError(f"--port takes 0 or a number from 1024 to 65535, not {port}")
    loaded = request.load(request)
    loading = [] if request.shell else loading_notes(loaded)
    source = options.get(SOURCE.name) != "off"
    names = tuple(options.get(BASE.name) or ())
    if names and (not isinstance(loaded, Loaded) or any(map(names_fleet, names))):
        raise UsageError(f"a page compares no fleets: leave out --{BASE.name}")
    more = {}
    if names:
        more["base"] = load_side(request, names)
        loading = [] if request.shell else [*notes_of_sides(more["base"], loaded)]
    report = loaded.page(source=source, dims=dims, **more)
    report = replace(report, peaks=peaks, source_off="--source=off")
    if names:
        report = replace(report, base_names=names if source else tuple(map(file_name, names)))
    if not request.shell:
        report = replace(report, naming=naming(request if source else _without_folders(request)))
    if path is None:
        from tfprof.cli.page_server import serve_page  # noqa: PLC0415 - a file needs none

        report = replace(report, is_served=True)
        print_notes([*loading, *report.own_notes])
        page = _served(report)
        run_detached(after_answer.take(), caller_stays=True)
        del loaded, report, more  # of a million nodes, they take a gigabyte
        serve_page(page, port=port, open_browser=not options.get(NO_OPEN.name))
        return Outcome()
    with Progress() as progress:
        progress("drawing the page")
        output = Output("file", path)
        outcome = deliver(report, output, report.inputs)
    return with_loading_notes(outcome, report, loading, output)


def _without_folders(request: Request) -> Request:
    """The same with file names instead of paths, so that the page names no folder."""
    options = dict(request.options)
    for name in INPUTS:
        if isinstance(value := options.get(name) or (), str):
            options[name] = _short(value)
        else:
            options[name] = tuple(map(_short, value))
    return replace(request, words=[file_name(word) for word in request.words], options=options)


def _short(path: str) -> str:
    """*path* without folders; one that the user did not type is named by the words."""
    return path if isinstance(path, InputFile) else file_name(path)


def _served(report: PageReport) -> ServedPage:
    from tfprof.cli.page_server import ServedPage  # noqa: PLC0415 - a file needs none
    from tfprof.writers.page import served_page  # noqa: PLC0415

    with Progress() as progress:
        progress("drawing the page")
        return ServedPage(*served_page(report))
