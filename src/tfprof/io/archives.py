"""The SavedModel in an archive (.tar, .tar.gz, .tgz, .zip), without unpacking to disk.

    archive ──► saved_model.pb, .pbtxt or .cpb, and what belongs beside it
                the weights are skipped: of a .tar.gz, piece by piece as they are unpacked

A zip archive without a SavedModel may be something else, such as a Keras archive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.errors import InputError, UnsupportedError
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.io.tar import Pieces, TarError, members
from tfprof.read.detect import ZIP_MAGIC
from tfprof.read.source import Source, refuse_unsupported
from tfprof.tables.formats import DEBUG_INFO, HUB_MODULE, KERAS_METADATA, SAVED_MODEL_NAMES
from tfprof.wire.scalar import buffer_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.columns.strings import U8

_TAR_MAGIC: Final = slice(257, 262), b"ustar"
_PLACES: Final = [row.beside[1] for row in (DEBUG_INFO, KERAS_METADATA, HUB_MODULE) if row.beside]
_ENDS: Final = (*SAVED_MODEL_NAMES, *_PLACES)


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
        return tar_members(path, Pieces(iter([view])))
    return _zip_members(path, view) if bytes(view[:4]) == ZIP_MAGIC else None


def tar_members(path: str, archive: Pieces) -> Members:
    """The SavedModel in a tar archive, read from its beginning to its end; raises InputError."""
    used: dict[str, U8] = {}
    models: list[str] = []
    try:
        for member in members(archive):
            if member.is_file and _is_used(member.name):
                used[member.name] = np.frombuffer(archive.exactly(member.size), np.uint8)
                models += _models([member.name])
                _one(path, models)
    except TarError as problem:
        raise InputError(f"{path} is a damaged tar archive: {problem}") from None
    if (model := _one(path, models)) is None:
        what = "a tar archive without a SavedModel"
        raise UnsupportedError(path, what, "unpack it and name a file in it")
    return Members(model, used[model], {place: used[name] for name, place in _beside(model, used)})


def _zip_members(path: str, view: memoryview) -> Members | None:
    import io  # noqa: PLC0415 - few files need them
    import zipfile  # noqa: PLC0415
    import zlib  # noqa: PLC0415

    from tfprof.read.keras.archive import Bytes, member  # noqa: PLC0415

    try:
        archive = zipfile.ZipFile(io.BufferedReader(Bytes(view)))
        names = list(filter(_is_used, archive.namelist()))
        if (model := _one(path, _models(names))) is None:
            return None
        used = {"": model, **{place: name for name, place in _beside(model, names)}}
        # Copied: what is not compressed is a view of the mapped file, which may change.
        data = {
            place: np.array(member(archive, name, view, path), np.uint8)
            for place, name in used.items()
        }
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError) as problem:
        refuse_unsupported(Source(path, np.frombuffer(view, np.uint8)), damaged=True)
        raise InputError(f"{path} is a zip archive that is damaged or cut off: {problem}") from None
    return Members(model, data.pop(""), data)


def _is_used(name: str) -> bool:
    return name.endswith(_ENDS)


def _models(names: Iterable[str]) -> list[str]:
    from pathlib import PurePosixPath  # noqa: PLC0415 - few files need it

    return [name for name in names if PurePosixPath(name).name in SAVED_MODEL_NAMES]


def _one(path: str, models: list[str]) -> str | None:
    """The only SavedModel, if there is one; raises InputError for several."""
    if len(models) > 1:
        raise InputError(
            f"{path} holds several SavedModels, such as {models[0]} and {models[1]}; "
            "unpack it and name one of them"
        )
    return models[0] if models else None


def _beside(model: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(name, path from the folder of the SavedModel) of the members that belong to it."""
    from pathlib import PurePosixPath  # noqa: PLC0415 - as above

    places = {PurePosixPath(model).parent / place: place for place in _PLACES}
    for name in names:
        if place := places.get(PurePosixPath(name)):
            yield name, place
