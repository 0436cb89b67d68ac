"""The Python that the five old documents show: a line each, shortened; and what is said of some.

The statements in full are in test_seeds_python.py, which runs them.
"""

from __future__ import annotations

from typing import Final

_README = """
tf.contrib.tfprof.model_analyzer.print_model_analysis(…, TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
sys.stdout.write('total_params: %d\\n' % param_stats.total_parameters)
tf.contrib.tfprof.model_analyzer.print_model_analysis(…, FLOAT_OPS_OPTIONS)
sess.run(train_op, options=…FULL_TRACE, run_metadata=run_metadata)
tf.contrib.tfprof.model_analyzer.print_model_analysis(…, PRINT_ALL_TIMING_MEMORY)
op_log = tfprof_log_pb2.OpLog(); entry = op_log.log_entries.add(); entry.types.append(…)
tf.contrib.tfprof.tfprof_logger.write_op_log(sess.graph, /tmp/my_op_log_dir, op_log)
tf.contrib.tfprof.tfprof_logger.write_op_log(sess.graph, /tmp/my_op_log_dir, op_log, run_meta)
f.write(run_metadata.SerializeToString())
tf.contrib.tfprof.tfprof_logger.write_op_log(graph, log_dir, op_log=None)
"""
PYTHON: Final = {
    "readme-2016": _README,
    "readme-2017": f"""{_README}
print_model_analysis(…, tfprof_cmd='code', TRAINABLE_VARS_PARAMS_STAT_OPTIONS, show_name_regexes)
print_model_analysis(…, tfprof_cmd='code', PRINT_ALL_TIMING_MEMORY, show_name_regexes)
opts['output'] = 'timeline:outfile=<filename>'
""",
    "architecture": """
tf.profiler.profile(…, options=tf.profiler.ProfileOptionBuilder.trainable_variables_parameter())
sys.stdout.write('total_params: %d\\n' % param_stats.total_parameters)
tf.profiler.profile(…, options=tf.profiler.ProfileOptionBuilder.float_operation())
""",
    "time": """
model_analyzer.print_model_analysis(sess.graph, run_meta, cmd='code', options=opts)
""",
    "options": """
tf.profiler.ProfileOptionBuilder.trainable_variables_parameter()
ProfileOptionBuilder().with_max_depth(10).with_min_micros(1000).select(…)…build()
ProfileOptionBuilder(….time_and_memory()).with_displaying_options(show_name_regexes=…).build()
tf.profiler.profile(tf.get_default_graph(), run_meta=run_meta, cmd='scope', options=opts)
__init__(options=None)
account_displayed_op_only(is_true)
build()
float_operation()
order_by(attribute)
select(attributes)
time_and_memory(min_micros=1, min_bytes=1, min_accelerator_micros=0, …)
trainable_variables_parameter()
with_accounted_types(account_type_regexes)
with_empty_output()
with_file_output(outfile)
with_max_depth(max_depth)
with_min_execution_time(min_micros=0, min_accelerator_micros=0, min_cpu_micros=0)
with_min_float_operations(min_float_ops)
with_min_memory(min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0)
with_min_occurrence(min_occurrence)
with_min_parameters(min_params)
with_node_names(start_name_regexes=None, show_name_regexes=None, …)
with_pprof_output(pprof_file)
with_stdout_output()
with_step(step)
with_timeline_output(timeline_file)
tf.profiler.profile(sess.graph, run_meta=run_meta, cmd='op', options=….float_operation())
tf.profiler.profile(…, cmd='op', options=….trainable_variables_parameter())
""",
}

QUOTES = "the document's line is no Python: the path needs quotes"
LATER = "the document contradicts itself: these methods are not among those it lists"
DIFFERENT: Final = {
    **dict.fromkeys(
        [line for line in _README.split("\n") if "/tmp/" in line],  # noqa: S108 - as printed
        QUOTES,
    ),
    "print_model_analysis(…, tfprof_cmd='code', TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "
    "show_name_regexes)": "the document's line is no Python: it needs a comma",
    "ProfileOptionBuilder().with_max_depth(10).with_min_micros(1000).select(…)…build()": LATER,
    "ProfileOptionBuilder(….time_and_memory()).with_displaying_options(show_name_regexes=…)"
    ".build()": LATER,
    **dict.fromkeys(
        [line for line in PYTHON["options"].split("\n") if "cmd='op'" in line],
        "values of another training: the weights are not downloaded",
    ),
}
