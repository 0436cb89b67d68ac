"""The forms of older documents: what each row of ERAS changes, and the options of those times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import draw
from case import Case
from ours import files_loaded, load
from profiles import PROFILES
from tfprof import cli
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.tables.eras import ERAS
from tfprof.tables.options import OPTIONS, effective
from tfprof.writers.classic_text import text

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.model import Profile

MODEL = """
step            op=VariableV2 params=1
net/w           op=VariableV2 params=2x3
net/w/Momentum  op=VariableV2 params=2x3
net/fc          op=MatMul us=40 flops=48 on=/job:a/gpu:0 < net/w
net/fc/Relu     op=Relu us=7 flops=5 on=/job:a/cpu:0 < net/fc
out             op=Conv2D us=3 flops=100 on=/job:b/cpu:0 < net/fc/Relu
"""


@pytest.fixture(scope="module")
def model() -> Profile:
    return draw.profile(MODEL)


def lines(profile: Profile, view: str = "scope", **options: Any) -> list[str]:
    return b"".join(text(answer(profile, view, Query.of(options)))).decode().splitlines()


def test_every_era_lists_options_that_there_are() -> None:
    for era in ERAS.values():
        assert set(era.block) <= set(OPTIONS)
        assert set(era.defaults) <= set(OPTIONS)


def test_defaults_are_those_of_the_time_and_can_be_changed() -> None:
    then = effective({"era": "2017"})
    assert then["max_depth"] == 4
    assert then["account_type_regexes"] == ("Variable", "VariableV2")
    assert effective({"era": "2016"})["account_type_regexes"] == ("Variable",)
    assert effective({"era": "2017", "max_depth": 9})["max_depth"] == 9
    assert Query.of({"era": "now"}) == Query()


def test_reports_have_no_heading_and_only_accounted_rows(model: Profile) -> None:
    assert lines(model, era="2017") == [
        "_TFProfRoot (--/13 params)",
        "  net/w (2x3, 6/12 params)",
        "    net/w/Momentum (2x3, 6/6 params)",
        "  step (1/1 params)",
    ]


def test_depth_counts_the_scopes_that_are_left_out(model: Profile) -> None:
    assert lines(model, era="2017", max_depth=3) == [
        "_TFProfRoot (--/13 params)",
        "  net/w (2x3, 6/12 params)",
        "  step (1/1 params)",
    ]


def test_the_root_counts_where_everything_does(model: Profile) -> None:
    shown = lines(model, era="2017", account_type_regexes=".*", select="float_ops", min_float_ops=1)
    assert shown == [
        "_TFProfRoot (0/148 flops)",
        "  net/fc (48/48 flops)",
        "  out (100/100 flops)",
    ]


def test_what_is_not_accounted_adds_nothing(model: Profile) -> None:
    now = lines(model, account_type_regexes="Relu", select="micros")[-4:]
    assert now[0].startswith("_TFProfRoot (--/47us")
    then = lines(model, era="2017", account_type_regexes="Relu", select="micros")
    assert then == ["_TFProfRoot (--/7us)", "  net/fc/Relu (7us/7us)"]


def test_op_view_has_one_time_and_one_count(model: Profile) -> None:
    shown = lines(
        model,
        "op",
        era="2017",
        account_type_regexes=".*",
        select="micros,occurrence",
        order_by="micros",
        max_depth=1,
    )
    assert shown == [
        "MatMul                           40us (100.00%, 80.00%),          1",
        "Relu                               7us (20.00%, 14.00%),          1",
    ]


def test_code_lines_show_their_source() -> None:
    sample = files_loaded(PROFILES["resnet"])
    frames = lines(
        sample, "code", era="2017", account_type_regexes=".*", select="params", max_depth=30
    )
    texts = [line.split(" (")[0].strip().split(":", 3) for line in frames[1:]]
    assert all(len(parts) == 4 for parts in texts)
    assert {len(parts[3].encode()) <= 20 for parts in texts} == {True}
    assert any(parts[3] == "none" for parts in texts)


def test_source_text_is_cut_like_function_names() -> None:
    case = Case.from_text(
        "code",
        graph='node { name: "a" op: "VariableV2" }',
        op_log="""
          log_entries { name: "a" code_def {
            traces { file_id: 1 lineno: 132 function_id: 2 line_id: 3 }
            traces { file_id: 1 lineno: 63 function_id: 2 line_id: 4 }
            traces { file_id: 1 lineno: 64 function_id: 2 line_id: 5 }
          } }
          id_to_string { key: 1 value: "/home/me/model_analyzer_testlib.py" }
          id_to_string { key: 2 value: "BuildFullModel" }
          id_to_string { key: 3 value: "x = lib.BuildFullModel()" }
          id_to_string { key: 4 value: "nineteen characters" }
          id_to_string { key: 5 value: "none" }
        """,
    )
    assert lines(load(case), "code", era="2017", account_type_regexes=".*") == [
        "_TFProfRoot (0/0 params)",
        "  model_analyzer_testlib.py:132:BuildFullModel:x = lib.BuildFull... (0/0 params)",
        "    model_analyzer_testlib.py:63:BuildFullModel:nineteen characters (0/0 params)",
        "      model_analyzer_testlib.py:64:BuildFullModel:none (0/0 params)",
    ]


def test_only_what_was_counted_then_is_counted(model: Profile) -> None:
    everything: dict[str, Any] = {
        "account_type_regexes": ".*",
        "select": "float_ops",
        "max_depth": 1,
    }
    assert lines(model, era="2017", **everything) == ["_TFProfRoot (0/148 flops)"]
    assert lines(model, **everything)[-1] == "_TFProfRoot (--/153 flops)"


@pytest.mark.parametrize("era", ["now", "2016"])
def test_device_regexes_show_rows_on_those_devices(model: Profile, era: str) -> None:
    shown = lines(
        model,
        era=era,
        account_type_regexes=".*",
        select="device",
        device_regexes=".*GPU:0,.*/job:b.*",
    )
    names = [line.strip().split(" (")[0] for line in shown if "/job" in line]
    assert names == ["net/fc", "out"]
    by_type = lines(model, "op", select="device", device_regexes=".*gpu.*", max_depth=9)
    assert [line.split()[0] for line in by_type[-1:]] == ["MatMul"]


def test_hidden_nodes_are_told(model: Profile) -> None:
    shown = lines(
        model,
        "graph",
        era="2016",
        account_type_regexes=".*",
        max_depth=9,
        show_name_regexes="out,net/w",
        select="params,num_hidden_ops",
    )
    assert shown == [
        "_TFProfRoot (0/13 params)",
        "  out (0/6 params)",
        "    ...hidden 2...",
        "      net/w (2x3, 6/6 params)",
    ]


def test_depth_is_an_order(model: Profile) -> None:
    shown = lines(model, order_by="depth", select="", hide_name_regexes="net,net/fc,net/w")
    names = [line.strip().removesuffix(" ()") for line in shown[-5:]]
    assert names == ["_TFProfRoot", "out", "step", "net/fc/Relu", "net/w/Momentum"]


def test_dump_to_file_is_an_output_and_says_so(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "dump"
    graph = f"--graph_path={PROFILES['handmade'].graph}"
    assert cli.run(["scope", graph, "--max_depth=3", f"--dump_to_file={path}"]) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert "-dump_to_file option is deprecated. Please use -output file:outfile=" in err
    assert f"-output stdout is overwritten with -output file:outfile={path}" in err
    assert cli.run(["scope", graph, "--max_depth=3"]) == 0
    assert capfd.readouterr().out == path.read_text()


def test_viz_says_what_to_use(capfd: pytest.CaptureFixture[str]) -> None:
    graph = f"--graph_path={PROFILES['handmade'].graph}"
    assert cli.run(["graph", graph, "-viz", "--max_depth=1"]) == 0
    assert "-output timeline:outfile=" in capfd.readouterr().err


def test_unknown_era(capfd: pytest.CaptureFixture[str]) -> None:
    graph = f"--graph_path={PROFILES['handmade'].graph}"
    assert cli.run(["scope", graph, "--era=2015"]) == 2
    assert "era has no '2015'" in capfd.readouterr().err
