"""What a model is made of and what it costs, layer by layer, told from its graph alone.

assembled      all of it: rows, total, sentences
living         which nodes are the model: what its outputs need
scopes         the name scopes they stand in, with calls of functions folded
layers         the rows: layers and blocks, down to a depth
parameters     what is trained or loaded, and who reads it
costs          float operations, multiply-adds and activation bytes of each row
formula        these numbers where a dimension is open
sentences      what is guessed, left out or not known
"""

from __future__ import annotations

from tfprof.summary.build_summary import DEPTH, Numbers, Row, Summary, summary
from tfprof.summary.formula import Formula

__all__ = ["DEPTH", "Formula", "Numbers", "Row", "Summary", "summary"]
