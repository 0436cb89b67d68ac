"""What a command delivered: asked again of the same files, it writes the same bytes at once.

tfprof scope graph.pb run_meta_0     answers; text and notes join the entry
tfprof scope graph.pb run_meta_0     reads them from there
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.results.result import File, Result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.model import Note
    from tfprof.tables.outputs import OutputKind

MOST_BYTES: Final = 1 << 26  # of a longer text, the cache keeps the profile alone


class Delivered(Result):
    """The bytes of an output and all notes that belong to it; empty until it was delivered."""

    def __init__(
        self,
        text: bytes | None = None,
        notes: tuple[Note, ...] | None = None,
        *,
        most: int = MOST_BYTES,
    ) -> None:
        self._pieces = None if text is None else [text]
        self._most = most
        self.notes = notes

    @property
    def is_complete(self) -> bool:
        """Whether it can be delivered again."""
        return self._pieces is not None and self.notes is not None

    @property
    def text_bytes(self) -> bytes:
        """All of its text."""
        return b"".join(self._pieces or ())

    @property
    def own_notes(self) -> tuple[Note, ...]:
        """Those of the result and of the profile, as they were printed."""
        return self.notes or ()

    def files(self, row: OutputKind, path: str, width: int | None = None) -> Iterable[File]:
        """The text, whichever output it is of."""
        del row, width
        return [File(path, self, self._pieces or ())]

    def noted(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """*pieces*, which it has once all of them were taken, if they are not too many."""
        kept: list[bytes] = []
        left = min(self._most, MOST_BYTES)
        for piece in pieces:
            yield piece
            left -= len(piece)
            if left < 0:
                kept.clear()
            else:
                kept.append(piece)
        if left >= 0:
            self._pieces = kept
