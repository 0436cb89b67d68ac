"""Reads a GraphDef in wire format into columns.

GraphDef ─┬─ node*       NodeDefs, see nodes
          └─ library     the bodies of functions, expanded wherever a node calls them
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read.nodes import node_columns
from tfprof.wire.decode import BYTES, Field, scan, whole

if TYPE_CHECKING:
    from tfprof.columns.strings import U8
    from tfprof.read.columns import GraphColumns


def columns(buffer: U8, *, functions: bool = True) -> GraphColumns:
    """The nodes of a GraphDef and of the functions they call; raises WireError or InputError.

    Without *functions* as the original reads it: the library is ignored.
    """
    nodes, libraries = parts(buffer)
    # Most graphs have an empty library.
    if not functions or not libraries.value.any():
        return node_columns(buffer, nodes)
    from tfprof.read.functions import expanded, library  # noqa: PLC0415 - as above

    return expanded(library(buffer, nodes, libraries))


def parts(buffer: U8) -> tuple[Field, Field]:
    """(the NodeDefs, the function libraries) of a GraphDef."""
    part = scan(buffer, *whole(buffer), {1: BYTES, 2: BYTES})
    return part[1], part[2]
