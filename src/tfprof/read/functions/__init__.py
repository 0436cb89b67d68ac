"""Expands functions: the body of a function appears below every node that calls it.

    node  loss ◄ call(x)              loss ◄ call ◄ call/sum ◄ call/mul ◄ x
    def   f(a): sum(mul(a))     ──►                 f returns sum     a is x

library         the functions of a graph as one pool of nodes
op_outputs      the output number that `node:output:2` of a body refers to
calls           which functions a node calls, and how
call_instances  one body per call, from the outside in
inlined         all instances as one graph

Arguments are resolved through calls. Nodes that no output of a body needs are left out, as when
the function runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read.functions.call_instances import call_instances
from tfprof.read.functions.inlined import inlined
from tfprof.read.functions.library import Pool, library, rooted

if TYPE_CHECKING:
    from tfprof.read.columns import GraphColumns

__all__ = ["Pool", "expanded", "library", "rooted"]


def expanded(pool: Pool) -> GraphColumns:
    """The graph of *pool* with all functions expanded; raises InputError."""
    return inlined(pool, call_instances(pool))
