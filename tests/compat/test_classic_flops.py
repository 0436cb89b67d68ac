"""Who counts float operations in the classic calls: TensorFlow's rules, all, or the log alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
import tensorflow as tf
from tensorflow.python.framework import ops

import tfprof

if TYPE_CHECKING:
    from collections.abc import Mapping

v1: Final[Any] = tf.compat.v1
OPTIONS: Final = {**tfprof.ProfileOptionBuilder.float_operation(), "output": "none"}
LOGGED: Final = 12_345
TAUGHT: Final = 11

# A 15x15 image, a 3x3 filter of 3x8 channels, stride 2 and no padding: 7x7 places, twice.
CONVOLUTION: Final = 2 * (2 * 7 * 7 * 8) * 3 * 3 * 3
PRODUCT: Final = 2 * 2 * 7 * 9 * 5
BY_ALL: Final = {
    "Conv2D": CONVOLUTION,
    "Conv2DBackpropInput": CONVOLUTION,
    "BatchMatMulV2": PRODUCT,
    "Zeta": LOGGED,
    "MatrixLogarithm": TAUGHT,
}


@pytest.fixture(scope="module")
def graph() -> Any:
    if "MatrixLogarithm,flops" not in ops._stats_registry.list():

        @ops.RegisterStatistics("MatrixLogarithm", "flops")  # type: ignore[untyped-decorator]
        def taught(graph: Any, node: Any) -> Any:
            del graph, node
            return ops.OpStats("flops", TAUGHT)

    with tf.Graph().as_default() as made:
        image = v1.placeholder(tf.float32, [2, 15, 15, 3])
        weights = v1.get_variable("w", [3, 3, 3, 8])
        conv = tf.nn.conv2d(image, weights, 2, "VALID")
        tf.gradients(conv, [image])
        tf.raw_ops.Zeta(x=tf.ones([5]), q=tf.ones([5]), name="zeta")
        tf.raw_ops.MatrixLogarithm(input=tf.zeros([3, 3], tf.complex64))
        tf.raw_ops.BatchMatMulV2(x=tf.ones([2, 5, 7]), y=tf.ones([2, 5, 9]), adj_x=True)
        tf.raw_ops.RGBToHSV(images=tf.ones([3]))
    return made


@pytest.fixture(scope="module")
def log() -> Any:
    made = tfprof.OpLogProto()
    made.log_entries.add(name="zeta", float_ops=LOGGED)
    return made


def by_type(report: tfprof.Report) -> Mapping[str, int]:
    columns = report.to_dict()
    rows = zip(columns["name"], columns["own_float_ops"], strict=True)
    return {name: own for name, own in rows if name in BY_ALL}


@pytest.mark.parametrize("way", ["load", "profiler"])
def test_one_profile_may_be_counted_in_every_way(way: str, graph: Any, log: Any) -> None:
    made = tfprof.load(graph, op_log=log) if way == "load" else tfprof.Profiler(graph, log).loaded
    assert by_type(made.op(max_depth=99, select=["float_ops"])) == BY_ALL
    logged = by_type(made.op(max_depth=99, select=["float_ops"], flops="log"))
    assert {name: own for name, own in logged.items() if own} == {
        "Zeta": LOGGED,
        "MatrixLogarithm": TAUGHT,
    }
    as_theirs = by_type(made.op(max_depth=99, select=["float_ops"], flops="tensorflow"))
    assert as_theirs["BatchMatMulV2"] == 2 * 2 * 7 * 9 * 7  # parity Q44
    assert as_theirs["Zeta"] == LOGGED


def _total(message: Any) -> int:
    return int(message.total_float_ops)


def test_all_rules_by_argument_or_by_option(
    graph: Any, log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = _total(tfprof.load(graph, op_log=log).op(max_depth=99, select=["float_ops"]).proto())
    by_argument = tfprof.profile(graph, op_log=log, cmd="op", options=OPTIONS, flops="all")
    by_option = tfprof.profile(graph, op_log=log, cmd="op", options={**OPTIONS, "flops": "all"})
    profiler = tfprof.Profiler(graph, log)
    of_profiler = profiler.profile_operations({**OPTIONS, "flops": "all"})
    of_another = tfprof.Profiler(graph, log, flops="all").profile_operations(OPTIONS)
    totals = [_total(one) for one in (by_argument, by_option, of_profiler, of_another)]
    assert totals == [expected] * 4
    told = capsys.readouterr()
    line = "not counted: 1 RGBToHSV (no rule)\n"
    assert told.err.count(line) == len(totals)
    assert told.out == ""


def test_by_default_what_tensorflow_counts_and_nothing_is_said(
    graph: Any, log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = tfprof.profile(graph, op_log=log, cmd="op", options=OPTIONS)
    of_profiler = tfprof.Profiler(graph, log).profile_operations(OPTIONS)
    assert "not counted" not in capsys.readouterr().err
    theirs_log = v1.profiler.OpLogProto.FromString(log.SerializeToString())
    theirs = v1.profiler.profile(graph, op_log=theirs_log, cmd="op", options=OPTIONS)
    assert _total(ours) == _total(of_profiler) == _total(theirs) > CONVOLUTION


def test_a_profiler_that_counts_all_saves_all(graph: Any, log: Any, tmp_path: Any) -> None:
    path = tmp_path / "profile"
    path.write_bytes(tfprof.Profiler(graph, log, flops="all").serialize_to_string())
    again = tfprof.load(profile=path).op(max_depth=99, select=["float_ops"], flops="log")
    assert by_type(again) == BY_ALL
