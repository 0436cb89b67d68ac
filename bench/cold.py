"""Cold: a fresh process of each, from start to exit, that writes one report.

The original pays for `import tensorflow`, as every program that calls it does.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from compare import VARIANT, compared
from inputs import HERE, PRINTED
from queries import COLD, COLD_REGEXES, flags
from rows import ANOTHER, Row, take_turns
from worker import timed

# Writes the entry before the command ends; otherwise a process of its own does so afterwards.
_AT_ONCE = "import os; del os.fork; from tfprof.__main__ import main; main()"

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inputs import Inputs
    from plan import Often, Plan
    from queries import Case
    from worker import Measure


def cold(inputs: Inputs, plan: Plan) -> Iterator[Row]:
    """Each view, without regexes and with them, and scope view from a text graph."""
    for view in COLD.views:
        yield _report(inputs, f"cold {view}", COLD, view, plan.of("cold", view))
    for view in COLD_REGEXES.views:
        often = plan.of("slow", view)
        yield _report(inputs, f"cold {view}, regexes", COLD_REGEXES, view, often)
    yield _report(inputs, "cold scope, text graph", COLD, "scope", plan.of("slow"), graph=PRINTED)
    for view in COLD.views:
        yield _again(inputs, view, plan.of("cold", view))


def _again(inputs: Inputs, view: str, often: Often) -> Row:
    """A report of files that were asked for the same before: the cache has them."""
    outs = inputs.outs(f"again {view}")
    with tempfile.TemporaryDirectory(dir=inputs.answers) as folder:
        files, place = inputs.files(), Path(folder)
        ours = _our_command(files, COLD, view, outs[0])
        depth = {"max_depth": int(COLD.asked["max_depth"]) - 1}  # type: ignore[arg-type]
        other = _our_command(files, COLD._replace(options={**COLD.options, **depth}), view, outs[0])
        asked = _our_command(files, COLD, view, outs[0].with_suffix(VARIANT))
        for command, cache in ((ours, "same"), (other, "other")):
            (place / cache).mkdir(mode=0o700)  # of small files, nothing is kept
            answering = [sys.executable, "-c", _AT_ONCE, *command[3:]]
            timed(answering, TFPROF_CACHE=str(place / cache))

        def another_question() -> Measure:
            """The command, where only another one was asked before; it adds to the cache."""
            shutil.rmtree(place / "turn", ignore_errors=True)
            shutil.copytree(place / "other", place / "turn")
            return timed(asked, TFPROF_CACHE=str(place / "turn"))

        same = partial(timed, ours, TFPROF_CACHE=str(place / "same"))
        original = _their_command(files, COLD, view, outs[1])
        turns = take_turns(same, partial(timed, original), often, another_question)
    verdict = compared(*outs, view, often)
    return Row("cold", f"again {view}", inputs.size, turns, verdict, variant=ANOTHER)


def _report(  # noqa: PLR0913 - a command has this many sides
    inputs: Inputs, name: str, case: Case, view: str, often: Often, *, graph: str = "graph.pb"
) -> Row:
    outs = inputs.outs(name)
    files = inputs.files(graph)
    ours = _our_command(files, case, view, outs[0])
    original = _their_command(files, case, view, outs[1])
    numpy = None
    if case is COLD and graph == "graph.pb":
        without = _our_command(files, case, view, outs[0].with_suffix(VARIANT))
        numpy = partial(timed, without, TFPROF_CORE="numpy")
    turns = take_turns(partial(timed, ours), partial(timed, original), often, numpy)
    return Row("cold", name, inputs.size, turns, compared(*outs, view, often))


def _our_command(files: dict[str, object], case: Case, view: str, out: Path) -> list[str]:
    runs = files["run_metas"]
    assert isinstance(runs, list)
    options = {
        "graph_path": str(files["graph"]),
        "run_meta_path": ",".join(runs),
        "op_log_path": str(files["op_log"]),
        "era": "original",
        **case.asked,
        "output": f"file:outfile={out}",
    }
    return [sys.executable, "-m", "tfprof", view, *flags(options)]


def _their_command(files: dict[str, object], case: Case, view: str, out: Path) -> list[str]:
    asked = {"view": view, "options": case.asked, "output": f"file:outfile={out}"}
    request = json.dumps({"files": files, "asked": asked})
    return [sys.executable, str(HERE / "original_worker.py"), "cold", request]
