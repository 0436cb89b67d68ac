"""cached_profile(): the profile of some files, from the cache where it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.cache.folder import cache_folder
from tfprof.cache.key import Identity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tfprof.cache.entry import ReadAgain
    from tfprof.model import Profile


def cached_profile(
    files: Sequence[tuple[str, str]],
    beside: Sequence[str],
    options: Mapping[str, object],
    read: Callable[[], Profile],
    again: ReadAgain,
) -> Profile:
    """The profile of these *files*, (input, path) each, and of those *beside* that exist.

    *read* reads them, and *again* reads files once more, also after pickling; *options* say how.
    A path may be an InputFile, whose file is open.
    """
    folder = cache_folder()
    identity = Identity.of(files, beside, options)
    key = folder and identity.key()
    # An InputFile was opened before the key was made: the path may name another file by then.
    opened = [path for _, path in files if hasattr(path, "is_current")]
    if not folder or not key or not all(path.is_current() for path in opened):
        return read()
    from tfprof.cache.entry import Entry  # noqa: PLC0415 - small files do without
    from tfprof.cache.pending import write_later  # noqa: PLC0415

    entry = Entry(folder, key, identity, again)
    profile = entry.profile()
    if profile is None:
        profile = entry.watched(read())
    write_later(profile, entry)
    return profile
