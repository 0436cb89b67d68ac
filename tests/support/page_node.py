"""The page's modules under Node: one process that answers many questions, a line each."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import paths
import tfprof
from child import JsonChild
from tools.node import node

PAGE_FOLDER: Final = Path(tfprof.__file__).parent / "page"
_SCRIPT: Final = paths.TESTS / "javascript" / "twin.js"


class RefusalError(Exception):
    """What the page rejects, in its own sentence."""


class Twin(JsonChild):
    """A process of Node that runs tests/javascript/twin.js."""

    def __call__(self, does: str, **given: object) -> Any:
        """What the script does with *given*."""
        answer = self.ask({"does": does, **given})
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


def twin() -> Twin:
    """A process that ends with the block."""
    return Twin([node(), _SCRIPT])
