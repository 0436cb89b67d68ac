"""The Python of the old documents: as printed but for the import, answered as by the original.

The model is the tutorials' ResNet, small, so that the names of ops are the documents'.
"""

from __future__ import annotations

import os
import sys
import types
from typing import TYPE_CHECKING, Any, Final

import pytest

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import config_pb2

import live_models
import tfprof
from seeds import ENTRIES
from seeds_programs import PROGRAMS, Names
from side_by_side import Both, same_done
from tfprof import model_analyzer, tfprof_log_pb2

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def live() -> live_models.Live:
    return live_models.build("resnet")


@pytest.fixture(scope="module")
def recorded(live: live_models.Live) -> Any:
    """As both READMEs record it."""
    names: Names = {"tf": tf, "live": live, "train_op": live.made.fetches}
    text = """
run_metadata = tf.RunMetadata()
with live.session.as_default() as sess:
  _ = sess.run(train_op,
               options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
               run_metadata=run_metadata)
"""
    live.session.run(live.made.before)
    exec(compile(text, "document", "exec"), names)  # noqa: S102 - that is the test
    return names["run_metadata"]


@pytest.fixture
def same(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Both:
    return Both(capfd, tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(
    same: Both, live: live_models.Live, recorded: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program = PROGRAMS[name]
    preset = "TRAINABLE_VARS_PARAMS_STAT_OPTIONS"  # a program writes into it
    monkeypatch.setattr(model_analyzer, preset, getattr(model_analyzer, preset).copy())

    def names(out: Path) -> Names:
        given = {"tf": tf, "tfprof": tfprof, "sys": sys, "model_analyzer": model_analyzer}
        shared = {"graph": live.graph, "sess": live.session, "filename": str(out)}
        return {**given, **shared, "run_metadata": recorded, "run_meta": recorded}

    with live.graph.as_default():
        ours = same.ours(lambda _, out: program.run(names(out)))
        theirs = same.theirs(lambda _, out: program.meaning(names(out)))
    same_done(ours, theirs)
    assert "_TFProfRoot" in theirs.stdout or theirs.files


# --- op logs and runs as files ------------------------------------------------------------------

OWN_TYPES = """
op_log = tfprof_log_pb2.OpLog()
entry = op_log.log_entries.add()
entry.name = 'pool_logit/DW'
entry.types.append('pool_logit')
entry = op_log.log_entries.add()
entry.name = 'pool_logit/biases'
# Alternatively:
# var = tf.get_variable(xxx)
# entry.name = var.op.name
entry.types.append('pool_logit')
"""
WRITTEN = {
    "tf.contrib.tfprof.tfprof_logger.write_op_log(sess.graph, /tmp/my_op_log_dir, op_log)": """
tf.contrib.tfprof.tfprof_logger.write_op_log(
    sess.graph, '/tmp/my_op_log_dir', op_log)
""",
    "tf.contrib.tfprof.tfprof_logger.write_op_log"
    "(sess.graph, /tmp/my_op_log_dir, op_log, run_meta)": """
# Get run-time shape information in order to fill shapes and get flops.
tf.contrib.tfprof.tfprof_logger.write_op_log(
    sess.graph, '/tmp/my_op_log_dir', op_log, run_meta)
""",
    "tf.contrib.tfprof.tfprof_logger.write_op_log(graph, log_dir, op_log=None)": """
tf.contrib.tfprof.tfprof_logger.write_op_log(graph, log_dir, op_log=None)
""",
}
OP_LOG_LINE = (
    "op_log = tfprof_log_pb2.OpLog(); entry = op_log.log_entries.add(); entry.types.append(…)"
)


@pytest.mark.usefixtures("no_source_text")
@pytest.mark.parametrize("line", WRITTEN)
def test_op_logs(live: live_models.Live, recorded: Any, tmp_path: Path, line: str) -> None:
    names: Names = {"tfprof": tfprof, "tfprof_log_pb2": tfprof_log_pb2, "sess": live.session}
    names |= {"graph": live.graph, "run_meta": recorded, "log_dir": str(tmp_path)}
    text = OWN_TYPES + WRITTEN[line].replace("/tmp/my_op_log_dir", str(tmp_path))  # noqa: S108
    exec(text.replace("tf.contrib.tfprof", "tfprof"), names)  # noqa: S102 - that is the test
    written = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    own = tf.profiler.OpLogProto.FromString(names["op_log"].SerializeToString())
    run = recorded if "run_meta" in line else None
    given = None if "None" in line else own
    tf.profiler.write_op_log(live.graph, str(tmp_path), given, run)
    assert written == tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    types = {entry.name: list(entry.types) for entry in written.log_entries}
    own_type = [] if given is None else ["pool_logit"]
    assert types["pool_logit/biases"] == [*own_type, "_trainable_variables"]


RUN_LINES = (
    "f.write(run_metadata.SerializeToString())",
    "sess.run(train_op, options=…FULL_TRACE, run_metadata=run_metadata)",
)


def test_runs_as_files(live: live_models.Live, tmp_path: Path) -> None:
    class Trainer:
        _sess = live.session

    live.session.run(live.made.before)
    names: Names = {"config_pb2": config_pb2, "gfile": tf.gfile, "os": os, "self": Trainer}
    names |= {"train_op": live.made.fetches, "output_dir": str(tmp_path)}
    exec(  # noqa: S102 - that is the test
        """
run_options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE)
run_metadata = config_pb2.RunMetadata()
# Once a while, call it the get the RunMeta.
_ = self._sess.run(train_op, options=run_options, run_metadata=run_metadata)
with gfile.Open(os.path.join(output_dir, "run_meta"), "w") as f:
  f.write(run_metadata.SerializeToString())
""",
        names,
    )
    path = tmp_path / "run_meta"
    assert tf.RunMetadata.FromString(path.read_bytes()) == names["run_metadata"]
    options = {**model_analyzer.PRINT_ALL_TIMING_MEMORY, "output": "none"}
    theirs = tf.profiler.profile(live.graph, names["run_metadata"], options=options)
    ours = tfprof.profile(live.graph, str(path), options=options)
    assert ours.total_exec_micros == theirs.total_exec_micros > 0


# --- the builder --------------------------------------------------------------------------------

# What a builder is asked for; below, what it has ready.
BUILT: Final = {
    "account_displayed_op_only(is_true)": "account_displayed_op_only(is_true=True)",
    "order_by(attribute)": "order_by(attribute='bytes')",
    "select(attributes)": "select(attributes=['params', 'bytes'])",
    "with_accounted_types(account_type_regexes)": (
        "with_accounted_types(account_type_regexes=['.*gpu:0.*'])"
    ),
    "with_empty_output()": "with_empty_output()",
    "with_file_output(outfile)": "with_file_output(outfile='f')",
    "with_max_depth(max_depth)": "with_max_depth(max_depth=3)",
    "with_min_execution_time(min_micros=0, min_accelerator_micros=0, min_cpu_micros=0)": (
        "with_min_execution_time(min_micros=1, min_accelerator_micros=2, min_cpu_micros=3)"
    ),
    "with_min_float_operations(min_float_ops)": "with_min_float_operations(min_float_ops=9)",
    "with_min_memory(min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0)": (
        "with_min_memory(min_bytes=1, min_peak_bytes=2, min_residual_bytes=3, min_output_bytes=4)"
    ),
    "with_min_occurrence(min_occurrence)": "with_min_occurrence(min_occurrence=2)",
    "with_min_parameters(min_params)": "with_min_parameters(min_params=2)",
    "with_node_names(start_name_regexes=None, show_name_regexes=None, …)": (
        "with_node_names(start_name_regexes=['a'], show_name_regexes=['b'], "
        "hide_name_regexes=['c'], trim_name_regexes=['d'])"
    ),
    "with_pprof_output(pprof_file)": "with_pprof_output(pprof_file='f')",
    "with_stdout_output()": "with_empty_output().with_stdout_output()",
    "with_step(step)": "with_step(step=3)",
    "with_timeline_output(timeline_file)": "with_timeline_output(timeline_file='f')",
}
READY: Final = {
    "__init__(options=None)": "P(options=None).build()",
    "build()": "P().build()",
    "float_operation()": "P.float_operation()",
    "time_and_memory(min_micros=1, min_bytes=1, min_accelerator_micros=0, …)": (
        "P.time_and_memory(min_micros=2, min_bytes=3, min_accelerator_micros=4, "
        "min_cpu_micros=5, min_peak_bytes=6, min_residual_bytes=7, min_output_bytes=8)"
    ),
    "trainable_variables_parameter()": "P.trainable_variables_parameter()",
}
CALLED: Final = {**READY, **{line: f"P().{calls}.build()" for line, calls in BUILT.items()}}


@pytest.mark.parametrize("line", CALLED)
def test_builder(line: str) -> None:
    ours, theirs = (
        eval(CALLED[line], {"P": profilers.ProfileOptionBuilder})  # noqa: S307
        for profilers in (tfprof, tf.profiler)
    )
    assert isinstance(theirs, dict)
    assert {**DEFAULTS, **ours} == {**DEFAULTS, **theirs}


# What no entry in the dictionary means.
DEFAULTS: Final = dict.fromkeys(
    (
        *("min_peak_bytes", "min_residual_bytes", "min_output_bytes"),
        *("min_accelerator_micros", "min_cpu_micros"),
    ),
    0,
)


# --- MobileNet ----------------------------------------------------------------------------------

MOBILENET = """
import tensorflow as tf
import keras.backend as K
from keras.applications.mobilenet import MobileNet

run_meta = tf.RunMetadata()

with tf.Session(graph=tf.Graph()) as sess:
    K.set_session(sess)
    net = MobileNet(alpha=.75, input_tensor=tf.placeholder('float32', shape=(1, 32, 32, 3)))
    opts = tf.profiler.ProfileOptionBuilder.float_operation()
    flops = tf.profiler.profile(sess.graph, run_meta=run_meta, cmd='op', options=opts)
    opts = tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()
    params = tf.profiler.profile(sess.graph, run_meta=run_meta, cmd='op', options=opts)
    print("{:,} --- {:,}".format(flops.total_float_ops, params.total_parameters))
"""
MOBILENET_LINES = (
    "tf.profiler.profile(sess.graph, run_meta=run_meta, cmd='op', options=….float_operation())",
    "tf.profiler.profile(…, cmd='op', options=….trainable_variables_parameter())",
)


class TensorFlow(types.ModuleType):
    """tensorflow.compat.v1 with another profiler."""

    def __init__(self, profiler: Any) -> None:
        super().__init__("tensorflow")
        self.profiler = profiler

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)


@pytest.mark.whole
def test_mobilenet(same: Both) -> None:
    def call(profiler: Any, _: Path) -> list[Any]:
        """As printed; `tf` and Keras are those of TensorFlow 1, and no weights are fetched."""
        text = MOBILENET.replace("keras.", "tf_keras.api._v1.keras.")
        text = text.replace("MobileNet(", "MobileNet(weights=None, ")
        text = text.replace("import tensorflow as tf\n", "")
        names: Names = {"tf": TensorFlow(profiler)}
        exec(compile(text, "document", "exec"), names)  # noqa: S102 - that is the test
        return [names["flops"].total_float_ops, names["params"].total_parameters]

    ours, theirs = same.ours(call), same.theirs(call)
    same_done(ours, theirs)
    assert theirs.result[1] == 2_585_560  # what Keras says of it
    assert theirs.stdout.endswith(" --- 2,585,560\n")


# --- the table ----------------------------------------------------------------------------------


def test_every_line_is_run() -> None:
    run = {line for program in PROGRAMS.values() for line in program.lines}
    run |= {*WRITTEN, OP_LOG_LINE, *RUN_LINES, *CALLED, *MOBILENET_LINES}
    assert run == {entry.line for entry in ENTRIES if entry.python}
