"""Facts about files → the text of `tfprof info`; nothing is opened here."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from typing import TYPE_CHECKING

from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.tables.formats import GIVES, GRAPH, PROFILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.read.describe import Value
    from tfprof.tables.formats import Format

# More names than this tell a reader less.
_MOST = 8

# One line per template whose facts a file has, in this order.
_LINES = {
    line: set(re.findall(r"{(\w+)}", line))
    for line in (
        "{nodes} of {op_types}",
        "entries of {entries}",
        "{variables} with {parameters}",
        "{step_stats} step stats",
        "{executions} in {steps}",
        "{devices}",
        "call stacks of {nodes_with_stacks}, float operations of {nodes_with_float_ops}",
        "{types}",
        "{signatures}",
        "{dtypes}",
        "call stacks {stacks}",
    )
}
# What a fact counts, where its name does not say so.
_NOUNS = {"entries": "nodes", "nodes_with_stacks": "nodes", "nodes_with_float_ops": "nodes"}
_ONLY_RUNS = "no graph: what ran is known by name only, without types, inputs and parameters"


@dataclass(frozen=True)
class FileFacts:
    """What is known of one file."""

    path: str
    format: Format
    facts: Mapping[str, Value]
    gives: set[str]  # of GIVES
    variables: Sequence[str] = ()  # the op types of the variables in it


def text(files: Sequence[FileFacts], others: Sequence[str] = ()) -> str:
    """The whole text; *others* are the files of a folder that are not recognised."""
    blocks = [
        "".join(
            _block(f"{file.path}: {file.format.title}", fact_lines(file.facts)) for file in files
        ),
        f"not recognised: {listed(others)}\n" if others else "",
        _block("missing", _missing(files)),
        _block("several", _several(files)),
        _block("next", _next(files)),
    ]
    return "\n".join(filter(None, blocks))


def fact_lines(facts: Mapping[str, Value]) -> list[str]:
    """The lines on one file: one per template whose facts it has, then the facts of no template."""
    words = {name: _words(_NOUNS.get(name, name), value) for name, value in facts.items()}
    lines = [line.format_map(words) for line, names in _LINES.items() if words.keys() >= names]
    templated = set[str]().union(*(names for names in _LINES.values() if words.keys() >= names))
    return lines + [text for name, text in words.items() if name not in templated]


def _words(plural: str, value: Value) -> str:
    """A fact in words: how many there are, their names, how many of each name, or a text."""
    noun = plural.replace("_", " ").removesuffix("s")
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return counted(value, noun)
    if isinstance(value, dict):
        return listed([f"{name} {number:,}" for name, number in value.items()])
    return f"{counted(len(value), noun)}: {listed(value)}" if value else f"no {noun}"


def counted(number: int, noun: str) -> str:
    """A number and a noun, which gets an s where it is several."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Names by commas, and how many more there are where they are many."""
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more


def _block(title: str, lines: Sequence[str]) -> str:
    """A title with lines below it; nothing where there are none."""
    return f"{title}\n" + "".join(f"  {line}\n" for line in lines) if lines else ""


def _given_by(files: Sequence[FileFacts]) -> set[str]:
    return set[str]().union(*(file.gives for file in files))


def _missing(files: Sequence[FileFacts]) -> list[str]:
    gives = _given_by(files)
    sentences = {**GIVES, **({"nodes": _ONLY_RUNS} if "run" in gives else {})}
    # The float operations of a model are counted by rule.
    known = {*gives, "model", *({"float_ops"} if "model" in gives else ())}
    return [sentence for name, sentence in sentences.items() if name not in known]


def _several(files: Sequence[FileFacts]) -> list[str]:
    """The inputs with more than one file, though a command takes one."""
    times = Counter(file.format.input for file in files if not file.format.input.is_many)
    return [
        f"{number} files for --{row.name}: name the one to use; below is the first"
        for row, number in times.items()
        if number > 1
    ]


def _next(files: Sequence[FileFacts]) -> list[str]:
    """A command that has something to show of these files; none where none has."""
    used = _together(files)
    gives = _given_by(used)
    variables = sorted({name for file in used for name in file.variables})
    if "run" in gives:
        command, options = "scope", ["--select=micros", "--order_by=micros", "--max_depth=3"]
    elif "model" in gives:
        command, options = "summary", []
    elif variables:
        types = f"--account_type_regexes={','.join(variables)}"
        command, options = "scope", ["--select=params", types, "--max_depth=3"]
    elif "nodes" in gives:
        command, options = "op", ["--select=occurrence", "--order_by=occurrence"]
    else:
        return []
    # A path that begins with a dash would be read as a flag.
    paths = [f"./{file.path}" if file.path.startswith("-") else file.path for file in used]
    return [shlex.join(["tfprof", command, *paths, *options])]


def _together(files: Sequence[FileFacts]) -> list[FileFacts]:
    """The files that one command can take: all runs and traces, the first of any other input.

    A saved profile is used where there is no graph, and then stands for runs and op log.
    """
    inputs = {file.format.input for file in files}
    if GRAPH in inputs:
        files = [file for file in files if file.format.input is not PROFILE]
    elif PROFILE in inputs:
        files = [file for file in files if not file.format.input.in_profile]
    used: list[FileFacts] = []
    for file in files:
        row = file.format.input
        if row.is_many or all(other.format.input is not row for other in used):
            used.append(file)
    return used
