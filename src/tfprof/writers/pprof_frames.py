"""The stack frames that the rows of code view stand for, as functions and lines.

/home/me/model.py:12:build      function  (/home/me/model.py, build, its first line)
                                title     model:build
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tfprof.views.code_view import GRADIENT_MARK, UNKNOWN_TEXT
from tfprof.views.drawing import ROOT_NAME
from tfprof.writers.pprof_tables import UNSIGNED, Function

if TYPE_CHECKING:
    from tfprof.query.counted import Answer


class Frame(NamedTuple):
    """A line of a function."""

    function: Function
    title: bytes
    line: int  # from 0 to UNSIGNED, like the first line of the function


_ROOT = Frame(Function(b"", ROOT_NAME, 0), ROOT_NAME, 0)


def frames(answer: Answer) -> list[Frame]:
    """The frame of each row; equal frames are one object, and the root has no file.

    parity Q54: a row that frames of several files share stands for the first of them.
    """
    stacks, drawing = answer.profile.stacks, answer.drawing
    assert drawing.frame is not None
    assert drawing.gradient is not None
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))
    at = drawing.frame[answer.row[1:]]
    columns = (stacks.file, stacks.line, stacks.function, stacks.function_line)
    values = [column[at].tolist() for column in columns]
    known: dict[tuple[int, ...], Frame] = {}

    def frame(key: tuple[int, ...]) -> Frame:
        file_id, line, function_id, first_line, gradient = key
        file, name = text.get(file_id, UNKNOWN_TEXT), text.get(function_id, UNKNOWN_TEXT)
        name += GRADIENT_MARK if gradient else b""
        function = Function(file, name, first_line & UNSIGNED)
        return Frame(function, b"%b:%b" % (_stem(file), name), line & UNSIGNED)

    rows = [_ROOT]
    for key in zip(*values, drawing.gradient[answer.row[1:]].tolist(), strict=True):
        if key not in known:
            known[key] = frame(key)
        rows.append(known[key])
    return rows


def _stem(file: bytes) -> bytes:
    """The file's name without its folder and its ending."""
    base = file.rpartition(b"/")[2]
    return base.rpartition(b".")[0] if b"." in base else base
