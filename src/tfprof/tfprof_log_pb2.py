"""The messages of op logs and saved profiles, under the name of the original's module.

OpLogProto, OpLogEntry, CodeDef; ProfileProto, ProfileNode, ExecProfile, ExecTime, ExecMemory,
Memory, Tuple. OpLog is the old name of OpLogProto.
"""

from __future__ import annotations

from typing import Any, Final

from tfprof.wire.schema import message

_NAMES: Final = {
    name: name
    for name in (
        *("CodeDef", "ExecMemory", "ExecProfile", "ExecTime", "Memory", "OpLogEntry"),
        *("OpLogProto", "ProfileNode", "ProfileProto", "Tuple"),
    )
} | {"OpLog": "OpLogProto"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a class made at run time
    if name in _NAMES:
        return message(f"tensorflow.tfprof.{_NAMES[name]}")
    raise AttributeError(f"module 'tfprof.tfprof_log_pb2' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_NAMES)
