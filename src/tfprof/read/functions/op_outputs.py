"""The names of outputs of operations that have several, from the table beside this file.

    TopKV2 values indices          in a body `top:indices:0` is output number 1
    SparseSplit *output_indices …  a list, whose length depends on the node

An operation that is not in the table has one output or one list of outputs, so its numbers need no
translation. Each line has an operation type and the names of its outputs; tests compare them with
TensorFlow's op definitions.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

# The number of an output after a list of unknown length; no output has it.
UNKNOWN_OUTPUT: Final = 10**9
_LIST: Final = b"*"


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
        if name.removeprefix(_LIST) == output:
            return number + index
        if name.startswith(_LIST):
            break
    return UNKNOWN_OUTPUT
