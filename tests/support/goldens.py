"""The goldens of data/cases: a profile, the words of a command, and what users see."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import paths
from profiles import PROFILES
from tfprof.cli.argv import read_words
from tfprof.tables.options import OPTIONS

if TYPE_CHECKING:
    from pathlib import Path


CASES = sorted((paths.DATA / "cases").glob("*.txt"))


class Golden:
    """A file of tests/data/cases."""

    def __init__(self, path: Path) -> None:
        profile, run, self.output = path.read_text(encoding="utf-8").split("\n", 2)
        self.path = path
        self.profile = PROFILES[profile.removeprefix("# profile: ")]
        self.words = shlex.split(run.removeprefix("# run: "))
        self.head = f"{profile}\n{run}\n"

    def query(self) -> tuple[str, dict[str, object]]:
        words = read_words(self.words, OPTIONS)
        return words.plain[0], {"era": "original", **words.options}
