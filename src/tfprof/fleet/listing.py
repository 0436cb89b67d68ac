"""Lists the files that a SOURCE stands for, on this machine or wherever fsspec looks."""

from __future__ import annotations

import glob
import os
import re
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.errors import InputError, UnreadableError
from tfprof.fleet.dataset import is_fleet
from tfprof.fleet.manifest import NAME as MANIFEST
from tfprof.fleet.packages import need
from tfprof.fleet.schema import plain
from tfprof.fleet.storage import is_url
from tfprof.fleet.tasks import InputPath
from tfprof.foundation.arguments import expand_home, shown
from tfprof.io.open_files import mapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LIST: Final = "@"
_MODEL_NAME: Final = re.compile(r"(?!\.).*(graph|model|tfprof_log|op_log)", re.IGNORECASE)
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


class Skip(NamedTuple):
    """A file that is not in the dataset, and why; a row of the manifest."""

    path: str
    reason: str
    kind: str
    worker: str = ""
    step: int | None = None


def listed(source: str, target: str) -> Iterator[Listed | Skip]:
    """The files of *source* but not of datasets such as *target*, and what cannot be read.

    Raises InputError where a list names a list.
    """
    try:
        lines = _lines(source[len(_LIST) :]) if source.startswith(_LIST) else [source]
    except UnreadableError as problem:
        yield _skip(source, problem)
        return
    for line in lines:
        try:
            yield from _of_one(line, target)
        except InputError as problem:  # noqa: PERF203 - the others may be there
            yield _skip(line, problem)


def input_path(name: str) -> InputPath:
    """The file *name*; raises InputError where it is missing or a folder."""
    file = next(_of_one(name, ""), None)
    if not isinstance(file, Listed) or not file.is_named:
        raise InputError(f"{name} is a folder; expected a file")
    return file.input


def _of_one(source: str, target: str) -> Iterator[Listed | Skip]:
    source = expand_home(source)
    return _at_url(source, target) if is_url(source) else _on_disk(source, target)


def _skip(path: str, problem: InputError) -> Skip:
    kind = "unreadable" if isinstance(problem, UnreadableError) else "missing"
    return Skip(plain(path), plain(str(problem)), kind)


def _lines(path: str) -> list[str]:
    try:
        text = mapped(expand_home(path), is_named=True).tobytes().decode("utf-8", "surrogateescape")
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        sentence = f"{path} cannot be read ({reason}); expected a list of paths"
        raise UnreadableError(sentence) from None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if line.startswith(_LIST):
            raise InputError(f"{path} names {line}: a list takes no lists")
    return lines


# --- this machine ---------------------------------------------------------------------------------


def _on_disk(source: str, target: str) -> Iterator[Listed | Skip]:
    if os.path.isdir(source):  # noqa: PTH112 - paths stay as the user wrote them
        yield from _walked(source, [source], target)
        return
    if os.path.exists(source):  # noqa: PTH110 - likewise
        yield _file(os.path.dirname(source), source, is_named=True)  # noqa: PTH120 - likewise
        return
    try:
        names = sorted(glob.glob(source, recursive=True)) if glob.has_magic(source) else []  # noqa: PTH207
    except RecursionError:  # glob calls itself for each folder
        raise InputError(f"{shown(source)} has too many folders for a pattern") from None
    if not names:
        raise InputError(f"{source} does not exist")
    before = source[: next(at for at, letter in enumerate(source) if letter in "*?[")]
    root = os.path.dirname(before)  # noqa: PTH120 - likewise
    is_left_out = lru_cache(None)(lambda folder: _is_dataset(folder, target))
    folders = []
    for name in names:
        above = os.path.dirname(name)  # noqa: PTH120 - likewise
        if is_left_out(above) or is_left_out(os.path.dirname(above)):  # noqa: PTH120 - likewise
            continue
        if os.path.isdir(name):  # noqa: PTH112 - likewise
            folders.append(name)
        else:
            yield _file(root, name)
    yield from _walked(root, folders, target)


def _walked(root: str, folders: Sequence[str], target: str) -> Iterator[Listed | Skip]:
    """All files below *folders* but hidden ones and those of datasets.

    Links to folders come last: of a folder with several names, its own one counts.
    """
    problems: list[OSError] = []
    seen: set[tuple[int, int] | None] = {None}
    waiting = sorted(folders, key=os.path.islink)
    for start in waiting:
        for place, below, names in os.walk(start, onerror=problems.append):
            number = _number(place)
            if number in seen or _is_dataset(place, target):
                below.clear()
                continue
            seen.add(number)
            below[:] = sorted(name for name in below if not name.startswith("."))
            inside = (os.path.join(place, name) for name in below)  # noqa: PTH118 - likewise
            waiting += filter(os.path.islink, inside)
            for name in names:
                if not name.startswith("."):
                    yield _file(root, os.path.join(place, name))  # noqa: PTH118 - likewise
    for problem in problems:
        reason = f"{problem.filename} cannot be read ({problem.strerror})"
        yield _skip(problem.filename, UnreadableError(reason))


def _is_dataset(folder: str, target: str) -> bool:
    """Whether *folder* is *target*, which may not have a manifest yet, or another dataset."""
    number = _number(folder or ".")
    is_target = bool(target) and number == _number(target)
    return number is not None and (is_target or is_fleet(folder))


def _number(folder: str) -> tuple[int, int] | None:
    """Device and inode, which are the same under every name of a folder; None: there is none."""
    try:
        status = Path(folder).stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def beside(files: Iterable[Listed]) -> Iterator[Listed]:
    """The files in the folders of *files*, up to their roots, among which may be their graphs.

    Of the folder above a root, those whose names say that they are one.
    """
    seen = set()
    above = set()
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
        if file.root in above or is_url(file.input.path):
            continue
        above.add(file.root)
        parent = Path(file.root).parent
        with suppress(OSError):
            for model in sorted(parent.iterdir()):
                if _MODEL_NAME.match(model.name) and model.is_file():
                    written = model if os.path.isabs(file.input.name) else os.path.relpath(model)  # noqa: PTH117
                    yield _file(file.root, str(written))._replace(is_beside=True)


def _file(root: str, name: str, *, is_named: bool = False) -> Listed:
    root, path = os.path.abspath(root or "."), os.path.abspath(name)  # noqa: PTH100 - likewise
    identity, size = version_of(path)
    below = os.path.relpath(path, root).replace(os.sep, "/").split("/")
    top = os.path.basename(root) or "root"  # noqa: PTH119 - of a text
    place = InputPath(path, plain(name), identity, size)
    return Listed(place, sys.intern(root), _shared([top, *below]), is_named)


def _shared(names: Iterable[str]) -> tuple[str, ...]:
    """These names; equal ones of all files are one object."""
    return tuple(map(sys.intern, names))


def version_of(path: str) -> tuple[str, int]:
    """(what changes with the content of a file, its size); nothing where there is none."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return "", 0
    return f"{status.st_size}-{status.st_mtime_ns}", status.st_size


def is_same_place(source: str, target: str) -> bool:
    """Whether both are the same folder, or the same URL."""
    if is_url(target) or is_url(source):
        return source.rstrip("/") == target.rstrip("/")
    number = _number(expand_home(source))
    return number is not None and number == _number(expand_home(target))


# --- elsewhere ------------------------------------------------------------------------------------


def _at_url(url: str, target: str) -> Iterator[Listed | Skip]:
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
    fleets = [folder for folder in folders if is_fleet(files.unstrip_protocol(folder))]
    if is_url(target):
        others, own = core.url_to_fs(target)
        fleets += [f"{own.rstrip('/')}/"] if type(others) is type(files) else []
    whole_root = files.unstrip_protocol(root)
    for path, entry in entries.items():
        below = path.removeprefix(root).strip("/").split("/")
        if any(name.startswith(".") for name in below) or path.startswith(tuple(fleets)):
            continue
        size = int(entry.get("size") or 0)
        version = next((str(entry[name]) for name in _VERSIONS if entry.get(name)), "")
        full = files.unstrip_protocol(path)
        place = InputPath(full, full, f"{size}-{version}", size)
        yield Listed(place, whole_root, _shared([root.rpartition("/")[2] or url, *below]), is_named)
