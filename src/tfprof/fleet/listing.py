"""Lists the files that a SOURCE stands for, on this machine or wherever fsspec looks."""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.errors import InputError, UnreadableError
from tfprof.fleet.dataset import is_fleet
from tfprof.fleet.manifest import NAME as MANIFEST
from tfprof.fleet.packages import need
from tfprof.fleet.schema import plain
from tfprof.fleet.storage import is_url
from tfprof.fleet.tasks import InputPath
from tfprof.foundation.arguments import expand_home
from tfprof.io.open_files import mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LIST: Final = "@"
# What a store says of a file's version, the best first.
_VERSIONS: Final = (
    "ETag", "etag", "md5Hash", "content_md5", "generation", "LastModified", "last_modified",
    "mtime", "updated", "created",
)  # fmt: skip


class Listed(NamedTuple):
    """A file, and where below its SOURCE it is."""

    input: InputPath
    root: str  # the folder that is the SOURCE, or has it
    below: tuple[str, ...]  # the root's name, the folders below it, the file's name
    is_named: bool = False  # the SOURCE is this file
    is_beside: bool = False  # no SOURCE names it, but it is beside a file that one does


def listed(source: str, target: str) -> Iterator[Listed]:
    """The files of *source* but not of the dataset *target*; raises InputError if it is missing."""
    if source.startswith(_LIST):
        for line in _lines(source[len(_LIST) :]):
            yield from listed(line, target)
        return
    source = expand_home(source)
    yield from _at_url(source) if is_url(source) else _on_disk(source, target)


def input_path(name: str) -> InputPath:
    """The file *name*; raises InputError where it is missing or a folder."""
    file = next(listed(name, ""), None)
    if file is None or not file.is_named:
        raise InputError(f"{name} is a folder; expected a file")
    return file.input


def _lines(path: str) -> list[str]:
    try:
        text = mapped(expand_home(path)).tobytes().decode("utf-8", "surrogateescape")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"{path} cannot be read ({reason}); expected a list of paths") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


# --- this machine ---------------------------------------------------------------------------------


def _on_disk(source: str, target: str) -> Iterator[Listed]:
    if os.path.isdir(source):  # noqa: PTH112 - paths stay as the user wrote them
        yield from _walked(source, source, target)
        return
    if os.path.exists(source):  # noqa: PTH110 - likewise
        yield _file(os.path.dirname(source), source, is_named=True)  # noqa: PTH120 - likewise
        return
    names = sorted(glob.glob(source, recursive=True)) if glob.has_magic(source) else []  # noqa: PTH207
    if not names:
        raise InputError(f"{source} does not exist")
    before = source[: next(at for at, letter in enumerate(source) if letter in "*?[")]
    root = os.path.dirname(before)  # noqa: PTH120 - likewise
    for name in names:
        if os.path.isdir(name):  # noqa: PTH112 - likewise
            yield from _walked(root, name, target)
        else:
            yield _file(root, name)


def _walked(root: str, folder: str, target: str) -> Iterator[Listed]:
    """All files below *folder* but hidden ones and those of datasets."""
    own = os.path.abspath(target)  # noqa: PTH100 - of a file that may not exist
    problems: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=problems.append):
        if os.path.abspath(place) == own or (MANIFEST in names and is_fleet(place)):  # noqa: PTH100
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            if not name.startswith("."):
                yield _file(root, os.path.join(place, name))  # noqa: PTH118 - likewise
    for problem in problems:
        raise UnreadableError(f"{problem.filename} cannot be read ({problem.strerror})")


def beside(files: Iterable[Listed]) -> Iterator[Listed]:
    """The files in the folders of *files*, up to their roots, among which may be their graphs."""
    seen = set()
    for file in files:
        folder = file.input.name
        for _ in file.below[1:]:
            folder = os.path.dirname(folder)  # noqa: PTH120 - likewise
            if is_url(file.input.path) or folder in seen:
                break
            seen.add(folder)
            with suppress(OSError):
                for name in sorted(os.listdir(folder or ".")):  # noqa: PTH208 - names
                    path = os.path.join(folder, name)  # noqa: PTH118 - likewise
                    if not name.startswith(".") and os.path.isfile(path):  # noqa: PTH113
                        yield _file(file.root, path)._replace(is_beside=True)


def _file(root: str, name: str, *, is_named: bool = False) -> Listed:
    root, path = os.path.abspath(root or "."), os.path.abspath(name)  # noqa: PTH100 - likewise
    try:
        status = Path(path).stat()
        identity, size = f"{status.st_size}-{status.st_mtime_ns}", status.st_size
    except OSError:
        identity, size = "", 0
    below = os.path.relpath(path, root).replace(os.sep, "/").split("/")
    top = os.path.basename(root) or "root"  # noqa: PTH119 - of a text
    return Listed(InputPath(path, plain(name), identity, size), root, (top, *below), is_named)


# --- elsewhere ------------------------------------------------------------------------------------


def _at_url(url: str) -> Iterator[Listed]:
    core = need("fsspec.core")
    has_magic = glob.has_magic(url)
    try:
        files, inside = core.url_to_fs(url)
        found: dict[str, dict[str, Any]] = (files.glob if has_magic else files.find)(
            inside, detail=True
        )
        for path in [path for path, entry in found.items() if entry.get("type") == "directory"]:
            found.update(files.find(path, detail=True))
    except Exception as problem:  # noqa: BLE001 - each protocol has errors of its own
        raise InputError(f"{url} cannot be read: {problem}") from None
    entries = {path: entry for path, entry in found.items() if entry.get("type") != "directory"}
    if not entries:
        raise InputError(f"{url} does not exist")
    is_named = [*entries] == [inside]
    root = inside[: next((at for at, letter in enumerate(inside) if letter in "*?["), len(inside))]
    root = root.rpartition("/")[0] if has_magic or is_named else root.rstrip("/")
    folders = [path.removesuffix(MANIFEST) for path in entries if path.endswith(f"/{MANIFEST}")]
    fleets = tuple(folder for folder in folders if is_fleet(files.unstrip_protocol(folder)))
    for path, entry in entries.items():
        below = path.removeprefix(root).strip("/").split("/")
        if any(name.startswith(".") for name in below) or path.startswith(fleets):
            continue
        size = int(entry.get("size") or 0)
        version = next((str(entry[name]) for name in _VERSIONS if entry.get(name)), "")
        full = files.unstrip_protocol(path)
        place = InputPath(full, full, f"{size}-{version}", size)
        yield Listed(place, root, (root.rpartition("/")[2] or url, *below), is_named)
