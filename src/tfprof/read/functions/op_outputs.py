"""The outputs of operations that have several, by name, in the table beside this file.

    TopKV2 values indices          in a body `top:indices:0` is the output number 1
    SparseSplit *output_indices …  a list, whose length only the node tells

An operation that is not in the table has one output, or one list of them: its numbers are plain.
A row is a name and the names of its outputs; tests compare them with TensorFlow's own.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

# A number that no output has: what an earlier list shifts by an unknown length.
UNKNOWN_OUTPUT: Final = 10**9
_LIST: Final = b"*"


@cache
def op_outputs() -> dict[bytes, list[bytes]]:
    """The names of the outputs of each operation that has several; a list begins with a star."""
    rows = Path(__file__).with_name("op_outputs.txt").read_bytes().splitlines()
    return {op: names for op, *names in map(bytes.split, rows)}


def flat_number(names: list[bytes] | None, output: bytes, index: int) -> int:
    """The number that item *index* of a named output has among all outputs of its node."""
    if not names:
        return index
    for place, name in enumerate(names):
        if name.removeprefix(_LIST) == output:
            return place + index
        if name.startswith(_LIST):
            break
    return UNKNOWN_OUTPUT
