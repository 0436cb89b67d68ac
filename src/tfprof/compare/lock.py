"""budget.lock: the numbers that relative bounds compare with; TOML, sorted, so diffs are small.

version = 1

[model]
params = 464154

[scope.unit_1_0]
float_ops = 12
incomplete = ["float_ops"]          lower bounds when they were recorded
"""

from __future__ import annotations

import json
import re
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.compare.budget import MODEL, TABLES, read_toml
from tfprof.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VERSION: Final = 1
_INCOMPLETE: Final = "incomplete"
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_COMMENT: Final = (
    "# Written by tfprof check --record. Commit it: relative bounds compare with it.\n"
)


class Recorded(NamedTuple):
    """A number when it was recorded."""

    value: float
    is_lower: bool = False


# By table, row and metric.
Lock = dict[tuple[str, str, str], Recorded]


def lock_text(lock: Mapping[tuple[str, str, str], Recorded]) -> str:
    """The content of a budget.lock."""
    rows: dict[tuple[str, str], dict[str, Recorded]] = {}
    for (table, name, metric), recorded in lock.items():
        rows.setdefault((table, name), {})[metric] = recorded
    blocks = [f"{_COMMENT}version = {VERSION}\n"]
    for (table, name), numbers in sorted(rows.items()):
        lines = [f"[{table}.{_key(name)}]" if name or table != MODEL else f"[{table}]"]
        lines += [f"{metric} = {number.value!r}" for metric, number in sorted(numbers.items())]
        lower = [metric for metric, number in sorted(numbers.items()) if number.is_lower]
        lines += [f"{_INCOMPLETE} = {json.dumps(lower)}"] if lower else []
        blocks.append("".join(f"{line}\n" for line in lines))
    return "\n".join(blocks)


def _key(name: str) -> str:
    """A key of TOML; what JSON escapes is escaped likewise, and DEL besides."""
    quoted = json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
    return name if _BARE.fullmatch(name) else quoted


def read_lock(path: str) -> Lock:
    """The numbers in the budget.lock at *path*; raises InputError."""
    if not Path(path).exists():
        raise InputError(f"{path} does not exist: tfprof check --record writes it")
    content, _ = read_toml(path, "a budget.lock")
    version = content.get("version")
    if type(version) is int and version > VERSION:
        raise InputError(
            f"{path} has version {version}, and this tfprof reads up to {VERSION}: "
            "update tfprof, or record it again"
        )
    if type(version) is not int or version != VERSION:
        raise InputError(f"{path} is not a budget.lock: it has no version")
    return dict(_numbers(path, content))


def _numbers(
    path: str, content: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str, str], Recorded]]:
    tables = {table: content.get(table, {}) for table in TABLES}
    tables[MODEL] = {"": tables[MODEL]}
    for table, rows in tables.items():
        for name, numbers in rows.items() if isinstance(rows, dict) else [("", None)]:
            values: dict[str, Any] = {**numbers} if isinstance(numbers, dict) else {_INCOMPLETE: 0}
            lower = values.pop(_INCOMPLETE, [])
            are_numbers = all(type(v) in {int, float} and 0 <= v < inf for v in values.values())
            if not isinstance(lower, list) or not are_numbers:
                raise InputError(f"{path} is damaged at [{table}]: record it again")
            for metric, value in values.items():
                yield (table, name, metric), Recorded(value, metric in lower)
