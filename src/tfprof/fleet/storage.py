"""Storage: the files of a dataset by name, in a local folder or wherever fsspec writes.

A file appears complete or not at all. Names are "manifest.json" or "folder/file".
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.errors import InputError, OutputError, TfprofError, UsageError
from tfprof.fleet.packages import need
from tfprof.foundation.arguments import expand_home
from tfprof.io.open_files import FileSource, mapped
from tfprof.io.write_files import check_folder, make_folder, write_file
from tfprof.read.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.columns.strings import U8

_URL: Final = re.compile(r"(?!file://)[a-z][a-z0-9+.-]*(::[a-z][a-z0-9+.-]*)*://", re.IGNORECASE)
# Where a file that is written appears at once; elsewhere it is written beside, then moved.
_OBJECT_STORES: Final = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"}


def is_url(path: str) -> bool:
    """Whether fsspec opens *path*; a file:// URL is a local path."""
    return bool(_URL.match(path))


class Storage:
    """A folder of files; this one is local."""

    def __init__(self, path: str) -> None:
        self.root = path
        self._made: list[Path] = []

    @staticmethod
    def at(path: str) -> Storage:
        """The folder at a local path or a URL; nothing is opened or made."""
        if is_url(path):
            return _Remote(path.rstrip("/"))
        return Storage(expand_home(path.removeprefix("file://")))

    def path(self, name: str) -> str:
        """The full path or URL of a file."""
        return os.path.join(self.root, name) if name else self.root  # noqa: PTH118 - keeps ./

    def read(self, name: str, size: int | None = None) -> U8:
        """The content of a file, or its first bytes; raises FileNotFoundError or InputError."""
        with self._errors(name, InputError, "read"):
            return mapped(self.path(name))[:size]

    def source(self, name: str, data: U8) -> Source:
        """The file *name* with the content *data* for the readers of formats."""
        return FileSource(self.path(name), data, mapped=True)

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        """Make a file of *pieces*, completely or not at all; raises OutputError."""
        self._refuse_links(name)
        folder = os.path.dirname(self.path(name)) or "."  # noqa: PTH120 - as given
        self._made += [path for path in (Path(folder), *Path(folder).parents) if not path.exists()]
        make_folder(folder)
        write_file(self.path(name), pieces)

    def names(self, folder: str = "") -> list[str]:
        """The names in a folder, sorted; none where there is no such folder."""
        try:
            with self._errors(folder, InputError, "read"):
                return sorted(os.listdir(self.path(folder)))  # noqa: PTH208 - names
        except FileNotFoundError:
            return []

    def remove(self, name: str) -> None:
        """Remove a file, if it is there; raises OutputError."""
        self._refuse_links(name)
        with self._errors(name, OutputError, "removed"):
            Path(self.path(name)).unlink(missing_ok=True)

    def remove_made_folders(self) -> None:
        """Remove the folders that `write` made and that are empty."""
        for path in sorted(self._made, reverse=True):  # what is inside comes first
            with suppress(OSError):
                path.rmdir()

    def filesystem(self) -> tuple[Any, str]:
        """(file system, path of the folder in it), as pyarrow.dataset takes them."""
        return need("pyarrow.fs").LocalFileSystem(), os.path.abspath(self.root)  # noqa: PTH100 - keeps links

    def check_writable(self, folders: Iterable[str]) -> None:
        """Raise OutputError where these *folders* can be neither made nor written to."""
        for folder in folders:
            self._refuse_links(folder)
            check_folder(self.path(folder))

    @contextmanager
    def _errors(self, name: str, kind: type[TfprofError], what: str) -> Iterator[None]:
        """Raise errors as *kind*, but FileNotFoundError where a file to be read is not there."""
        try:
            yield
        except Exception as problem:  # noqa: BLE001 - each protocol has errors of its own
            if isinstance(problem, FileNotFoundError | NotADirectoryError) and what != "written":
                raise FileNotFoundError(self.path(name)) from None
            reason = getattr(problem, "strerror", None) or problem
            sentence = f"{self.path(name)} cannot be {what}: {' '.join(str(reason).split())}"
            raise kind(sentence) from None

    def _refuse_links(self, name: str) -> None:
        """Raise OutputError where writing to *name* would change a file outside of the folder."""
        parts = Path(name).parts
        for depth in range(1, len(parts) + 1):
            path = Path(self.root, *parts[:depth])
            if path.is_symlink():
                raise OutputError(f"{path} is a link; a fleet is written to its own folder only")


class _Remote(Storage):
    """A folder at a URL, through fsspec."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        core = need("fsspec.core")
        try:
            self._files, self._root = core.url_to_fs(url)
        except (ImportError, ValueError) as problem:  # no such protocol, or its package is missing
            raise UsageError(f"{url} cannot be opened: {problem}") from None

    def path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def read(self, name: str, size: int | None = None) -> U8:
        with self._errors(name, InputError, "read"):
            return np.frombuffer(self._files.cat_file(self._inside(name), end=size), np.uint8)

    def source(self, name: str, data: U8) -> Source:
        return Source(self.path(name), data)

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        target, data = self._inside(name), b"".join(pieces)
        protocols = self._files.protocol
        protocol = protocols if isinstance(protocols, str) else protocols[0]
        try:
            with self._errors(name, OutputError, "written"):
                if protocol in _OBJECT_STORES:
                    self._files.pipe_file(target, data)
                    return
                self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._files.pipe_file(f"{target}.new", data)
                self._files.mv(f"{target}.new", target)
        except FileNotFoundError as problem:
            raise OutputError(f"{problem} cannot be written: there is no such place") from None

    def names(self, folder: str = "") -> list[str]:
        own = self._inside(folder).strip("/")
        try:
            with self._errors(folder, InputError, "read"):
                self._files.invalidate_cache()
                found = self._files.ls(own, detail=False)
        except FileNotFoundError:
            return []
        paths = (path.strip("/") for path in found)
        return sorted(path.rpartition("/")[2] for path in paths if path != own)

    def remove(self, name: str) -> None:
        try:
            with self._errors(name, OutputError, "removed"):
                self._files.rm_file(self._inside(name))
        except FileNotFoundError:
            return

    def check_writable(self, folders: Iterable[str]) -> None:
        """Nothing is known before the first file is written."""

    def filesystem(self) -> tuple[Any, str]:
        return self._files, self._root.rstrip("/")

    def _inside(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}" if name else self._root
