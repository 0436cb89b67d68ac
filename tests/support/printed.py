"""What the command prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof import cli

if TYPE_CHECKING:
    import pytest


def printed(capture: pytest.CaptureFixture[str], *words: object) -> str:
    """What the command with these words writes to standard output; it must succeed."""
    capture.readouterr()
    code = cli.run([*map(str, words)])
    out, err = capture.readouterr()
    assert code == 0, err
    return out
