"""ARROW_TABLES: a fleet as Arrow, one row per table. SQL knows them by the same names.

    rows     one row per worker, step, device and node     ┐ datasets over the Parquet files that
    steps    one row per worker and step                   │ the manifest names
    nodes    one row per graph and node                    ┘
    skipped  one row per file that was not used            a table, from the manifest

A dataset reads when it is scanned, batch by batch, so its rows may be larger than memory. Damage is
an error, not another number: local files are compared with their checksums first, and of remote
ones, which are not fetched twice, those of the pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError, check_known
from tfprof.fleet.manifest import graph_names, part_names
from tfprof.fleet.packages import need
from tfprof.fleet.schema import NODES, ROWS, STEPS, arrow_schema
from tfprof.fleet.storage import is_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tfprof.fleet.dataset import Dataset
    from tfprof.fleet.schema import Kind

    Wanted = Callable[[str], bool] | None  # which workers; None: all
    Arrow = Any  # a pyarrow.dataset.Dataset or a pyarrow.Table

_SKIPPED: Final = ("path", "worker", "step", "reason", "kind")


def arrow_table(dataset: Dataset, name: str, wanted: Wanted = None) -> Arrow:
    """A table of the fleet, without the rows of workers that are not *wanted*."""
    check_known("a fleet has no table", name, ARROW_TABLES)
    table = ARROW_TABLES[name](dataset)
    if wanted is None or "worker" not in table.schema.names:
        return table
    workers = [worker for worker in dataset.workers if wanted(worker)]
    return table.filter(need("pyarrow.compute").field("worker").isin(workers))


def _rows(dataset: Dataset) -> Arrow:
    return _parquet(dataset, ROWS, (part_names(key)[0] for key in dataset.manifest.parts))


def _steps(dataset: Dataset) -> Arrow:
    return _parquet(dataset, STEPS, (part_names(key)[1] for key in dataset.manifest.parts))


def _nodes(dataset: Dataset) -> Arrow:
    return _parquet(dataset, NODES, (graph_names(graph)[1] for graph in dataset.manifest.graphs))


def _skipped(dataset: Dataset) -> Arrow:
    arrow = need("pyarrow")
    types = {name: arrow.int64() if name == "step" else arrow.string() for name in _SKIPPED}
    entries = [{name: entry.get(name) for name in _SKIPPED} for entry in dataset.manifest.skipped]
    return arrow.Table.from_pylist(entries, arrow.schema(list(types.items())))


def _parquet(dataset: Dataset, columns: Mapping[str, Kind], names: Iterable[str]) -> Arrow:
    """The Parquet files of these *names* as one dataset; nothing is read yet."""
    datasets, schema = need("pyarrow.dataset"), arrow_schema(columns)
    options = datasets.ParquetFragmentScanOptions(page_checksum_verification=True)
    # Also where the file does not say that a word is stored once, it is so in memory.
    words = [name for name, kind in columns.items() if kind == "word"]
    parquet = datasets.ParquetFileFormat(
        datasets.ParquetReadOptions(dictionary_columns=words),
        default_fragment_scan_options=options,
    )
    files, folder = dataset.storage.filesystem()
    names = [*names]
    if not is_url(dataset.storage.root):
        dataset.check_files(names)
    paths = [f"{folder}/{name}" for name in names]
    try:
        if not paths:
            return schema.empty_table()
        return datasets.dataset(paths, schema, format=parquet, filesystem=files)
    except FileNotFoundError as problem:
        raise InputError(f"{problem} is missing; the manifest of its fleet names it") from None


ARROW_TABLES: Final[dict[str, Callable[[Dataset], Arrow]]] = {
    "rows": _rows,
    "steps": _steps,
    "nodes": _nodes,
    "skipped": _skipped,
}
