"""Commands as tests run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof import cli

if TYPE_CHECKING:
    import pytest


class Command:
    """Runs the command and keeps what it wrote."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capfd = capfd
        self.out = self.err = ""

    def __call__(self, *words: str) -> int:
        code = cli.run(words)
        self.out, self.err = self._capfd.readouterr()
        return code
