"""Files told by their content: what each is, and which option would have named it.

    tfprof scope graph.pbtxt run_meta_0 tfprof_log model.ckpt       words
    tfprof scope folder                                             what is in it, one level deep,
                                                                    and the latest trace of a log

A checkpoint is several files and goes by their prefix, whichever of them was named. An option
that is spelled out comes first, then a file that is named, then what a folder holds.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.errors import InputError, UsageError
from tfprof.io.files import open_source
from tfprof.read import sniff
from tfprof.tables.inputs import INPUTS
from tfprof.wire.decode import buffer_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The option that takes each kind of file; a kind that is missing here is read by no view.
OPTION_OF = {
    sniff.GRAPH: "graph_path",
    sniff.GRAPH_TEXT: "graph_path",
    sniff.META_GRAPH: "graph_path",
    sniff.META_GRAPH_TEXT: "graph_path",
    sniff.SAVED_MODEL: "graph_path",
    sniff.KERAS: "graph_path",
    sniff.RUN: "run_meta_path",
    sniff.RUN_TEXT: "run_meta_path",
    sniff.OP_LOG: "op_log_path",
    sniff.OP_LOG_TEXT: "op_log_path",
    sniff.CHECKPOINT: "checkpoint_path",
    sniff.TRACE: "trace_path",
    sniff.PROFILE: "profile_path",
    sniff.CONVERTED: "profile_path",
}
TITLES = {
    "graph_path": "a graph",
    "run_meta_path": "a run",
    "trace_path": "a trace",
    "op_log_path": "an op log",
    "checkpoint_path": "a checkpoint",
    "profile_path": "a saved profile",
}
# A saved profile holds all of these.
_IN_PROFILE = ("graph_path", "run_meta_path", "op_log_path", "trace_path")
_EXPECTED = "a graph, a RunMetadata, a trace, an op log, a checkpoint or a saved profile"
# Where TensorFlow puts traces inside of a folder for logs: a folder each, named by the time.
_TRACES = "plugins/profile"
_SAVED_MODEL = "saved_model.pb"
_DEBUG = "debug/saved_model_debug_info.pb"
_DATA_OF_BUNDLE = re.compile(r"\.data-\d{5}-of-\d{5}\Z")
_PIECE_OF_FIRST = re.compile(r"-\d{5}(-of-\d{5})\Z")
_PIECES_OF_FIRST = re.compile(r"-\?{5}(-of-\d{5})\Z")


class Found(NamedTuple):
    """A file, or a checkpoint by its prefix, as an option takes it."""

    path: str
    kind: sniff.Kind


class Contents(NamedTuple):
    """What a folder holds: what is recognised, and the names of the files that are not."""

    found: list[Found]
    others: list[str]


def exists(path: str) -> bool:
    """Whether there is a file, a folder or a checkpoint at *path*."""
    return _is(path, Path.exists) or _is_prefix(path)


def is_folder(path: str) -> bool:
    """Whether there is a folder at *path*."""
    return _is(path, Path.is_dir)


def debug_beside(graph: str) -> str | None:
    """What says where the functions of a SavedModel were made, if that stands beside its graph."""
    if Path(graph).name != _SAVED_MODEL:
        return None
    path = str(Path(graph).parent / _DEBUG)
    return path if _is(path, Path.is_file) else None


def recognise(path: str) -> Found:
    """What the file or checkpoint at *path* is; raises InputError where that is not known."""
    if not _is(path, Path.exists) and _is_prefix(path):
        return Found(path, sniff.CHECKPOINT)
    prefix = _DATA_OF_BUNDLE.sub("", path)
    if prefix != path and _is(f"{prefix}.index", Path.is_file):
        return Found(prefix, sniff.CHECKPOINT)
    if _is(path, Path.exists) and not _is(path, Path.is_file) and not is_folder(path):
        # What it is cannot be looked at without taking it away from who reads it.
        raise InputError(f"{path} is no plain file: name it with an option, as in --graph_path")
    source = open_source(path, _EXPECTED)
    if not source.data.size:
        raise InputError(f"{path} is empty; expected {_EXPECTED}")
    kind = sniff.kind_of(buffer_view(source.data))
    if kind is None:
        raise InputError(f"{path} is not recognised; expected {_EXPECTED}")
    return Found(_prefix(path) if kind is sniff.CHECKPOINT else path, kind)


def search(folder: str) -> Contents:
    """What the files of *folder* are, in natural order; run_2 stands before run_10."""
    found: list[Found] = []
    others: list[str] = []
    for entry in [*_files(folder), *_latest_traces(folder)]:
        try:
            one = recognise(str(entry))
        except InputError:
            others.append(entry.name)
            continue
        if one not in found:
            found.append(one)
    return Contents(found, others)


def _files(folder: str | Path) -> list[Path]:
    """The files directly in *folder*, in natural order."""
    try:
        entries = [entry for entry in Path(folder).iterdir() if not entry.is_dir()]
    except OSError as problem:
        raise InputError(f"{folder} cannot be read ({problem.strerror})") from None
    return sorted(entries, key=lambda entry: _natural(entry.name))


def _latest_traces(folder: str) -> list[Path]:
    """The traces of the last session that TensorFlow logged in *folder*, a file a host."""
    sessions = Path(folder, _TRACES)
    if not _is(str(sessions), Path.is_dir):
        return []
    times = [entry for entry in sessions.iterdir() if entry.is_dir()]
    latest = sorted(times, key=lambda entry: _natural(entry.name))[-1:]
    return [file for one in latest for file in _files(one) if file.name.endswith(".xplane.pb")]


def inputs(words: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that *words* stand for, next to those that are *given*.

    Raises UsageError where two files would have to be the same input.
    """
    named = [_usable(recognise(word)) for word in words if not is_folder(word)]
    held = [one for word in words if is_folder(word) for one in _usable_in(word)]
    flagged = {option for option in INPUTS if given.get(option)}
    for one in named:
        option = OPTION_OF[one.kind]
        if option in flagged:
            raise UsageError(
                f"--{option} is set and {one.path} is {TITLES[option]} as well: name one of them"
            )
    explicit = flagged | {OPTION_OF[one.kind] for one in named}
    if "profile_path" in explicit:
        explicit |= set(_IN_PROFILE)
    elif explicit & set(_IN_PROFILE):
        explicit.add("profile_path")
    found = named + [one for one in held if OPTION_OF[one.kind] not in explicit]
    return _options(found)


def _options(found: Sequence[Found]) -> dict[str, Any]:
    """The options that name these files."""
    options: dict[str, Any] = {}
    for option, row in INPUTS.items():
        paths = [one.path for one in found if OPTION_OF[one.kind] == option]
        if row.kind == "list" and paths:
            options[option] = tuple(paths)
            continue
        paths = list(dict.fromkeys(paths))
        if len(paths) > 1:
            raise UsageError(
                f"{paths[0]} and {paths[1]} are each {TITLES[option]}: "
                f"name the one to use, as in --{option}={paths[0]}"
            )
        if paths:
            options[option] = paths[0]
    for option in _IN_PROFILE:
        if "profile_path" in options and option in options:
            other = options[option]
            raise UsageError(
                f"{options['profile_path']} is a saved profile, which holds everything, and "
                f"{other if isinstance(other, str) else other[0]} is {TITLES[option]}: "
                "name one of them"
            )
    return options


def _usable(one: Found) -> Found:
    if one.kind not in OPTION_OF:
        raise InputError(f"{one.path} is {one.kind.title}; expected {_EXPECTED}")
    return one


def _usable_in(folder: str) -> list[Found]:
    found = [one for one in search(folder).found if one.kind in OPTION_OF]
    if not found:
        raise InputError(f"{folder} is a folder without {_EXPECTED.replace(' or ', ' and ')}")
    return found


def _prefix(path: str) -> str:
    """The name that the checkpoint with this file goes by."""
    return _PIECE_OF_FIRST.sub(r"-?????\1", path.removesuffix(".index"))


def _is_prefix(path: str) -> bool:
    """Whether *path* is no file, but what the files of a checkpoint begin with."""
    first = _PIECES_OF_FIRST.sub(r"-00000\1", path)
    return _is(f"{path}.index", Path.is_file) or (first != path and _is(first, Path.is_file))


def _is(path: str, test: Any) -> bool:  # noqa: ANN401 - one of Path's own questions
    """What *test* says of *path*; a name that no file can have is none."""
    try:
        return bool(test(Path(path)))
    except (OSError, ValueError):
        return False


def _natural(name: str) -> tuple[list[str | int], str]:
    """A key that orders numbers inside names by their value."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if at % 2 else part for at, part in enumerate(parts)], name
