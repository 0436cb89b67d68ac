"""pprof files: as the original's, byte for byte; and all others as Go's pprof sees them."""

from __future__ import annotations

import base64
import gzip
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from google.protobuf import text_format

import draw
import ours
from case import Case
from oracle import OUTFILE, UNRESTRICTED
from profiles import DATA, PROFILES
from random_cases import agree, batches, make_case
from recorded import case_of, with_output
from same_pprof import ASKED, Message, differences, report_of
from sampling import again, amount, numbers, sampled
from tfprof.errors import UsageError
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.tables.limits import raised_limits
from tfprof.writers.pprof import hint, pprof
from tfprof.writers.pprof_tables import KINDS, frames
from tools import debian, go_pprof

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from oracle import Oracle
    from tfprof.query.counted import Answer


METRICS = tuple(KINDS)
ROOT = ("", "_TFProfRoot", 0)


def payload(report: Answer) -> bytes:
    """The message inside the file."""
    return gzip.decompress(b"".join(pprof(report)))


# --- as the original -----------------------------------------------------------------------------


@pytest.mark.sampled
@batches(480, 40, 40)
def test_random_code_views_are_written_alike(oracle: Oracle, numbers: Sequence[int]) -> None:
    def make(number: int) -> Case:
        asked = {**ASKED, "select": [METRICS[number % len(METRICS)]]}
        case = make_case(number, "code")
        return replace(case, options={**case.options, **asked})

    written = 0

    def compared(case: Case) -> list[str] | None:
        nonlocal written
        found = differences(oracle, case)
        written += found is not None
        return found

    agree(numbers, make, compared)
    assert written > len(numbers) * 0.3  # three quarters, give or take


@pytest.mark.sampled
@pytest.mark.parametrize(
    "recorded", sampled(with_output("pprof"), 10, "pprof"), ids=lambda case: case["id"]
)
def test_recorded_case(recorded: dict[str, Any]) -> None:
    case = case_of(recorded)
    (expected,) = recorded["files"].values()
    assert payload(report_of(case)) == base64.b64decode(expected)
    assert hint(OUTFILE) == recorded["stdout"]


def test_handmade_model() -> None:
    report = answer(
        ours.files_loaded(PROFILES["handmade"]),
        "code",
        Query.of({"max_depth": 100, "select": ["accelerator_micros"]}),
    )
    text = (DATA / "handmade" / "code_pprof.OUTFILE.pprof.pbtxt").read_text()
    assert payload(report) == text_format.Parse(text, Message()).SerializeToString()
    assert hint(OUTFILE) == (DATA / "handmade" / "code_pprof.stdout.txt").read_text()


# --- any view, any metrics: what is in the file --------------------------------------------------

NET = """
net/in    op=Input    us=5+7
net/fc    op=MatMul   us=40+60 bytes=100+0 on=/gpu:0
net/fc/b  op=Add      us=3+5
loss      op=Sum      us=2
"""

NESTED = Case.from_text(
    view="code",
    graph=r"""
node { name: "outer" op: "A" attr { key: "shape" value { shape { dim { size: 3 } } } } }
node { name: "inner" op: "B" attr { key: "shape" value { shape { dim { size: 5 } } } } }
""",
    op_log=r"""
log_entries { name: "outer" float_ops: 7 code_def {
  traces { file_id: 1 function_id: 2 lineno: 8 func_start_line: 6 } } }
log_entries { name: "inner" float_ops: 9 code_def {
  traces { file_id: 1 function_id: 2 lineno: 8 func_start_line: 6 }
  traces { file_id: 1 function_id: 3 lineno: 20 func_start_line: 18 } } }
id_to_string { key: 1 value: "lib/model.py" } id_to_string { key: 2 value: "main" }
id_to_string { key: 3 value: "build" }
""",
)


def drawn(report: Answer) -> str:
    """The samples as lines: the path from the outside in, the values, the labels."""
    profile = Message.FromString(payload(report))
    text = list(profile.string_table)
    function = {one.id: one for one in profile.function}
    place = {
        one.id: text[function[one.line[0].function_id].name]
        + (f":{one.line[0].line}" if one.line[0].line else "")
        for one in profile.location
    }
    lines = [" ".join(text[kind.type] for kind in profile.sample_type)]
    for sample in profile.sample:
        path = " > ".join(place[at] for at in reversed(sample.location_id))
        labels = " ".join(text[label.str] for label in sample.label)
        lines.append(f"{path} | {' '.join(map(str, sample.value))} | {labels}")
    return "\n".join(lines)


def asked(view: str, **options: Any) -> Answer:
    return answer(draw.profile(NET), view, Query.of({**UNRESTRICTED, **options}))


def test_a_sample_is_a_graph_node_at_the_path_of_its_row() -> None:
    assert drawn(asked("scope", select=["micros", "bytes"])) == (
        "count bytes micros\n"
        "loss | 1 0 2 | loss /cpu:0 Sum average\n"
        "net > net/fc | 1 50 50 | net/fc /gpu:0 MatMul average\n"
        "net > net/fc > net/fc/b | 1 0 4 | net/fc/b /cpu:0 Add average\n"
        "net > net/in | 1 0 6 | net/in /cpu:0 Input average"
    )


def test_a_hidden_row_is_sampled_at_the_displayed_row_above_it_or_at_the_root() -> None:
    report = asked("scope", select=["micros"], step=0, hide_name_regexes=["net", "net/fc/b"])
    assert drawn(report).splitlines()[1:] == [
        "loss | 1 2 | loss /cpu:0 Sum 0",
        "net/fc | 1 40 | net/fc /gpu:0 MatMul 0",
        "net/fc | 1 3 | net/fc/b /cpu:0 Add 0",
        "net/in | 1 5 | net/in /cpu:0 Input 0",
    ]
    report = asked("scope", select=["micros"], step=1, max_depth=1)
    assert drawn(report).splitlines()[1:] == [
        "_TFProfRoot | 1 7 | net/in /cpu:0 Input 1",
        "_TFProfRoot | 1 60 | net/fc /gpu:0 MatMul 1",
        "_TFProfRoot | 1 5 | net/fc/b /cpu:0 Add 1",
        "_TFProfRoot | 1 0 | loss /cpu:0 Sum 1",
    ]


def test_what_is_not_accounted_or_not_displayed_where_only_that_counts_is_not_sampled() -> None:
    report = asked("scope", select=["micros"], account_type_regexes=["Add", "A.*"])
    assert drawn(report).splitlines()[1:] == [
        "net > net/fc > net/fc/b | 1 4 | net/fc/b /cpu:0 Add average"
    ]
    report = asked(
        "scope", select=["micros"], account_displayed_op_only=True, show_name_regexes=["loss"]
    )
    assert drawn(report).splitlines()[1:] == ["loss | 1 2 | loss /cpu:0 Sum average"]


def test_a_list_has_no_paths() -> None:
    assert drawn(asked("op", select=["micros"], order_by="micros", hide_name_regexes=["Add"])) == (
        "count micros\n"
        "_TFProfRoot | 1 4 | net/fc/b /cpu:0 Add average\n"
        "MatMul | 1 50 | net/fc /gpu:0 MatMul average\n"
        "Input | 1 6 | net/in /cpu:0 Input average\n"
        "Sum | 1 2 | loss /cpu:0 Sum average"
    )


def test_code_view_with_two_metrics_samples_every_frame() -> None:
    both = replace(NESTED, options={"select": ["params", "float_ops"]})
    assert drawn(report_of(both)) == (
        "count float_ops params\n"
        "model:main:8 | 1 7 3 | outer A average\n"
        "model:main:8 > model:build:20 | 1 9 5 | inner B average"
    )
    # parity Q14: with one, as in the original, the node of the frame that calls another is missing.
    one = replace(NESTED, options={"select": ["params", "device"]})
    assert drawn(report_of(one)) == "count params\nmodel:build:8 | 1 5 | inner"


def test_comments_say_what_the_values_are() -> None:
    profile = Message.FromString(payload(asked("scope", select=["micros", "params"])))
    assert [profile.string_table[at] for at in profile.comment] == [
        "count: Graph nodes.",
        f"micros: {KINDS['micros'].meaning}",
        f"params: {KINDS['params'].meaning}",
    ]
    told = {field.name for field, _ in profile.ListFields()}
    assert told == {"sample_type", "sample", "location", "function", "string_table", "comment"}


@pytest.mark.parametrize("select", [[], ["device"], ["occurrence", "input_shapes"]])
def test_a_selection_without_numbers_is_refused_at_once(select: list[str]) -> None:
    with pytest.raises(UsageError, match=r"pprof has no numbers for select .*: it takes one or mo"):
        pprof(asked("scope", select=select))


def test_paths_too_long_to_write_down_are_refused() -> None:
    with raised_limits(pprof_frames=7):
        pprof(asked("op", select=["micros"]))
        with pytest.raises(UsageError, match=r"scope view is too deep for pprof.*: 8 frames, .* 7"):
            pprof(asked("scope", select=["micros"]))


@pytest.mark.sampled
@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_the_cumulative_number_of_a_row_is_its_total(view: str) -> None:
    compared = 0
    for number in numbers(120, 10):
        case = make_case(number, view)
        everything = {"select": list(METRICS), "account_type_regexes": [".*"]}
        case = replace(case, options={**case.options, **everything})
        try:
            report = report_of(case)
        except UsageError:
            continue
        compared += len(report)
        assert cumulative(report) == totals(report), f"case {number}; {again()}"
    assert compared > amount(120, 10)


def cumulative(report: Answer) -> Counter[tuple[Any, ...]]:
    """The sum over the samples that a row is on the path of, by metric and the row's path."""
    profile = Message.FromString(payload(report))
    text = list(profile.string_table)
    function = {one.id: (text[one.filename], text[one.name]) for one in profile.function}
    place = {
        one.id: (*function[one.line[0].function_id], one.line[0].line) for one in profile.location
    }
    sums: Counter[tuple[Any, ...]] = Counter()
    for sample in profile.sample:
        path = tuple(place[at] for at in reversed(sample.location_id))
        path = () if path == (ROOT,) else path
        for metric, value in zip(report.query.select, sample.value[1:], strict=True):
            for end in range(len(path) + 1):
                sums[metric, path[:end]] += value
    return wrapped(sums)


def totals(report: Answer) -> Counter[tuple[Any, ...]]:
    """The same from the report; a row of a list is told its own number."""
    if report.drawing.frame is None:
        names = [("", name, 0) for name in report.label.texts()]
    else:
        names = [
            (frame.function.file.decode(), frame.title.decode(), signed(frame.line))
            for frame in frames(report)
        ]
    paths: list[tuple[Any, ...]] = [()]
    for row, parent in enumerate(report.tree.parent.tolist()[1:], 1):
        paths.append((*(() if report.view.chain else paths[parent]), names[row]))
    sums: Counter[tuple[Any, ...]] = Counter()
    for metric in report.query.select:
        total = report.total(metric)
        if report.view.chain:
            total = np.append(total[0], report.own(metric)[1:])
        for path, value in zip(paths, total.tolist(), strict=True):
            sums[metric, path] += value
    return wrapped(sums)


def signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def wrapped(sums: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """What is left of *sums* in 64 bits, but for the zeros."""
    return Counter({key: value % 2**64 for key, value in sums.items() if value % 2**64})


# --- as Go's pprof sees it -----------------------------------------------------------------------

UNIT = {"microseconds": "us", "bytes": "B", "count": ""}


def written(folder: Path, view: str, select: list[str]) -> tuple[Answer, Path]:
    """A report on the sample, and the file it is written to."""
    query = Query.of({"max_depth": 100, "select": select})
    report = answer(ours.files_loaded(PROFILES["resnet"]), view, query)
    path = folder / f"{view}.pprof"
    path.write_bytes(b"".join(pprof(report)))
    return report, path


def top(path: Path, metric: str, *flags: str) -> go_pprof.Top:
    return go_pprof.top(path, f"-sample_index={metric}", *flags, unit=UNIT[KINDS[metric].unit])


def test_go_reads_code_view_with_one_metric(tmp_path: Path) -> None:
    report, path = written(tmp_path, "code", ["micros"])
    seen = top(path, "micros")
    assert seen.total == report.total("micros")[0]
    assert seen.lines[0].name == "ops:from_node_def (gradient)"
    assert sum(line.own for line in seen.lines) == seen.total
    raw = go_pprof.run(path, "-raw")
    assert "count/count micros/microseconds\n" in raw
    assert raw.count("graph node::[") == len(Message.FromString(payload(report)).sample)


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_go_adds_up_to_our_totals_in_every_view(view: str, tmp_path: Path) -> None:
    metrics = ["bytes", "float_ops", "micros", "params"]
    report, path = written(tmp_path, view, [*metrics, "device"])
    for metric in metrics:
        seen = top(path, metric)
        assert seen.total == report.total(metric)[0]
        assert sum(line.own for line in seen.lines) == seen.total
        if view != "code":  # where several rows are lines of one function
            assert {line.name: line[:2] for line in seen.lines} == displayed(report, metric)
        assert seen.lines[0].own == max(line.own for line in seen.lines)
    names = {"op": "Conv2DBackpropInput", "code": "ops:from_node_def (gradient)"}
    if view in names:
        assert top(path, "micros").lines[0].name == names[view]


def displayed(report: Answer, metric: str) -> dict[str, tuple[int, int]]:
    """{row: (what no row below it shows, its total)}, without rows of nothing."""
    total = report.own(metric) if report.view.chain else report.total(metric)
    own = total.copy()
    if not report.view.chain:
        np.subtract.at(own, report.tree.parent[1:], total[1:])
    rows = zip(report.label.texts(), own.tolist(), total.tolist(), strict=True)
    return {name: (alone, whole) for name, alone, whole in [*rows][1:] if whole}


def test_go_tells_and_filters_by_labels(tmp_path: Path) -> None:
    report, path = written(tmp_path, "scope", ["micros", "bytes"])
    tags = go_pprof.run(path, "-tags", "-sample_index=micros")
    for label in ("device", "graph node:", "op type", "step"):
        assert f" {label}: Total " in tags
    assert "100%): average" in tags
    raw = go_pprof.run(path, "-raw")
    assert "count/count bytes/bytes micros/microseconds\n" in raw
    assert "op type:[VariableV2] step:[average]" in raw
    by_op, _ = written(tmp_path, "op", ["micros"])
    of_op = dict(zip(by_op.label.texts(), by_op.own("micros").tolist(), strict=True))
    seen = top(path, "micros", "-tagfocus=op type=^Conv2D$")
    assert sum(line.own for line in seen.lines) == of_op["Conv2D"]
    assert report.total("micros")[0] == seen.total


def test_a_machine_without_pprof_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_pprof, "_found", lambda: None)
    monkeypatch.setattr(debian, "_apt", lambda *words: f"apt-get {words[0]}: no network\n")
    with pytest.raises(RuntimeError, match=r"(?s)these tests need Go's pprof.*no network"):
        go_pprof.command.__wrapped__()
