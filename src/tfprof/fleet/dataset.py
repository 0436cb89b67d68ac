"""Dataset: a fleet that is read one part at a time.

    Dataset.open("fleet/").scan(["name", "micros"])  ─►  Batch, Batch, …   one per part
    .steps(["span_us"])                              ─►  one row per worker and step
    .graph(id)                                       ─►  Profile without steps

Every file is compared with its checksum in the manifest when it is read first.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from tfprof import read
from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.fleet import manifest as manifests
from tfprof.fleet.packages import need
from tfprof.fleet.parquet_sizes import declared_size, text_size
from tfprof.fleet.schema import DID_NOT_RUN, ROWS, STEPS, arrow_schema, checksum
from tfprof.fleet.storage import Storage
from tfprof.foundation.natural_order import natural
from tfprof.tables.limits import beyond, limit, unpacked_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tfprof.columns.strings import I64, U8, Bool
    from tfprof.fleet.manifest import Entry, Manifest
    from tfprof.fleet.schema import Kind, Table
    from tfprof.model import Profile

    Wanted = Callable[[str], bool]

_HEAD: Final = re.compile(rb'\s*\{\s*"format"\s*:\s*"' + manifests.KIND.encode() + rb'"')
_HEAD_BYTES: Final = 200


def is_fleet(path: str) -> bool:
    """Whether the local folder or URL *path* has the manifest of a fleet."""
    with suppress(FileNotFoundError, InputError):
        head = Storage.at(path).read(manifests.NAME, _HEAD_BYTES).tobytes()
        return bool(_HEAD.match(head))
    return False


def check_finished(storage: Storage) -> Literal[False]:
    """Raise InputError where a folder without manifest has parts; else it is no fleet."""
    names: list[str] = []
    with suppress(InputError):
        names = storage.names("steps")
    if names and all(map(manifests.FOLDERS["steps"].fullmatch, names)):
        with suppress(FileNotFoundError):
            storage.read(manifests.NAME)  # raises InputError where it is there and unreadable
        raise InputError(
            f"{storage.root} is an unfinished fleet; to finish it, gather again with --resume"
        )
    return False


class Dataset:
    """A fleet; nothing but the manifest is in memory."""

    def __init__(self, storage: Storage, manifest: Manifest) -> None:
        self.storage, self.manifest = storage, manifest
        self._files = manifest.files
        self._checked: set[str] = set()
        self._graphs: dict[str, Profile] = {}

    @classmethod
    def open(cls, path: str) -> Dataset:
        """The fleet in a local folder or at a URL; raises InputError."""
        storage = Storage.at(path)
        manifest = stored_manifest(storage)
        if manifest is None:
            check_finished(storage)
            raise InputError(f"{path} is not a fleet: it has no {manifests.NAME}")
        return cls(storage, manifest)

    @cached_property
    def workers(self) -> list[str]:
        """The names of the workers, in natural order."""
        return sorted(self.manifest.steps, key=natural)

    @cached_property
    def graph_ids(self) -> list[str]:
        """The graphs; those with most rows come first."""
        rows = dict.fromkeys(sorted(self.manifest.graphs), 0)
        for part in self.manifest.parts.values():
            for graph, count in part["graphs"].items():
                rows[graph] += count
        return sorted(rows, key=lambda graph: -rows[graph])

    def graph(self, graph: str) -> Profile:
        """A graph without steps."""
        if graph not in self._graphs:
            name = manifests.graph_names(graph)[0]
            source = self.storage.source(name, self._data(name))
            self._graphs[graph] = read.read_saved(source)
        return self._graphs[graph]

    def scan(
        self,
        columns: Sequence[str],
        workers: Wanted | None = None,
        step: int | None = None,
        *,
        check: bool = True,
    ) -> Iterator[Batch]:
        """The rows of these *workers* and this *step*, one part at a time.

        Worker and step are always among the *columns*. Without *check*, checksums are not compared.
        """
        names = list(dict.fromkeys(["worker", "step", *columns]))
        for key, part in self.manifest.parts.items():
            if not _concerns(part, workers, step):
                continue
            name = manifests.part_names(key)[0]
            table = self._table(name, ROWS, names, part["rows"], check=check)
            batch = Batch(table).only(workers, step)
            if batch.table.num_rows:
                yield batch

    def steps(self, columns: Sequence[str], workers: Wanted | None = None) -> Table:
        """One row per worker and step; worker and step are always among the *columns*."""
        names = list(dict.fromkeys(["worker", "step", *columns]))
        schema = arrow_schema({name: STEPS[name] for name in names})
        tables = [schema.empty_table()]
        for key, part in self.manifest.parts.items():
            if _concerns(part, workers, None):
                name, rows = manifests.part_names(key)[1], _steps_of(part)
                table = self._table(name, STEPS, names, rows)
                tables.append(Batch(table).only(workers, None).table.cast(schema))
        return need("pyarrow").concat_tables(tables).unify_dictionaries().combine_chunks()

    def check_files(self, names: Iterable[str]) -> None:
        """Raise InputError unless these files are those that the manifest names."""
        for name in names:
            if name not in self._checked:
                self._data(name)

    def _table(
        self,
        name: str,
        columns: Mapping[str, Kind],
        wanted: list[str],
        rows: int,
        *,
        check: bool = True,
    ) -> Table:
        """Columns of a Parquet file; raises InputError where it is damaged or another one."""
        arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
        if rows > limit("part_rows"):
            raise InputError(f"{self.storage.path(name)} has {rows:,} rows; {beyond('part_rows')}")
        data = self._data(name, check=check)
        try:
            texts = [each for each in wanted if columns[each] != "number"]
            # A text that a thousand rows have is stored once, and so it is in memory.
            source = arrow.BufferReader(arrow.py_buffer(data))
            file = parquet.ParquetFile(source, read_dictionary=texts)
            if file.metadata.num_rows != rows:
                raise self._damaged(name, f"it has {file.metadata.num_rows} rows, not {rows}")
            self._check_size(name, data, declared_size(file.metadata, wanted))
            table = file.read(columns=wanted, use_threads=False)
            table = table.select(wanted).unify_dictionaries().combine_chunks()
            if columns is STEPS:  # whose texts become one string per row
                self._check_size(name, data, sum(text_size(table[each]) for each in texts))
            schema = arrow_schema({each: columns[each] for each in wanted})
            table = table.cast(schema)
        except (arrow.ArrowException, OSError, KeyError, ValueError) as problem:
            raise self._damaged(name, f"it is not a table of a fleet ({problem})") from None
        if any(column.null_count for column in table.columns):
            raise self._damaged(name, "a value is missing")
        return table

    def _data(self, name: str, *, check: bool = True) -> U8:
        try:
            data = self.storage.read(name)
        except FileNotFoundError:
            raise InputError(
                f"{self.storage.path(name)} is missing; the manifest of its fleet names it"
            ) from None
        if check and name not in self._checked:
            if checksum(data) != self._files[name]:
                raise self._damaged(name, "its checksum is not that of the manifest")
            self._checked.add(name)
        return data

    def _check_size(self, name: str, data: U8, size: int) -> None:
        if size > unpacked_most(data.nbytes):
            raise InputError(
                f"{self.storage.path(name)} unpacks from {data.nbytes:,} to {size:,} bytes; "
                f"{beyond('unpack_ratio')}"
            )

    def _damaged(self, name: str, reason: str) -> InputError:
        return InputError(f"{self.storage.path(name)} is damaged: {' '.join(reason.split())}")


def stored_manifest(storage: Storage) -> Manifest | None:
    """The manifest of a dataset; None where there is none. Raises InputError."""
    try:
        data = storage.read(manifests.NAME).tobytes()
    except FileNotFoundError:
        return None
    return manifests.read_manifest(data, storage.path(manifests.NAME))


def _steps_of(part: Entry) -> int:
    return sum(len(steps) for _, steps in part["steps"])


def _concerns(part: Entry, workers: Wanted | None, step: int | None) -> bool:
    return any(
        (step is None or step in steps) and (workers is None or workers(worker))
        for worker, steps in part["steps"]
    )


class Batch:
    """Rows of one part, sorted by worker and step."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def numbers(self, name: str) -> I64:
        """A column of numbers."""
        column: I64 = self._column(name).to_numpy()
        return column

    def strings(self, name: str) -> tuple[I64, Strings]:
        """(number of each row's text, the texts)."""
        column = self._column(name)
        codes = column.indices.to_numpy().astype(np.int64)
        return codes, _strings(column.dictionary)

    def ran(self) -> Bool:
        """Which rows are of nodes with a record; it takes the column device."""
        device, devices = self.strings("device")
        did_run: Bool = device != int(devices.find(Strings.of([DID_NOT_RUN]))[0])
        return did_run

    def samples(self) -> Iterator[tuple[str, int, slice]]:
        """(worker, step, its rows), in the order of the rows."""
        (worker, names), step = self.strings("worker"), self.numbers("step")
        if not step.size:
            return
        starts = np.flatnonzero((np.diff(worker) != 0) | (np.diff(step) != 0)) + 1
        bounds = [0, *starts.tolist(), step.size]
        for first, last in pairwise(bounds):
            yield names[int(worker[first])].decode(), int(step[first]), slice(first, last)

    def only(self, workers: Wanted | None, step: int | None) -> Batch:
        """The rows of these workers and this step."""
        kept = np.ones(self.table.num_rows, np.bool_)
        if workers is not None:
            code, names = self.strings("worker")
            kept &= np.array([workers(name.decode()) for name in names], np.bool_)[code]
        if step is not None:
            kept &= self.numbers("step") == step
        return self if kept.all() else Batch(self.table.filter(need("pyarrow").array(kept)))

    def _column(self, name: str) -> Any:  # noqa: ANN401 - a pyarrow.Array
        return self.table[name].combine_chunks()


def _strings(array: Any) -> Strings:  # noqa: ANN401 - a pyarrow.StringArray
    _, offsets, text = array.buffers()
    if not len(array):
        return Strings.of([])
    bound = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    start = bound.astype(np.int64)
    blob = np.frombuffer(text, np.uint8) if text is not None else np.empty(0, np.uint8)
    return Strings(blob, start[:-1], np.diff(start))
