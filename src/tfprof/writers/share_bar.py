"""A share as a small bar of text, 0.55 in eight cells is ████▍, and in percent."""

from __future__ import annotations

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_WHOLE = 8


def share_bar(share: float, cells: int) -> str:
    """A bar of at most *cells* characters; a share above zero always shows something."""
    parts = round(min(max(share, 0.0), 1.0) * cells * _WHOLE)
    parts = max(parts, 1) if share > 0 else 0
    full, rest = divmod(parts, _WHOLE)
    return _EIGHTHS[-1] * full + _EIGHTHS[rest].strip()


def percent(share: float | None) -> str:
    """A share as people read it; nothing where there is none."""
    if share is None:
        return ""
    return "<0.1%" if 0 < share < 0.0005 else f"{share:.1%}"  # noqa: PLR2004 - it would be 0.0%
