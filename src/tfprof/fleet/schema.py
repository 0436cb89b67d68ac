"""The Parquet files of a fleet: their columns, and tables of them as bytes.

    rows/<key>.parquet       ROWS    one row per worker, step, device and node, in this order
    steps/<key>.parquet      STEPS   one row per worker and step
    graphs/<graph>.parquet   NODES   one row per graph node

The same table always gives the same bytes. The last file of a part or of a graph is sealed: its
metadata holds what the manifest says of the part, so that a run that goes on after another one was
killed can use it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.fleet.json_forms import Damage, checked, compact
from tfprof.fleet.manifest import FORMAT
from tfprof.fleet.packages import need
from tfprof.tables.fields import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Kind = Literal["word", "text", "number"]  # a word is stored once and numbered
    Table = Any  # a pyarrow.Table

ROWS: Final[dict[str, Kind]] = {
    "worker": "word", "step": "number", "device": "word", "name": "word", "op": "word",
    "graph": "word", **dict.fromkeys(METRICS, "number"),
}  # fmt: skip
STEPS: Final[dict[str, Kind]] = {
    "worker": "word", "step": "number", "graph": "word", "span_us": "number", "micros": "number",
    "accelerator_micros": "number", "cpu_micros": "number", "executions": "number",
    "nodes": "number", "bytes": "number", "peak_bytes": "number", "source": "text",
    "version": "text",
}  # fmt: skip
NODES: Final[dict[str, Kind]] = {
    "graph": "word", "node": "number", "name": "text", "op": "word", "device": "word",
    "params": "number", "float_ops": "number", "shape": "text",
}  # fmt: skip

# In place of a device: of a node without a record that has float operations all the same.
DID_NOT_RUN: Final = b"did not run"
_VERSION_KEY, _SEAL = b"tfprof_fleet", b"tfprof_fleet_entry"
_GROUP_ROWS: Final = 1 << 20
_ZSTD_LEVEL: Final = 3


def plain(text: str | bytes) -> str:
    r"""*text* as Parquet stores it: a byte that is not UTF-8 becomes \xff."""
    raw = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    return raw.decode("utf-8", "backslashreplace")


def arrow_schema(columns: Mapping[str, Kind]) -> Any:  # noqa: ANN401 - a pyarrow.Schema
    """The schema of ROWS, STEPS or NODES."""
    arrow = need("pyarrow")
    words = arrow.dictionary(arrow.int32(), arrow.string())
    types = {"word": words, "text": arrow.string(), "number": arrow.int64()}
    fields = [arrow.field(name, types[kind], nullable=False) for name, kind in columns.items()]
    return arrow.schema(fields, metadata={_VERSION_KEY: str(FORMAT)})


def table_of(columns: Mapping[str, Kind], values: Mapping[str, Any]) -> Table:
    """A table of ROWS, STEPS or NODES from one array or list per column.

    A word is a list of texts, or (number of each row, texts): texts are str, bytes or Strings.
    """
    arrow = need("pyarrow")
    arrays = [_array(arrow, kind, values[name]) for name, kind in columns.items()]
    return arrow.Table.from_arrays(arrays, schema=arrow_schema(columns))


def _array(arrow: Any, kind: Kind, values: Any) -> Any:  # noqa: ANN401 - pyarrow's
    if kind == "number":
        return arrow.array(np.asarray(values, np.int64))
    if kind == "text":
        return arrow.array([plain(text) for text in values], arrow.string())
    codes, texts = values if isinstance(values, tuple) else _numbered(values)
    # Only the words in use, in order of appearance: the bytes do not depend on who numbered them.
    # Nothing is sorted but words: there are millions of rows. Of two writes the last one stays.
    first = np.full(len(texts), len(codes), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    used = np.flatnonzero(first < len(codes))
    used = used[np.argsort(first[used])]
    rank = np.zeros(len(texts), np.int32)
    rank[used] = np.arange(used.size)
    if isinstance(texts, Strings):
        words = texts.take(used).tolist()
    else:
        words = [texts[number] for number in used.tolist()]
    return arrow.DictionaryArray.from_arrays(
        arrow.array(rank[codes]),
        arrow.array([plain(word) for word in words], arrow.string()),
    )


def _numbered(texts: Iterable[str | bytes]) -> tuple[Any, Sequence[str | bytes]]:
    number: dict[str | bytes, int] = {}
    codes = [number.setdefault(text, len(number)) for text in texts]
    return np.array(codes, np.int64), list(number)


def parquet_bytes(
    table: Table,
    metadata: Mapping[bytes, bytes] | None = None,
    group_rows: int = _GROUP_ROWS,
) -> bytes:
    """The table as a Parquet file."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    sink = arrow.BufferOutputStream()
    parquet.write_table(
        table.replace_schema_metadata({**(table.schema.metadata or {}), **(metadata or {})}),
        sink,
        row_group_size=group_rows,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        # Of numbers as well: half the bytes of DELTA_BINARY_PACKED, and every reader knows it.
        use_dictionary=True,
        write_page_checksum=True,
    )
    return bytes(sink.getvalue())


def row_count(data: bytes) -> int:
    """How many rows a Parquet file has."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    return int(parquet.read_metadata(arrow.BufferReader(data)).num_rows)


def checksum(data: Any) -> dict[str, Any]:  # noqa: ANN401 - bytes, or an array of them
    """What the manifest says of a file with these bytes."""
    return {"bytes": memoryview(data).nbytes, "sha256": sha256(data).hexdigest()}


# --- the files of a part and of a graph -----------------------------------------------------------


def sealed(table: Table, entry: Mapping[str, Any]) -> bytes:
    """The table as a Parquet file that holds the *entry* as well."""
    return _sealed(table, compact(entry).encode())


def _sealed(table: Table, text: bytes) -> bytes:
    return parquet_bytes(table, {_SEAL: text}, group_rows=max(table.num_rows, 1))


def unsealed(data: Any, form: Mapping[str, Any]) -> dict[str, Any] | None:  # noqa: ANN401 - bytes
    """The entry of this *form* in a sealed Parquet file; None where the file is damaged."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    try:
        table = parquet.ParquetFile(arrow.BufferReader(arrow.py_buffer(data))).read()
        text = (table.schema.metadata or {}).get(_SEAL, b"")
        # The same table gives the same bytes, so another bit anywhere is found.
        if _sealed(table, text) == memoryview(data):
            entry: dict[str, Any] = checked(form, json.loads(text))
            return entry
    except (arrow.ArrowException, OSError, ValueError, RecursionError, Damage):
        pass
    return None


def part_files(
    rows: Table, steps: Table, skipped: Sequence[Mapping[str, Any]] = (), notes: Sequence[str] = ()
) -> tuple[bytes, bytes, dict[str, Any]]:
    """(rows file, steps file, entry) of a part; what was skipped and noted stays with it.

    The entry says how many rows the part has, in which graphs, and which steps of which workers.
    """
    graphs = rows["graph"].value_counts().to_pylist()
    of_worker: dict[str, list[int]] = {}
    for worker, step in zip(steps["worker"].to_pylist(), steps["step"].to_pylist(), strict=True):
        of_worker.setdefault(worker, []).append(step)
    data = parquet_bytes(rows)
    entry = {
        "rows": rows.num_rows,
        "graphs": {each["values"]: each["counts"] for each in graphs},
        "steps": [[worker, numbers] for worker, numbers in of_worker.items()],
        "skipped": [dict(each) for each in skipped],
        "notes": list(notes),
        "first_file": checksum(data),
    }
    return data, sealed(steps, entry), entry


def graph_files(profile: bytes, nodes: Table) -> tuple[bytes, bytes]:
    """(profile, file of nodes) of a graph."""
    return profile, sealed(nodes, {"nodes": nodes.num_rows, "first_file": checksum(profile)})
