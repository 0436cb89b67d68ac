"""Warm: loads into fresh processes, then questions to the last pair of them.

All views are drawn first. Then ours is asked each question once before it is measured, as it keeps
what it drew and matched with the profile; where regexes are matched, the first time has its row.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from compare import VARIANT, compared
from inputs import HERE
from plan import Often
from queries import CHARTS, DRAW, FIRST, QUERIES
from rows import Row, take_turns
from worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from inputs import Inputs
    from plan import Plan
    from queries import Case
    from rows import Turns
    from worker import Measure

Pair = tuple[Worker, Worker, Worker]


@contextmanager
def workers() -> Iterator[Pair]:
    """Ours, the original, and ours with the NumPy core, not yet started; stopped in the end."""
    ours = HERE / "our_side.py"
    trio = Worker(ours), Worker(HERE / "original_worker.py"), Worker(ours, TFPROF_CORE="numpy")
    try:
        yield trio
    finally:
        for worker in trio:
            worker.stop()


def loaded(
    pair: Pair,
    files: Mapping[str, object],
    outs: tuple[Path, Path],
    often: Often,
    *,
    numpy: bool = True,
) -> Turns[tuple[Measure, Measure]]:
    """For each side: a load into a fresh process, and its first answer, for which it draws."""
    ours, original = (partial(_load, pair[side], files, outs[side]) for side in (0, 1))

    def without_core() -> tuple[Measure, Measure]:
        try:
            return _load(pair[2], files, outs[0].with_suffix(VARIANT))
        finally:
            pair[2].stop()  # nothing else is asked of it

    return take_turns(ours, original, often, without_core if numpy else None)


def _load(worker: Worker, files: Mapping[str, object], out: Path) -> tuple[Measure, Measure]:
    loaded = worker.fresh().ask("load", **files)
    return loaded, _ask(worker, FIRST, "scope", out)


def _ask(worker: Worker, case: Case, view: str, out: Path) -> Measure:
    output = f"{case.output}:outfile={out}"
    return worker.ask("query", view=view, options=case.asked, output=output)


def loads_and_questions(inputs: Inputs, plan: Plan, only: set[str]) -> Iterator[Row]:
    """The rows of loading, of reports and of charts, as far as they are wanted."""
    with workers() as pair:
        outs, often = inputs.outs("load"), plan.of("load")
        turns = loaded(pair, inputs.files(), outs, often)
        answer = compared(*outs, "scope", often)
        if "load" in only:
            loads = turns.each(lambda turn: turn[0])
            yield Row("load", "load", inputs.size, loads, answer)
            first = turns.each(lambda turn: turn[1])
            yield Row("load", "scope: first answer", inputs.size, first, answer, memory=False)
            yield _converted(inputs, plan, pair, loads)
        if only & {"query", "chart"}:
            _draw(inputs, plan, pair)
        if "query" in only:
            yield from _reports(inputs, plan, pair)
        if "chart" in only:
            yield from _charts(inputs, plan, pair)


def _converted(inputs: Inputs, plan: Plan, pair: Pair, loads: Turns[Measure]) -> Row:
    """Our load from one converted file, beside the original's from all files."""
    outs, often = inputs.outs("load, converted"), plan.of("load")
    path = str(inputs.answers / "converted.tfprof")
    pair[0].ask("convert", out=path)

    def load() -> Measure:
        return pair[0].fresh().ask("load_converted", path=path)

    turns = replace(take_turns(load, load, Often(often.ours, 0)), original=loads.original)
    _ask(pair[0], FIRST, "scope", outs[0])
    if often.original:
        _ask(pair[1], FIRST, "scope", outs[1])
    return Row("load", "load, converted", inputs.size, turns, compared(*outs, "scope", often))


def _draw(inputs: Inputs, plan: Plan, pair: Pair) -> None:
    for view in DRAW.views:
        _question(inputs, pair, DRAW, view, Often(1, min(1, plan.of("warm", view).original)))


def _reports(inputs: Inputs, plan: Plan, pair: Pair) -> Iterator[Row]:
    for case in QUERIES:
        matched = case.name == "regexes"
        for view in case.views:
            # The original keeps a view and nothing else, so it need not be asked twice.
            once = Often(1, 1 if matched and not plan.huge else 0)
            first = _question(inputs, pair, case, view, once)
            if matched:
                yield replace(first, name=f"{first.name}, first asked")
            yield _question(inputs, pair, case, view, plan.of("warm", view))


def _charts(inputs: Inputs, plan: Plan, pair: Pair) -> Iterator[Row]:
    if plan.huge:
        pair[1].stop()  # nothing more is asked of it, and it holds gigabytes
    for case in CHARTS:
        for view in case.views:
            kind = "slow" if plan.huge or view == "graph" else "warm"
            if not plan.huge:
                _question(inputs, pair, case, view, Often(1, 0))
            yield _question(inputs, pair, case, view, plan.of(kind, view))


def _question(inputs: Inputs, pair: Pair, case: Case, view: str, often: Often) -> Row:
    """The row of one question to a view."""
    name = f"{view}: {case.name}"
    outs = inputs.outs(name)
    ours, original = (partial(_ask, pair[side], case, view, outs[side]) for side in (0, 1))
    turns = take_turns(ours, original, often)
    written = [Path(case.written(str(out), view)) for out in outs]
    answer = compared(written[0], written[1], view, often)
    phase = "query" if case.output == "file" else "chart"
    return Row(phase, name, inputs.size, turns, answer, memory=False)
