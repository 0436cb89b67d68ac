"""The calls of tf.compat.v1.profiler, under the same names and with the same results.

    import tfprof                                  was: from tensorflow.compat.v1 import profiler
    tfprof.profile(graph, run_meta, cmd="op")      profiler.profile(graph, run_meta, cmd="op")

A graph, run or op log is a live object, a message of TensorFlow or ours, its bytes, or the path
of a file. None of them changes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tfprof.capture.coerce import paths, run_of
from tfprof.capture.model import Model, profile_of
from tfprof.capture.profiler import ALL_ADVICE, Profiler
from tfprof.capture.run_query import Checkers, checkers_of, run_checkers, run_query, view_query
from tfprof.compat.option_builder import ProfileOptionBuilder
from tfprof.console.stdio import print_notes
from tfprof.foundation.arguments import Options, path
from tfprof.foundation.stack_files import embeds
from tfprof.io.write_files import write_file
from tfprof.model import Note
from tfprof.read.without_source import embedded, log_without_source, stacks_of
from tfprof.results.loaded import Loaded
from tfprof.writers.op_log import op_log as op_log_bytes

if TYPE_CHECKING:
    import os

    from tfprof.tables.options import Flops

__all__ = ["ALL_ADVICE", "Profiler", "advise", "profile", "write_op_log"]

LOG_NAME = "tfprof_log"


def profile(  # noqa: PLR0913 - the original's arguments, and one of ours
    graph: Any = None,
    run_meta: Any = None,
    op_log: Any = None,
    cmd: str = "scope",
    options: Options | Literal[0] | None = None,
    *,
    flops: Flops = "tensorflow",
) -> Any:  # a message has no type
    """Run one query with *options* on a view: "scope", "graph", "op" or "code".

    Without *options*, it shows the parameters of trainable variables; without *graph*, it reads the
    default graph. The option `output` says where the report goes. Returns a GraphNodeProto for
    scope and graph, a MultiGraphNodeProto for op and code. *flops* chooses the op types that rules
    count: those that TensorFlow counts ("tensorflow"), all that tfprof can count ("all"), or none
    ("log": only what *op_log* has).
    """
    if options is None or (isinstance(options, int) and options == 0):  # as in the original
        options = ProfileOptionBuilder.trainable_variables_parameter()
    asked = view_query(cmd, options)
    rules = asked.flops or flops
    loaded_profile = profile_of(graph, run_meta, op_log, rules, traces=cmd == "code")
    # As in the original, the profile records TensorFlow's counts; others come with the query.
    asked = asked.counted_by("log" if rules == "tensorflow" else rules)
    loaded = Loaded(loaded_profile, None, paths(graph, run_meta, op_log))
    return run_query(loaded, asked, loaded_profile.notes)


def advise(
    graph: Any = None, run_meta: Any = None, options: Checkers | None = ALL_ADVICE
) -> Any:  # a message has no type
    """Print the advice of checkers, each with its options; returns an AdviceProto."""
    checkers = checkers_of(options)
    model_profile = profile_of(graph, run_meta)
    print_notes(model_profile.notes)
    return run_checkers(model_profile, checkers)


def write_op_log(  # noqa: PLR0913 - the original's arguments, and one of ours
    graph: Any,
    log_dir: str | os.PathLike[str],
    op_log: Any = None,
    run_meta: Any = None,
    add_trace: bool = True,  # noqa: FBT001, FBT002 - as in the original
    *,
    flops: Flops = "tensorflow",
    source: bool = True,
) -> None:
    """Write the op log of a graph to LOG_DIR/tfprof_log, for the command line.

    It has float operations, trainable variables, with *add_trace* the lines of Python that created
    each operation, and the entries of *op_log*. Without *source*, it has no source text and no
    absolute path of a source file.
    """
    file = str(Path(path("log_dir", log_dir)) / LOG_NAME)
    reading = Model(graph, op_log, flops, traces=add_trace).read(run_of(run_meta))
    log = reading.log if source else log_without_source(reading.log)
    write_file(file, op_log_bytes(log))
    print_notes(reading.notes)
    if what := embedded(stacks_of(log)):
        print_notes([Note(f"tfprof: {embeds(file, what, 'source=False')}")])
