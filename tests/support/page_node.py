"""The page's modules under Node: one process that answers many questions, a line each."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import paths
import tfprof
from tools.node import node

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE_FOLDER: Final = Path(tfprof.__file__).parent / "page"
_SCRIPT: Final = paths.TESTS / "javascript" / "twin.js"


class RefusalError(Exception):
    """What the page rejects, in its own sentence."""


class Twin:
    """A process of Node that runs tests/javascript/twin.js."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, does: str, **given: object) -> Any:
        """What the script does with *given*."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"does": does, **given}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if "refusal" in answer:
            raise RefusalError(answer["refusal"])
        assert "error" not in answer, answer["error"]
        return answer["result"]


def run_script(script: str, value: object) -> Any:
    """What a module prints as JSON if it reads *value*; PAGE in it is the folder of the page."""
    ran = subprocess.run(
        [node(), "--input-type=module", "-e", script.replace("PAGE", PAGE_FOLDER.as_uri())],
        input=json.dumps(value), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not ran.returncode, ran.stderr
    return json.loads(ran.stdout)


@contextmanager
def twin() -> Iterator[Twin]:
    """A process that ends with the block."""
    process = subprocess.Popen(
        [node(), str(_SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield Twin(process)
        assert process.stdin is not None
        process.stdin.close()
