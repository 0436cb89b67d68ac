"""Pages name files that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = (*ROOT.glob("*.md"), *ROOT.glob("*/*.md"))
# A page names files from the top, or from a folder whose files it is about.
FOLDERS: Final = ("", "src/tfprof", "tests", "bench", "fuzz", "src/tfprof/*", "src/tfprof/*/*")
NAMED: Final = re.compile(r"`([\w/]+\.(?:py|md|json|proto))`")
# Files of users, of TensorFlow, and placeholders.
NOT_OURS: Final = {"tests/NAME_worker.py", "params.json", "timeline.json", "table.md"}


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
        for target in re.findall(r"\]\(([\w./-]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert not broken, broken
