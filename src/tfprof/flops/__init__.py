"""Float operations counted from shapes: a rule an operation, and a word on what has none.

table            which formula counts which operation; *_rules hold the formulas
op               an operation as a formula sees it
signatures       operations that no formula can tell apart
counting         the count of every node, and what it does not cover
filled           a profile with these counts, where its op log gives none
"""

from __future__ import annotations

from tfprof.flops.counting import Counts, Uncounted, count
from tfprof.flops.filled import filled
from tfprof.flops.op import Op, UnknownShape, size
from tfprof.flops.table import flops_rule

__all__ = ["Counts", "Op", "Uncounted", "UnknownShape", "count", "filled", "flops_rule", "size"]
