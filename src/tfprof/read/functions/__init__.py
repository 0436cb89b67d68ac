"""Functions are part of the graph: the body of each stands below every node that calls it.

    node  loss ◄ call(x)              loss ◄ call ◄ call/sum ◄ call/mul ◄ x
    def   f(a): sum(mul(a))     ──►                 what f returns    what a stands for

library      what the functions hold, as one pool of nodes
op_outputs   what `node:output:2` of a body means as a plain number
calls        which functions a node calls, and as what
instances    a body for each call, from the outside in
woven        all of them as one graph

What a body is called with is read directly, whichever functions it is handed through. What no
output of a body needs is left out, as it is when the function runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read.functions.call_instances import instances
from tfprof.read.functions.inlined import woven
from tfprof.read.functions.library import Pool, library, rooted

if TYPE_CHECKING:
    from tfprof.read.columns import GraphColumns

__all__ = ["Pool", "expanded", "library", "rooted"]


def expanded(pool: Pool) -> GraphColumns:
    """The graph of *pool* with all bodies in their places; raises InputError."""
    return woven(pool, instances(pool))
