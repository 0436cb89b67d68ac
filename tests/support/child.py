"""A child of this process that answers until it is closed.

JsonChild(command)    line by line in JSON, on its stdin and stdout
PipeChild(script)     Python objects over a pipe whose number is the script's only word
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from multiprocessing import Pipe
from typing import TYPE_CHECKING, Any, Final

import paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

QUIET_TENSORFLOW: Final = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # The same kernels on every processor: oneDNN's return other shapes of what is reserved.
    "TF_ENABLE_ONEDNN_OPTS": "0",
}


class JsonChild:
    """Answers each line with a line."""

    def __init__(self, command: Sequence[object], **variables: str) -> None:
        self._process = subprocess.Popen(
            [*map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **variables},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, question: Mapping[str, object]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class PipeChild:
    """A script of tests/support; *streams* are its stdout and stderr."""

    def __init__(self, script: str, variables: Mapping[str, str], **streams: Any) -> None:
        self.connection, theirs = Pipe()
        self.process = subprocess.Popen(
            [sys.executable, paths.SUPPORT / script, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            env={**os.environ, **variables},
            **streams,
        )
        theirs.close()

    def close(self, timeout: float | None = None) -> None:
        """Close the pipe and wait for the end; kill it after *timeout*."""
        self.connection.close()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
