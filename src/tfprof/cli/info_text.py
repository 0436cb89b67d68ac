"""What is known of some files → the text that says so; nothing is opened here."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Sequence

# More of a list than this says less.
_MOST = 8

# What is missing, as (has, sentence): the sentence is due where no file has it.
_MISSING = (
    ("run", "no run: times, memory and run counts will be 0"),
    ("float_ops", "no float operations: float_ops will be 0 without an op log that has them"),
    ("stacks", "no call stacks: code view needs an op log with them"),
    ("values", "no checkpoint: tensor_value has nothing to show"),
)
# Options that take several files.
_MANY = ("run_meta_path", "trace_path")
_NO_NODES = "no graph: every view needs one"
_ONLY_RUNS = "no graph: what ran is known by name only, without types, inputs and parameters"


@dataclass(frozen=True)
class Facts:
    """What is known of one file; *option* is the one that takes it, None where none does."""

    path: str
    title: str  # as a sentence says it: "a …"
    option: str | None
    lines: Sequence[str] = ()
    has: set[str] = field(default_factory=set)  # of: nodes model run stacks float_ops values
    variables: Sequence[str] = ()  # the op types of the variables in it


def text(facts: Sequence[Facts], others: Sequence[str] = ()) -> str:
    """All there is to say; *others* are the files of a folder that are not recognised."""
    blocks = [
        "".join(_block(f"{one.path}: {one.title}", one.lines) for one in facts),
        f"not recognised: {listed(others)}\n" if others else "",
        _block("missing", _missing(facts)),
        _block("several", _several(facts)),
        _block("next", _next(facts)),
    ]
    return "\n".join(filter(None, blocks))


def counted(number: int, what: str) -> str:
    """A number and what there are so many of."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def listed(words: Sequence[str]) -> str:
    """Words by commas, and how many more there are where they are many."""
    more = f" and {len(words) - _MOST:,} more" if len(words) > _MOST else ""
    return ", ".join(words[:_MOST]) + more


def _block(title: str, lines: Sequence[str]) -> str:
    """A title with lines below it; nothing where there are none."""
    return f"{title}\n" + "".join(f"  {line}\n" for line in lines) if lines else ""


def _missing(facts: Sequence[Facts]) -> list[str]:
    has = set[str]().union(*(one.has for one in facts))
    # Of a model they are counted by rule.
    known = {*has, "float_ops"} if "model" in has else has
    lines = [sentence for what, sentence in _MISSING if what not in known]
    if "nodes" not in has:
        lines.insert(0, _ONLY_RUNS if "run" in has else _NO_NODES)
    return lines


def _several(facts: Sequence[Facts]) -> list[str]:
    """What there is more than one of, though a command takes one."""
    times = Counter(one.option for one in facts if one.option not in (None, *_MANY))
    return [
        f"{number} files for --{option}: name the one to use; below is the first"
        for option, number in times.items()
        if number > 1
    ]


def _next(facts: Sequence[Facts]) -> list[str]:
    """A command that has something to show of these files; none where none has."""
    used = _together(facts)
    has = set[str]().union(*(one.has for one in used))
    variables = sorted({kind for one in used for kind in one.variables})
    if "run" in has:
        command, options = "scope", ["--select=micros", "--order_by=micros", "--max_depth=3"]
    elif "model" in has:
        command, options = "summary", []
    elif variables:
        types = f"--account_type_regexes={','.join(variables)}"
        command, options = "scope", ["--select=params", types, "--max_depth=3"]
    elif "nodes" in has:
        command, options = "op", ["--select=occurrence", "--order_by=occurrence"]
    else:
        return []
    # A word that begins like an option would be taken for one.
    paths = [f"./{one.path}" if one.path.startswith("-") else one.path for one in used]
    return [shlex.join(["tfprof", command, *paths, *options])]


def _together(facts: Sequence[Facts]) -> list[Facts]:
    """The files that one command can take: all runs, and the first of any other kind."""
    used: list[Facts] = []
    alone = any(one.option == "graph_path" for one in facts)
    for one in facts:
        taken = {other.option for other in used}
        if one.option is None or (one.option == "profile_path" and alone):
            continue
        if one.option in _MANY or one.option not in taken:
            used.append(one)
    if any(one.option == "profile_path" for one in used):
        return [one for one in used if one.option in ("profile_path", "checkpoint_path")]
    return used
