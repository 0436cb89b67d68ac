"""InfoReport: what some files are, what is missing for which view, and what to try next."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

from tfprof.columns.strings import clean_text
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.results.result import Result
from tfprof.results.table import Column, Table
from tfprof.tables.formats import CHECKPOINT, GIVES, GRAPH, PROFILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.errors import UnsupportedError
    from tfprof.read.describe import Value
    from tfprof.tables.formats import Format

SCHEMA = "tfprof.info/1"
_ONLY_RUNS = "no graph: what ran is known by name only, without types, inputs and parameters"
_NEXT_OF_FLEETS = (("workers",), ("op", "--stat=p90"), ("page", "-o", "page.html"))
_ONLY_VARIABLES = "no graph: a checkpoint holds variables, without the operations that read them"


@dataclass(frozen=True)
class FileFacts:
    """What is known of one file."""

    path: str
    format: Format
    facts: Mapping[str, Value]
    gives: set[str]  # of GIVES
    variables: Sequence[str] = ()  # the op types of the variables in it
    flags: Sequence[str] = ()  # that a command needs to read it

    @property
    def place(self) -> str:
        """Files of one place are one input."""
        return os.path.dirname(self.path) if self.format.joins else self.path  # noqa: PTH120 - a text


@dataclass(frozen=True)
class FleetFacts:
    """What is known of one fleet."""

    path: str
    facts: Mapping[str, Value]
    skipped: Sequence[str] = ()  # a line per file that was not used when it was gathered


@dataclass(frozen=True, eq=False)
class InfoReport(Result):
    """Facts about files; *others* of a folder are not recognised, *unread* are known by kind."""

    inputs: Sequence[FileFacts]
    others: Sequence[str] = ()
    unread: Sequence[UnsupportedError] = ()
    fleets: Sequence[FleetFacts] = ()
    offers = ("info", "table", "result")

    @property
    def described(self) -> list[tuple[str, str, Mapping[str, Value]]]:
        """(path, what it is, facts) of each input and fleet."""
        files = [(file.path, file.format.title, file.facts) for file in self.inputs]
        return [*files, *((fleet.path, "a fleet", fleet.facts) for fleet in self.fleets)]

    @property
    def skipped(self) -> list[str]:
        """The files that are not in the fleets, and why."""
        return [line for fleet in self.fleets for line in fleet.skipped]

    def make_table(self) -> Table:
        """One row per fact: how many there are, and their names or a text."""
        rows = [
            (path, title, name, *_count_and_names(value))
            for path, title, facts in self.described
            for name, value in facts.items() or [("", [])]
        ]
        path, title, fact, count, names = map(list, zip(*rows, strict=True))
        lists = {
            **({"skipped": self.skipped} if self.fleets else {}),
            "not_read": self.not_read,
            "missing": self.missing,
            "several": self.several,
            "next": self.next_commands,
        }
        return Table(
            "info",
            SCHEMA,
            (
                Column("file", "text", list(map(clean_text, path)), placing=True),
                Column("format", "text", title),
                Column("fact", "text", fact),
                Column("count", "number", count),
                Column("names", "texts", [list(map(clean_text, texts)) for texts in names]),
            ),
            len(rows),
            label="file",
            facts={
                "not_recognised": list(map(clean_text, self.others)),
                **{name: list(map(clean_text, lines)) for name, lines in lists.items()},
            },
        )

    @property
    def not_read(self) -> list[str]:
        """The kinds of files that tfprof knows but does not read, with the first of each."""
        first = {file.title: PurePath(file.name).name for file in reversed(self.unread)}
        count = Counter(file.title for file in self.unread)
        more = {kind: f" and {number - 1:,} more" for kind, number in count.items() if number > 1}
        return [f"{first[kind]}{more.get(kind, '')}: {kind}" for kind in count]

    @property
    def missing(self) -> list[str]:
        """What no file gives, and what follows from that."""
        if not self.inputs:
            return []
        gives = _given_by(self.inputs)
        alone = _ONLY_VARIABLES if _is_checkpoint(self.inputs) else GIVES["nodes"]
        sentences = {**GIVES, "nodes": _ONLY_RUNS if "run" in gives else alone}
        # The float operations of a graph are counted by rule.
        known = {*gives, *({"float_ops"} if "nodes" in gives else ())}
        return [text for name, text in sentences.items() if text and name not in known]

    @property
    def several(self) -> list[str]:
        """The inputs with more than one file, though a command takes one."""
        inputs = dict.fromkeys((file.format.input, file.place) for file in _used(self.inputs))
        return [
            f"{number} files for --{row.name}: name the one to use; below is the first"
            for row, number in Counter(row for row, _ in inputs if not row.is_many).items()
            if number > 1
        ]

    @property
    def next_commands(self) -> list[str]:
        """Commands that have something to show of fleets, or of these files together."""
        fleets = [
            shlex.join(["tfprof", command, _argument(fleet.path), *options])
            for fleet in self.fleets
            for command, *options in _NEXT_OF_FLEETS
        ]
        return fleets + self._next_of_files()

    def _next_of_files(self) -> list[str]:
        """A command that has something to show of these files; none where none has."""
        used = _together(self.inputs)
        gives = _given_by(used)
        variables = sorted({name for file in used for name in file.variables})
        if "run" in gives:
            command, options = "scope", ["--select=micros", "--order_by=micros", "--max_depth=3"]
        elif "model" in gives or _is_checkpoint(used):
            command, options = "summary", []
        elif variables:
            types = f"--account_type_regexes={','.join(variables)}"
            command, options = "scope", ["--select=params", types, "--max_depth=3"]
        elif "nodes" in gives:
            command, options = "op", ["--select=occurrence", "--order_by=occurrence"]
        else:
            return []
        paths = [_argument(file.path) for file in used]
        # The flags of files are quoted already.
        flags = [flag for file in used for flag in file.flags]
        words = [shlex.join(["tfprof", command, *paths]), *flags, *map(shlex.quote, options)]
        return [" ".join(words)]


def _argument(path: str) -> str:
    """*path* as a word of a command line: one that begins with a dash would be read as a flag."""
    return f"./{path}" if path.startswith("-") else path


def _count_and_names(value: Value) -> tuple[int | None, list[str]]:
    if isinstance(value, int):
        return value, []
    if isinstance(value, str):
        return None, [value]
    if isinstance(value, dict):
        return sum(value.values()), [f"{name} {number}" for name, number in value.items()]
    return len(value), value


def _is_checkpoint(files: Sequence[FileFacts]) -> bool:
    return {file.format.input for file in files} == {CHECKPOINT}


def _given_by(files: Sequence[FileFacts]) -> set[str]:
    return set[str]().union(*(file.gives for file in files))


def _together(files: Sequence[FileFacts]) -> list[FileFacts]:
    """The files that one command can take: all runs and traces, the first of any other input.

    A saved profile is used where there is no graph, and then stands for runs and op log.
    """
    files = _used(files)
    inputs = {file.format.input for file in files}
    if GRAPH in inputs:
        files = [file for file in files if file.format.input is not PROFILE]
    elif PROFILE in inputs:
        files = [file for file in files if not file.format.input.in_profile]
    used: list[FileFacts] = []
    for file in files:
        row = file.format.input
        others = (other.place for other in used if other.format.input is row)
        if row.is_many or all(place == file.place for place in others):
            used.append(file)
    return used


def _used(files: Sequence[FileFacts]) -> list[FileFacts]:
    """*files* without event files that hold nothing for a profile."""
    return [file for file in files if file.gives or not file.format.joins]
