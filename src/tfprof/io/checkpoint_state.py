"""The text file `checkpoint`, in which TensorFlow names the latest checkpoint of a folder.

    model_checkpoint_path: "model.ckpt-200"              beside the file
    model_checkpoint_path: "/home/me/run/model.ckpt-200"      if it moved: beside the file

A CheckpointState. The paths of Windows have backslashes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tfprof.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

_LATEST = re.compile(
    rb"""(?:^|[\s}])model_checkpoint_path\s*:\s*"""
    rb"""(?:"([^"\\\n]*(?:\\.[^"\\\n]*)*)"|'([^'\\\n]*(?:\\.[^'\\\n]*)*)')"""
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))")
_ESCAPED = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))
_PIECES_OF_FIRST = re.compile(r"-\?{5}(-of-\d{5})\Z")
_MOST = 1 << 20  # bytes: more names than TensorFlow keeps
_SEPARATOR = re.compile(r"[/\\]")


def latest_checkpoint(file: str, text: bytes) -> str:
    """The prefix that the *text* of *file* names; raises InputError where there is none."""
    match = _LATEST.search(text[:_MOST])
    written = (match[1] or match[2] or b"") if match else b""
    name = _ESCAPE.sub(_unescaped, written).decode("utf-8", "surrogateescape")
    if not name:
        raise InputError(f"{file} names no checkpoint: it has no model_checkpoint_path")
    folder = Path(file).parent
    beside = str(folder / _SEPARATOR.split(name)[-1])
    for prefix in (str(folder / name), beside):  # an absolute name stays as it is
        if is_prefix(prefix) or path_is(prefix, Path.is_file):
            return prefix
    lost = f"the latest, {name!r}, does not exist, and none of that name is beside the file"
    raise UnsupportedError(file, "a list of checkpoints", lost)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    octal, hexadecimal, other = escape.groups()
    if other is not None:
        return bytes([_ESCAPED.get(other[0], other[0])])
    return bytes([int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)])


def is_prefix(path: str) -> bool:
    """Whether *path* is the prefix of a checkpoint's files."""
    first = _PIECES_OF_FIRST.sub(r"-00000\1", path)
    is_first = first != path and path_is(first, Path.is_file)
    return is_first or path_is(f"{path}.index", Path.is_file)


def path_is(path: str, test: Callable[[Path], bool]) -> bool:
    """Whether *test* holds of *path*; a name that no file can have is False."""
    try:
        return test(Path(path))
    except (OSError, ValueError):
        return False
