"""The SavedModel in an archive (.tar, .tar.gz, .tgz, .zip), without unpacking to disk.

    archive ──► saved_model.pb, .pbtxt or .cpb, and what belongs beside it
                the weights are skipped: of a .tar.gz, piece by piece as they are unpacked

A zip archive without a SavedModel may be something else, such as a Keras archive.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.io.gunzip import GzipError
from tfprof.tables.formats import DEBUG_INFO, HUB_MODULE, KERAS_METADATA, SAVED_MODEL_NAMES
from tfprof.wire.scalar import buffer_view

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from tfprof.columns.strings import U8
    from tfprof.read.keras.archive import Bytes

_TAR_MAGIC: Final = slice(257, 262), b"ustar"
_ZIP_MAGIC: Final = b"PK\3\4"
_BESIDE: Final = [row.beside[1] for row in (DEBUG_INFO, KERAS_METADATA, HUB_MODULE) if row.beside]
_STREAM: Final = 1 << 20


class Members(NamedTuple):
    """What is used of an archive."""

    name: str  # the path of the SavedModel in it
    data: U8
    beside: dict[str, U8]  # by their paths from the folder of the SavedModel


def is_tar(start: bytes | memoryview) -> bool:
    """Whether a file that begins so is a tar archive."""
    place, magic = _TAR_MAGIC
    return bytes(start[place]) == magic


def members_of(path: str, data: U8) -> Members | None:
    """The SavedModel in the tar or zip archive *data*; None if it is neither. Raises InputError."""
    view = buffer_view(data)
    if is_tar(view):
        from tfprof.read.keras import archive  # noqa: PLC0415 - few files need it

        return tar_members(path, archive.Bytes(view), "r:")
    return _zip_members(path, view) if bytes(view[:4]) == _ZIP_MAGIC else None


def tar_members(path: str, file: IO[bytes] | Bytes | Pieces, mode: str = "r|") -> Members:
    """The SavedModel in a tar archive, read from its beginning to its end; raises InputError."""
    import tarfile  # noqa: PLC0415 - few files need it

    used: dict[str, U8] = {}
    try:
        with tarfile.open(fileobj=file, mode=mode, bufsize=_STREAM) as archive:  # type: ignore[call-overload]  # a mode of ours
            while (member := archive.next()) is not None:
                archive.members.clear()
                if member.isreg() and not member.issparse() and _is_used(member.name):
                    content = archive.extractfile(member)
                    assert content is not None, "it is a regular file"
                    used[member.name] = np.frombuffer(content.read(), np.uint8)
    except GzipError:
        raise
    except (tarfile.TarError, ValueError, ArithmeticError, EOFError, RecursionError) as problem:
        raise InputError(f"{path} is a damaged tar archive: {problem}") from None
    if (members := _of_one_model(path, used)) is None:
        raise InputError(
            f"{path} is a tar archive without a SavedModel; unpack it and name a file in it"
        )
    return members


def _zip_members(path: str, view: memoryview) -> Members | None:
    import io  # noqa: PLC0415 - few files need them
    import zipfile  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    from tfprof.read.keras.archive import Bytes, member  # noqa: PLC0415

    try:
        archive = zipfile.ZipFile(io.BufferedReader(Bytes(view)))
        names = [name for name in archive.namelist() if _is_used(name)]
        if not any(PurePosixPath(name).name in SAVED_MODEL_NAMES for name in names):
            return None
        used = {name: np.frombuffer(member(archive, name, view, path), np.uint8) for name in names}
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        OSError,
        ValueError,
    ) as problem:
        raise InputError(f"{path} is a damaged zip archive: {problem}") from None
    return _of_one_model(path, used)


def _is_used(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name in SAVED_MODEL_NAMES or any(path.match(place) for place in _BESIDE)


def _of_one_model(path: str, used: dict[str, U8]) -> Members | None:
    """The SavedModel among the files that are used; raises InputError if there are several."""
    models = [name for name in used if PurePosixPath(name).name in SAVED_MODEL_NAMES]
    if len(models) > 1:
        raise InputError(
            f"{path} holds {len(models):,} SavedModels, such as {models[0]} and {models[1]}; "
            "unpack it and name one of them"
        )
    if not models:
        return None
    folder = PurePosixPath(models[0]).parent
    places = {str(folder / place): place for place in _BESIDE}
    paths = {str(PurePosixPath(name)): data for name, data in used.items()}
    beside = {place: paths[name] for name, place in places.items() if name in paths}
    return Members(models[0], used[models[0]], beside)


class Pieces:
    """Pieces of a file, as they come, read as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._piece = pieces, memoryview(b"")

    def read(self, size: int) -> bytes:
        """So many bytes; fewer at the end."""
        parts: list[memoryview] = []
        while size:
            while not self._piece and (piece := next(self._pieces, None)) is not None:
                self._piece = memoryview(piece)
            if not self._piece:
                break
            parts.append(self._piece[:size])
            self._piece = self._piece[size:]
            size -= len(parts[-1])
        return b"".join(parts)
