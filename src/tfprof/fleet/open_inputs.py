"""Opens the inputs of a task: files of this machine are mapped, others are fetched by fsspec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import InputError
from tfprof.fleet.packages import need
from tfprof.fleet.storage import is_url
from tfprof.io.gunzip import MAGIC, GzipError, unpacked
from tfprof.io.open_files import open_source
from tfprof.read.source import Source

if TYPE_CHECKING:
    from tfprof.fleet.tasks import InputPath


def open_input(file: InputPath, expected: str) -> Source:
    """The content of a file, unpacked; raises InputError, which says what was *expected*."""
    if not is_url(file.path):
        return open_source(file.path, expected)
    core = need("fsspec.core")
    try:
        files, path = core.url_to_fs(file.path)
        data = np.frombuffer(files.cat_file(path), np.uint8)
    except FileNotFoundError:
        raise InputError(f"{file.path} does not exist; expected {expected}") from None
    except Exception as problem:  # noqa: BLE001 - each protocol has errors of its own
        raise InputError(f"{file.path} cannot be read ({problem}); expected {expected}") from None
    if data[: len(MAGIC)].tobytes() == MAGIC:
        try:
            data = unpacked(data)
        except GzipError as problem:
            raise InputError(f"{file.path} {problem}") from None
    return Source(file.path, data)
