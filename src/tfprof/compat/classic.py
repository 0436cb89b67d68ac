"""The calls of tf.compat.v1.profiler, under the same names and with the same results.

    import tfprof                                  was: from tensorflow.compat.v1 import profiler
    tfprof.profile(graph, run_meta, cmd="op")      profiler.profile(graph, run_meta, cmd="op")

A graph, run or op log is a live object, a message of TensorFlow or ours, its bytes, or the path
of a file. None of them is changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tfprof.capture.asking import advice, ask, checkers_of, question
from tfprof.capture.given import paths
from tfprof.capture.model import log_of_model, profile_of
from tfprof.capture.profiler import ALL_ADVICE, Profiler
from tfprof.capture.streams import tell
from tfprof.compat.option_builder import ProfileOptionBuilder
from tfprof.foundation.arguments import path
from tfprof.io.files import write_whole
from tfprof.results.loaded import Loaded
from tfprof.writers.op_log import op_log as op_log_bytes

if TYPE_CHECKING:
    import os

    from tfprof.capture.asking import Checkers
    from tfprof.foundation.arguments import Options
    from tfprof.tables.options import Flops

__all__ = ["ALL_ADVICE", "Profiler", "advise", "profile", "write_op_log"]

LOG_NAME = "tfprof_log"


def profile(  # noqa: PLR0913 - the original's arguments, and one of ours
    graph: Any = None,  # noqa: ANN401 - any of the forms
    run_meta: Any = None,  # noqa: ANN401 - likewise
    op_log: Any = None,  # noqa: ANN401 - likewise
    cmd: str = "scope",
    options: Options | Literal[0] | None = None,
    *,
    flops: Flops = "tensorflow",
) -> Any:  # noqa: ANN401 - a message has no type
    """What *options* ask of a view: "scope", "graph", "op" or "code".

    Without *options*, the parameters of trainable variables; without *graph*, of the default
    graph. The report goes where the option `output` says. What comes back is a GraphNodeProto
    for scope and graph, a MultiGraphNodeProto for op and code. *flops* says which operations are
    counted by rule: those that TensorFlow counts ("tensorflow"), all that tfprof can count
    ("all"), or none ("log": only what *op_log* says).
    """
    asked = question(cmd, _wanted(options))
    rules = asked.flops or flops
    made = profile_of(graph, run_meta, op_log, rules, traces=cmd == "code")
    tell(made.notes)
    # TensorFlow's counts are part of the profile by now, as in the original; others are not.
    asked = asked.counted_by("log" if rules == "tensorflow" else rules)
    return ask(Loaded(made, None, paths(graph, run_meta, op_log)), asked)


def _wanted(options: Options | Literal[0] | None) -> Options:
    """The options to go by; 0 is how the original's signature says that there are none."""
    if options is None or (isinstance(options, int) and options == 0):
        return ProfileOptionBuilder.trainable_variables_parameter()
    return options


def advise(
    graph: Any = None,  # noqa: ANN401 - any of the forms
    run_meta: Any = None,  # noqa: ANN401 - likewise
    options: Checkers | None = ALL_ADVICE,
) -> Any:  # noqa: ANN401 - a message has no type
    """What checkers find in a model, printed and as an AdviceProto.

    *options* has a dictionary of options for each checker that is to look; None is no checker.
    """
    checkers = checkers_of(options)
    made = profile_of(graph, run_meta)
    tell(made.notes)
    return advice(made, checkers)


def write_op_log(  # noqa: PLR0913 - the original's arguments, and one of ours
    graph: Any,  # noqa: ANN401 - any of the forms
    log_dir: str | os.PathLike[str],
    op_log: Any = None,  # noqa: ANN401 - any of the forms
    run_meta: Any = None,  # noqa: ANN401 - likewise
    add_trace: bool = True,  # noqa: FBT001, FBT002 - as in the original
    *,
    flops: Flops = "tensorflow",
) -> None:
    """Write LOG_DIR/tfprof_log: what is known of the graph's operations, for the command line.

    That is float operations, trainable variables, with *add_trace* the lines of Python that made
    each, and whatever *op_log* says.
    """
    folder = Path(path("log_dir", log_dir))
    reading = log_of_model(graph, run_meta, op_log, flops, traces=add_trace)
    tell(reading.notes)
    write_whole(str(folder / LOG_NAME), op_log_bytes(reading.log))
