"""Files without flags → the flags they stand for.

A flag comes first, then a file that the user names, then the files of a folder. A saved profile
stands for graph, runs, traces and op log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError
from tfprof.io.detect_files import detect_file, detect_files, is_folder, no_input
from tfprof.io.open_files import InputFile
from tfprof.tables.formats import INPUTS, PROFILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.tables.formats import Input


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
    return _flags(named + [file for word in words for file in _in_folder(word, explicit)])


def _in_folder(word: str, explicit: set[Input]) -> list[InputFile]:
    """The files of the folder *word* for inputs that are not *explicit*."""
    if not is_folder(word):
        return []
    ignored: set[Input] = set()
    files = []
    for file in detect_files(word):
        if isinstance(file, InputFile) and file.file_format.input in explicit:
            ignored.add(file.file_format.input)
        elif isinstance(file, InputFile):
            files.append(file)
    if not files and not ignored:
        raise no_input(word)
    return files


def _flags(files: Sequence[InputFile]) -> dict[str, Any]:
    """The flags that name these files."""
    options: dict[str, Any] = {}
    for name, row in INPUTS.items():
        paths = [file for file in files if file.file_format.input is row]
        if row.is_many and paths:
            options[name] = tuple(paths)
            continue
        paths = list(dict.fromkeys(paths))
        if len(paths) > 1:
            raise UsageError(
                f"{paths[0]} and {paths[1]} are each {row.title}: "
                f"name the one to use, as in --{name}={paths[0]}"
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
