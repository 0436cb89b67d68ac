"""Why a graph node counts what it counts.

explain_nodes   all of it, one Explanation per node
find_nodes      the nodes that regexes or a layer name
tensors         the shapes of inputs and outputs, where each is from, and the variables
run_reasons     how often a node runs, and why
"""

from __future__ import annotations

from tfprof.explain.explain_nodes import Explained, Explanation, explain_nodes
from tfprof.explain.find_nodes import find_nodes

__all__ = ["Explained", "Explanation", "explain_nodes", "find_nodes"]
