"""Detects which inputs files and folders hold, by content, and sets the matching flags.

    tfprof scope graph.pbtxt run_meta_0 tfprof_log model.ckpt       files without flags
    tfprof scope folder                                             the files in it, one level deep,
                                                                    and the latest trace of a log

A checkpoint is several files. It goes by their prefix, whichever of them the user names. Of the
checkpoints of a folder, its file `checkpoint` names the one to read. A flag comes first, then a
file that the user names, then the files of a folder. A saved profile stands for graph, runs, traces
and op log.
"""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.errors import InputError, UnreadableError, UnsupportedError, UsageError
from tfprof.foundation.natural_order import natural
from tfprof.foundation.units import first_few
from tfprof.io.beside import TRACES
from tfprof.io.checkpoint_state import is_prefix, latest_checkpoint, path_is
from tfprof.io.event_folders import TRAIN, event_files_below, one_of_events, without_events
from tfprof.io.open_files import InputFile, open_source
from tfprof.read.source import refuse_unsupported
from tfprof.tables.formats import (
    FORMATS,
    GRAPH,
    HUB_MODULE,
    INPUTS,
    KERAS_METADATA,
    NOTES,
    PROFILE,
    TRACE,
    Input,
    expected_inputs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_CHECKPOINT, _LATEST = FORMATS["checkpoint"], FORMATS["checkpoint_state"]
_PROGRAMS = (FORMATS["hlo"], FORMATS["hlo_text"])
# Files that belong to a graph or a trace beside them.
_ASIDE = {row.beside[1] for row in (NOTES, KERAS_METADATA, HUB_MODULE) if row.beside}
_ASIDE.add("fingerprint.pb")  # of a SavedModel, without a use
_MOST_NAMED = 4  # files to choose from, in a message
_DATA_OF_BUNDLE = re.compile(r"\.data-\d{5}-of-\d{5}\Z")
_PIECE_OF_FIRST = re.compile(r"-\d{5}(-of-\d{5})\Z")


def exists(path: str) -> bool:
    """Whether there is a file, a folder or a checkpoint at *path*."""
    return path_is(path, Path.exists) or is_prefix(path)


def is_folder(path: str) -> bool:
    """Whether there is a folder at *path*."""
    return path_is(path, Path.is_dir)


def detect_file(path: str) -> InputFile:
    """The file or checkpoint at *path*, open; raises InputError where no format fits."""
    if not path_is(path, Path.exists) and is_prefix(path):
        return InputFile(path, _CHECKPOINT)
    prefix = _DATA_OF_BUNDLE.sub("", path)
    if prefix != path and path_is(f"{prefix}.index", Path.is_file):
        return InputFile(prefix, _CHECKPOINT)
    if path_is(path, Path.exists) and not path_is(path, Path.is_file) and not is_folder(path):
        # To look into a pipe is to take its bytes away from whoever reads it next.
        raise InputError(
            f"{path} is not a regular file; name it with a flag, as in --{GRAPH.name}={path}"
        )
    source = open_source(path, expected_inputs(), unpacks=False)
    if source.format is None:
        refuse_unsupported(source)
        what = "not recognised" if source.data.size else "empty"
        raise InputError(f"{path} is {what}; expected {expected_inputs()}")
    if source.format is _LATEST:
        return InputFile(latest_checkpoint(path, source.data.tobytes()), _LATEST)
    if source.format.input.by_prefix:
        path = _PIECE_OF_FIRST.sub(r"-?????\1", path.removesuffix(".index"))
    # A folder may have thousands of event files: each is opened again when it is read.
    return InputFile(path, source.format, None if source.format.joins else source)


def detect_files(folder: str) -> Iterator[InputFile | UnsupportedError | str]:
    """The inputs in *folder*, in natural order: run_2 is before run_10.

    Of a file that is not recognised, the name; of one that tfprof only names, the error. One file
    is open at a time, unless the caller keeps them. Raises InputError at the end where no file is
    an input.
    """
    paths: set[str] = set()
    named: list[UnsupportedError] = []
    files = _files(folder)
    below = sorted(event_files_below(folder, files), key=lambda entry: natural(str(entry)))
    for entry in [*files, *below, *_latest_traces(folder)]:
        try:
            file = detect_file(str(entry))
        except UnsupportedError as problem:
            named.append(problem)
            yield problem
            continue
        except UnreadableError:
            raise
        except InputError:
            yield entry.name
            continue
        # A checkpoint in pieces appears once per piece.
        if file not in paths:
            paths.add(str(file))
            yield file
    if not paths:
        reason = first_few([*map(str, named)], _MOST_NAMED)
        reason = f": {reason}" if named else f"; expected {expected_inputs()}"
        raise InputError(f"{folder} is a folder with no file that tfprof reads{reason}")


def _files(folder: str | Path) -> list[Path]:
    try:
        entries = [entry for entry in Path(folder).iterdir() if not entry.is_dir()]
        entries = [entry for entry in entries if entry.name not in _ASIDE]
    except OSError as problem:
        raise InputError(f"{folder} cannot be read ({problem.strerror})") from None
    return sorted(entries, key=lambda entry: natural(entry.name))


def _latest_traces(folder: str) -> list[Path]:
    """The traces of the last session that TensorFlow logged in *folder*, one file per host."""
    places = [Path(folder, place, TRACES) for place in ("", TRAIN)]
    sessions = [entry for place in places if is_folder(str(place)) for entry in place.iterdir()]
    times = [entry for entry in sessions if entry.is_dir()]
    latest = max(times, key=lambda entry: natural(entry.name), default=None)
    return [file for file in _files(latest) if file.name.endswith(".xplane.pb")] if latest else []


def choose_inputs(words: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """The flags that the files and folders in *words* stand for, beside those in *options*.

    The values are paths whose files are open (InputFile). Raises UsageError where two files would
    have to be the same input.
    """
    named = [detect_file(word) for word in words if not is_folder(word)]
    flags = {row for name, row in INPUTS.items() if options.get(name)}
    for file in named:
        row = file.file_format.input
        if row in flags:
            raise UsageError(
                f"--{row.name} is set and {file} is {row.title} as well: name one of them"
            )
    explicit = flags | {file.file_format.input for file in named}
    if PROFILE in explicit:
        explicit |= {row for row in INPUTS.values() if row.in_profile}
    elif any(row.in_profile for row in explicit):
        explicit.add(PROFILE)
    others = (file for folder in filter(is_folder, words) for file in detect_files(folder))
    inputs = (file for file in others if isinstance(file, InputFile))
    chosen = [file for file in inputs if file.file_format.input not in explicit]
    if any(file.file_format is _LATEST for file in chosen):
        chosen = [file for file in chosen if file.file_format is not _CHECKPOINT]
    return _flags([*named, *_without_programs(without_events(chosen), explicit)])


def _without_programs(files: list[InputFile], explicit: set[Input]) -> list[InputFile]:
    """*files* of a folder without XLA programs, if something else is the graph or traces one."""
    others = [file for file in files if file.file_format not in _PROGRAMS]
    rows = explicit | {file.file_format.input for file in others}
    return others if {GRAPH, TRACE} & rows else files


def _is_data(file: InputFile) -> bool:
    """Whether it is HDF5 without a model, which only reading it shows."""
    if file.file_format is not FORMATS["hdf5"]:
        return False
    with suppress(InputError):
        try:
            file.file_format.read(file.open())
        except UnsupportedError:
            return True
    return False


def _flags(files: Sequence[InputFile]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, row in INPUTS.items():
        paths = [file for file in files if file.file_format.input is row]
        if row is GRAPH:
            paths = one_of_events(paths, alone=len(paths) == len(files))
        if row.is_many and paths:
            options[name] = tuple(paths)
            continue
        paths = list(dict.fromkeys(paths))
        paths = paths if len(paths) <= 1 else [path for path in paths if not _is_data(path)]
        if len(paths) > 1:
            flags = " or ".join(
                f"--{name}={shlex.quote(path)} ({path.file_format.title})"
                for path in paths[:_MOST_NAMED]
            )
            raise UsageError(
                f"{paths[0]} and {paths[1]} are each {row.title}: name the one to use, {flags}"
            )
        if paths:
            options[name] = paths[0]
    held = next((file for file in files if file.file_format.input.in_profile), None)
    if PROFILE.name in options and held is not None:
        raise UsageError(
            f"{options[PROFILE.name]} is a saved profile, which holds everything, and "
            f"{held} is {held.file_format.input.title}: name one of them"
        )
    return options
