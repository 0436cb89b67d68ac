"""Pages name files and sections that exist, and the index names all pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES: Final = (*ROOT.glob("*.md"), *ROOT.glob("*/*.md"))
# A page names files from the top, or from a folder whose files it is about.
FOLDERS: Final = (
    *("", "src/tfprof", "src/tfprof/*", "src/tfprof/*/*"),
    *("tests/**", "bench", "fuzz"),
)
NAMED: Final = re.compile(r"`([\w/]+\.(?:py|md|json|proto))`")
LINKS: Final = re.compile(r"\]\(([\w./#-]+)\)")
# Files of users, of TensorFlow, and placeholders.
NOT_OURS: Final = {
    "tests/data/make/NAME_worker.py",
    "params.json",
    "timeline.json",
    "table.md",
    "manifest.json",
}


def test_pages_name_files_that_exist() -> None:
    missing = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        for name in NAMED.findall(page.read_text(encoding="utf-8"))
        if name not in NOT_OURS
        and not any(any(ROOT.glob(f"{f}/{name}".lstrip("/"))) for f in FOLDERS)
    ]
    assert not missing, missing


def test_links_lead_to_files() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in LINKS.findall(page.read_text(encoding="utf-8"))
        if not leads_somewhere(page, target)
    ]
    assert not broken, broken


def leads_somewhere(page: Path, target: str) -> bool:
    path, _, section = target.partition("#")
    file = (page.parent / path) if path else page
    return file.exists() and (not section or section in sections(file))


def sections(page: Path) -> set[str]:
    """The anchors of a page, made of its headings as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    targets = {one.partition("#")[0] for one in LINKS.findall(index.read_text(encoding="utf-8"))}
    pages = {one.name for one in index.parent.glob("*.md")} - {index.name}
    assert pages <= targets
