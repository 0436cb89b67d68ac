"""Differences of two profiles beside one load; loading both is part of the work.

    row                            ours                                         beside it
    diff: VIEW / one load          two profiles, and the text of what differs   one profile
    diff: renamed / one load       likewise in scope view, under other names    likewise
    diff: all renamed / one load   likewise

A pair is one graph with two steps, so every row with a time differs. All of them are compared, and
those down to depth 5 printed. In the renamed pair, one of
four towers has another name; in the last one, all scopes that hold more than a few nodes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare import compared
from inputs import HERE, inputs
from plan import Often
from queries import VIEWS
from rows import Row, Size, take_turns
from worker import Worker, WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inputs import Inputs
    from plan import Plan

_RENAMED = {
    "renamed": {b"tower_3": b"stage_3"},  # as long as before, so that lengths hold
    "all renamed": {b"tower_": b"stage_", b"expert_": b"branch_"},
}
_LIMITED = (*VIEWS, "renamed")
DIFFS = tuple(f"diff: {name} / one load" for name in _LIMITED)
"""The rows that have a target: matching everything anew may take longer."""


def diffs(out: Path, nodes: int, plan: Plan) -> Iterator[Row]:
    """A row per view, and two of other names."""
    given = inputs(out, Size(nodes), most_steps=2)
    base = given.files()
    new = {**base, "run_metas": [given.path("run_meta_1")]}
    for view in VIEWS:
        yield _row(given, plan, view, {"base": base, "new": new, "view": view})
    for name, scopes in _RENAMED.items():
        other = _renamed(given, new, scopes)
        yield _row(given, plan, name, {"base": base, "new": other, "view": "scope"})


def _renamed(given: Inputs, files: dict[str, Any], scopes: dict[bytes, bytes]) -> dict[str, Any]:
    """The same files with other names of *scopes*, written anew."""
    (run,) = files["run_metas"]
    paths = {}
    given.answers.mkdir(parents=True, exist_ok=True)
    for name, path in (("graph", files["graph"]), ("run", run), ("op_log", files["op_log"])):
        content = Path(path).read_bytes()
        for old, new in scopes.items():
            content = content.replace(old, new)
        paths[name] = given.answers / f"renamed_{name}"
        paths[name].write_bytes(content)
    graph, run, op_log = map(str, paths.values())
    return {"graph": graph, "run_metas": [run], "op_log": op_log}


def _row(given: Inputs, plan: Plan, name: str, pair: dict[str, Any]) -> Row:
    """Both in turns, each in a fresh process; the answers are what the totals differ by."""
    name = f"diff: {name} / one load"
    ours, original = given.outs(name)
    often = Often(plan.load.ours, plan.load.ours)
    worker, other = Worker(HERE / "our_side.py"), Worker(HERE / "our_side.py")
    try:
        turns = take_turns(
            lambda: worker.fresh().ask("diff", **pair, out=str(ours)),
            lambda: other.fresh().ask("load", **pair["base"]),
            often,
        )
        other.fresh().ask("totals", **pair, out=str(original))
    except WorkerError as error:
        return Row("diff", name, given.size, turns, f"MISMATCH: {error}")
    finally:
        worker.stop()
        other.stop()
    return Row("diff", name, given.size, turns, compared(ours, original, "", often))
