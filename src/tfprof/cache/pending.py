"""Entries that are to be written once the answer is delivered.

The command line keeps its profiles until then. Of a program, entries are written at its end: those
of the profiles that it still holds.
"""

from __future__ import annotations

import atexit
import os
from functools import partial
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from tfprof.cache.delivered import Delivered
from tfprof.foundation.after_answer import later

if TYPE_CHECKING:
    from tfprof.cache.entry import Entry
    from tfprof.model import Profile

_entries: WeakKeyDictionary[Profile, Entry] = WeakKeyDictionary()
# Entries of commands are written after the answer.
_of_commands: WeakKeyDictionary[Profile, Entry] = WeakKeyDictionary()
_LEAST_BYTES: Final = 1 << 20
_SHARE: Final = 8  # of the files' bytes, which an answer may have


def write_later(profile: Profile, entry: Entry) -> None:
    """Write the *entry* of this *profile* later."""
    if later(partial(_write, profile, entry), partial(entry.lacks, profile)):
        _of_commands[profile] = entry
        return
    if not _entries:
        atexit.unregister(_write_all)
        atexit.register(_write_all, os.getpid())
    _entries[profile] = entry


def delivered(profile: Profile, question: tuple[str | int | None, ...]) -> Delivered | None:
    """What the answer to *question* was, empty if there was none; None where none is kept."""
    entry = _of_commands.get(profile)
    if entry is None:
        return None
    # A few bytes beside those of the files, which are in memory as well.
    most = max(_LEAST_BYTES, entry.identity.size // _SHARE)
    return profile.cached(("delivered", *question), partial(Delivered, most=most))


def _write(profile: Profile, entry: Entry) -> None:
    from tfprof.cache.write_entry import write_entry  # noqa: PLC0415 - after the answer

    write_entry(entry, profile)


def _write_all(process: int) -> None:
    """At the end of a program, but not of its children."""
    if process != os.getpid():
        return
    try:
        for profile, entry in list(_entries.items()):
            _write(profile, entry)
    except KeyboardInterrupt:
        return
