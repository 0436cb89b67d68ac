"""Shapes, small values and loop counts worked out from a graph, without running it.

symbols          names for the dimensions that the inputs leave open
inferred         a profile whose open shapes are filled in, given sizes for these
times            how often each node runs: loops by their trips, choices by one branch
engine           works out what is asked for; table and *_shapes, *_values hold the rules
"""

from __future__ import annotations

from tfprof.inference.inferred import inferred
from tfprof.inference.symbols import Symbol, symbols
from tfprof.inference.times import Times, may_end_sooner, times, trip_counts

__all__ = ["Symbol", "Times", "inferred", "may_end_sooner", "symbols", "times", "trip_counts"]
