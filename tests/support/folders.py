"""What is in a folder: its files with their bytes."""

from __future__ import annotations

from pathlib import Path


def contents(folder: Path | str) -> dict[str, bytes]:
    """The bytes of each file below the folder, by its path from there, in order."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
