"""Reads HDF5 files through h5py, in a process of its own.

h5py is a C library. A damaged file can crash it, or keep it busy for ever; here this ends the other
process and is an error of this file. The process is started when the first file is read, answers
for all others, and gets the bytes that it asks for: it opens nothing itself.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from math import prod
from pathlib import Path
from threading import Lock, Timer
from typing import Final, NamedTuple

from tfprof.errors import InputError, UsageError
from tfprof.read.keras.model import DTYPES, Contents, Stored
from tfprof.read.keras.weights import MOST_ELEMENTS

_PROGRAM: Final = "import runpy, sys; _, name, *sys.path = sys.argv; runpy.run_path(name)"
_SECONDS, _BYTES_PER_SECOND = 15, 4 << 20  # on the clock; h5_worker.py counts those it computes
_MOST_ANSWER, _LONGEST_LINE = 1 << 28, 100
_FLOAT: Final = 1
# DataType of each HDF5 type; bfloat16 is stored as two untyped bytes.
_TYPES: Final = {**DTYPES, "|V2": DTYPES["bfloat16"]}


class _Worker(NamedTuple):
    """The other process, and the process that started it."""

    process: subprocess.Popen[bytes]
    parent: int


_lock: Final = Lock()
_workers: Final[list[_Worker]] = []  # at most one


def contents(data: memoryview, file: str, what: str) -> Contents | None:
    """The contents of the HDF5 file *data*, None without h5py.

    Raises InputError: *file*, *what* cannot be done, and why; UsageError where nothing can be read.
    """
    if find_spec("h5py") is None:
        return None
    try:
        answer = json.loads(_answer(data))
    except RuntimeError as problem:  # no thread for the clock, or no process: not the file's fault
        raise UsageError(f"HDF5's library did not start ({problem})") from None
    except (OSError, EOFError, ValueError):
        answer = {"error": "HDF5's library fails on it"}
    if "error" in answer:
        raise InputError(f"{file}{what}: {answer['error']}")
    for path, (shape, _) in answer["weights"].items():
        if prod(shape) > MOST_ELEMENTS:
            raise InputError(f"{file}: {path} has an impossible shape")
    weights = {
        path: Stored(tuple(shape), _TYPES.get(dtype, _FLOAT))
        for path, (shape, dtype) in answer["weights"].items()
    }
    names = {path.removesuffix("/vars"): name for path, name in answer["names"].items()}
    return Contents(weights, names, answer["lists"], answer["texts"])


def _answer(data: memoryview) -> bytes:
    """What the other process says of a file; raises OSError or EOFError where it ends.

    Raises RuntimeError where it does not start.
    """
    with _lock:
        try:
            process = _started()
        except OSError as problem:  # no memory, process or file descriptor is free
            raise RuntimeError(problem.strerror) from None
        timer = Timer(_SECONDS + len(data) / _BYTES_PER_SECOND, process.kill)
        timer.daemon = True
        timer.start()
        try:
            return _conversation(process, data)
        except BaseException:
            _end()
            raise
        finally:
            timer.cancel()


def _conversation(process: subprocess.Popen[bytes], data: memoryview) -> bytes:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"%20d" % len(data))
    while True:
        process.stdin.flush()
        what, at, length = process.stdout.readline(_LONGEST_LINE).split() or (b"", 0, 0)
        if what == b"read":
            process.stdin.write(data[int(at) : int(at) + int(length)])
        elif what == b"done" and int(length) <= _MOST_ANSWER:
            return process.stdout.read(int(length))
        else:
            raise EOFError


def _started() -> subprocess.Popen[bytes]:
    if _workers and (_workers[0].parent != os.getpid() or _workers[0].process.poll() is not None):
        _end()  # it belongs to the process that this one was forked from, or it has ended
    if not _workers:
        program = str(Path(__file__).with_name("h5_worker.py"))
        # -I: nothing is imported from the current folder, unless this process does so as well.
        command = [sys.executable, "-I", "-c", _PROGRAM, program, *sys.path]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing)  # noqa: S603
        _workers.append(_Worker(process, os.getpid()))
    return _workers[0].process


def _end() -> None:
    """End the other process, if it is ours, and forget it."""
    for process, parent in _workers:
        with suppress(OSError):
            if parent == os.getpid():
                process.kill()
                process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # nobody reads what is left
                (pipe or io.BytesIO()).close()
    _workers.clear()


atexit.register(_end)
if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that another thread holds
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release
    )
