"""Sessions of TensorFlow's profiler: each numbers its steps anew, so a worker has those of one.

logs/plugins/profile/2026_11_17_10_00_00/host-1.xplane.pb     skipped: "other session"
logs/plugins/profile/2026_11_18_10_00_00/host-1.xplane.pb     the latest counts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.fleet.listing import Skip
from tfprof.fleet.path_pattern import session_of
from tfprof.foundation.natural_order import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.fleet.tasks import FileToRead

    Session = tuple[str, str]


def one_session(
    files: Sequence[FileToRead], there: Mapping[str, Iterable[str]]
) -> tuple[list[FileToRead], list[Skip]]:
    """(the *files* of one session per worker, the others); *there*: paths of workers' steps.

    A session that is there counts, else the latest.
    """
    sessions: dict[str, set[Session]] = {}
    for file in files:
        if session := _session(file):
            sessions.setdefault(file.worker, set()).add(session)
    kept, skipped = [], []
    for file in files:
        if (session := _session(file)) is None:
            kept.append(file)
            continue
        old = {path.split("/")[-2] for path in there.get(file.worker, ()) if "/" in path}
        latest = max(sessions[file.worker], key=lambda each: natural(each[1]))
        if session[1] in old if old else session == latest:
            kept.append(file)
            continue
        reason = (
            f"{file.name} is of another session: session {min(old, default=latest[1])} of "
            f"{file.worker} counts; to have both, name the folder of each session as a SOURCE"
        )
        skipped.append(Skip(file.name, reason, "other session", file.worker))
    return kept, skipped


def _session(file: FileToRead) -> Session | None:
    """The session of a file, unless the user's pattern says its step."""
    return None if file.is_exact else session_of(file.path)
