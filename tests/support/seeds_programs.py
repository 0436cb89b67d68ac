"""Programs of the old documents, as printed, each with what it is in the calls of today.

The `tf` of these programs is tensorflow.compat.v1; `tf.contrib.tfprof` and `tf.profiler` are
`tfprof`. Names of the reader's own files are those of our model, and `answer` is what is compared.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import tensorflow.compat.v1 as tf

from tfprof import model_analyzer

if TYPE_CHECKING:
    from collections.abc import Callable

PRESETS: Final = {
    "PARAMETERS": model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
    "FLOPS": model_analyzer.FLOAT_OPS_OPTIONS,
    "TIMES": model_analyzer.PRINT_ALL_TIMING_MEMORY,
}
Names = dict[str, Any]


@dataclass(frozen=True)
class Program:
    """Statements of a document, the lines of seeds.py that they are, and what they mean."""

    text: str
    lines: tuple[str, ...]
    meaning: Callable[[Names], Any]  # the same through the profiler inside of TensorFlow

    def run(self, names: Names) -> Any:
        """Run it as printed, with tfprof for what there was; what it called `answer`, if it did."""
        text = self.text.replace("tf.contrib.tfprof", "tfprof").replace("tf.profiler", "tfprof")
        exec(compile(text, "document", "exec"), names)  # noqa: S102 - that is the test
        return names.get("answer")


def profiled(view: str, options: str, **changes: Any) -> Callable[[Names], Any]:
    """A call of today that does what a program of then did."""
    traced = options == "TIMES" or changes.pop("traced", False)

    def meaning(names: Names) -> Any:
        given = {**PRESETS[options], **changes}
        given["output"] = given["output"].replace("<filename>", names["filename"])
        runs = {"run_meta": names["run_metadata"]} if traced else {}
        return tf.profiler.profile(names["graph"], cmd=view, options=given, **runs)

    return meaning


def _told(meaning: Callable[[Names], Any]) -> Callable[[Names], Any]:
    """With the sum of parameters printed after it."""

    def both(names: Names) -> Any:
        answer = meaning(names)
        os.write(1, b"total_params: %d\n" % answer.total_parameters)
        return answer

    return both


ANALYSIS = "tf.contrib.tfprof.model_analyzer.print_model_analysis"
TOTAL = "sys.stdout.write('total_params: %d\\n' % param_stats.total_parameters)"
READMES: Final = {
    "parameters": Program(
        """
param_stats = tf.contrib.tfprof.model_analyzer.print_model_analysis(
    tf.get_default_graph(),
    tfprof_options=tf.contrib.tfprof.model_analyzer.
        TRAINABLE_VARS_PARAMS_STAT_OPTIONS)

# param_stats is tensorflow.tfprof.TFProfNode proto. It organize the statistics
# of each graph node in tree scructure. Let's print the root below.
sys.stdout.write('total_params: %d\\n' % param_stats.total_parameters)
answer = param_stats
""",
        (f"{ANALYSIS}(…, TRAINABLE_VARS_PARAMS_STAT_OPTIONS)", TOTAL),
        _told(profiled("scope", "PARAMETERS")),
    ),
    "flops": Program(
        """
answer = tf.contrib.tfprof.model_analyzer.print_model_analysis(
    tf.get_default_graph(),
    tfprof_options=tf.contrib.tfprof.model_analyzer.FLOAT_OPS_OPTIONS)
""",
        (f"{ANALYSIS}(…, FLOAT_OPS_OPTIONS)",),
        profiled("scope", "FLOPS"),
    ),
    "times": Program(
        """
answer = tf.contrib.tfprof.model_analyzer.print_model_analysis(
    tf.get_default_graph(),
    run_meta=run_metadata,
    tfprof_options=tf.contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY)
""",
        (f"{ANALYSIS}(…, PRINT_ALL_TIMING_MEMORY)",),
        profiled("scope", "TIMES"),
    ),
    "code parameters": Program(
        """
opts = tf.contrib.tfprof.model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS
opts['show_name_regexes'] = ['.*my_code1.py.*', '.*resnet_model.py.*']
param_stats = tf.contrib.tfprof.model_analyzer.print_model_analysis(
    tf.get_default_graph(),
    tfprof_cmd='code',
    tfprof_options=opts)

# param_stats is tensorflow.tfprof.TFGraphNodeProto proto.
# Let's print the root below.
sys.stdout.write('total_params: %d\\n' % param_stats.total_parameters)
answer = param_stats
""",
        (
            (
                "print_model_analysis(…, tfprof_cmd='code', TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "
                "show_name_regexes)"
            ),
            TOTAL,
        ),
        _told(
            profiled(
                "code", "PARAMETERS", show_name_regexes=[".*my_code1.py.*", ".*resnet_model.py.*"]
            )
        ),
    ),
    "code times": Program(
        """
opts = tf.contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY.copy()
opts['show_name_regexes'] = ['.*resnet_model.py.*']
answer = tf.contrib.tfprof.model_analyzer.print_model_analysis(
    tf.get_default_graph(),
    run_meta=run_metadata,
    tfprof_cmd='code',
    tfprof_options=opts)
""",
        ("print_model_analysis(…, tfprof_cmd='code', PRINT_ALL_TIMING_MEMORY, show_name_regexes)",),
        profiled("code", "TIMES", show_name_regexes=[".*resnet_model.py.*"]),
    ),
    "timeline": Program(
        """
opts = tf.contrib.tfprof.model_analyzer.PRINT_ALL_TIMING_MEMORY.copy()
opts['output'] = 'timeline:outfile=' + filename
answer = tf.contrib.tfprof.model_analyzer.print_model_analysis(
    tf.get_default_graph(), run_meta=run_metadata, tfprof_options=opts)
""",
        ("opts['output'] = 'timeline:outfile=<filename>'",),
        profiled("scope", "TIMES", output="timeline:outfile=<filename>"),
    ),
}
LATER: Final = {
    "architecture: parameters": Program(
        """
param_stats = tf.profiler.profile(
    tf.get_default_graph(),
    options=tf.profiler.ProfileOptionBuilder
        .trainable_variables_parameter())
sys.stdout.write('total_params: %d\\n' % param_stats.total_parameters)
answer = param_stats
""",
        (
            (
                "tf.profiler.profile(…, "
                "options=tf.profiler.ProfileOptionBuilder.trainable_variables_parameter())"
            ),
            TOTAL,
        ),
        _told(lambda names: tf.profiler.profile(names["graph"])),
    ),
    "architecture: flops": Program(
        """
answer = tf.profiler.profile(
    tf.get_default_graph(),
    options=tf.profiler.ProfileOptionBuilder.float_operation())
""",
        ("tf.profiler.profile(…, options=tf.profiler.ProfileOptionBuilder.float_operation())",),
        lambda names: tf.profiler.profile(
            names["graph"], options=tf.profiler.ProfileOptionBuilder.float_operation()
        ),
    ),
    "time": Program(
        """
opts = model_analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS.copy()
opts['account_type_regexes'] = ['.*']
opts['show_name_regexes'] = ['.*resnet_model.py.*']
opts['account_displayed_op_only'] = False
opts['select'] = ['micros']

tfprof_node = model_analyzer.print_model_analysis(
    sess.graph, run_meta, cmd='code', options=opts)
answer = tfprof_node
""",
        ("model_analyzer.print_model_analysis(sess.graph, run_meta, cmd='code', options=opts)",),
        profiled(
            "code",
            "PARAMETERS",
            traced=True,
            account_type_regexes=[".*"],
            show_name_regexes=[".*resnet_model.py.*"],
            account_displayed_op_only=False,
            select=["micros"],
        ),
    ),
    "options": Program(
        """
# Users can use pre-built options:
opts = (tf.profiler.ProfileOptionBuilder.trainable_variables_parameter())
# Or, build your own options:
opts = (tf.profiler.ProfileOptionBuilder().with_max_depth(10).with_min_micros(1000) \\
        .select(['accelerator_micros']).with_stdout_output().build())
# Or customize the pre-built options:
opts = (tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.time_and_memory()) \\
        .with_displaying_options(show_name_regexes=['.*rnn.*']).build())
# Finally, profiling with the options:
_ = tf.profiler.profile(tf.get_default_graph(), run_meta=run_meta, cmd='scope', options=opts)
answer = _
""",
        (
            "tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()",
            "ProfileOptionBuilder().with_max_depth(10).with_min_micros(1000).select(…)…build()",
            (
                "ProfileOptionBuilder(….time_and_memory())"
                ".with_displaying_options(show_name_regexes=…).build()"
            ),
            (
                "tf.profiler.profile(tf.get_default_graph(), run_meta=run_meta, cmd='scope', "
                "options=opts)"
            ),
        ),
        lambda names: tf.profiler.profile(
            names["graph"],
            run_meta=names["run_meta"],
            options=tf.profiler.ProfileOptionBuilder(
                tf.profiler.ProfileOptionBuilder.time_and_memory()
            )
            .with_node_names(show_name_regexes=[".*rnn.*"])
            .build(),
        ),
    ),
}
PROGRAMS: Final = {**READMES, **LATER}
