"""Writer: files of a dataset first, its manifest last.

    add_graph, add_part, …   files that no manifest names yet: readers do not see them
    commit                   the new manifest replaces the old one: now readers see all of them
                             then files that it does not name are removed

A process that is killed leaves the old manifest or the new one, and all files that it names. Files
of a killed run stay until the next commit, and `has` finds those that are complete.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tfprof import __version__
from tfprof.errors import InputError, OutputError
from tfprof.fleet.dataset import stored_manifest
from tfprof.fleet.manifest import (
    FOLDERS,
    GRAPH_SEAL,
    NAME,
    PART_SEAL,
    Manifest,
    graph_names,
    part_names,
    read_manifest,
)
from tfprof.fleet.schema import checksum, row_count, unsealed
from tfprof.fleet.storage import Storage, is_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tfprof.fleet.manifest import Entry


class Writer:
    """Adds parts and graphs to a dataset; nothing is visible before `commit`."""

    def __init__(self, storage: Storage, old: Manifest | None) -> None:
        self.storage, self.old = storage, old
        self._graphs = dict(old.graphs) if old else {}
        self._parts = dict(old.parts) if old else {}
        self._old_files = old.files if old else {}  # they stay as they are until the commit
        self._new_files: set[str] = set()
        self._broken: set[str] = set()

    @classmethod
    def at(cls, path: str) -> Writer:
        """The writer of the fleet at *path*, which may not be there yet.

        Raises OutputError where the folder has other files, InputError where its manifest is bad.
        """
        storage = Storage.at(path)
        storage.check_writable(FOLDERS)
        old = stored_manifest(storage)
        if old is None:
            for folder, own in FOLDERS.items():
                for name in storage.names(folder):
                    if not own.fullmatch(name) and (folder or name not in FOLDERS):
                        raise OutputError(
                            f"{path} has other files, such as {_inside(folder, name)}: "
                            "a fleet needs a new or empty folder"
                        )
        return cls(storage, old)

    def add_graph(self, graph: str, profile: bytes, nodes: bytes) -> None:
        """Write the files of a graph, as `schema.graph_files` makes them, once."""
        if graph in self._graphs:
            return
        self._graphs[graph] = {
            "nodes": row_count(nodes),
            "files": self._written(graph_names(graph), (profile, nodes)),
        }

    def add_part(self, key: str, rows: bytes, steps: bytes, entry: Mapping[str, Any]) -> None:
        """Write the files of a part, as `schema.part_files` makes them."""
        self._parts[key] = _listed(entry, self._written(part_names(key), (rows, steps)))

    def has(self, key: str) -> Entry | None:
        """The entry of a part that is stored already and complete; else None."""
        entry, files = self._stored(part_names(key), PART_SEAL)
        known = self._parts.get(key)
        if entry is None or (known is not None and known["files"] != files):
            return None
        for graph in entry["graphs"]:
            if graph not in self._graphs:
                of_graph, graph_files = self._stored(graph_names(graph), GRAPH_SEAL)
                if of_graph is not None:
                    self._graphs[graph] = {"nodes": of_graph["nodes"], "files": graph_files}
        self._parts[key] = _listed(entry, files)
        return entry

    def drop_broken(self) -> set[str]:
        """Leave out parts of which a file, or one of their graphs, is missing or damaged; these.

        At a URL, files are not read: what is stored there compares checksums of its own.
        """
        stored, is_remote = self._own_files(), is_url(self.storage.root)
        self._broken = {
            name
            for name, file in self._old_files.items()
            if name not in stored or not (is_remote or self._is_stored(name, file))
        }
        broken = {key for key, each in self._graphs.items() if self._broken & each["files"].keys()}
        self._graphs = {key: each for key, each in self._graphs.items() if key not in broken}
        self._parts = {
            key: part
            for key, part in self._parts.items()
            if not (self._broken & part["files"].keys() or broken & part["graphs"].keys())
        }
        return self._broken

    def _is_stored(self, name: str, file: Entry) -> bool:
        try:
            return checksum(self.storage.read(name)) == file
        except FileNotFoundError:  # a link to nothing
            return False

    @property
    def kept(self) -> Manifest:
        """What is there now of the new state."""
        return Manifest(self._graphs, dict(self._parts))

    @property
    def missing_graphs(self) -> set[str]:
        """The graphs of parts that `add_graph` has to add before `commit`."""
        return self._used_graphs() - self._graphs.keys()

    def _used_graphs(self) -> set[str]:
        return {graph for part in self._parts.values() for graph in part["graphs"]}

    def drop_part(self, key: str) -> None:
        """Leave a part out of the new state."""
        self._parts.pop(key, None)

    def commit(self, skipped: Iterable[Mapping[str, Any]], notes: Iterable[str]) -> Manifest:
        """Make everything that was added visible; then remove files of no use."""
        graphs = {graph: self._graphs[graph] for graph in self._used_graphs()}
        skips = tuple(dict(each) for each in skipped)
        new = Manifest(graphs, self._parts, skips, tuple(notes), __version__)
        data, name = new.to_bytes(), self.storage.path(NAME)
        new = read_manifest(data, name)
        if stored_manifest(self.storage) != self.old:
            raise OutputError(f"{name} was changed by another run meanwhile; gather again")
        stored = self._own_files()
        if missing := sorted(new.files.keys() - stored):
            gone = self.storage.path(missing[0])
            raise OutputError(f"{gone} was removed by another run meanwhile; gather again")
        self.storage.write(NAME, [data])
        for file in sorted(stored - new.files.keys()):
            with suppress(OutputError):  # the next commit tries again
                self.storage.remove(file)
        return new

    def discard(self) -> None:
        """Remove everything that this writer added."""
        for file in sorted(self._new_files - self._old_files.keys()):
            self.storage.remove(file)
        self.storage.remove_made_folders()

    def _own_files(self) -> set[str]:
        return {
            _inside(folder, file)
            for folder, own in FOLDERS.items()
            for file in self.storage.names(folder)
            if own.fullmatch(file)
        }

    def _written(self, names: Sequence[str], contents: Sequence[bytes]) -> Entry:
        """Write files; what the manifest says of them."""
        files = {name: checksum(data) for name, data in zip(names, contents, strict=True)}
        for name, content in zip(names, contents, strict=True):
            old = None if name in self._broken else self._old_files.get(name)
            if old not in (None, files[name]):
                taken = self.storage.path(name)
                raise OutputError(f"{taken} belongs to the fleet already; name a new folder")
            self._new_files.add(name)
            self.storage.write(name, [content])
        return files

    def _stored(self, names: tuple[str, str], form: Entry) -> tuple[Entry | None, Entry]:
        """(entry, files) of a part or graph whose second file is sealed; None where incomplete."""
        try:
            first, second = map(self.storage.read, names)
        except (FileNotFoundError, InputError):
            return None, {}
        entry = unsealed(second, form)
        if entry is None or checksum(first) != entry["first_file"]:
            return None, {}
        return entry, dict(zip(names, (checksum(first), checksum(second)), strict=True))


def _inside(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _listed(entry: Mapping[str, Any], files: Entry) -> Entry:
    """What the manifest says of a part."""
    return {name: entry[name] for name in ("rows", "graphs", "steps")} | {"files": files}
