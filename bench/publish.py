"""Publish: put a run's tables into docs/performance.md, between its two markers."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN = "<!-- measured: written by bench/run.py --publish -->\n"
END = "<!-- /measured -->\n"


def publish(report: str, page: Path = PAGE) -> None:
    """Replace what stands between the markers; the rest of the page is written by hand."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page} has lost its markers: {BEGIN.strip()} and {END.strip()}")
    page.write_text(f"{before}{BEGIN}\n{report}\n{END}{after}", encoding="utf-8")
