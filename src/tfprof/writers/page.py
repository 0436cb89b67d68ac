"""The page as one HTML file: markup, style, script and the profile's data.

    page.html  ◄── {{policy}}   hashes of the style and the script below: nothing else runs
               ◄── {{title}}
               ◄── {{style}}    page.css
               ◄── {{data}}     the profile: gzip in base64; or, of a served page, where it is
               ◄── {{script}}   all modules (page_script.py)

The file loads nothing and sends nothing: its policy forbids both. The same profile always gives
the same bytes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tfprof.writers.page_data import page_data
from tfprof.writers.page_script import check_safe, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.results.page_report import PageReport

_FOLDER: Final = Path(__file__).parents[1] / "page"
_PLACE: Final = re.compile(r"\{\{(\w+)\}\}")
_PIECE: Final = 3 << 18  # a multiple of three bytes, so that pieces of base64 join


def page_file(report: PageReport) -> Iterator[bytes]:
    """The page with its data, in pieces."""
    before, after, _ = _page(report.title, "")
    yield before
    yield b'<script type="application/octet-stream" id="profile">'
    data = page_data(report)
    for start in range(0, len(data), _PIECE):
        yield b64encode(data[start : start + _PIECE])
    yield b"</script>"
    yield after


def served_page(report: PageReport) -> tuple[bytes, bytes, str]:
    """A page that fetches its data from the path `profile` beside it; the data; its policy."""
    before, after, policy = _page(report.title, "; connect-src 'self'")
    where = b'<script type="application/octet-stream" id="profile" data-source="profile"></script>'
    return before + where + after, page_data(report), policy


def _page(title: str, more_policy: str) -> tuple[bytes, bytes, str]:
    """The page before and behind its data, and its policy."""
    style, script = _style_and_script()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'{more_policy}"
    )
    texts = {"policy": policy, "title": escape(title), "style": style, "script": script}
    template = (_FOLDER / "page.html").read_text(encoding="utf-8")
    assert sorted(_PLACE.findall(template)) == sorted([*texts, "data"]), "each place is there once"
    before, after = (
        _PLACE.sub(lambda place: texts[place[1]], part).encode("utf-8", "replace")
        for part in template.split("{{data}}")
    )
    return before, after, policy


@cache
def _style_and_script() -> tuple[str, str]:
    style = check_safe("page.css", (_FOLDER / "page.css").read_text(encoding="utf-8"))
    sources = {path.stem: path.read_text(encoding="utf-8") for path in _FOLDER.glob("*.js")}
    return style, joined(sources, "app")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
