"""A page of docs/: the commands in its blocks are run, and print what the page shows."""

from __future__ import annotations

import re
import shlex
from itertools import chain
from typing import TYPE_CHECKING, Final

import paths
from tfprof import cli

if TYPE_CHECKING:
    import pytest

DOCS: Final = paths.DOCS
BROKEN: Final = "exit code 1"  # what a comment behind a command says


class Document:
    """A page by its name; `pytest --update` rewrites the outputs it shows."""

    def __init__(self, name: str) -> None:
        self.path = DOCS / name
        self.text = self.path.read_text(encoding="utf-8")

    def blocks(self, language: str) -> list[str]:
        """The content of the blocks of a *language*."""
        return re.findall(rf"^```{language}\n(.*?)^```", self.text, re.DOTALL | re.MULTILINE)

    def commands(self) -> list[tuple[str, str]]:
        """The commands in the blocks, each with the output below it, if there is any."""
        split = re.compile(r"^\$ ", re.MULTILINE).split
        parts = chain.from_iterable(split(block)[1:] for block in self.blocks("console"))
        shown = (part.partition("\n") for part in parts)
        return [(command, output.strip("\n")) for command, _, output in shown]

    def run(
        self,
        command: str,
        output: str,
        capsys: pytest.CaptureFixture[str],
        request: pytest.FixtureRequest,
    ) -> None:
        """Fail unless *command* ends as the page says, and prints the *output*, if it has one."""
        program, *words = shlex.split(command, comments=True)
        assert program == "tfprof"
        assert cli.run(words) == (BROKEN in command), (command, capsys.readouterr().err)
        printed = capsys.readouterr().out.strip("\n")
        if output and request.config.option.update:
            text = self.path.read_text(encoding="utf-8")
            text = text.replace(f"{command}\n{output}\n", f"{command}\n{printed}\n")
            self.path.write_text(text, encoding="utf-8")
        elif output:
            assert printed == output, command
        else:
            assert printed or " -o " in command, command
