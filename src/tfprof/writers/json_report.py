"""A report as JSON, one row a line; docs/json.md tells every field.

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

Members always stand in this order. Rows are written column by column, so a million of them are
never one text nor objects.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from tfprof.writers import report_metadata as context
from tfprof.writers.rows import InputGroup, columns, runs_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.model import Note
    from tfprof.query.counted import Answer
    from tfprof.writers.rows import Column

SCHEMA = "tfprof.report/1"


def json_report(answer: Answer, notes: Iterable[Note] = ()) -> Iterator[bytes]:
    """The document in pieces; *notes* are those to tell of the profile and the report."""
    head = {
        "schema": SCHEMA,
        "view": answer.view.name,
        "query": context.options(answer.query),
        "steps": [step.number for step in answer.profile.steps],
        "coverage": context.coverage(answer.profile),
        "flops": context.flops(answer),
    }
    yield ("{" + "".join(_member(name, value) + ",\n" for name, value in head.items())).encode()
    yield b'"rows": [\n'
    table, before = columns(answer), ""
    line = "{" + ", ".join(f'"{column.name}": %s' for column in table) + "}"
    for run in runs_of_rows(table, answer):
        cells = [_encoded(column, values) for column, values in zip(table, run, strict=True)]
        rows = ",\n".join([line % row for row in zip(*cells, strict=True)])
        yield (before + rows).encode("ascii")
        before = ",\n"
    tail = {"truncated": context.truncated(answer), "notes": context.notes(answer, notes)}
    end = ",\n".join(_member(name, value) for name, value in tail.items())
    yield f"\n],\n{end}\n}}\n".encode()


def _member(name: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON can say
    return f'"{name}": {json.dumps(value)}'


def _encoded(column: Column, values: list[Any]) -> list[str]:
    """Each value as JSON text, in ASCII."""
    if column.kind == "text":
        return list(map(encode_basestring_ascii, values))
    if column.kind == "flag":
        return ["true" if value else "false" for value in values]
    if column.kind == "number":
        return ["null" if value is None else str(value) for value in values]
    if column.kind == "groups":
        values = [[_group(group) for group in groups] for groups in values]
    return list(map(json.dumps, values))


def _group(group: InputGroup) -> dict[str, Any]:
    return group._asdict()
