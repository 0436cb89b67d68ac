"""What the page's JavaScript says of a profile under Node, and what Python says of it."""

from __future__ import annotations

import json
import subprocess
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import paths
from tfprof.console.escape import visible_text
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.stack_files import library_of
from tfprof.ops.counting import lower_bound_nodes
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.symbols import with_recorded_shapes
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.results.loaded import Loaded
from tfprof.results.page_report import PageReport
from tfprof.tables.fields import METRICS
from tfprof.views import VIEWS
from tfprof.writers.page_data import page_data
from tools.node import node

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tfprof.columns.strings import Bool, Strings
    from tfprof.model import Outputs, Profile, Step

_SCRIPT: Final = paths.TESTS / "javascript" / "dump_profile.js"
FEW: Final = 300  # nodes of which everything is asked; as in the script
_STEP: Final = (
    "node", "device", "start_us", "us", "counts_as", "memory_node", "memory_us", "requested",
    "peak", "residual", "output", "in_use", "allocation_node", "allocation_us", "allocation_bytes",
)  # fmt: skip


def dumps(reports: Iterable[PageReport], folder: Path) -> list[Any]:
    """What JavaScript decodes from the data of each report's page."""
    paths = []
    for number, report in enumerate(reports):
        paths.append(folder / f"{number}.page")
        paths[-1].write_bytes(page_data(report))
    command = [node(), str(_SCRIPT), json.dumps(METRICS), *map(str, paths)]
    ran = subprocess.run(command, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    return [json.loads(line) for line in ran.stdout.splitlines()]


def expected(profile: Profile) -> dict[str, Any]:
    """The same by Python's own columns, but for the meta data and the formulas."""
    names = _texts(profile.nodes.name)
    edges = profile.edges
    nodes = range(len(profile))
    inputs = [slice(*edges.start[at : at + 2].tolist()) for at in nodes]
    takers: list[list[int]] = [[] for _ in nodes]
    for taker, taken in enumerate(inputs):
        for source in dict.fromkeys(edges.source[taken].tolist()):
            if source >= 0:
                takers[source].append(taker)
    sizes = report_of(profile).sizes
    shaped = with_inferred_shapes(with_recorded_shapes(profile, sizes), sizes).outputs
    outputs = [_output_shapes(profile, shaped, at) for at in nodes]
    return {
        "nodes": {
            "name": names,
            **{name: getattr(profile.nodes, name).tolist() for name in ("op", "device", "stack")},
            "shown": list(map(visible_text, names)),
            "found": list(nodes[:FEW]),
            "sorted": profile.by_name.tolist(),
        },
        "types": _texts(profile.types),
        "pairs": [column.tolist() for column in profile.type_pairs],
        "edges": [column.tolist() for column in (edges.start, edges.source, edges.slot)],
        "unknown": _texts(edges.unknown),
        "consumers": takers,
        "views": {name: _drawn(profile, name) for name in VIEWS},
        "steps": list(map(_step, profile.steps)),
        "numbers": dict(_numbers(profile)),
        "defined": ["1"] * len(profile),
        "outputs": outputs,
        "inputs": [
            [
                outputs[source][slot] if source >= 0 and slot < len(outputs[source]) else None
                for source, slot in zip(edges.source[own], edges.slot[own], strict=True)
                if slot >= 0
            ]
            for own in inputs
        ],
        "frames": _frames(profile, profile.nodes.stack[:FEW].tolist()),
    }


def report_of(profile: Profile, **options: Any) -> PageReport:
    """The page of a profile that no file holds."""
    return PageReport(Loaded(profile), **options)


def _texts(strings: Strings) -> list[str]:
    return list(strings.texts())


def _drawn(profile: Profile, name: str) -> Any:
    lacks = {"code": not profile.has_traces, "graph": not profile.in_graph.any()}
    if not len(profile) or lacks.get(name):
        return None
    query = Query.of({"select": "params"}, name)
    drawing = answer(profile, name, query).drawing
    tree = drawing.tree
    end = tree.totals(np.ones(len(tree), np.int64)) + np.arange(len(tree))
    return {
        "end": end.tolist(),
        "owner": drawing.owner.tolist(),
        "label": _texts(drawing.label),
        "filler": drawing.filler.decode(),
        "inNameOrder": drawing.in_name_order,
    }


def _step(step: Step) -> dict[str, Any]:
    columns = {name: list(map(str, getattr(step, name).tolist())) for name in _STEP}
    return {"number": step.number, "devices": _texts(step.devices), **columns}


def _numbers(profile: Profile) -> Iterable[tuple[str, Any]]:
    steps = [None, *(step.number for step in profile.steps)]
    sizes = report_of(profile).sizes
    for step, metric in product(steps, METRICS):
        shown = "null" if step is None else step
        counted, counts = with_float_ops(profile, "all", sizes, step)
        average, _ = with_float_ops(profile, "all", sizes)
        for rules, of, all_steps in (("true", counted, average), ("false", profile, profile)):
            yield f"{metric} {shown} {rules}", list(map(str, of.values(metric, step).tolist()))
            sums = [all_steps.may_be_negative(metric, times) for times in (1, 2, 3)]
            yield f"{metric} may be negative {rules}", sums
        lower = None
        if metric == "float_ops":
            lower = lower_bound_nodes(counted, counts, counted.nodes.float_ops, step)
        elif metric == "params":
            lower = _lacks_shape(profile)
        yield f"{metric} {shown} lower", None if lower is None else lower.astype(int).tolist()


def _lacks_shape(profile: Profile) -> Bool:
    if not len(profile):
        return np.empty(0, np.bool_)
    drawn = answer(profile, "scope", Query.of({"select": "params"}, "scope"))
    every = replace(drawn, counted_row=np.arange(drawn.counted.row.size))
    own = every.lower_bounds("params")[0]
    assert own is not None
    return own[drawn.drawing.owner]


def _output_shapes(profile: Profile, outputs: Outputs, node: int) -> list[list[int | str] | None]:
    shapes = [outputs.shape[at] for at in range(*outputs.start[node : node + 2].tolist())]
    own = profile.nodes.shape[node]
    return [list(map(_plain, shape)) or None for shape in shapes or ([own] if own else [])]


def _plain(number: int) -> int | str:
    """As the script writes it: what JavaScript's numbers would round ends with n."""
    return f"{number}n" if abs(number) >= 2**53 else number


def _frames(profile: Profile, of_nodes: list[int]) -> list[list[dict[str, Any]]]:
    stacks = profile.stacks
    text = dict(zip(stacks.text_id.tolist(), _texts(stacks.text), strict=True))

    columns = (getattr(stacks, name).tolist() for name in ("file", "function", "source"))
    texts = [[text.get(number, "<unknown>") for number in column] for column in columns]
    rows = zip(texts[0], map(_plain, stacks.line.tolist()), *texts[1:], strict=True)
    names = ("file", "line", "function", "source")
    frames = [dict(zip(names, row, strict=True)) for row in rows]
    for frame in frames:
        frame["source"] = "" if frame["source"] == "none" else frame["source"]
        frame["library"] = bool(library_of(frame["file"]))
    start = stacks.start.tolist()
    return [frames[start[at] : start[at + 1]] if at >= 0 else [] for at in of_nodes]
