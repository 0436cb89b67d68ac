"""What a model is made of and what it costs, layer by layer, from its graph alone.

build_summary  all of it: rows, total, caveats
model_nodes    which nodes are the model: what its outputs need
scopes         the name scopes of these nodes, with calls of functions folded
keras_names    the same with one scope per layer of Keras, by its own name
layers         the rows: layers and blocks, down to a depth
parameters     what is trained or loaded, and which nodes read it
costs          float operations, multiply-adds and activation bytes of each row
training       the same of a training step: forward, backward, optimizer
output_shapes  what each row returns
formula        these numbers if a dimension is open
caveats        what is guessed, left out or unknown
overview       the totals of a model and its steps, and what costs most
cost_lists     its lists: layers, operation types, lines of code
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.summary.build_summary import DEPTH, Numbers, Row, Summary, summary
    from tfprof.summary.formula import Formula
    from tfprof.summary.overview import Overview, overview
    from tfprof.summary.training import training_summary

_HOME = {
    **dict.fromkeys(("DEPTH", "Numbers", "Row", "Summary", "summary"), "build_summary"),
    "Formula": "formula",
    **dict.fromkeys(("Overview", "overview"), "overview"),
    "training_summary": "training",
}

__all__ = [
    "DEPTH", "Formula", "Numbers", "Overview", "Row", "Summary", "overview", "summary",
    "training_summary",
]  # fmt: skip


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    # An overview needs few of these modules, and its start counts.
    if name in _HOME:
        return getattr(import_module(f"tfprof.summary.{_HOME[name]}"), name)
    raise AttributeError(f"module 'tfprof.summary' has no attribute {name!r}")
