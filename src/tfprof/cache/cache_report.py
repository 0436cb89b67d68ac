"""CacheReport: what the cache holds, the entry that was used last first."""

from __future__ import annotations

import time
from typing import Final

from tfprof.cache.entry import INPUTS
from tfprof.cache.folder import PROFILE, VARIABLE, EntryFiles, clear, entries, why_unused
from tfprof.cache.joined_columns import open_columns
from tfprof.columns.strings import clean_text
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.foundation.units import memory, plural
from tfprof.read.columnar.coding import Damage
from tfprof.read.columnar.layout import CONVERTERS
from tfprof.results.result import Result
from tfprof.results.table import Column, Table
from tfprof.tables.limits import limit

SCHEMA: Final = "tfprof.cache/1"
_UNREADABLE: Final = "?"


@dataclass(frozen=True, eq=False, repr=False)
class CacheReport(Result):
    """One row per entry: the files that it was made of, its size, its last use."""

    folder: str | None  # None: the cache is off
    entries: tuple[EntryFiles, ...]
    made_of: tuple[str, ...]  # files of each entry
    removed: bool = False  # whether these entries were removed
    left: int = 0  # entries that could not be removed

    @property
    def sentence(self) -> str:
        """What the cache is, or what was done to it."""
        if self.folder is None:
            return f"The cache is off: --no-cache or {VARIABLE} says so, or it has no folder."
        size = memory(sum(entry.size for entry in self.entries))
        count = plural(len(self.entries), "entry", "entries")
        if self.removed:
            left = (
                f" {plural(self.left, 'entry', 'entries')} cannot be removed." if self.left else ""
            )
            return f"Removed {count}, {size}, from {self.folder}.{left}"
        if why := why_unused(self.folder):
            return f"{self.folder} is not used: {why}."
        return f"{self.folder}: {count}, {size} of at most {memory(limit('cache_bytes'))}."

    def make_table(self) -> Table:
        """The entries, or those that were removed."""
        used = [time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(e.used)) for e in self.entries]
        columns = (
            Column("files", "text", [*self.made_of], placing=True),
            Column("bytes", "number", [entry.size for entry in self.entries], memory, "Size"),
            Column("used", "text", used, heading="Last use"),
        )
        facts = {"folder": self.folder, "removed": self.removed, "most_bytes": limit("cache_bytes")}
        return Table(
            "cache", SCHEMA, columns, len(self.entries), "files", facts=facts,
            headline=(self.sentence,),
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<CacheReport: {self.sentence}>"


def cache_report(folder: str | None, *, remove: bool = False) -> CacheReport:
    """The entries in the *folder* of the cache, or with *remove* those that were removed."""
    every = entries(folder) if folder else []
    made_of = {entry.key: _files(entry) for entry in every}
    left = {entry.key for entry in clear(folder)} if folder and remove else set()
    shown = tuple(entry for entry in every if entry.key not in left)
    files = tuple(made_of[entry.key] for entry in shown)
    return CacheReport(folder, shown, files, remove, len(left))


def _files(entry: EntryFiles) -> str:
    """The files that an entry was made of, in one line."""
    path = next((path for path in entry.files if path.endswith(f".{PROFILE}")), "")
    columns = open_columns(path) if path else None
    try:
        names = CONVERTERS["Strings"].from_columns(columns, INPUTS).texts() if columns else ()
        return ", ".join(map(clean_text, names)) or _UNREADABLE
    except (Damage, OSError):
        return _UNREADABLE
