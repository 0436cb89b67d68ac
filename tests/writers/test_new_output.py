"""An output is one row and one function, a view one row and one module: nothing else changes.

Below, what each writer makes of a small Table that comes from no report.
"""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import draw
from ours import files_loaded
from processes import python
from profiles import PROFILES
from tfprof.columns.strings import Strings
from tfprof.columns.tree import Tree
from tfprof.foundation import units
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import Note
from tfprof.query.query import Query
from tfprof.results.loaded import Loaded
from tfprof.results.result import deliver
from tfprof.results.table import Column, Hidden, Table
from tfprof.tables.outputs import OUTPUTS, Output, OutputKind, kinds
from tfprof.views import VIEWS, View
from tfprof.views.drawing import Drawing
from tfprof.writers.csv_table import csv_table
from tfprof.writers.dataframes import to_arrow, to_pandas, to_polars
from tfprof.writers.html_table import html_page, html_table
from tfprof.writers.json_table import json_table
from tfprof.writers.markdown_table import markdown_table
from tfprof.writers.table_text import table_text

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.model import Profile

HANDMADE: Final = PROFILES["handmade"]

# --- a new output ------------------------------------------------------------------------------

WRITER: Final = """
def row_names(table):
    for name in table[table.label].data(slice(0, len(table))):
        yield f"{name}\\n".encode()
"""
ADDED: Final = """
import sys
from tfprof.tables.outputs import OUTPUTS, OutputKind
OUTPUTS["names"] = OutputKind("names", "row names", "maybe", {"table": "a_new_output:row_names"})
from tfprof import cli
sys.exit(cli.run(sys.argv[1:]))
"""


class Command:
    """The command where OUTPUTS has one row more, and a module holds its writer."""

    def __init__(self, folder: Path) -> None:
        (folder / "a_new_output.py").write_text(WRITER)
        self._folder = folder

    def __call__(self, *words: str, stdin: str = "") -> str:
        env = {"PYTHONPATH": str(self._folder)}
        return python("-c", ADDED, *words, env=env, stdin=stdin).stdout


@pytest.fixture
def tfprof(tmp_path: Path) -> Command:
    return Command(tmp_path)


def test_a_new_output_is_one_row_and_one_function(tfprof: Command, tmp_path: Path) -> None:
    rows = Loaded(files_loaded(HANDMADE)).report("scope", Query()).to_dict()["name"]
    names = "".join(f"{name}\n" for name in rows)
    assert len(rows) > 5
    words = ("scope", *HANDMADE.flags(), "--order_by=name")
    path = tmp_path / "written"
    assert tfprof(*words, "--output=names") == names
    assert tfprof(*words, "--format=names") == names
    assert tfprof(*words, f"--output=names:outfile={path}") == ""
    assert path.read_text() == names
    assert tfprof(*HANDMADE.flags(), stdin="scope -order_by name -output names\n") == names
    assert "ExpensiveOperationChecker\n" in tfprof("advise", *HANDMADE.flags(), "--format=names")


@pytest.mark.parametrize("command", ["op", "summary", "advise"])
def test_help_lists_a_new_output(command: str, tfprof: Command) -> None:
    lines = tfprof(command, "--help").splitlines()
    (output,) = (line for line in lines if line.startswith("  --output "))
    assert output.split("KIND: ")[1].split(" [")[0].split(", ")[-1] == "names"
    (choices,) = (line for line in lines if line.startswith("format one of: "))
    assert choices.endswith(", names")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_tab_completes_a_new_output(shell: str, tfprof: Command) -> None:
    script = tfprof("completion", shell)
    assert "names:outfile=" in script.replace("\\", "")


def test_python_has_a_new_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_new_output.py").write_text(WRITER)
    monkeypatch.syspath_prepend(tmp_path)
    row = OutputKind("names", "row names", "maybe", {"table": "a_new_output:row_names"})
    monkeypatch.setitem(OUTPUTS, "names", row)
    loaded = Loaded(draw.profile("net/w op=Op us=1"))
    for result in (loaded.scope(), loaded.summary(), loaded.advice()):
        expected = result.table()[result.table().label].data(slice(0, len(result.table())))
        assert b"".join(result.pieces("names")).decode().split("\n")[:-1] == expected
        assert "names" in kinds(result.offers)
    assert Output.of("names:outfile=x") == Output("names", "x")


def test_a_profile_file_has_no_outputs_of_tables() -> None:
    assert kinds(["profile"]) == kinds(["converted"]) == ("file",)


def test_every_writer_that_a_row_names_is_there() -> None:
    for row in OUTPUTS.values():
        for form in row.writers:
            assert row.writer([form])[0] == form


# --- a new view --------------------------------------------------------------------------------

MODEL: Final = """
net/w    op=VariableV2 params=2x3
net/fc   op=MatMul us=40 on=/cpu:0 < net/w
loss     op=Sum us=3 on=/gpu:0 < net/fc
"""
EXPECTED: Final = [("_TFProfRoot", 43), ("ran", 43), ("idle", 0)]


def by_use(profile: Profile) -> Drawing:
    """A row for the nodes that took time, and a row for the others."""
    ran = profile.values("micros", None) > 0
    labels = Strings.of([b"_TFProfRoot", b"ran", b"idle"])
    return Drawing(Tree.from_depth(np.array([1, 2, 2])), np.where(ran, 1, 2), labels)


@pytest.fixture
def use_view(monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType("tfprof.views.use_view")
    module.draw = by_use  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    view = View("use", "use: nodes that ran or not.", "nodes that ran or not", groups=True)
    monkeypatch.setitem(VIEWS, "use", view)
    return "use"


@pytest.mark.parametrize("kind", kinds(["table"]))
def test_every_output_of_tables_writes_a_new_view(kind: str, use_view: str, tmp_path: Path) -> None:
    loaded, path = Loaded(draw.profile(MODEL)), tmp_path / "out"
    select = ["micros", "device", "op_types", "params"]
    report = loaded.report(use_view, Query.of({"select": select, "order_by": ""}))
    outcome = deliver(report, Output(kind, None if kind == "stdout" else str(path)))
    made = b"".join(outcome.stdout).decode() if kind == "stdout" else path.read_text()
    for name, micros in EXPECTED:
        assert name.replace("_", "\\_" if kind == "md" else "_") in made
        assert kind in ("json", "csv") or units.micros(micros) in made
    assert outcome.written == ([] if kind == "stdout" else [str(path)])


def test_a_new_view_has_rows_and_frames(use_view: str) -> None:
    report = Loaded(draw.profile(MODEL)).report(use_view, Query.of({"order_by": ""}))
    assert [(row.name, row.total_micros) for row in report.rows] == EXPECTED
    for frame in (report.to_pandas(), report.to_polars()):
        assert list(frame["total_micros"]) == [micros for _, micros in EXPECTED]
    assert report.to_arrow()["name"].to_pylist() == [name for name, _ in EXPECTED]
    assert "43us" in report._repr_html_()


# --- a table by hand ---------------------------------------------------------------------------


def negated(numbers: tuple[int, ...], rows: slice) -> list[int]:
    return [-number for number in numbers[rows]]


def hidden() -> Hidden:
    return Hidden(3, {"max_depth": 3})


TABLE: Final = Table(
    "parts",
    "parts/7",
    (
        Column("level", "number", [1, 2, 2], placing=True),
        Column("part", "text", Strings.of([b"all", b"a|b", b"=c"]), placing=True),
        Column("own_us", "number", np.array([0, 1500, 2]), units.micros,
               accounted=np.array([False, True, True])),
        Column("less", "number", partial(negated, (1, 2, 3))),
        Column("cost", "amount", [1, "2*b", None], texts=["1", "2·b", "?"], total="3·b"),
        Column("tags", "texts", [[], ["x"], ["x", "y"]]),
    ),
    3,
    label="part",
    tree="level",
    facts={"answer": 42},
    notes=(Note("once", 2),),
    hiding=hidden,
    caveats=("Not all is known.",),
)  # fmt: skip


def test_a_table_as_json() -> None:
    text = b"".join(json_table(TABLE)).decode()
    assert json.loads(text) == {
        "schema": "parts/7",
        "answer": 42,
        "rows": [
            {"level": 1, "part": "all", "own_us": 0, "less": -1, "cost": 1, "tags": []},
            {"level": 2, "part": "a|b", "own_us": 1500, "less": -2, "cost": "2*b", "tags": ["x"]},
            {"level": 2, "part": "=c", "own_us": 2, "less": -3, "cost": None, "tags": ["x", "y"]},
        ],
        "truncated": {"hidden_rows": 3, "reasons": {"max_depth": 3}},
        "notes": [{"text": "once", "times": 2}],
    }


def test_a_table_as_csv() -> None:
    text = b"".join(csv_table(TABLE)).decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["level", "part", "own_us", "less", "cost", "tags"],
        ["1", "all", "0", "-1", "1", ""],
        ["2", "a|b", "1500", "-2", "2*b", "x"],
        ["2", "'=c", "2", "-3", "", "x|y"],
    ]


def test_a_table_as_markdown() -> None:
    assert b"".join(markdown_table(TABLE)).decode() == (
        "| part | own us | less | cost | tags |\n"
        "| :-- | --: | --: | --: | :-- |\n"
        "| all | -- | -1 | 1 |  |\n"
        "| &emsp;a\\|b | 1.50ms | -2 | 2·b | x |\n"
        "| &emsp;=c | 2us | -3 | ? | x\\|y |\n"
        "| **total** |  |  | 3·b |  |\n"
        "\n3 rows are not shown (max\\_depth hides 3).\n"
        "\nNot all is known.\n"
    )


def test_a_table_as_fitted_text() -> None:
    rule = "─" * 35
    assert b"".join(table_text(TABLE, None)).decode() == (
        "parts\n"
        "part   own us  less  cost  tags\n"
        f"{rule[:31]}\n"
        "all        --    -1     1\n"
        "  a|b  1.50ms    -2   2·b  x\n"
        "  =c      2us    -3     ?  x|y\n"
        f"{rule[:31]}\n"
        "Total                 3·b\n"
        "\n"
        "Not all is known.\n"
        "3 rows are not shown (max_depth hides 3).\n"
    )


def test_a_table_as_html() -> None:
    text = html_table(TABLE, ["a < b"])
    assert text.count("<tr>") == 5  # headings, three rows and the total
    below = "3 rows are not shown (max_depth hides 3).", "Not all is known.", "a &lt; b"
    assert text.endswith("".join(f"<div>{line}</div>\n" for line in below))


def test_an_html_document_stands_alone() -> None:
    table = replace(TABLE, title="<b>", columns=(*TABLE.columns, Column("n", "text", ["<i>"] * 3)))
    text = b"".join(html_page(table)).decode()
    assert (text.partition("\n")[0], text[-8:]) == ("<!DOCTYPE html>", "</html>\n")
    assert not re.search("<[bi]>", text)
    assert "&lt;b&gt;" in text
    assert not re.search("(?:src|href|url|import)[=( ]", text)
    many = Table("many", "parts/7", (Column("part", "number", range(900)),), 900, "part")
    assert b"".join(html_page(many)).count(b"<tr>") == 901
    assert html_table(many).count("<tr>") == 201


MARKED: Final = replace(
    TABLE,
    columns=(*TABLE.columns, Column("state", "text", "xyz", texts=["", "+", "-"], placing=True)),
    headline=("cost 1 → 2 (+100.0%)",),
    marks="state",
    folded_after=2,
)


def test_a_headline_and_marks_in_text() -> None:
    lines = b"".join(table_text(MARKED, 60)).decode().splitlines()
    assert lines[:3] == ["cost 1 → 2 (+100.0%)", "", "parts"]
    assert [line[:7] for line in lines[5:8]] == ["  all  ", "+   a|b", "-   =c "]


def test_markdown_folds_all_but_the_first_rows() -> None:
    head = "| part | own us | less | cost | tags |\n| :-- | --: | --: | --: | :-- |\n"
    text = b"".join(markdown_table(MARKED)).decode()
    assert text == (
        f"**cost 1 → 2 (+100.0%)**\n\n{head}"
        "| all | -- | -1 | 1 |  |\n"
        "| &emsp;+ a\\|b | 1.50ms | -2 | 2·b | x |\n"
        "| **total** |  |  | 3·b |  |\n"
        "\n<details>\n<summary>1 more row</summary>\n\n"
        f"{head}| &emsp;- =c | 2us | -3 | ? | x\\|y |\n"
        "\n</details>\n"
        "\n3 rows are not shown (max\\_depth hides 3).\n"
        "\nNot all is known.\n"
    )


def test_a_table_as_frames() -> None:
    columns: dict[str, list[Any]] = {**TABLE.to_dict(), "cost": ["1", "2*b", None]}
    assert to_arrow(TABLE).to_pydict() == to_polars(TABLE).to_dict(as_series=False) == columns
    assert to_pandas(TABLE)["less"].tolist() == [-1, -2, -3]


def test_a_pickled_table_holds_values_and_nothing_behind_them() -> None:
    report = Loaded(draw.profile(MODEL)).scope(
        select=["micros", "device", "op_types", "input_shapes", "params"], max_depth=2
    )
    for table in (TABLE, report.table()):
        data = pickle.dumps(table)
        again = pickle.loads(data)  # noqa: S301 - our own
        assert b"Profile" not in data
        assert again.hidden == table.hidden
        for write in (json_table, csv_table, markdown_table):
            assert b"".join(write(again)) == b"".join(write(table))
