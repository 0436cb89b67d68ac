"""What a run of `gather` did, and what the manifest says of all runs so far.

entries of parts ──merge──► skipped files, notes of this run ──after──► those of the dataset
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.fleet.listing import Skip
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.foundation.units import first_few, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.fleet.manifest import Manifest

_MOST_NOTES: Final = 20  # in a manifest
_MOST_NAMED: Final = 3
_MORE: Final = "… "


class Remarks(NamedTuple):
    """Files that were skipped, and notes."""

    skipped: list[Skip]
    notes: list[str]


def merge(
    skipped: Sequence[Skip], notes: Sequence[str], entries: Sequence[Mapping[str, Any]]
) -> Remarks:
    """What was skipped and noted before decoding, and by the parts with these *entries*."""
    of_parts = [Skip(**row) for entry in entries for row in entry["skipped"]]
    every = [*notes, *(note for entry in entries for note in entry["notes"])]
    return Remarks([*skipped, *of_parts], _few(every))


def after(old: Manifest, new: Remarks, tried: set[str]) -> Remarks:
    """The remarks of a dataset after a run that *tried* these files: its reasons count."""
    tried = tried | {skip.path for skip in new.skipped}
    kept = [Skip(**row) for row in old.skipped if row["path"] not in tried]
    return Remarks([*kept, *new.skipped], _few([*old.notes, *new.notes]))


@dataclass(frozen=True)
class Gathered:
    """What `gather` did."""

    target: str
    files: int  # whose steps were added
    unchanged: int  # files whose steps were there
    manifest: Manifest
    skipped: tuple[Skip, ...] = ()  # in this run
    decoded: int = 0  # tasks that this run decoded; the others were there
    notes: tuple[str, ...] = ()
    reused: int = 0  # of the files: decoded by an earlier run that did not finish

    def __str__(self) -> str:
        manifest, steps = self.manifest, self.manifest.steps
        numbers, count = set[int]().union(*steps.values()), sum(map(len, steps.values()))
        counted = (
            plural(len(steps), "worker"),
            f"{plural(len(numbers), 'step')} ({plural(count, 'worker step')})",
            plural(len(manifest.graphs), "graph"),
            plural(manifest.rows, "row"),
        )
        added = f"{plural(self.files, 'file')} added"
        added += f", {self.reused:,} of them decoded before" if self.reused else ""
        there = f", {self.unchanged:,} there already" if self.unchanged else ""
        return f"{self.target}: {', '.join(counted)}; {added}{there}{self._skips()}"

    def _skips(self) -> str:
        if not self.skipped:
            return ""
        files = {skip.path: skip.kind for skip in self.skipped}
        why = ", ".join(
            f"{count:,} {kind}" for kind, count in sorted(Counter(files.values()).items())
        )
        return f", {plural(len(files), 'file')} skipped ({why})"


def _few(notes: Iterable[str]) -> list[str]:
    each = [note for note in dict.fromkeys(notes) if not note.startswith(_MORE)]
    more = len(each) - _MOST_NOTES
    return [*each[:_MOST_NOTES], *([f"{_MORE}{plural(more, 'more note')}"] if more > 0 else [])]


def said(notes: Iterable[str], skipped: Iterable[Skip], target: str) -> list[str]:
    """What a user reads of a run: a line per kind of note and per kind of reason."""
    alike: dict[str, list[str]] = {}
    for note in notes:
        alike.setdefault(re.sub(r"\d+", "#", note.rpartition(": ")[2]), []).append(note)
    kinds: dict[str, dict[str, str]] = {}
    for skip in skipped:
        kinds.setdefault(skip.kind, {}).setdefault(skip.path, skip.reason)
    lines = [_with_count(same) for same in alike.values()]
    for kind, reasons in sorted(kinds.items()):
        which = [*(reasons if len(reasons) > 1 else reasons.values())]
        files = plural(len(reasons), "file is", "files are")
        lines.append(f"{files} skipped as {kind}: {first_few(which, _MOST_NAMED)}")
    is_short = any(len(each) > 1 for each in (*alike.values(), *kinds.values()))
    return [*lines, *([f"'tfprof info {target}' has all reasons and notes"] if is_short else [])]


def _with_count(notes: Sequence[str]) -> str:
    more = plural(len(notes) - 1, "more file has a note", "more files have notes")
    return f"{notes[0]} ({more} like this)" if len(notes) > 1 else notes[0]
