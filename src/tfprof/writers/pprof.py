"""pprof: a report as a profile for pprof, the viewer of call graphs and flame graphs.

    pprof -top -sample_index=micros FILE        what takes most
    pprof -http=: FILE                          the same as a graph and as flames

Code view with one metric is written as the original writes it, byte for byte before compression.
Any other view, and any number of metrics, is one file too: see `pprof_samples`.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from tfprof.errors import NoNumbersError
from tfprof.results.result import File
from tfprof.writers.pprof_classic import classic
from tfprof.writers.pprof_samples import samples
from tfprof.writers.pprof_tables import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.query.counted import Answer
    from tfprof.results.report import Report

# A gzip header and trailer around zlib's widest window.
_GZIP = 31
_QUICK = 2  # the lowest level with the header that the original writes


def pprof(answer: Answer) -> Iterator[bytes]:
    """The file in pieces; raises NoNumbersError right away where no metric is selected."""
    kinds = [KINDS[name] for name in answer.query.select if name in KINDS]
    if not kinds:
        selected = ",".join(answer.query.select) or "nothing"
        raise NoNumbersError(
            f"pprof has no numbers for select {selected}: it takes one or more of "
            f"{', '.join(KINDS)}"
        )
    if answer.view.name == "code" and len(kinds) == 1:
        return _gzipped(classic(answer, kinds[0]))
    return _gzipped(samples(answer, kinds))


def pprof_file(report: Report, path: str) -> list[File]:
    """The file of *report*, and what the original prints once it is written."""
    return [File(path, report, pprof(report.answer), hint(path))]


def hint(path: str) -> str:
    """What the original prints once the file at *path* is written."""
    return f"\nRun pprof -png --nodecount=100 --sample_index=1 <{path}>\n"


def _gzipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """*pieces* as a gzip file without name or time, so that equal reports make equal files.

    Most of the time is spent here, so the packing is quick.
    """
    compressor = zlib.compressobj(_QUICK, zlib.DEFLATED, _GZIP)
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()
