"""A Table as JSON, one row per line; docs/json.md describes every field of a report.

{"schema": "tfprof.report/1",
"view": "scope",
…
"rows": [
{"row": 0, "parent": null, "depth": 1, "name": "_TFProfRoot", "accounted": false, …},
{"row": 1, "parent": 0, "depth": 2, "name": "w", "accounted": true, …}
],
"truncated": {"hidden_rows": 0, "reasons": {}},
"notes": []
}

Members always stand in this order. Rows are written by columns, a slice at a time: a million of
them are never one text nor objects.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from tfprof.writers.numbers import chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.results.table import Column, Table


def json_table(table: Table) -> Iterator[bytes]:
    """The document in pieces."""
    facts = table.facts or {}
    head = {"schema": table.schema, **facts}
    yield ("{" + "".join(_member(name, value) + ",\n" for name, value in head.items())).encode()
    yield b'"rows": [\n'
    names = (json.dumps(column.name).replace("%", "%%") for column in table.columns)
    line = "{" + ", ".join(f"{name}: %s" for name in names) + "}"
    before = ""
    for rows in chunks(len(table), table.label_lengths):
        cells = [_encoded(column, rows) for column in table.columns]
        lines = ",\n".join([line % row for row in zip(*cells, strict=True)])
        yield (before + lines).encode("ascii")
        before = ",\n"
    tail: dict[str, Any] = {}
    if table.hiding is not None:
        tail["truncated"] = {"hidden_rows": table.hidden.rows, "reasons": table.hidden.reasons}
    if "notes" not in facts:
        tail["notes"] = [{"text": note.text, "times": note.times} for note in table.notes]
    end = "".join(f",\n{_member(name, value)}" for name, value in tail.items())
    yield f"\n]{end}\n}}\n".encode()


def _member(name: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    return f'"{name}": {json.dumps(value)}'


def _encoded(column: Column, rows: slice) -> list[str]:
    values = column.data(rows)
    if column.kind == "text":
        return ["null" if text is None else encode_basestring_ascii(text) for text in values]
    if column.kind == "flag":
        return ["null" if value is None else "true" if value else "false" for value in values]
    if column.kind == "number":
        return ["null" if value is None else str(value) for value in values]
    return list(map(json.dumps, values))
