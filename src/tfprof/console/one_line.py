"""Names that hold a line end, on one line: on a terminal, one name must not look like two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import replace

if TYPE_CHECKING:
    from tfprof.query.counted import Answer


def names_on_one_line(answer: Answer) -> Answer:
    r"""*answer* with \n for the line ends in names, before the text is laid out."""
    drawing = answer.drawing
    label = drawing.label
    if not bool((label.blob == ord("\n")).any()):
        return answer
    names = [name.replace(b"\n", b"\\n") for name in label]
    changed = replace(drawing, label=Strings.of(names))
    return replace(answer, counted=replace(answer.counted, drawing=changed))
