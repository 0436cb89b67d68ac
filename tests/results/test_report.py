"""A report in all its forms: they hold the same rows and the same numbers."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest

import draw
import tfprof
from profiles import PROFILES
from tfprof.results.loaded import Loaded
from tfprof.writers.html_table import MOST_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

HANDMADE = PROFILES["handmade"]
NUMBERS = ["params", "float_ops", "micros", "bytes", "occurrence"]
EVERYTHING = [*NUMBERS, "device", "op_types", "input_shapes"]
VIEWS = ("scope", "graph", "op", "code")
each_view = pytest.mark.parametrize("view", VIEWS)

MODEL = """
net/w           op=VariableV2 params=2x3
net/fc          op=MatMul us=40 flops=48 on=/job:a/cpu:0 < net/w
<b>&"out"</b>   op=MyOp us=3 < net/fc
"""


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    return tfprof.load(HANDMADE.graph, HANDMADE.runs, HANDMADE.op_log)


@pytest.fixture(scope="module", params=VIEWS)
def report(request: pytest.FixtureRequest, loaded: Loaded) -> tfprof.Report:
    made: tfprof.Report = getattr(loaded, request.param)(select=EVERYTHING, max_depth=100)
    assert len(made) > 3
    return made


def document(report: tfprof.Report) -> Any:
    return json.loads(b"".join(report.pieces("json")))


def test_rows_are_those_of_the_json(report: tfprof.Report) -> None:
    expected = document(report)["rows"]
    assert [row._asdict() for row in report.rows] == expected
    assert list(report) == report.rows
    assert len(report) == len(expected)
    assert report.columns == tuple(expected[0])


def test_columns_as_a_dict(report: tfprof.Report) -> None:
    by_row = document(report)["rows"]
    assert report.to_dict() == {name: [row[name] for row in by_row] for name in report.columns}


def test_as_pandas(report: tfprof.Report) -> None:
    frame = report.to_pandas()
    assert tuple(frame.columns) == report.columns
    assert frame["total_micros"].dtype == "int64"
    assert frame["parent"].dtype == "Int64"
    assert frame["parent"].isna().tolist() == [True] + [False] * (len(report) - 1)
    for name in ("total_micros", "name", "devices"):
        assert frame[name].tolist() == report.to_dict()[name]
    assert frame["accounted"].dtype == "bool"


def test_as_polars(report: tfprof.Report) -> None:
    frame = report.to_polars()
    assert frame.to_dict(as_series=False) == report.to_dict()
    assert frame.schema["total_micros"] == pl.Int64
    assert frame.schema["devices"] == pl.List(pl.String)


def test_as_arrow(report: tfprof.Report) -> None:
    table = report.to_arrow()
    assert table.to_pydict() == report.to_dict()
    assert table.schema.field("parent").type == pa.int64()


@each_view
def test_types_do_not_depend_on_what_is_in_a_column(view: str, loaded: Loaded) -> None:
    some = getattr(loaded, view)(select=EVERYTHING)
    none = getattr(loaded, view)(select=EVERYTHING, start_name_regexes=["nothing"])
    assert len(none) < len(some)
    assert none.to_arrow().schema == some.to_arrow().schema
    assert none.to_polars().schema == some.to_polars().schema


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_library_that_is_not_there_is_named(
    library: str, report: tfprof.Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    method = report.to_arrow if library == "pyarrow" else getattr(report, f"to_{library}")
    with pytest.raises(tfprof.UsageError, match=f"needs {library} installed"):
        method()


@each_view
def test_print_is_the_text_of_the_command(view: str, loaded: Loaded) -> None:
    report = getattr(loaded, view)(select=["micros", "params"])
    assert str(report) == report.text()
    assert report.text().encode() == b"".join(report.pieces("text"))
    assert len(report.text().splitlines()) > len(report)


def test_what_is_not_counted_stands_below_the_text() -> None:
    made = Loaded(draw.profile(MODEL))
    report = made.op(select=["float_ops"])
    assert report.flops is not None
    assert [tuple(one) for one in report.flops.uncounted] == [("MyOp", 1, "no rule")]
    line = "float_ops counts 1 of the graph's 2 operations; not counted: 1 MyOp (no rule)"
    assert report.text().splitlines()[-2:] == ["", line]
    assert line in [note.text for note in report.notes]
    uncounted = [{"op": "MyOp", "nodes": 1, "why": "no rule"}]
    assert document(report)["flops"] == {"operations": 2, "uncounted": uncounted}


@pytest.mark.parametrize(
    "options", [{"select": ["micros"]}, {"select": ["float_ops"], "flops": "log"}]
)
def test_without_rules_nothing_is_said_of_them(options: dict[str, Any]) -> None:
    report = Loaded(draw.profile(MODEL)).op(**options)
    assert report.flops is None
    assert "not counted" not in report.text()
    assert document(report)["flops"] is None


@pytest.mark.parametrize("options", [{"order_by": "float_ops"}, {"min_float_ops": 1}])
def test_rules_count_also_where_rows_go_by_them(options: dict[str, Any]) -> None:
    report = Loaded(draw.profile(MODEL)).scope(select=["micros"], **options)
    assert report.flops is not None


def test_proto_is_a_message_with_the_numbers_of_the_rows(report: tfprof.Report) -> None:
    message: Any = report.proto()
    assert message.SerializeToString()
    walked = [(node.name, node.total_exec_micros) for node in _walk(message)]
    rows = report.to_dict()
    assert walked == list(zip(rows["name"], rows["total_micros"], strict=True))
    kind = "GraphNodeProto" if report.view in ("scope", "graph") else "MultiGraphNodeProto"
    assert type(message).__name__ == kind


def _walk(message: Any) -> Iterator[Any]:
    yield message
    for child in message.children:
        yield from _walk(child)


def test_a_list_longer_than_protobuf_reads_is_a_message_all_the_same() -> None:
    lines = "\n".join(f"node{n} op=Op{n:03} us={n + 1}" for n in range(300))
    node: Any = Loaded(draw.profile(lines)).op(max_depth=1000, order_by="name").proto()
    names = [node.name]
    while node.children:
        (node,) = node.children
        names.append(node.name)
    assert names == ["_TFProfRoot", *(f"Op{n:03}" for n in range(300))]


class _Cells(HTMLParser):
    """The texts of a table's cells, a list a row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and data.strip():
            self.rows[-1][-1] += data


def cells(report: tfprof.Report) -> _Cells:
    parser = _Cells()
    parser.feed(report._repr_html_().partition("</table>")[0])
    return parser


def test_html_has_the_cells_of_the_markdown_table() -> None:
    report = Loaded(draw.profile(MODEL)).scope(select=["params", "micros"], max_depth=100)
    lines = b"".join(report.pieces("md")).decode().splitlines()
    expected = [re.sub(r"&emsp;|\\", "", line)[2:-2].split(" | ") for line in lines]
    marked = dict(zip(expected[0], zip(*expected[2:], strict=True), strict=True))
    heads, *rows = cells(report).rows
    titled = list(zip(heads, zip(*rows, strict=True), strict=True))
    params, micros = (column for title, column in titled if title == "share")
    drawn = {title: column for title, column in titled if title != "share"}
    # net/fc took 40 of 43 microseconds, and net/w has all 6 parameters.
    fully = dict(zip(drawn["node name"], zip(params, micros, strict=True), strict=True))
    assert fully["net/fc"] == ("0.0%", "93.0%")
    assert fully["net/w"] == ("100.0%", "0.0%")
    assert drawn == {title: cells for title, cells in marked.items() if title in drawn}
    # What is not drawn holds nothing, or what another column holds.
    for title in marked.keys() - drawn.keys():
        assert set(marked[title]) <= {"0us", "--"} or title.endswith("cpu micros"), title


def test_html_of_a_list_names_running_totals_and_draws_shares() -> None:
    report = Loaded(draw.profile("a op=A us=30\nb op=B us=10")).op(order_by="micros")
    heads, *rows = cells(report).rows
    assert heads == ["node name", "own micros", "share", "running total micros"]
    assert rows == [
        ["_TFProfRoot", "--", "", "40us"],
        ["A", "30us", "75.0%", "40us"],
        ["B", "10us", "25.0%", "10us"],
    ]
    assert "linear-gradient(to right,#9ecae199 75.0%,transparent 75.0%)" in report._repr_html_()


def test_nothing_in_a_name_is_html() -> None:
    table = cells(Loaded(draw.profile(MODEL)).scope(select=["params"]))
    assert '<b>&"out"<' in [row[0] for row in table.rows]
    assert "b" not in table.tags


def test_a_long_report_is_cut_in_a_notebook_and_says_so() -> None:
    lines = "\n".join(f"node{n} op=Op us=1" for n in range(MOST_ROWS + 50))
    report = Loaded(draw.profile(lines)).scope()
    assert len(cells(report).rows) == MOST_ROWS + 1
    assert "51 more rows" in report._repr_html_()
    assert "max_depth hides" in Loaded(draw.profile(MODEL)).scope(max_depth=1)._repr_html_()


def test_a_report_tells_what_it_is(loaded: Loaded) -> None:
    report = loaded.scope(select=["params"], max_depth=1)
    assert repr(report).startswith("<Report of scope view: 1 row of row, parent, depth, name")
