"""Which functions a node calls, and which outputs the inputs in a function body refer to.

StatefulPartitionedCall   f                          runs the body once
While                     body, cond                 runs the body while the condition holds
If                        then_branch, else_branch   runs one of them
Case                      branches                   runs one of them
my_function               a node whose type is the name of a function calls that function

op_outputs.txt, compared with TensorFlow's op definitions by tests, has one line per operation type
with several outputs. Other types have one output or one list of outputs.

    TopKV2 values indices          in a body `top:indices:0` is output number 1
    SparseSplit *output_indices …  a list, whose length depends on the node
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.model import BRANCH, CALLED, LOOP_BODY, LOOP_CONDITION
from tfprof.wire.decode import BYTES, scan

if TYPE_CHECKING:
    from collections.abc import Mapping

# By operation type: the attributes that name functions, the kind of each body and its scope.
_LOOP: Final = ((b"body", LOOP_BODY, b"/body/"), (b"cond", LOOP_CONDITION, b"/cond/"))
_CHOICE: Final = ((b"then_branch", BRANCH, b"/then/"), (b"else_branch", BRANCH, b"/else/"))
_CASES: Final = ((b"branches", BRANCH, b"/branch"),)
_CALL: Final = ((b"f", CALLED, b"/"),)
CALLERS: Final[Mapping[bytes, tuple[tuple[bytes, int, bytes], ...]]] = {
    b"PartitionedCall": _CALL, b"StatefulPartitionedCall": _CALL, b"RemoteCall": _CALL,
    b"BatchFunction": _CALL, b"XlaLaunch": ((b"function", CALLED, b"/"),),
    b"While": _LOOP, b"StatelessWhile": _LOOP, b"If": _CHOICE, b"StatelessIf": _CHOICE,
    b"Case": _CASES, b"StatelessCase": _CASES,
}  # fmt: skip
_FUNC, _LIST, _LIST_FUNC = 10, 1, 9
# The number of an output after a list of unknown length; no output has it.
UNKNOWN_OUTPUT: Final = 10**9
_STAR: Final = b"*"


class Call(NamedTuple):
    """A function that a node calls."""

    function: int
    kind: int
    scope: bytes  # between the name of the node and the names of the body


def calls_of(
    op: Strings, attributes: tuple[I64, Strings], function: Mapping[bytes, int]
) -> dict[int, tuple[Call, ...]]:
    """The calls of each row that has any; *attributes* are (row, map entry), by row."""
    kind, first = op.intern()
    types = op.take(first).tolist()
    calling = np.array([name in CALLERS or name in function for name in types], np.bool_)[kind]
    owner, entry = attributes
    named = _named_functions(owner[calling[owner]], entry.take(calling[owner]))
    calls = {
        row: _calls(types[int(kind[row])], named.get(row, {}), function)
        for row in np.flatnonzero(calling).tolist()
    }
    return {row: of_row for row, of_row in calls.items() if of_row}


def _calls(
    op: bytes, named: Mapping[bytes, list[bytes]], function: Mapping[bytes, int]
) -> tuple[Call, ...]:
    """The calls of a node; none if the library lacks one of its functions."""
    if op in function:
        return (Call(function[op], CALLED, b"/"),)
    calls = []
    for key, kind, scope in CALLERS[op]:
        for index, name in enumerate(named.get(key, [])):
            if name not in function:
                return ()
            numbered = b"%s%d/" % (scope, index) if key == b"branches" else scope
            calls.append(Call(function[name], kind, numbered))
    return tuple(calls)


def _named_functions(owner: I64, entry: Strings) -> dict[int, dict[bytes, list[bytes]]]:
    buffer, count = entry.blob, len(entry)
    part = scan(buffer, entry.start, entry.start + entry.length, {1: BYTES, 2: BYTES})
    key = Strings(buffer, *part[1].last_slice(count)).tolist()
    start, length = part[2].last_slice(count)
    held = scan(buffer, start, start + length, {_FUNC: BYTES, _LIST: BYTES})
    inside = scan(buffer, held[_LIST].start, held[_LIST].end, {_LIST_FUNC: BYTES})[_LIST_FUNC]
    by_owner: dict[int, dict[bytes, list[bytes]]] = {}
    for rows, functions in (
        (held[_FUNC].message, held[_FUNC]),
        (held[_LIST].message[inside.message], inside),
    ):
        name = scan(buffer, functions.start, functions.end, {1: BYTES})[1]
        names = Strings(buffer, *name.last_slice(rows.size)).tolist()
        for row, text in zip(rows.tolist(), names, strict=True):
            by_owner.setdefault(int(owner[row]), {}).setdefault(key[row], []).append(text)
    return by_owner


@cache
def op_outputs() -> dict[bytes, list[bytes]]:
    """The output names of each operation type that has several; a list begins with a star."""
    rows = Path(__file__).with_name("op_outputs.txt").read_bytes().splitlines()
    return {op: names for op, *names in map(bytes.split, rows)}


def flat_number(names: list[bytes] | None, output: bytes, index: int) -> int:
    """The number, among all outputs of a node, of item *index* of the *output* with this name."""
    if not names:
        return index
    for number, name in enumerate(names):
        if name.removeprefix(_STAR) == output:
            return number + index
        if name.startswith(_STAR):
            break
    return UNKNOWN_OUTPUT
