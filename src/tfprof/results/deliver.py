"""deliver: write a result where an output says, and return what there is to show.

    deliver(report, Output("csv", "rows.csv"), loaded.inputs)  ─►  Outcome
            │       │                          └ files that are never overwritten
            │       └ a row of OUTPUTS, which names the writer, and a file
            └ Report, SummaryReport, AdviceReport or ProfileFile

Writers know nothing of files; this is where their bytes find one.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from tfprof.console.outcome import Outcome
from tfprof.io.write_files import write_file
from tfprof.tables.outputs import OUTPUTS, Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.model import Note
    from tfprof.results.result import Result


def deliver(
    result: Result, output: Output, inputs: Sequence[str] = (), *, to_terminal: bool = False
) -> Outcome:
    """Write *result*, but never over one of *inputs*; raises TfprofError.

    *to_terminal* says whether standard output is a terminal.
    """
    row = OUTPUTS[output.kind]
    if output.path is None:
        if row.for_reading and to_terminal:
            result = result.for_terminal()
        files = result.files(row, "")
        return Outcome(chain.from_iterable(file.pieces for file in files), result.own_notes)
    messages = b""
    notes: list[Note] = []
    written = []
    for file in result.files(row, output.path):
        notes += file.result.own_notes
        write_file(file.path, file.pieces, inputs)
        messages += file.message.encode("utf-8", "surrogateescape")
        written.append(file.path)
    return Outcome([messages] if messages else (), notes, written)
