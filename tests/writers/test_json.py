"""JSON: every golden as data, the same numbers as the Report and as the printed text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import draw
from case import Case, GraphDef
from goldens import CASES, Golden
from json_documents import ODD, asked, document, inputs, line, validator
from ours import files_loaded, load
from printed import printed
from profiles import PROFILES
from tfprof import cli
from tfprof.foundation import units
from tfprof.model import Note
from tfprof.query.answer import answer, shown_fields
from tfprof.query.counted import DEFINED
from tfprof.query.query import Query
from tfprof.results.report_table import query_options, report_table
from tfprof.tables.fields import FIELDS, METRICS
from tfprof.tables.options import OPTIONS
from tfprof.writers.json_table import json_table

if TYPE_CHECKING:
    from pathlib import Path

HANDMADE = PROFILES["handmade"]
NAMES = {"occurrence": "runs"}

each_golden = pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)


@each_golden
def test_every_golden_has_the_numbers_of_its_report(path: Path) -> None:
    report = asked(Golden(path))
    made = document(report)
    rows = made["rows"]
    assert made["view"] == report.view.name
    assert [row["row"] for row in rows] == list(range(len(report)))
    assert [row["parent"] for row in rows] == [None, *report.tree.parent[1:].tolist()]
    assert [row["depth"] for row in rows] == report.tree.depth.tolist()
    assert [row["name"] for row in rows] == list(report.label.texts())
    assert [row["accounted"] for row in rows] == report.accounted.tolist()
    shown = [name for name in shown_fields(report) if name in METRICS]
    if report.view.name == "code":
        shown = [name for name in shown if name != "occurrence"]
    for metric in [*shown, *([DEFINED] if "occurrence" in shown else [])]:
        name = NAMES.get(metric, metric)
        assert [row[f"own_{name}"] for row in rows] == report.own(metric).tolist()
        assert [row[f"total_{name}"] for row in rows] == report.total(metric).tolist()


@each_golden
def test_every_golden_can_be_printed_again_from_its_json(path: Path) -> None:
    golden = Golden(path)
    report = asked(golden)
    rows = document(report)["rows"]
    body = golden.output.split("Profile:\n")[1].partition("\n")[2]
    if report.view.groups:
        tell_unknown_devices(report, rows)
    if report.view.name == "op":
        assert "".join(op_lines(rows, shown_fields(report))) == body
    else:
        assert [line(row, report) for row in rows] == body.splitlines()


def tell_unknown_devices(report: Any, rows: list[dict[str, Any]]) -> None:
    """Put in what the text of groups tells, and data leaves out: that a device is unknown."""
    start, member = report.members()
    for row in filter(lambda row: "devices" in row, rows):
        held = member[start[row["row"]] : start[row["row"] + 1]]
        if (report.profile.nodes.device[held] < 0).any():
            row["devices"] = ["", *row["devices"]]


def op_lines(rows: list[dict[str, Any]], fields: list[str]) -> list[str]:
    """The lines of op view, but for the root's, which is not printed."""
    made = []
    for row in rows[1:]:
        parts = [op_part(rows[0], row, name) for name in fields if name != "input_shapes"]
        made.append(f"{row['name']:<25}{', '.join(parts)}\n")
        groups = [
            "input_type: " + ",\t".join(inputs(g["shapes"])) + f"\t(run*{g['runs']}|"
            f"defined*{g['defined']})\texec_time: {units.micros(g['micros'])}\n"
            for g in row.get("input_shape_groups", [])
        ]
        if groups:
            made.append("\n" + "".join(groups) + "\n")
    return made


def op_part(root: dict[str, Any], row: dict[str, Any], name: str) -> str:
    if name in ("device", "op_types"):
        return "|".join(row[{"device": "devices"}.get(name, name)])
    if name == "occurrence":
        return f"{row['own_runs']}|{row['own_defined']}".rjust(10)
    own, total, whole = row[f"own_{name}"], row[f"total_{name}"], root[f"total_{name}"]
    told = own > 0 if name.endswith("bytes") else total > 0
    shares = [100 * n / whole if told else 0.0 for n in (total, own)]
    unit = FIELDS[name].unit
    assert unit is not None
    suffix = {"params": " params", "float_ops": " float_ops"}.get(name, "")
    return f"{unit(own)}{suffix} ({shares[0]:.2f}%, {shares[1]:.2f}%)".rjust(30)


@each_golden
def test_the_query_of_every_golden_can_be_asked_again(path: Path) -> None:
    report = asked(Golden(path))
    assert Query.of(document(report)["query"]) == report.query


@each_golden
def test_hidden_rows_are_those_that_the_reasons_hide(path: Path) -> None:
    report = asked(Golden(path))
    truncated = document(report)["truncated"]
    reasons = truncated["reasons"]
    assert truncated["hidden_rows"] == len(report.drawing.tree) - len(report)
    assert max(reasons.values(), default=0) <= truncated["hidden_rows"] <= sum(reasons.values())


DRAWN = draw.profile("""
a/b/c   op=MatMul us=40
a/d     op=Add us=7
e       op=Add us=2
""")


@pytest.mark.parametrize(
    ("options", "hidden", "reasons"),
    [
        ({}, 0, {}),
        ({"max_depth": 2}, 3, {"max_depth": 3}),
        ({"max_depth": 3, "min_micros": 5}, 2, {"max_depth": 1, "min_micros": 1}),
        ({"max_depth": 3, "min_micros": 41}, 4, {"max_depth": 1, "min_micros": 4}),
        ({"account_type_regexes": ["Add"]}, 2, {"account_type_regexes": 2}),
        ({"start_name_regexes": ["e"]}, 4, {"start_name_regexes": 4}),
        ({"hide_name_regexes": ["a/d"], "show_name_regexes": ["a.*"]}, 2,
         {"show_name_regexes": 1, "hide_name_regexes": 1}),
        ({"trim_name_regexes": ["a/b"]}, 1, {"trim_name_regexes": 1}),
        ({"max_depth": 2, "account_displayed_op_only": True}, 3, {"max_depth": 3}),
        ({"device_regexes": ["nowhere"]}, 5, {"device_regexes": 5}),
        ({"device_regexes": ["nowhere"], "max_depth": 3}, 5,
         {"max_depth": 1, "device_regexes": 5}),
        # Of a/b/c, a/d and e the rows a and a/b are no nodes; the era hides scopes that it does
        # not account.
        ({"era": "2017", "account_type_regexes": ["Add"], "hide_name_regexes": []}, 3,
         {"account_type_regexes": 2, "era": 1}),
        ({"era": "2017", "account_type_regexes": ["Add"], "hide_name_regexes": [],
          "min_micros": 5}, 4, {"min_micros": 2, "account_type_regexes": 2, "era": 1}),
    ],
)  # fmt: skip
def test_what_is_hidden_and_why(
    options: dict[str, Any], hidden: int, reasons: dict[str, int]
) -> None:
    made = document(answer(DRAWN, "scope", Query.of(options)))
    assert made["truncated"] == {"hidden_rows": hidden, "reasons": reasons}
    assert list(made["truncated"]["reasons"]) == [n for n in made["query"] if n in reasons]


# Total bytes of a: 7 - 9 < 0, of a/b: -9 < 0.
NEGATIVE = draw.profile("""
a/b     op=MatMul us=1 bytes=-9
a/c     op=Add us=1 bytes=7
d       op=Add us=1 bytes=3
""")


def test_a_bound_of_zero_hides_what_is_below_zero_and_nothing_else_is_blamed() -> None:
    for options in ({}, {"device_regexes": [".*"]}, {"max_depth": 9, "trim_name_regexes": ["x"]}):
        made = document(answer(NEGATIVE, "scope", Query.of(options)))
        assert made["truncated"] == {"hidden_rows": 2, "reasons": {"min_bytes": 2}}


# A value of each option that leaves every row in place; any other option hides none.
FREE: dict[str, Any] = {
    "max_depth": 99, "account_type_regexes": [".*"], "start_name_regexes": [".*"],
    "trim_name_regexes": [], "show_name_regexes": [".*"], "hide_name_regexes": [],
    "device_regexes": [".*"],
}  # fmt: skip
RESTRICTS: dict[str, Any] = {
    "max_depth": 1, "account_type_regexes": ["MatMul"], "start_name_regexes": ["a"],
    "trim_name_regexes": ["a"], "show_name_regexes": ["a.*"], "hide_name_regexes": ["e"],
    "device_regexes": ["gpu"], "min_micros": 8,
}  # fmt: skip


@pytest.mark.parametrize("option", RESTRICTS)
@pytest.mark.parametrize("view", ["scope", "graph", "op"])
@pytest.mark.parametrize("era", ["now", "2017"])
def test_one_option_hides_and_it_alone_is_blamed(option: str, view: str, era: str) -> None:
    options = {**FREE, "era": era, option: RESTRICTS[option]}
    report = answer(DRAWN, view, Query.of(options))
    hidden = len(report.drawing.tree) - len(report)
    reasons = document(report)["truncated"]["reasons"]
    if era == "now":
        assert reasons == ({option: hidden} if hidden else {})
    else:
        assert set(reasons) <= {option, "era"}
        assert max(reasons.values(), default=0) <= hidden <= sum(reasons.values())


def test_coverage_and_steps_are_data() -> None:
    profile = files_loaded(HANDMADE)
    made = document(answer(profile, "scope", Query()))
    assert made["steps"] == [0, 1]
    counts = made["coverage"]
    assert f"{counts['nodes_with_stats'] / counts['nodes']:.2f}" == f"{profile.coverage:.2f}"
    bare = document(answer(load(Case("scope")), "scope", Query()))
    assert (bare["steps"], bare["coverage"], len(bare["rows"])) == ([], None, 1)


def test_notes_tell_what_was_told_and_what_data_cannot_show() -> None:
    query = Query.of({"select": ["occurrence", "tensor_value"]})
    made = document(answer(files_loaded(HANDMADE), "code", query), (Note("a note", 3),))
    assert made["notes"][0] == {"text": "a note", "times": 3}
    texts = [note["text"] for note in made["notes"]]
    assert "occurrence N/A in code view" in texts
    assert "tensor_value is in the text and in proto only" in texts
    assert not any("runs" in name for name in made["rows"][0])


@settings(deadline=None, max_examples=60)
@given(st.lists(ODD, min_size=1, max_size=4, unique=True))
def test_any_name_comes_back(names: list[str]) -> None:
    graph = GraphDef(node=[{"name": name, "op": name} for name in names])
    case = Case("graph", graph=graph.SerializeToString(), options={})
    query = Query.of({"select": ["op_types"]})
    text = b"".join(json_table(report_table(answer(load(case), "graph", query))))
    made = json.loads(text)
    validator().validate(made)
    wanted = sorted(names, key=lambda name: name.encode())
    assert [row["name"] for row in made["rows"][1:]] == wanted
    assert [row["op_types"] for row in made["rows"][1:]] == [[name] for name in wanted]


def test_bytes_that_are_no_text_are_replaced() -> None:
    node = b"\x0a\x03a\xffb\x12\x02\xc3x"
    case = Case("graph", graph=b"\x0a" + bytes([len(node)]) + node)
    query = Query.of({"select": ["op_types"]})
    row = document(answer(load(case), "graph", query))["rows"][1]
    assert (row["name"], row["op_types"]) == ("a\ufffdb", ["\ufffdx"])


def test_many_rows_come_in_many_pieces() -> None:
    graph = GraphDef(node=[{"name": f"n{number:05d}", "op": "NoOp"} for number in range(20_000)])
    report = answer(load(Case("scope", graph=graph.SerializeToString())), "scope", Query())
    pieces = list(json_table(report_table(report)))
    assert max(map(len, pieces)) < sum(map(len, pieces)) / 2
    assert len(json.loads(b"".join(pieces))["rows"]) == 20_001


def test_options_cover_every_option_but_the_output() -> None:
    assert {*query_options(Query()), "output", "dump_to_file", "viz"} == set(OPTIONS)


class TestCommand:
    """What is printed and what is written."""

    def test_format_prints_what_output_writes(
        self, capfd: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        for kind in ("json", "csv", "md"):
            path = tmp_path / kind
            words = ["op", *HANDMADE.flags(), "--select=micros,device"]
            assert printed(capfd, *words, f"--output={kind}:outfile={path}") == ""
            for spelled in (f"--format={kind}", f"--output={kind}"):
                assert printed(capfd, *words, spelled).encode() == path.read_bytes()

    def test_notes_of_the_profile_are_in_the_document(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.run(["scope", *HANDMADE.flags(), "--format=json"]) == 0
        out, err = capfd.readouterr()
        for note in json.loads(out)["notes"]:
            assert note["text"] in err

    def test_text_is_the_default_format(self, capfd: pytest.CaptureFixture[str]) -> None:
        words = ["scope", *HANDMADE.flags()]
        assert printed(capfd, *words, "--format", "text") == printed(capfd, *words)

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["scope", "--format=jsn"], r"format has no 'jsn'; did you mean 'json'\?"),
            (["scope", "--format=json", "--output=file:outfile=x"], "--format=json is for stdout"),
            (["scope", "--format=json", "--output=none"], "--format=json is for stdout"),
            (["scope", "--output=json:infile=x"], "output json takes no 'infile'"),
            (["save", "--output=json:outfile=x"], "save needs -o PATH"),  # a profile has no rows
        ],
    )
    def test_refused(
        self, words: list[str], sentence: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.run([*words, *HANDMADE.flags()]) == 2
        assert re.search(sentence, capfd.readouterr().err)

    def test_advice_is_a_table_too(self, capfd: pytest.CaptureFixture[str]) -> None:
        words = ["advise", *HANDMADE.flags()]
        sections = printed(capfd, *words).lstrip("\n").split("\n\n")
        made = json.loads(printed(capfd, *words, "--format=json"))
        assert (made["schema"], made["notes"]) == ("tfprof.advice/1", [])
        expected = {part.split(":")[0]: part.split("\n")[1:] for part in sections}
        assert made["checkers"] == list(expected)
        for checker, lines in expected.items():
            reports = [row["report"] for row in made["rows"] if row["checker"] == checker]
            assert "\n".join(reports).rstrip("\n") == "\n".join(lines).rstrip("\n")
