"""Storage: the files of a dataset by name, in a local folder or wherever fsspec writes.

A file appears complete or not at all. Names are "manifest.json" or "folder/file".
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfprof.errors import InputError, OutputError
from tfprof.fleet.packages import need
from tfprof.foundation.arguments import expand_home
from tfprof.io.open_files import mapped
from tfprof.io.write_files import make_folder, write_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.columns.strings import U8

_URL: Final = "://"
_FILE_URL: Final = "file://"
# Where a file that is written appears at once; elsewhere it is written beside, then moved.
_OBJECT_STORES: Final = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"}


def is_url(path: str) -> bool:
    """Whether fsspec opens *path*; a file:// URL is a local path."""
    return _URL in path and not path.startswith(_FILE_URL)


class Storage:
    """A folder of files; this one is local."""

    def __init__(self, path: str) -> None:
        self.root = path

    @staticmethod
    def at(path: str) -> Storage:
        """The folder at a local path or a URL; nothing is opened or made."""
        if is_url(path):
            return _Remote(path.rstrip("/"))
        return Storage(expand_home(path.removeprefix(_FILE_URL)))

    def path(self, name: str) -> str:
        """The full path or URL of a file."""
        return os.path.join(self.root, name) if name else self.root  # noqa: PTH118 - keeps ./

    def read(self, name: str) -> U8:
        """The content of a file; raises FileNotFoundError or InputError."""
        try:
            return mapped(self.path(name))
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as problem:
            raise self._unreadable(name, problem) from None

    def start(self, name: str, size: int) -> bytes:
        """The first bytes of a file; empty where there is no such file."""
        try:
            return self.read(name)[:size].tobytes()
        except (FileNotFoundError, InputError):
            return b""

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        """Make a file of *pieces*, completely or not at all; raises OutputError."""
        self._refuse_links(name)
        make_folder(os.path.dirname(self.path(name)) or ".")  # noqa: PTH120 - as given
        write_file(self.path(name), pieces)

    def names(self, folder: str = "") -> list[str]:
        """The names in a folder, sorted; none where there is no such folder."""
        try:
            return sorted(os.listdir(self.path(folder)))  # noqa: PTH208 - names
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as problem:
            raise self._unreadable(folder, problem) from None

    def remove(self, name: str) -> None:
        """Remove a file, if it is there; raises OutputError."""
        self._refuse_links(name)
        try:
            Path(self.path(name)).unlink(missing_ok=True)
        except OSError as problem:
            raise OutputError(f"{self.path(name)} cannot be removed: {problem.strerror}") from None

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        return Path(self.path(name)).is_file()

    def file(self, name: str) -> Any:  # noqa: ANN401 - a pyarrow.BufferReader
        """What pyarrow.parquet opens."""
        arrow = need("pyarrow")
        return arrow.BufferReader(arrow.py_buffer(self.read(name)))

    def filesystem(self) -> tuple[Any, str]:
        """(file system, path of the folder in it), as pyarrow.dataset takes them."""
        return need("pyarrow.fs").LocalFileSystem(), os.path.abspath(self.root)  # noqa: PTH100 - keeps links

    def _unreadable(self, name: str, problem: Exception) -> InputError:
        reason = getattr(problem, "strerror", None) or problem
        return InputError(f"{self.path(name)} cannot be read: {reason}")

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
        except (ImportError, ValueError) as problem:
            raise InputError(f"{url} cannot be opened: {problem}") from None

    def path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def read(self, name: str) -> U8:
        try:
            return np.frombuffer(self._files.cat_file(self._inside(name)), np.uint8)
        except FileNotFoundError:
            raise
        except Exception as problem:  # noqa: BLE001 - each protocol has errors of its own
            raise self._unreadable(name, problem) from None

    def start(self, name: str, size: int) -> bytes:
        try:
            return bytes(self._files.cat_file(self._inside(name), start=0, end=size))
        except FileNotFoundError:
            return b""
        except Exception as problem:  # noqa: BLE001 - likewise
            raise self._unreadable(name, problem) from None

    def write(self, name: str, pieces: Iterable[bytes]) -> None:
        target, data = self._inside(name), b"".join(pieces)
        protocols = self._files.protocol
        protocol = protocols if isinstance(protocols, str) else protocols[0]
        try:
            if protocol in _OBJECT_STORES:
                self._files.pipe_file(target, data)
                return
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(f"{target}.new", data)
            self._files.mv(f"{target}.new", target)
        except Exception as problem:  # noqa: BLE001 - likewise
            raise self._unwritable(name, problem) from None

    def names(self, folder: str = "") -> list[str]:
        try:
            self._files.invalidate_cache()
            found = self._files.ls(self._inside(folder), detail=False)
        except FileNotFoundError:
            return []
        except Exception as problem:  # noqa: BLE001 - likewise
            raise self._unreadable(folder, problem) from None
        own = self._inside(folder).strip("/")
        paths = [path.strip("/") for path in found]
        return sorted(path.rpartition("/")[2] for path in paths if path != own)

    def remove(self, name: str) -> None:
        try:
            self._files.rm_file(self._inside(name))
        except FileNotFoundError:
            return
        except Exception as problem:  # noqa: BLE001 - likewise
            raise self._unwritable(name, problem) from None

    def exists(self, name: str) -> bool:
        try:
            self._files.invalidate_cache()
            return bool(self._files.isfile(self._inside(name)))
        except Exception as problem:  # noqa: BLE001 - likewise
            raise self._unreadable(name, problem) from None

    def filesystem(self) -> tuple[Any, str]:
        return self._files, self._root.rstrip("/")

    def _inside(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}" if name else self._root

    def _unwritable(self, name: str, problem: Exception) -> OutputError:
        return OutputError(f"{self.path(name)} cannot be written: {problem}")
