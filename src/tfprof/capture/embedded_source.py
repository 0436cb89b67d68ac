"""What a GraphDebugInfo says about the machine, and the same without it."""

from __future__ import annotations

from tfprof.capture.tensorflow_internals import Internal
from tfprof.foundation import stack_files


def embedded(lines: bytes) -> str:
    """What *lines* hold, as in "the paths of 3 source files"; "" for nothing."""
    info = Internal.GRAPH_DEBUG_INFO.load().FromString(lines)
    has_text = any(frame.code for frame in info.frames_by_id.values())
    return stack_files.embedded(info.files, has_text=has_text)


def without_source(lines: bytes) -> bytes:
    """*lines* without source text and absolute paths."""
    info = Internal.GRAPH_DEBUG_INFO.load().FromString(lines)
    info.files[:] = map(stack_files.short_path, info.files)
    for frame in info.frames_by_id.values():
        frame.ClearField("code")
    return bytes(info.SerializeToString(deterministic=True))
