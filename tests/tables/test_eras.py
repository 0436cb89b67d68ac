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
from tfprof.tables.fields import FIELDS
from tfprof.tables.formats import INPUTS
from tfprof.tables.options import OPTIONS, effective
from tfprof.views import VIEWS
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
    return b"".join(text(answer(profile, view, Query.of(options, view)))).decode().splitlines()


def test_every_era_lists_options_that_there_are() -> None:
    for era in ERAS.values():
        assert {row for row in era.block if not row.startswith("#")} <= set(OPTIONS)
        assert set(era.defaults) <= set(OPTIONS)
        assert set(era.view_defaults) <= set(VIEWS)
        assert set(era.legend or ()) <= set(FIELDS)
        assert set(era.progress) <= {row.parameter for row in INPUTS.values()}


def test_defaults_are_those_of_the_time_and_can_be_changed() -> None:
    then = effective({"era": "2017"})
    assert then["max_depth"] == 4
    assert then["account_type_regexes"] == ("Variable", "VariableV2")
    assert effective({"era": "2016"})["account_type_regexes"] == ("Variable",)
    assert effective({"era": "2017", "max_depth": 9})["max_depth"] == 9
    assert Query.of({"era": "now"}) == Query()
    late = effective({"era": "2018"})
    assert [late[name] for name in ("max_depth", "account_type_regexes", "select")] == [
        *(10, (".*",), ("params",))
    ]


def test_op_view_of_2017_counts_every_type_and_has_eleven_rows() -> None:
    drawn = "\n".join(f"n{row} op=Op{row:02} us={99 - row}" for row in range(13))
    shown = lines(draw.profile(drawn), "op", era="2017", select="micros", order_by="micros")
    assert [line.split()[0] for line in shown] == [f"Op{row:02}" for row in range(11)]
    few = lines(draw.profile(drawn), "op", era="2017", select="micros", max_depth=1)
    assert [line.split()[0] for line in few] == ["Op00", "Op01"]


def test_in_2016_a_variable_of_the_second_version_is_a_variable(model: Profile) -> None:
    assert lines(model, era="2016") == lines(model, era="2017")
    none = ["_TFProfRoot (--/0 params)"]
    assert lines(model, era="2017", account_type_regexes="Variable") == none


def test_2018_has_a_legend_and_a_root_that_does_not_count(model: Profile) -> None:
    assert lines(model, era="2018", select="float_ops", min_float_ops=1) == [
        "node name | # float_ops",
        "_TFProfRoot (--/148 flops)",
        "  net/fc (48/48 flops)",
        "  out (100/100 flops)",
    ]
    by_type = lines(model, "op", era="2018", select="micros,occurrence", order_by="micros")
    assert by_type[:2] == [
        "node name | execution time | op occurrence",
        "MatMul                           40us (100.00%, 80.00%),          1",
    ]
    started = lines(model, era="2018", select="micros", start_name_regexes="net/fc", min_micros=1)
    assert started == [
        "node name | execution time",
        "_TFProfRoot (--/50us)",
        "  net/fc (40us/47us)",
        "    net/fc/Relu (7us/7us)",
    ]


# A residual network: `add` takes the convolution first, the shortcut second.
RESIDUAL = """
image   op=Dequeue us=100
conv1   op=Conv2D us=10 < image
conv2   op=Conv2D us=20 < conv1
add     op=Add us=1 < conv2, conv1
"""


def test_graph_view_prints_inputs_by_name_and_totals_them_in_their_order() -> None:
    network = draw.profile(RESIDUAL)
    options: dict[str, Any] = {"select": "micros", "account_type_regexes": ".*", "max_depth": 9}
    assert lines(network, "graph", era="2017", **options) == [
        "_TFProfRoot (0us/131us)",
        "  add (1us/131us)",
        "    conv1 (10us/110us)",  # first by name, and visited here
        "      image (100us/100us)",
        "    conv2 (20us/130us)",  # its total holds conv1, which was accounted below it
    ]
    assert [line.split(" (")[0] for line in lines(network, "graph", era="2018", **options)[1:]] == [
        *("_TFProfRoot", "  add", "    conv2", "      conv1", "        image")
    ]
    hidden = lines(network, "graph", era="2017", min_micros=5, order_by="micros", **options)
    assert hidden == [
        "_TFProfRoot (0us/131us)",
        "  conv2 (20us/130us)",
        "  conv1 (10us/110us)",
        "    image (100us/100us)",
    ]
    some = lines(network, "graph", **{**options, "account_type_regexes": "Conv2D"}, era="2017")
    assert some == ["_TFProfRoot (--/30us)", "  conv1 (10us/10us)", "  conv2 (20us/30us)"]
    options |= {"hide_name_regexes": "conv1", "account_displayed_op_only": True}
    assert lines(network, "graph", era="2017", **options) == [
        "_TFProfRoot (0us/121us)",
        "  add (1us/121us)",
        "    conv2 (20us/120us)",
        "    image (100us/100us)",
    ]


def test_gradients_count_under_the_line_that_asks_for_them() -> None:
    case = Case.from_text(
        "code",
        graph='node { name: "a" op: "Mul" } node { name: "gradients/a_grad/Mul" op: "Mul" }',
        op_log="""
          log_entries { name: "a" float_ops: 1 code_def { traces { file_id: 1 lineno: 5 } } }
          log_entries { name: "gradients/a_grad/Mul" code_def { traces { file_id: 1 lineno: 9 } } }
          id_to_string { key: 0 value: "f" }
          id_to_string { key: 1 value: "m.py" }
        """,
    )
    now = lines(load(case), "code", select="")
    assert [line.strip() for line in now[-2:]] == ["m.py:5:f ()", "m.py:5:f (gradient) ()"]
    then = lines(load(case), "code", era="2018", select="")
    assert [line.split(" (")[0].strip() for line in then[1:]] == [
        *("_TFProfRoot", "m.py:5:f:f", "m.py:9:f:f")
    ]


def test_timelines_have_the_name_that_was_asked_for(tmp_path: Path) -> None:
    files = PROFILES["handmade"].flags()
    words = ["graph", *files, f"--output=timeline:outfile={tmp_path / 'trace'}"]
    assert cli.run([*words, "--era=2018", "--step=0"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["trace"]
    assert cli.run([*words, "--era=2018"]) == 0  # a file for each step
    assert {path.name for path in tmp_path.iterdir()} == {"trace", "trace_0", "trace_1"}


def test_progress_lines_name_the_files_that_are_read(capfd: pytest.CaptureFixture[str]) -> None:
    files = PROFILES["handmade"].flags()
    assert cli.run(["scope", *files, "--era=2017"]) == 0
    err = capfd.readouterr().err.splitlines()
    stages = ("Reading Files", "Parsing GraphDef", "Parsing RunMetadata", "Parsing OpLog")
    assert err[:5] == [f"{stage}..." for stage in (*stages, "Preparing Views")]
    assert cli.run(["scope", *files, "--era=2018"]) == 0
    assert "..." not in capfd.readouterr().err


def test_an_op_log_under_the_name_of_the_documents(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = PROFILES["handmade"]
    (tmp_path / "tfprof_log").write_bytes(files.op_log.read_bytes())
    words = ["scope", f"--graph_path={files.graph}", f"--op_log_path={tmp_path / 'op_log'}"]
    assert cli.run([*words, "--era=2016"]) == 0
    out, err = capfd.readouterr()
    assert out
    assert f"there is no {tmp_path / 'op_log'}; reading {tmp_path / 'tfprof_log'}" in err
    (tmp_path / "op_log").write_bytes(files.op_log.read_bytes())
    assert cli.run([*words, "--era=2016"]) == 0
    assert "there is no" not in capfd.readouterr().err


def test_reports_have_no_heading_and_only_accounted_rows(model: Profile) -> None:
    shown = lines(model, era="2017")
    assert shown == [
        "_TFProfRoot (--/13 params)",
        "  net/w (2x3, 6/12 params)",
        "    net/w/Momentum (2x3, 6/6 params)",
        "  step (1/1 params)",
    ]
    # The scopes that are left out count in depths.
    assert lines(model, era="2017", max_depth=3) == [*shown[:2], shown[3]]


def test_the_root_counts_where_everything_does(model: Profile) -> None:
    shown = lines(model, era="2017", account_type_regexes=".*", select="float_ops", min_float_ops=1)
    assert shown == ["_TFProfRoot (0/148 flops)", "  net/fc (48/48 flops)", "  out (100/100 flops)"]


def test_what_is_not_accounted_adds_nothing(model: Profile) -> None:
    now = lines(model, account_type_regexes="Relu", select="micros")[-4:]
    assert now[0].startswith("_TFProfRoot (--/47us")
    then = lines(model, era="2017", account_type_regexes="Relu", select="micros")
    assert then == ["_TFProfRoot (--/7us)", "  net/fc/Relu (7us/7us)"]


def test_op_view_has_one_time_and_one_count(model: Profile) -> None:
    every = {"account_type_regexes": ".*", "select": "micros,occurrence", "order_by": "micros"}
    assert lines(model, "op", era="2017", max_depth=1, **every) == [
        "MatMul                           40us (100.00%, 80.00%),          1",
        "Relu                               7us (20.00%, 14.00%),          1",
    ]


def test_code_lines_show_their_source() -> None:
    sample = files_loaded(PROFILES["resnet"])
    every = {"account_type_regexes": ".*", "select": "params", "max_depth": 30}
    frames = lines(sample, "code", era="2017", **every)
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
    every = {"account_type_regexes": ".*", "device_regexes": ".*GPU:0,.*/job:b.*"}
    shown = lines(model, era=era, select="device", **every)
    names = [line.strip().split(" (")[0] for line in shown if "/job" in line]
    assert names == ["net/fc", "out"]
    by_type = lines(model, "op", select="device", device_regexes=".*gpu.*", max_depth=9)
    assert [line.split()[0] for line in by_type[-1:]] == ["MatMul"]


def test_hidden_nodes_are_told(model: Profile) -> None:
    every = {"account_type_regexes": ".*", "select": "params,num_hidden_ops", "max_depth": 9}
    assert lines(model, "graph", era="2016", show_name_regexes="out,net/w", **every) == [
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
