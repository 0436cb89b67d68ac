"""JSON as a report gives it, and names that are hard to write."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import jsonschema
from hypothesis import strategies as st

import paths
from ours import files_loaded
from tfprof.foundation import units
from tfprof.query.answer import answer, shown_fields
from tfprof.query.query import Query
from tfprof.results.report_table import report_table
from tfprof.tables.fields import FIELDS
from tfprof.writers.json_table import json_table

if TYPE_CHECKING:
    from goldens import Golden
    from tfprof.model import Note

SCHEMA = paths.DOCS / "report.schema.json"


@cache
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def document(report: Any, notes: tuple[Note, ...] = ()) -> dict[str, Any]:
    """The document, held to the schema, to one row a line and to one order of members."""
    text = b"".join(json_table(report_table(report, notes))).decode("ascii")
    made: dict[str, Any] = json.loads(text)
    validator().validate(made)
    begin, end = text.index('"rows": [\n') + 10, text.rindex('\n],\n"truncated"')
    lines = text[begin:end].split(",\n")
    assert [json.loads(line) for line in lines] == made["rows"]
    assert len({tuple(row) for row in made["rows"]}) == 1
    return made


def asked(golden: Golden) -> Any:
    view, options = golden.query()
    return answer(files_loaded(golden.profile), view, Query.of(options))


def line(row: dict[str, Any], report: Any) -> str:
    """The line of scope, graph and code view."""
    parts = [part(row, name, report) for name in shown_fields(report)]
    told = ", ".join(part for part in parts if part is not None)
    return f"{'  ' * (row['depth'] - 1)}{row['name']} ({told})"


def part(row: dict[str, Any], name: str, report: Any) -> str | None:
    if report.view.name == "code" and name in ("occurrence", "input_shapes"):
        return f"{name} N/A in code view"
    if name == "device":
        return "|".join(row["devices"]) if row["devices"] else None
    if name == "op_types":
        return "|".join(row["op_types"])
    if name == "input_shapes":
        return "|".join(inputs(row["input_shapes"]))
    if name == "occurrence":
        return f"{pair(row, 'runs', units.count)}|{pair(row, 'defined', units.count)}"
    unit = FIELDS[name].unit
    assert unit is not None
    text = pair(row, name, unit) + FIELDS[name].suffix
    return f"{units.shape(row['shape'])}, {text}" if name == "params" and row.get("shape") else text


def pair(row: dict[str, Any], name: str, unit: units.Format) -> str:
    own = unit(row[f"own_{name}"]) if row["accounted"] else "--"
    return f"{own}/{unit(row[f'total_{name}'])}"


def inputs(shapes: list[list[int] | None]) -> list[str]:
    return [f"{at}:{units.shape(dims) if dims else 'unknown'}" for at, dims in enumerate(shapes)]


ODD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    | st.sampled_from('"\\\n\r\t=+-@|,;\u2028\U0001f600\x7f'),
    min_size=1,
    max_size=8,
) | st.sampled_from(["=cmd|' /C calc'!A0", '"', "a\nb", "a,b", "été", "\\u0041", "]\n}", "%s"])
