"""An op log in columns as an OpLogProto, and call stacks as CodeDefs.

OpLogProto ─┬─ 1 entry*   1 name, 2 float_ops, 3 types*, 4 code_def ─► 1 frame*
            │   frame     2 line, 5 line of the function, 6 file, 7 function, 8 source
            └─ 2 text*    1 number, 2 text
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.wire.encode import entries, field, joined, numbers, taken, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, Strings
    from tfprof.read.columns import OpLogColumns

# Entries written at a time, to bound the copies of stacks that many entries share.
_CHUNK = 1 << 13
_FRAME = (2, 5, 6, 7, 8)  # line, line of the function, file, function, source


def op_log(log: OpLogColumns) -> Iterator[bytes]:
    """The message in pieces, its entries in their order."""
    frames = log.frame_line, log.frame_function_line, log.frame_file, log.frame_function
    stacks = code_defs(log.stack_start, *frames, log.frame_source)
    for first in range(0, len(log.name), _CHUNK):
        last = min(first + _CHUNK, len(log.name))
        yield _entries(log, stacks, first, last)
    yield joined(*entries(2, log.string_id, log.string))


def _entries(log: OpLogColumns, stacks: Strings, first: int, last: int) -> bytes:
    here, count = slice(first, last), last - first
    low, high = np.searchsorted(log.type_entry, [first, last])
    types = field(3, log.type.take(slice(low, high)))
    traced = np.flatnonzero(log.stack[here] >= 0)
    code = field(4, taken(stacks, log.stack[here][traced]))
    entry = (
        *field(1, log.name.take(here), empty=False),
        *numbers({2: log.float_ops[here]}),
        within(log.type_entry[low:high] - first, count, *types),
        within(traced, count, *code),
    )
    return joined(*field(1, *entry))


def code_defs(start: I64, *columns: I64) -> Strings:
    """One CodeDef per stack, whose frames begin at *start*; the *columns* are those of _FRAME."""
    count = start.size - 1
    owner = np.repeat(np.arange(count), np.diff(start))
    return within(owner, count, *field(1, *numbers(dict(zip(_FRAME, columns, strict=True)))))
