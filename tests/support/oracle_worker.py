"""The process in which the C++ profiler runs, one request after another.

Started by `oracle.Oracle` as `python oracle_worker.py FD`, where FD is one end of a pipe. A
request is a tuple (command, arguments…); the reply is (True, value) or (False, error text). What
the profiler prints goes to this process's own fd 1 and fd 2, which the other side reads.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from tf_wheel import piece

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_native = piece("tensorflow.python.util._pywrap_tfprof")
_options = piece("tensorflow.core.profiler.tfprof_options_pb2")


def load(
    graph: bytes, op_log: bytes, steps: Sequence[tuple[int, bytes]]
) -> tuple[bool, float | None]:
    """Whether a profiler was made, and the coverage after its last step."""
    _native.DeleteProfiler()
    if not _native.NewProfiler(graph, op_log):
        return False, None
    coverage = None
    for step, run_metadata in steps:
        coverage = add_step(step, run_metadata)
    return True, coverage


def add_step(step: int, run_metadata: bytes, graph: bytes = b"", op_log: bytes = b"") -> float:
    """The coverage after one more run of the loaded model."""
    coverage: float = _native.AddStep(step, graph, run_metadata, op_log)
    return coverage


def load_profile(path: str) -> None:
    """Start again from a saved profile."""
    _native.DeleteProfiler()
    _native.ProfilerFromFile(path.encode())


def ask(view: str, options: Mapping[str, Any]) -> bytes:
    """The returned proto of one view."""
    message = _options.OptionsProto(**options)
    result: bytes = _native.Profile(view.encode(), message.SerializeToString())
    return result


def advise(checkers: Sequence[str]) -> bytes:
    """The returned AdviceProto."""
    message = _options.AdvisorOptionsProto()
    for checker in checkers:
        message.checkers[checker].SetInParent()
    result: bytes = _native.Profile(b"advise", message.SerializeToString())
    return result


def save() -> bytes:
    """The loaded profile as ProfileProto."""
    result: bytes = _native.SerializeToString()
    return result


COMMANDS: dict[str, Callable[..., object]] = {
    f.__name__: f for f in (load, add_step, load_profile, ask, advise, save)
}


def main() -> None:
    """Answer requests until the other side closes the pipe."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    flush_c_streams = ctypes.CDLL(None).fflush
    connection = Connection(int(sys.argv[1]))
    while True:
        try:
            command, *arguments = connection.recv()
        except EOFError:
            os._exit(0)  # the native destructors have nothing to add
        reply: tuple[bool, object]
        try:
            reply = (True, COMMANDS[command](*arguments))
        except Exception as error:  # noqa: BLE001  whatever the native call raised is the answer
            reply = (False, f"{type(error).__name__}: {error}")
        flush_c_streams(None)
        connection.send(reply)


if __name__ == "__main__":
    main()
