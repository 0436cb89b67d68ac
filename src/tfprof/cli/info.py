"""info: what some files are, what is in them, what is missing for which view, what to try next.

    graph.pbtxt.gz: a GraphDef in text format
      3,451 nodes of 60 op types
      97 variables with 930,581 parameters

    missing
      no run: times, memory and run counts will be 0
    next
      tfprof scope graph.pbtxt.gz --select=params --account_type_regexes=VariableV2 --max_depth=3

The row of its format describes each file; info_text.py turns the descriptions into text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.cli.info_text import FileFacts, text
from tfprof.errors import InputError
from tfprof.io.detect_files import (
    debug_info_beside,
    detect_file,
    detect_files,
    is_folder,
    no_input,
)
from tfprof.io.open_files import InputFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tfprof.read.describe import Description


class Info(NamedTuple):
    """What is known of some files: facts of each, names of others, and an error per bad file."""

    files: list[FileFacts]
    others: list[str]
    problems: list[str]

    @property
    def text(self) -> str:
        """As `tfprof info` prints it; empty where no file is recognised."""
        return text(self.files, self.others) if self.files else ""


def info(paths: Sequence[str]) -> Info:
    """What the files and folders at *paths* are."""
    result = Info([], [], [])
    for path in paths:
        _add(path, result)
    return result


def _add(path: str, result: Info) -> None:
    """Add what is at *path* to *result*."""
    try:
        for file in _inputs_at(path):
            if isinstance(file, InputFile):
                _describe(file, result)
            else:
                result.others.append(file)
    except InputError as problem:
        result.problems.append(str(problem))


def _inputs_at(path: str) -> Iterator[InputFile | str]:
    """The inputs at *path*, and the names of other files in a folder."""
    if not is_folder(path):
        yield detect_file(path)
        return
    is_input = False
    for file in detect_files(path):
        is_input = is_input or isinstance(file, InputFile)
        yield file
    if not is_input:
        raise no_input(path)


def _describe(file: InputFile, result: Info) -> None:
    """Add the facts of *file* to *result*, or what is wrong with it."""
    row = file.file_format
    try:
        description: Description = row.describe(file.open())
    except InputError as problem:
        result.problems.append(str(problem))
        return
    facts, gives = dict(description.facts), set(row.gives) - description.lacks
    if debug_info_beside(file) is not None:
        facts["stacks"] = "beside it"
        gives.add("stacks")
    result.files.append(FileFacts(str(file), row, facts, gives, description.variables))
