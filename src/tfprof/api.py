"""load(): files or live objects in, a Loaded out that answers questions."""

from __future__ import annotations

import os
from functools import partial
from os import fspath
from typing import TYPE_CHECKING, Any

from tfprof.cache.load_cached import cached_profile
from tfprof.errors import UsageError
from tfprof.foundation.arguments import path as file_path
from tfprof.foundation.arguments import shown, truth
from tfprof.foundation.progress_events import listening
from tfprof.io.beside import BESIDE_GRAPH, beside_graph, files_beside, notes_beside
from tfprof.results.loaded import Loaded
from tfprof.tables.eras import ERAS, NOW
from tfprof.tables.formats import (
    CHECKPOINT,
    DEVICES,
    FORMATS,
    GRAPH,
    NOTES,
    OP_LOG,
    PROFILE,
    RUN,
    TEXT_PARTS,
    TRACE,
    load_arguments,
    sample_files,
)
from tfprof.tables.options import check_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tfprof.model import Profile
    from tfprof.read.source import Source
    from tfprof.results.fleet import Fleet
    from tfprof.tables.formats import Input
    from tfprof.tables.options import Option

    # For each input paths, or for some live objects, messages or bytes.
    Arguments = Mapping[Input, list[Any]]

AnyPath = str | os.PathLike[str]
# The inputs that may also be live objects, messages or bytes.
_LIVE = (GRAPH, RUN, OP_LOG)


def load(  # noqa: PLR0913 - one parameter per input
    graph: Any = None,  # noqa: ANN401 - any of the forms
    run_meta: Any = (),  # noqa: ANN401 - likewise, or several
    op_log: Any = None,  # noqa: ANN401 - likewise
    *,
    checkpoint: AnyPath | None = None,
    profile: Any = None,  # noqa: ANN401 - as the others
    trace: AnyPath | Sequence[AnyPath] = (),
    signature: str | None = None,
    tag: str | Sequence[str] | None = None,
    weights: str | None = None,
    devices: str = DEVICES.default,
    functions: bool | None = None,
    era: str = NOW.name,
    progress: Callable[[str], None] = lambda _: None,
) -> Loaded:
    """The profile that these inputs describe.

    *graph* is a tf.Graph, a GraphDef, its bytes or the path of a file, also of a SavedModel; of a
    folder, tfprof reads all files that it knows. *run_meta* is a RunMetadata likewise, or a list of
    them: steps 0, 1, 2 and so on; *op_log* an OpLogProto likewise; *trace* the path of a trace of
    TensorFlow 2, or several. A live graph needs no op log: it knows its trainable variables and the
    code that made its nodes. *signature* selects one signature of a SavedModel; without it, all are
    read. *tag* selects one graph of a SavedModel by its tags, as in "serve,gpu" or
    ["serve", "gpu"]; without it, the only graph, the one tagged
    "serve" or the one without tags is read. *weights* is a regex for the parameters of a program of
    XLA that are weights, as in "params.*"; devices="all" counts the float operations and weights of
    all its devices, not of one. functions=False skips the function
    library of a graph; era="original" does so, too, and is the era of the views that are asked of
    it. *checkpoint* is the prefix of one; alone, its variables are the graph. *profile* is the path
    of a saved or converted one, or what serialize_to_string() of a Profiler returns, and stands for
    graph, runs and op log.
    *progress* is called with each stage as it begins: a text with the bytes *done* and in *total*.
    Raises InputError where a file is missing, damaged or of another format.

    >>> import tfprof
    >>> from tfprof.tables.formats import GRAPH, sample_files
    >>> tfprof.load(sample_files()[GRAPH.name])
    <Loaded: 5,174 graph nodes, 0 steps>
    """
    rows = (GRAPH, RUN, OP_LOG, PROFILE, TRACE, CHECKPOINT)
    values = (graph, run_meta, op_log, profile, trace, checkpoint)
    arguments = {row: _listed(row, value) for row, value in zip(rows, values, strict=True)}
    if _is_path(graph) and os.path.isdir(graph):  # noqa: PTH112 - as it is given
        arguments = _with_folder(fspath(graph), arguments)
    era = check_options({"era": era})["era"]
    functions = ERAS[era].functions if functions is None else functions
    if (reads_functions := truth(functions)) is None:
        raise UsageError(f"functions takes True or False, not {shown(functions)}")
    chosen = zip(TEXT_PARTS, (signature, tag, weights, devices), strict=True)
    parts = {row.name: _text(row, value) for row, value in chosen}
    if not callable(progress):
        raise UsageError(f"progress takes a function, not {shown(progress)}")
    checkpoints = arguments.pop(CHECKPOINT)
    prefix = next((file_path(CHECKPOINT.parameter, prefix) for prefix in checkpoints), None)
    if prefix == "":
        raise UsageError(f"the path of {CHECKPOINT.title} is empty")
    files = (file for files in arguments.values() for file in files if _is_path(file))
    inputs = tuple(
        path for file in files for path in (str(fspath(file)), *getattr(file, "others", ()))
    )
    if all(_is_path(argument) for row in _LIVE for argument in arguments[row]):
        with listening(progress):
            merged = _profile(arguments, {**parts, "functions": reads_functions}, progress)
    else:
        if any(part is not None for part in parts.values()):
            raise UsageError(
                "weights, devices, signature and tag select from a file: pass its path as the graph"
            )
        merged = _live_profile(arguments, functions=reads_functions)
    if prefix is None:
        return Loaded(merged, None, inputs, era)
    progress(f"reading {prefix}")
    from tfprof.io.open_files import checkpoint_files, open_checkpoint  # noqa: PLC0415 - as above

    opened, row = open_checkpoint(prefix), FORMATS["checkpoint"]
    if not any(arguments.values()) and ERAS[era].fits_files:
        from tfprof.read.checkpoint.variables import variables_profile  # noqa: PLC0415 - likewise

        merged, opened = variables_profile(opened)
    else:
        merged = row.add(merged, row.read(opened), opened)
    return Loaded(merged, opened, (*inputs, *checkpoint_files(opened.prefix)), era)


def load_sample() -> Loaded:
    """The bundled sample: two steps of training a ResNet.

    >>> import tfprof
    >>> tfprof.load_sample().steps
    (0, 1)
    """
    return load(**load_arguments(sample_files()))


def open_fleet(path: AnyPath) -> Fleet:
    """The fleet that `tfprof fleet SOURCE… -o PATH` gathered at *path*, a folder or a URL."""
    from tfprof.fleet.dataset import Dataset  # noqa: PLC0415 - few programs have a fleet
    from tfprof.results.fleet import Fleet  # noqa: PLC0415

    return Fleet(Dataset.open(file_path("path", path)))


def _text(row: Option, value: object) -> str | None:
    """A text, or of several texts a list by commas; None: as by default."""
    if row.choices and value not in row.choices:
        raise UsageError(f"{row.name} takes {' or '.join(row.choices)}, not {shown(value)}")
    if isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value):
        return ",".join(value) or ","
    if value is None or isinstance(value, str):
        return None if row.choices and value == row.default else value
    raise UsageError(f"{row.name} takes a text, not {shown(value)}")


def _listed(row: Input, argument: Any) -> list[Any]:  # noqa: ANN401 - as in load
    several = row.is_many and isinstance(argument, (list, tuple))
    return [value for value in (argument if several else [argument]) if value is not None]


def _is_path(argument: object) -> bool:
    return isinstance(argument, (str, os.PathLike))


def _with_folder(folder: str, arguments: Arguments) -> dict[Input, list[Any]]:
    """*arguments*, and the files in *folder* for the inputs that have none."""
    from tfprof.io.find_inputs import choose_inputs  # noqa: PLC0415 - most calls name files

    others = {**arguments, GRAPH: []}
    chosen = choose_inputs([folder], {row.name: values for row, values in others.items()})
    return {row: _listed(row, chosen.get(row.name)) or values for row, values in others.items()}


def _profile(
    arguments: Arguments, parts: Mapping[str, Any], progress: Callable[[str], None]
) -> Profile:
    """The profile of files, from the cache where it is there."""
    files = [(row.name, path) for row, paths in arguments.items() for path in paths]
    # Event files that were joined, and messages, are not one file each.
    if any(not _is_path(path) or getattr(path, "others", ()) for _, path in files):
        return _read_files(arguments, parts, progress)
    named = [(name, fspath(path)) for name, path in files]
    beside = [path for row, paths in arguments.items() for file in paths
              for path in files_beside(row, fspath(file))]  # fmt: skip
    read_now = partial(_read_files, arguments, parts, progress)
    return cached_profile(named, beside, parts, read_now, partial(_read_again, parts))


def _read_again(parts: Mapping[str, Any], files: Sequence[tuple[str, str]]) -> Profile:
    """The profile of files that were read before."""
    rows = (GRAPH, RUN, OP_LOG, PROFILE, TRACE)
    arguments = {row: [path for name, path in files if name == row.name] for row in rows}
    return _read_files(arguments, parts, lambda _: None)


def _read_files(
    arguments: Arguments, parts: Mapping[str, Any], progress: Callable[[str], None]
) -> Profile:
    from tfprof.read import load_files  # noqa: PLC0415 - the cache may have it

    return load_files(_sources(arguments), progress, **parts)


def _sources(arguments: Arguments) -> dict[Input, list[Source]]:
    """The content of the files, and of what belongs beside the graph."""
    from tfprof.io.open_files import open_source  # noqa: PLC0415 - as above

    sources = {row: [_source(row, file) for file in files] for row, files in arguments.items()}
    for graph in arguments[GRAPH]:
        for row in BESIDE_GRAPH:
            if source := beside_graph(row, fspath(graph), sources[GRAPH][0]):
                sources[row] = [source]
    captured = [*arguments[GRAPH], *arguments[TRACE]]
    if captured:
        places = dict.fromkeys(notes_beside(fspath(file)) for file in captured)
        sources[NOTES] = [open_source(place, NOTES.title) for place in places if place]
    return sources


def _source(row: Input, argument: Any) -> Source:  # noqa: ANN401 - as in load
    if row is PROFILE and not _is_path(argument):
        from tfprof.capture.coerce import profile_source  # noqa: PLC0415 - it serves live objects

        source = profile_source(argument)
        assert source is not None, "there is a profile"
        return source
    from tfprof.io.open_files import open_source  # noqa: PLC0415 - as above

    file = file_path(row.parameter, argument)
    if not file:
        raise UsageError(f"the path of {row.title} is empty")
    return open_source(file, f"{row.title} (--{row.name})", is_named=True)


def _live_profile(arguments: Arguments, *, functions: bool) -> Profile:
    if arguments[PROFILE]:
        raise UsageError("pass either a saved profile or graph, run_meta and op_log, not both")
    # TensorFlow and what serves it is for live objects.
    from tfprof.capture.model import profile_of_steps  # noqa: PLC0415
    from tfprof.read import add_trace, expansion_limits  # noqa: PLC0415

    graph, op_log = (next(iter(arguments[row]), None) for row in (GRAPH, OP_LOG))
    model = b"" if graph is None else graph
    profile = profile_of_steps(model, arguments[RUN], op_log, functions=functions)
    for trace in arguments[TRACE]:
        profile = add_trace(profile, _source(TRACE, trace))
    expansion_limits.check(profile, "what was given")
    return profile
