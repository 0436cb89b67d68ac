"""CacheReport: what the cache holds, the entry that was used last first."""

from __future__ import annotations

import time
from typing import Final

from tfprof.cache.entry import INPUTS
from tfprof.cache.folder import PROFILE, VARIABLE, Kept, clear, entries
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
    kept: tuple[Kept, ...]
    made_of: tuple[str, ...]  # files of each entry
    cleared: bool = False  # they were there, and are removed

    @property
    def sentence(self) -> str:
        """What the cache is, or what was done to it."""
        if self.folder is None:
            return f"The cache is off: {VARIABLE} says so, or there is no folder for it."
        size = memory(sum(entry.size for entry in self.kept))
        count = plural(len(self.kept), "entry", "entries")
        if self.cleared:
            return f"Removed {count}, {size}, from {self.folder}."
        return f"{self.folder}: {count}, {size} of at most {memory(limit('cache_bytes'))}."

    def make_table(self) -> Table:
        """The entries, or those that were removed."""
        used = [time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(e.used)) for e in self.kept]
        columns = (
            Column("files", "text", [*self.made_of], placing=True),
            Column("bytes", "number", [entry.size for entry in self.kept], memory, "Size"),
            Column("used", "text", used, heading="Last use"),
        )
        facts = {"folder": self.folder, "removed": self.cleared, "most_bytes": limit("cache_bytes")}
        return Table(
            "cache", SCHEMA, columns, len(self.kept), "files", facts=facts,
            headline=(self.sentence,),
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"<CacheReport: {self.sentence}>"


def cache_report(folder: str | None, *, cleared: bool = False) -> CacheReport:
    """What is in the *folder* of the cache; *cleared*: and is there no more."""
    kept = tuple(entries(folder)) if folder else ()
    files = tuple(map(_files, kept))
    if folder and cleared:
        clear(folder)
    return CacheReport(folder, kept, files, cleared)


def _files(entry: Kept) -> str:
    """The files that an entry was made of, in one line."""
    path = next((path for path in entry.files if path.endswith(f".{PROFILE}")), "")
    columns = open_columns(path) if path else None
    try:
        names = CONVERTERS["Strings"].from_columns(columns, INPUTS).texts() if columns else ()
        return ", ".join(map(clean_text, names)) or _UNREADABLE
    except (Damage, OSError):
        return _UNREADABLE
