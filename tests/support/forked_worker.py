"""Children of a process that has imported what they need: one starts in a few milliseconds.

    python forked_worker.py tfprof         all of tfprof
    python forked_worker.py tensorflow     TensorFlow, of which nothing has run yet

Asked line by line with JSON: the words of a command or a program, the signal to send and after how
many seconds (0: none), the files for what it prints, and what else it is to be like.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import struct
import sys
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from traceback import walk_tb
from typing import Any, Final

import tfprof
from profiles import PROFILES
from tfprof import cli
from tfprof.console.signals import exit_at_once
from tfprof.io import write_files

SIGNALS: Final = (signal.SIGHUP, signal.SIGTERM)
PACKAGE: Final = Path(cli.__file__).parents[1]

# Of <linux/capability.h>.
CAPABILITIES_VERSION: Final = 0x20080522
DAC_OVERRIDE: Final = 1 << 1


def main() -> None:
    with redirect_stdout(TextIOWrapper(BytesIO())), redirect_stderr(StringIO()):
        IMPORTS[sys.argv[1]]()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            break
        print(json.dumps(watched(child, asked)), flush=True)
    else:
        return
    # Out of the loop, so that the child ends as a command does that was started by itself.
    try:
        run(asked)
    except KeyboardInterrupt as interrupted:
        frames = [frame.f_code.co_filename for frame, _ in walk_tb(interrupted.__traceback__)]
        if any(Path(name).is_relative_to(PACKAGE) for name in frames):
            raise
        # Not under way yet: a command that is started by itself imports Python's modules here.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def run(asked: dict[str, Any]) -> None:
    become(asked)
    if "program" in asked:
        exec(asked["program"], {"__name__": "program"})  # noqa: S102 - written in the test
    else:
        try:
            cli.main(asked["words"])
        except SystemExit as end:  # as __main__ does
            exit_at_once(end)


def import_all() -> None:
    """Import what commands import when they need it."""
    files = PROFILES["handmade"].flags()
    for kind in ("file", "json", "csv", "md", "proto", "pprof"):
        cli.run(["code", *files, f"--output={kind}:outfile={os.devnull}"])
    for command in ("save", "convert", "advise"):
        cli.run([command, *files, f"--output=file:outfile={os.devnull}"])
    cli.run(["graph", *files, "--step=0", "--output=timeline:outfile=/nowhere/at/all"])
    tfprof.profile(PROFILES["handmade"].graph, options={"output": "none"})


def import_tensorflow() -> None:
    """Import TensorFlow with Keras, which it imports when it is first asked for."""
    import_module("tensorflow").keras.layers  # noqa: B018 - the import is what counts


IMPORTS: Final = {"tfprof": import_all, "tensorflow": import_tensorflow}


def become(asked: dict[str, Any]) -> None:
    """Be a process as it is asked for."""
    for stream, path in ((1, asked["stdout"]), (2, asked["stderr"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), stream)
    os.dup2(os.open(asked.get("stdin", os.devnull), os.O_RDONLY), 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - ours has requests in it
    # Who runs us may have turned them off, and children inherit that.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if asked.get("unread"):
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, asked["unread"])
    if "patience" in asked:
        write_files._PATIENCE_SECONDS = asked["patience"]
    if asked.get("named"):
        del os.O_TMPFILE
    if "most_bytes" in asked:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked["most_bytes"],) * 2)
    if asked.get("obeys_modes"):
        obey_modes()


def obey_modes() -> None:
    """Write only where the mode of a file or folder lets its owner write, also as root."""
    # Another user may not even read tfprof, or Python.
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = struct.pack("Ii", CAPABILITIES_VERSION, 0), ctypes.create_string_buffer(24)
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    effective, permitted, *others = struct.unpack("6I", sets)
    kept = struct.pack("6I", effective & ~DAC_OVERRIDE, permitted & ~DAC_OVERRIDE, *others)
    if libc.capset(header, kept):
        raise OSError(ctypes.get_errno(), "capset")


def watched(child: int, asked: dict[str, Any]) -> dict[str, float]:
    """Send the signal, wait for the end, and tell the exit code and the seconds it took."""
    began = time.monotonic()
    if asked["signal"]:
        if "once_writing_in" in asked:
            await_writing(child, asked["once_writing_in"])
        time.sleep(asked["after"])
        os.kill(child, asked["signal"])  # who has ended but was not waited for is still there
    _, status = os.waitpid(child, 0)
    return {"code": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - began}


def await_writing(child: int, folder: str) -> None:
    """Wait until a child has a file of *folder* open, or has ended."""
    opened = Path(f"/proc/{child}/fd")
    while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        with suppress(OSError):  # one may be closed while we look
            if any(str(one.readlink()).startswith(f"{folder}/") for one in opened.iterdir()):
                return


if __name__ == "__main__":
    main()
