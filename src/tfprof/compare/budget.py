"""Budget: the bounds of a budget.toml, or of a mapping with the same keys.

    [model]                       params = "<= 25.6M"        uncounted = "<= 1%"
    [scope."block_.*/conv"]       micros = ["<= 5ms", "< +5%"]
    [op.Conv2D]  [layer."dense"]  [device.".*gpu:0"]         allow_incomplete = true

Names are regexes that match whole names; every match that is not inside of another is a row.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from tfprof.compare.bounds import IN_USE, METRICS, Bound, bounds
from tfprof.errors import InputError, TfprofError, UsageError, check_known
from tfprof.foundation.arguments import path as path_of
from tfprof.foundation.arguments import shown
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.io.open_files import open_source
from tfprof.tables.fields import FIELD_ALIASES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODEL, SCOPE, OP, LAYER, DEVICE = TABLES = ("model", "scope", "op", "layer", "device")
_INCOMPLETE: Final = "allow_incomplete"
_HEADER: Final = re.compile(r"\s*(\[[^\[].*\])\s*(?:#.*)?")
# What may hold dots that do not divide a key: strings and comments.
_NO_KEYS: Final = re.compile(
    r'"""(?:\\.|.)*?(?:"""|\Z)|"(?:\\[^\n]|[^\n])*?(?:"|$)'
    r"|'''.*?(?:'''|\Z)|'[^\n]*?(?:'|$)|#[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_MOST_PARTS: Final = 100  # of keys: what tomllib takes grows with their square


class Entry(NamedTuple):
    """One bound, and the rows it is for."""

    table: str
    pattern: str  # "": the model
    bound: Bound
    allows_incomplete: bool
    line: int  # in the file; 0: there is none


@dataclass(frozen=True, eq=False)
class Budget:
    """All bounds, in the order of the file."""

    entries: tuple[Entry, ...]
    path: str = ""  # "": it is no file

    @property
    def lock_path(self) -> str:
        """Where recorded numbers are: budget.lock beside budget.toml."""
        return str(Path(self.path).with_suffix(".lock")) if self.path else ""

    def problem(self, sentence: object, line: int = 0) -> TfprofError:
        """The error that says where in the budget something is wrong."""
        if not self.path:
            return UsageError(f"invalid budget: {sentence}")
        return InputError(f"{self.path}{f':{line}' if line else ''}: {sentence}")


def read_toml(path: str, expected: str, *, is_named: bool = False) -> tuple[dict[str, Any], str]:
    """(the content of a TOML file, its text); raises InputError."""
    try:
        text = open_source(path, expected, is_named=is_named).data.tobytes().decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not {expected}: it is not UTF-8") from None
    if any(line.count(".") > _MOST_PARTS for line in _NO_KEYS.sub("", text).split("\n")):
        raise InputError(f"{path} is not {expected}: a line has more than {_MOST_PARTS} dots")
    try:
        return tomllib.loads(text), text
    except (ValueError, RecursionError) as problem:  # also of numbers with too many digits
        raise InputError(f"{path} is not {expected}: {problem}") from None


def read_budget(source: object) -> Budget:
    """The budget at a path, or in a mapping; raises TfprofError."""
    if isinstance(source, Budget):
        return source
    if isinstance(source, Mapping):
        return _checked(Budget(()), source, {})
    path = path_of("budget", source)
    content, text = read_toml(path, "a budget in TOML", is_named=True)
    return _checked(Budget((), path), content, _lines(text))


def _checked(budget: Budget, content: Mapping[str, Any], lines: Mapping[Any, int]) -> Budget:
    entries: list[Entry] = []
    for table, inside in content.items():
        with _located(budget, lines, table):
            _check_table(table, inside)
        for pattern, numbers in [("", inside)] if table == MODEL else inside.items():
            key = (table,) if table == MODEL else (table, pattern)
            with _located(budget, lines, *key):
                _check_row(table, pattern, numbers)
            for name, value in numbers.items():
                if name == _INCOMPLETE:
                    continue
                with _located(budget, lines, *key, name) as line:
                    if pattern and isinstance(value, Mapping):
                        where = f'[{table}."{pattern}.{name}"]'
                        raise UsageError(f"{name} is a table: quote the name, as in {where}")
                    metric = FIELD_ALIASES.get(str(name), str(name))
                    check_known(f"{table} has no", metric, metrics_of(table))
                    for bound in bounds(metric, value):
                        allows = numbers.get(_INCOMPLETE, False)
                        entries.append(Entry(table, pattern, bound, allows, line))
    if not entries:
        raise budget.problem(f'it has no bounds, as in [{MODEL}] params = "<= 25.6M"')
    return Budget(tuple(entries), budget.path)


def metrics_of(table: str) -> list[str]:
    """What a table may bound."""
    return [name for name in METRICS if name != IN_USE or table == MODEL]


@contextmanager
def _located(budget: Budget, lines: Mapping[Any, int], *key: str) -> Iterator[int]:
    """The line of a key, or of what holds it, which errors name."""
    line = next((lines[key[:n]] for n in range(len(key), 0, -1) if key[:n] in lines), 0)
    try:
        yield line
    except UsageError as problem:
        raise budget.problem(problem, line) from None


def _check_table(table: str, content: object) -> None:
    if table in METRICS:
        raise UsageError(f"{table} is in no table: put it below [{MODEL}]")
    check_known("a budget has no table", str(table), TABLES)
    if not isinstance(content, Mapping):
        example = f"[{table}]" if table == MODEL else f'[{table}."NAME"]'
        raise UsageError(f"{table} takes a table, as in {example}, not {shown(content)}")


def _check_row(table: str, pattern: object, content: object) -> None:
    if not isinstance(pattern, str):
        raise UsageError(f"{table} takes names, not {shown(pattern)}")
    if not isinstance(content, Mapping):
        raise UsageError(f'{pattern} is in no table: write [{table}."NAME"] above it')
    if not isinstance(allows := content.get(_INCOMPLETE, False), bool):
        raise UsageError(f"{_INCOMPLETE} takes true or false, not {shown(allows)}")


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of each table and each key, as far as they are alone on a line."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        with suppress(ValueError, RecursionError):
            if header := _HEADER.fullmatch(line):
                table = _path(tomllib.loads(header[1]))
                found.setdefault(table, number)
                continue
            key, equals, _ = line.partition("=")
            if equals and "#" not in key:
                found.setdefault((*table, *_path(tomllib.loads(f"{key} = 0"))), number)
    return found


def _path(content: object) -> tuple[str, ...]:
    """The keys of tables that hold one thing each."""
    path: list[str] = []
    while isinstance(content, dict) and content:
        ((name, content),) = content.items()
        path.append(name)
    return tuple(path)
