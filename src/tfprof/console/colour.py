"""Colour: in a report or table on a terminal, what explains the rows is dim and the root is bold.

    Doc: … Profile: …  node name | …      dim
    _TFProfRoot (--/24 params)            bold
      w (3x4, 12/24 params)               unchanged, and so is anything that is not a report

Each line ends its own style, so output that stops half-way leaves no dim terminal behind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfprof.views.drawing import ROOT_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_DIM, _BOLD, _PLAIN = b"\x1b[2m", b"\x1b[1m", b"\x1b[0m"
_DOC, _PROFILE, _LEGEND = b"\nDoc:\n", b"\nProfile:\n", b"node name |"
_LONGEST_DOC = 1 << 14
_RULE, _MOST_HEADINGS = "\n─".encode(), 6  # what ends the headings of a table


def wanted(environment: Mapping[str, str]) -> bool:
    """Whether a terminal with this *environment* gets colour."""
    return not environment.get("NO_COLOR") and environment.get("TERM", "dumb") != "dumb"


def coloured(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The text in *pieces* with escape codes around the explanations and the root."""
    flow = iter(pieces)
    head = b""
    for piece in flow:
        head += piece
        if _holds_root(head):
            break
    yield from _styled(head)
    yield from flow


def _holds_root(head: bytes) -> bool:
    """Whether *head* is enough to decide: it has the root, or is not a report."""
    if not head.startswith(_DOC[:1]):
        rule = head.find(_RULE)
        return head.count(b"\n", max(rule, 0)) >= (3 if rule >= 0 else _MOST_HEADINGS)
    profile = head.find(_PROFILE)
    if profile < 0:
        return len(head) > _LONGEST_DOC
    body = profile + len(_PROFILE)
    return head.find(b"\n", head.find(b"\n", body) + 1 or len(head)) >= 0


def rows_start(head: bytes) -> int:
    """Where the rows of a report begin, behind its explanations; 0 in any other text."""
    doc, profile = head.find(_DOC), head.find(_PROFILE)
    if not head.startswith(_DOC[:1]) or not 0 <= doc < profile:
        return 0
    body = profile + len(_PROFILE)
    return (head.find(b"\n", body) + 1 or len(head)) if head.startswith(_LEGEND, body) else body


def _styled(head: bytes) -> Iterator[bytes]:
    doc, body, rule = head.find(_DOC), rows_start(head), head.find(_RULE)
    if not body and 0 <= head.count(b"\n", 0, max(rule, 0)) <= _MOST_HEADINGS and rule >= 0:
        doc, body = -1, head.find(b"\n", rule + 1) + 1 or len(head)
    if not body:
        yield head
        return
    rows = body
    if head.startswith(ROOT_NAME + b" ", body):
        rows = head.find(b"\n", body) + 1 or len(head)
    yield head[: doc + 1]
    yield _each_line(_DIM, head[doc + 1 : body])
    yield _each_line(_BOLD, head[body:rows])
    yield head[rows:]


def _each_line(style: bytes, lines: bytes) -> bytes:
    return re.sub(rb".+", style + rb"\g<0>" + _PLAIN, lines)
