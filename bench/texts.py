"""Text graphs: ours against protobuf's Python parser, and against the profiler's native one.

Both layouts hold the same graph: as protobuf prints it, and on one line. protobuf's parser answers
no question, so a row of it counts if the profiles that ours and the native parser make answer the
same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compare import compared
from inputs import ONE_LINE, PRINTED
from rows import Row, take_turns
from warm import loaded, workers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inputs import Inputs
    from plan import Plan

LAYOUTS = {"as printed": PRINTED, "one line": ONE_LINE}


def texts(inputs: Inputs, plan: Plan) -> Iterator[Row]:
    """For each layout: a graph alone, into a fresh process."""
    for layout, file in LAYOUTS.items():
        yield from _layout(inputs, plan, layout, file)


def _layout(inputs: Inputs, plan: Plan, layout: str, file: str) -> Iterator[Row]:
    often, outs = plan.of("slow"), inputs.outs(f"text {layout}")
    path = inputs.path(file)
    files: dict[str, object] = {"graph": path, "run_metas": [], "op_log": ""}
    with workers() as pair:
        ours, original, _ = pair
        loads = loaded(pair, files, outs, often, numpy=False).each(lambda turn: turn[0])
        answer = compared(*outs, "scope", often)
        yield Row("text", f"text {layout} / native parser", inputs.size, loads, answer)
        parsed = loads
        if often.original:
            parsed = take_turns(
                lambda: ours.fresh().ask("load", **files),
                lambda: original.fresh().ask("parse", graph=path),
                often,
            )
        yield Row("text", f"text {layout} / text_format", inputs.size, parsed, answer)
