"""Call stacks as CodeDef messages, which op logs and saved profiles hold.

CodeDef ─ 1 frame*   2 line, 5 line of the function, 6 file, 7 function, 8 source: numbers of texts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.wire.encode import field, numbers, within

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Strings


def code_defs(  # noqa: PLR0913 - one per column
    start: I64, *, line: I64, function_line: I64, file: I64, function: I64, source: I64
) -> Strings:
    """One message per stack; the frames of stack s are those from start[s] to start[s + 1]."""
    frame = numbers({2: line, 5: function_line, 6: file, 7: function, 8: source})
    count = start.size - 1
    owner = np.repeat(np.arange(count), np.diff(start))
    return within(owner, count, *field(1, *frame))
