"""KnownFiles: which files a dataset has, by full path and version, whatever their worker is called.

A file that was moved with its SOURCE, and is of the same version, is known as well.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from tfprof.fleet.schema import plain

if TYPE_CHECKING:
    from collections.abc import Collection

    from tfprof.fleet.dataset import Dataset
    from tfprof.fleet.listing import Listed


class KnownFiles:
    """The files whose steps *dataset* has, and the workers whose files it has *lost*."""

    def __init__(self, dataset: Dataset | None = None, lost: Collection[str] = ()) -> None:
        self.lost = lost
        self.sources: dict[tuple[str, int], str] = {}  # the file of each worker and step
        self.versions: set[tuple[str, str]] = set()  # (path, version)
        self.sources_of: dict[str, set[str]] = {}  # by worker
        if dataset is not None:
            table = dataset.steps(["source", "version"])
            columns = [table[name].to_pylist() for name in ("worker", "step", "source", "version")]
            for worker, step, source, version in zip(*columns, strict=True):
                self.sources[worker, step] = source
                self.versions.add((source, version))
                self.sources_of.setdefault(worker, set()).add(source)
        self._worker = {source: worker for (worker, _), source in self.sources.items()}
        self._paths = sorted(self._worker)
        self._moved = {(_end(path), version): path for path, version in sorted(self.versions)}

    def path(self, file: Listed) -> str:
        """The path by which the dataset knows *file*; else ""."""
        path = plain(file.input.path)
        if path in self._worker:
            return path
        moved = self._moved.get((_end(path), file.input.identity), "")
        return moved if moved.endswith(plain("/".join(("", *file.below)))) else ""

    def steps_of(self, worker: str) -> set[int | None]:
        """The steps that the dataset has of a worker."""
        return {step for name, step in self.sources if name == worker}

    def worker(self, path: str) -> str | None:
        """The worker of a file that the dataset has."""
        return self._worker.get(path)

    def first_below(self, root: str) -> str | None:
        """A file of the dataset in the folder *root*, or below it."""
        start = f"{plain(root).rstrip('/')}/"
        at = bisect_left(self._paths, start)
        return next((path for path in self._paths[at : at + 1] if path.startswith(start)), None)


def _end(path: str) -> str:
    return "/".join(path.rsplit("/", 2)[-2:])
