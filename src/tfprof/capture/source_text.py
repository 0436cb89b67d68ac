"""The text of a line of source code, for op logs and captures: the only place that reads it."""

from __future__ import annotations

import linecache


def source_line(file: str, line: int | None) -> str:
    """The text of a line without the blanks around it; empty where the file cannot be read."""
    return linecache.getline(file, line).strip() if line and line > 0 else ""
