"""Page files taken apart: policy, style, script, and the data with its meta data."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from html import unescape
from html.parser import HTMLParser
from typing import Any


class PageFile(HTMLParser):
    """The elements of a page that matter, read by Python's parser of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.open = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        self.open = attributes.get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        del tag
        self.open = ""

    def handle_data(self, data: str) -> None:
        self.texts[self.open] = self.texts.get(self.open, "") + data

    @property
    def policy(self) -> str:
        (policy,) = (
            str(attributes["content"])
            for tag, attributes in self.elements
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        )
        return unescape(policy)

    @property
    def data(self) -> bytes:
        return b64decode(self.texts["profile"], validate=True)

    @property
    def plain(self) -> str:
        """All of the data, unpacked."""
        return gzip.decompress(self.data).decode("utf-8", "replace")

    @property
    def meta(self) -> dict[str, Any]:
        return meta_of(self.data)


def meta_of(data: bytes) -> dict[str, Any]:
    """The meta data in the data of a page."""
    plain = gzip.decompress(data)
    end = 4 + int.from_bytes(plain[:4], "little")
    meta: dict[str, Any] = json.loads(plain[4:end])["meta"]
    return meta
