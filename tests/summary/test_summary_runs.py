"""Summaries of what runs say: how often loops turned and which branches were taken."""

from __future__ import annotations

import gzip
from typing import Any, Final

import numpy as np
import pytest

import paths
from tfprof.errors import InputError
from tfprof.model import Profile
from tfprof.read import Source, load
from tfprof.read.xplane import with_trace
from tfprof.results.loaded import Loaded
from tfprof.wire.schema import message
from xplane_traces import recorded

GRAPH: Final = paths.DATA / "xplane" / "loop" / "graph.pb.gz"
PRODUCT: Final = 32 * 64 * 64  # multiply-adds: 32 rows and a matrix of 64 by 64
_GraphDef: Final[Any] = message("tensorflow.GraphDef")


def without_bound() -> Profile:
    """The graph of a loop that turned five times, with no telling how often it would."""
    made = _GraphDef.FromString(gzip.decompress(GRAPH.read_bytes()))
    for function in made.library.function:
        for node in function.node_def:
            if node.name == "repeated/while/Less/y":
                del node.attr["value"]
    return load(Source("graph", np.frombuffer(made.SerializeToString(), np.uint8)))


def test_a_run_tells_how_often_a_loop_turns_and_which_branch_is_taken() -> None:
    static = Loaded(without_bound()).summary()
    assert static.total["multiply_adds"] == 4 * PRODUCT
    assert any("no constant bound, and is counted once" in one for one in static.sentences)
    assert any("2 conds count their larger branch" in one for one in static.sentences)
    run = Loaded(with_trace(without_bound(), recorded("loop"))).summary()
    assert run.total["multiply_adds"] == 8 * PRODUCT  # 5 of them in the loop
    assert not any("once" in one or "cond" in one for one in run.sentences)


def test_a_trace_alone_is_no_model() -> None:
    alone = Loaded(with_trace(Profile(), recorded("loop")))
    with pytest.raises(InputError, match="a run alone holds no model"):
        alone.summary()
