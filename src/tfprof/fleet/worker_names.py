"""Names of workers. If two SOURCEs have the same steps of a worker, its name begins with theirs.

worker_0                      no other SOURCE of the dataset has a step of this worker
a/worker_0, b/worker_0        the SOURCEs a and b were gathered together
worker_0, b/worker_0          b was added to a later: workers of the dataset keep their names
x/a/worker_0, y/a/worker_0    the SOURCEs have the same name, too
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.fleet.listing import Listed
from tfprof.fleet.path_pattern import default_place
from tfprof.fleet.schema import plain
from tfprof.fleet.tasks import InputPath

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.fleet.known_files import KnownFiles


class Nameless(NamedTuple):
    """A worker of a SOURCE, by the path inside it."""

    root: str
    worker: str
    is_root: bool = False  # the SOURCE itself is the worker

    @classmethod
    def of(cls, file: Listed, worker: str) -> Nameless:
        """The *worker* of a file."""
        top, *folders, _ = file.below
        return cls(file.root, worker, not folders and plain(top) == worker)

    def name(self, level: int) -> str:
        """The name with *level* folders of the root before it."""
        folders = [part for part in plain(self.root).split("/") if part]
        folders = folders[:-1] if self.is_root else folders
        return "/".join([*folders[max(len(folders) - level, 0) :], self.worker])

    @property
    def levels(self) -> range:
        """How many folders of the root there may be before the name."""
        return range(self.root.count("/") + 2)


def named(
    workers: Iterable[tuple[Nameless, str, int | None]], known: KnownFiles
) -> dict[Nameless, str]:
    """The name of each worker, given the files of each.

    With a worker comes the path by which the dataset knows the file, or "", and the step that the
    file's path says.
    """
    of_root: dict[str, set[Nameless]] = {}
    fixed: dict[Nameless, str] = {}
    steps: dict[Nameless, set[int | None]] = {}
    for worker, path, step in workers:
        of_root.setdefault(worker.root, set()).add(worker)
        steps.setdefault(worker, set()).add(step)
        if (name := known.worker(path)) is not None:
            fixed[worker] = name
    level = {root: _level(root, same, fixed, known) for root, same in of_root.items()}
    undecided = {root for root in level if level[root] is None}
    while True:
        names = {
            worker: fixed.get(worker) or worker.name(level[root] or 0)
            for root, same in of_root.items()
            for worker in same
        }
        alike: dict[str, list[Nameless]] = {}
        for worker, name in names.items():
            alike.setdefault(name, []).append(worker)
        clashing = {
            worker.root
            for worker, name in names.items()
            if worker.root in undecided
            and (level[worker.root] or 0) + 1 in worker.levels
            and (
                _overlap(steps[worker], known.steps_of(name))
                or any(
                    _overlap(steps[worker], steps[other])
                    for other in alike[name]
                    if other.root != worker.root
                )
            )
        }
        if not clashing:
            return names
        for root in clashing:
            level[root] = (level[root] or 0) + 1


def _overlap(steps: set[int | None], others: set[int | None]) -> bool:
    """Whether files of two SOURCEs may have the same step; None: only the file knows its own."""
    return bool(others) and (None in steps | others or bool(steps & others))


def _level(
    root: str, workers: Iterable[Nameless], fixed: dict[Nameless, str], known: KnownFiles
) -> int | None:
    """How many folders the names of this root have in the dataset; None where it has none."""
    pairs = [(worker, fixed[worker]) for worker in workers if worker in fixed]
    if (path := known.first_below(root)) is not None:
        top = root.rstrip("/").rpartition("/")[2]
        below = (top, *path[len(plain(root).rstrip("/")) + 1 :].split("/"))
        file = Listed(InputPath(path, path, ""), root, below)
        worker = Nameless.of(file, plain(default_place(below).worker))
        host = Nameless(root, worker.worker.rpartition("/")[2])  # of the only log
        pairs += [(each, known.worker(path) or "") for each in (worker, host)]
    found = (level for each, name in pairs for level in each.levels if each.name(level) == name)
    again = workers if known.lost else ()
    lost = (level for each in again for level in each.levels if each.name(level) in known.lost)
    return next(found, next(lost, None))
