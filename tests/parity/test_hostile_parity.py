"""Odd inputs that the original survives: both print the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ours
from case import VIEWS, Case
from hostile_names import NAMES
from hostile_parts import (
    CPU,
    GRAPH,
    INT64_MAX,
    INT64_MIN,
    LOG,
    RUN,
    device,
    entry,
    frame,
    memory,
    node,
    output,
    run,
    shape_attribute,
    stat,
    text,
)

if TYPE_CHECKING:
    from oracle import Oracle

SELECT = {
    "select": ["params", "float_ops", "micros", "bytes", "peak_bytes", "output_bytes", "occurrence"]
}
# The original stores names as text, so what is none it refuses; what it dies of is in test_parity.
LEFT_OUT = ("invalid UTF-8", "a lone surrogate", "the root", "below the root", "NUL")
INPUTS = (b"^w", b"w:99999999999", b":", b"^", b"", b"^^w", b"w:", b"w:x", b":0", b"o", b"w:0:1")
OVERFLOWING = run(
    device(
        CPU,
        stat(b"w", 5, 5, *(memory(b"cpu", *(INT64_MAX,) * 4),) * 3),
        stat(b"x", 5, 5, output(0, INT64_MAX, -1), output(1, INT64_MAX, -1)),
    )
)
ODD: dict[str, Case] = {
    **{
        f"names: {name}": Case(
            "scope",
            node(b"w", b"VariableV2", shape_attribute(3)) + node(odd, odd, inputs=(odd, b"w")),
            entry(b"w", frame(1, 2, 1), types=(odd,)) + entry(odd, float_ops=7) + text(1, b"m.py"),
            ((0, run(device(CPU, stat(odd, 5, 6), stat(b"w", 7, 8)))),),
        )
        for name, odd in NAMES.items()
        if name not in LEFT_OUT
    },
    "inputs": Case("graph", GRAPH + node(b"o", b"AddN", inputs=INPUTS), LOG, ((0, RUN),)),
    "a name twice": Case("graph", GRAPH + node(b"w", b"Other", inputs=(b"x",)), LOG),
    "another graph's run": Case("scope", node(b"w"), LOG, ((0, RUN), (INT64_MAX, RUN))),
    "an overflow of dims": Case(
        "scope", node(b"v", b"V", shape_attribute(INT64_MAX, 3)) + node(b"u", b"V"), LOG
    ),
    "negative dims": Case("scope", node(b"v", b"V", shape_attribute(INT64_MIN, 3)), LOG),
    "negative times": Case(
        "scope", GRAPH, LOG, ((0, run(device(CPU, stat(b"w", -5, 3), stat(b"x", 5, -3)))),)
    ),
    "sums of times that overflow": Case(
        "scope", GRAPH, LOG, ((0, run(device(CPU, *(stat(b"w", 1, INT64_MAX),) * 3))),)
    ),
    "bytes that overflow": Case("op", GRAPH, LOG, ((0, OVERFLOWING),)),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", ODD)
def test_odd_inputs_are_answered_alike(oracle: Oracle, name: str, view: str) -> None:
    odd = ODD[name]
    case = Case(view, odd.graph, odd.op_log, odd.steps, {**SELECT})
    assert oracle.load(case.graph, case.op_log, case.steps).created
    assert ours.ask(case).report == oracle.ask(view, case.options).report
