"""load(): files or live objects in, something to ask out."""

from __future__ import annotations

import os
from os import fspath
from typing import TYPE_CHECKING, Any

from tfprof import read
from tfprof.errors import UsageError
from tfprof.foundation.arguments import path, shown
from tfprof.foundation.progress_events import listening
from tfprof.io.files import checkpoint_files, open_checkpoint, open_source
from tfprof.read import expansion_limits
from tfprof.read.merge import with_extra_type
from tfprof.read.variable_collections import CHECKPOINT
from tfprof.results.loaded import Loaded
from tfprof.tables.inputs import sample_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

AnyPath = str | os.PathLike[str]


def load(  # noqa: PLR0913 - one parameter an input
    graph: Any = None,  # noqa: ANN401 - any of the forms
    run_meta: Any = (),  # noqa: ANN401 - likewise, or several
    op_log: Any = None,  # noqa: ANN401 - likewise
    *,
    checkpoint: AnyPath | None = None,
    profile: Any = None,  # noqa: ANN401 - as the others
    trace: AnyPath | Sequence[AnyPath] = (),
    signature: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Loaded:
    """The profile that these inputs describe.

    *graph* is a tf.Graph, a GraphDef, its bytes or the path of a file, also of a SavedModel; of a
    folder all that is in it is read. *run_meta* is a RunMetadata likewise, or a list of them: steps
    0, 1, 2 and so on; *op_log* an OpLogProto likewise; *trace* the path of a trace of TensorFlow 2,
    or several. A live graph tells its trainable variables and the code that made its nodes by
    itself. *signature* names the one of a SavedModel that is meant, if not all are. *checkpoint*
    is the prefix of one. *profile* is the path of a saved or converted one, or what
    serialize_to_string() of a Profiler gives, and stands for graph, runs and op log. *progress* is
    called with each stage as it begins: a text that also has the bytes *done* and those in *total*.
    Raises InputError where a file is missing, damaged or of another kind.

    >>> import tfprof
    >>> from tfprof.tables.inputs import sample_files
    >>> tfprof.load(sample_files()["graph_path"])
    <Loaded: 5,174 graph nodes, 0 steps>
    """
    runs = _several(run_meta)
    traces = _several(trace)
    if isinstance(graph, (str, os.PathLike)) and os.path.isdir(graph):  # noqa: PTH112 - as it is given
        found = _in_folder(fspath(graph), runs, op_log, checkpoint, profile, traces)
        return load(**found, signature=signature, progress=progress)
    given = [graph, *runs, op_log]
    if not callable(progress):
        raise UsageError(f"progress takes a function, not {shown(progress)}")
    prefix = None if checkpoint is None else path("checkpoint", checkpoint)
    if prefix == "":
        raise UsageError("the path of a checkpoint is empty")
    if all(one is None or isinstance(one, (str, os.PathLike)) for one in given):
        with listening(progress):
            made = read.load(
                _opened(graph, "a graph (--graph_path)"),
                [_source(one, "a RunMetadata (--run_meta_path)") for one in runs],
                _opened(op_log, "an op log (--op_log_path)"),
                progress,
                _saved(profile),
                traces=_traces(traces),
                debug=_debug_of(graph),
                signature=signature,
            )
    elif profile is not None:
        raise UsageError("a saved profile stands for graph, run_meta and op_log: give one or those")
    else:
        # TensorFlow and what serves it is for live objects.
        from tfprof.capture.model import profile_of_steps  # noqa: PLC0415

        made = profile_of_steps(b"" if graph is None else graph, runs, op_log)
        for one in _traces(traces):
            made = read.add_trace(made, one)
        expansion_limits.check(made, "what was given")
    files = [one for one in (*given, profile, *traces) if isinstance(one, (str, os.PathLike))]
    inputs = tuple(fspath(file) for file in files)
    if prefix is None:
        return Loaded(made, None, inputs)
    progress(f"reading {prefix}")
    opened = open_checkpoint(prefix)
    typed = with_extra_type(made, opened.names(), CHECKPOINT)
    return Loaded(typed, opened, (*inputs, *checkpoint_files(opened.prefix)))


def load_sample() -> Loaded:
    """The bundled sample: two steps of training a ResNet.

    >>> import tfprof
    >>> tfprof.load_sample().steps
    (0, 1)
    """
    sample = sample_files()
    return load(sample["graph_path"], sample["run_meta_path"], sample["op_log_path"])


def _several(given: Any) -> list[Any]:  # noqa: ANN401 - one or a list of them
    listed = given if isinstance(given, (list, tuple)) else [given]
    return [one for one in listed if one is not None]


def _in_folder(  # noqa: PLR0913, PLR0917 - one parameter an input
    folder: str,
    runs: Sequence[Any],
    op_log: Any,  # noqa: ANN401 - as in load
    checkpoint: AnyPath | None,
    profile: Any,  # noqa: ANN401 - as in load
    traces: Sequence[AnyPath],
) -> dict[str, Any]:
    """What is in *folder* where it is not given, by the names of load's parameters."""
    from tfprof.io.recognise import inputs  # noqa: PLC0415 - most calls name files

    given = {
        "run_meta_path": runs,
        "op_log_path": op_log,
        "checkpoint_path": checkpoint,
        "profile_path": profile,
        "trace_path": traces,
    }
    both = {**given, **inputs([folder], {name: one for name, one in given.items() if one})}
    return {
        "graph": both.get("graph_path"),
        "run_meta": both["run_meta_path"],
        "op_log": both["op_log_path"],
        "checkpoint": both["checkpoint_path"],
        "profile": both["profile_path"],
        "trace": both["trace_path"],
    }


def _traces(paths: Sequence[AnyPath]) -> list[read.Source]:
    return [_source(one, "a trace (--trace_path)") for one in paths]


def _debug_of(graph: AnyPath | None) -> read.Source | None:
    """What says where the functions of a SavedModel were made, if that stands beside it."""
    if graph is None:
        return None
    from tfprof.io.recognise import debug_beside  # noqa: PLC0415 - as above

    beside = debug_beside(fspath(graph))
    return None if beside is None else _source(beside, "a GraphDebugInfo")


def _opened(given: AnyPath | None, expected: str) -> read.Source | None:
    return None if given is None else _source(given, expected)


def _saved(given: Any) -> read.Source | None:  # noqa: ANN401 - as in load
    if given is None or isinstance(given, (str, os.PathLike)):
        return _opened(given, "a saved profile (--profile_path)")
    from tfprof.capture.given import profile_source  # noqa: PLC0415 - as in load

    return profile_source(given)


def _source(given: AnyPath, expected: str) -> read.Source:
    """The content of a file; *expected* says what it should have been, and its flag."""
    if not fspath(given):
        raise UsageError(f"the path of {expected.partition(' (')[0]} is empty")
    return open_source(fspath(given), expected)
