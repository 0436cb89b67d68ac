"""Commands asked with a cache: what they print, and whether they read their files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import tfprof.api
from tfprof import cli
from tfprof.cache import delivered, key
from tfprof.foundation import after_answer

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


class Said(NamedTuple):
    """What a command printed, and how it ended."""

    code: int
    out: bytes
    err: bytes


class Asking:
    """Runs commands in this process, and writes entries as soon as they have answered."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[bytes]
    ) -> None:
        self.folder, self.reads = folder, 0
        self._capture, self._monkeypatch = capture, monkeypatch
        self.use(folder)
        monkeypatch.setattr(key, "SMALLEST", 0)
        monkeypatch.setattr(key, "_TICK_NS", 0)
        monkeypatch.setattr(key, "_WHOLE_SECONDS_NS", 0)
        # Whoever changes a source file while tests run does not change their entries.
        monkeypatch.setattr(key, "_code", lambda: (0, 0))
        # An answer that is kept would not need the rest of the entry.
        self.keep_answers(-1)
        monkeypatch.setattr(after_answer, "_collects", True)
        monkeypatch.setattr(after_answer, "_work", [])
        read = tfprof.api._read_files

        def counted(*arguments: object) -> object:
            self.reads += 1
            return read(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(tfprof.api, "_read_files", counted)

    def use(self, folder: Path | str) -> None:
        """From now on, this is the cache; "off": there is none."""
        self._monkeypatch.setenv("TFPROF_CACHE", str(folder))

    def keep_answers(self, most: int = 1 << 20) -> None:
        """From now on, the cache keeps answers of at most this many bytes."""
        self._monkeypatch.setattr(delivered, "MOST_BYTES", most)

    def ask(self, *words: str) -> Said:
        """What a command says; `reads` counts how often files were read."""
        self._capture.readouterr()
        self.reads = 0
        code = cli.run(list(words))
        said = Said(code, *self._capture.readouterr())
        work = after_answer.take()
        for each in work:
            each()
        assert self._capture.readouterr() == (b"", b"")  # nobody hears of the cache
        return said

    def files(self) -> list[Path]:
        """The files of the cache."""
        return sorted(self.folder.iterdir()) if self.folder.exists() else []

    def entry(self) -> Path:
        """The profile of the only entry."""
        (path,) = [file for file in self.files() if file.suffix == ".profile"]
        return path


def rewritten(path: Path, data: bytes) -> None:
    """Other content in the same file, of the same size and with the same time."""
    before = path.stat()
    with path.open("r+b") as file:
        file.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert after.st_mtime_ns == before.st_mtime_ns
