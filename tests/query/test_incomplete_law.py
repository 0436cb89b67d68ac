"""A number is marked if and only if something counted in it is a gap: random graphs, every format.

planted   operations without a rule, and operations of unknown shape, in random scopes
law       own: the row's own nodes; total: the nodes of its subtree, found by their names
"""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pytest

import sampling
from case import GraphDef, OpLogProto
from tfprof.read import Source, load
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CASES: Final = 120
ROOT: Final = "_TFProfRoot"
# (type, has a known shape, float operations are missing, multiply-adds are missing)
KINDS: Final = (
    ("Relu", True, False, False),
    ("Relu", False, True, False),
    ("MatMul", True, False, False),
    ("MatMul", False, True, True),
    ("SomebodysOwn", True, True, True),
    ("Identity", True, False, False),
    ("Identity", False, False, False),
)


class Planted(NamedTuple):
    loaded: Loaded
    twin: Loaded  # the same with one float operation in the op log for each gap, and no others
    op: dict[str, str]
    gaps: set[str]
    product_gaps: set[str]


def planted(seed: int) -> Planted:
    rng = Random(seed)  # noqa: S311 - cases, not secrets
    graph, log, twin_log = GraphDef(), OpLogProto(), OpLogProto()
    for name, known in (("known", True), ("open", False)):
        node = graph.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = 1
        _set_shape(node, known=known)
    op: dict[str, str] = {"known": "Placeholder", "open": "Placeholder"}
    gaps, product_gaps = set(), set()
    for each in (log, twin_log):
        each.id_to_string.update({1: "model.py", **{n: f"function_{n}" for n in range(2, 6)}})
    scopes = ["/".join(rng.choices("abc", k=rng.randrange(1, 4))) for _ in range(6)]
    for number in range(rng.randrange(3, 25)):
        kind, known, is_gap, is_product_gap = rng.choice(KINDS[: rng.choice((1, 3, 7, 7))])
        name = f"{rng.choice(scopes)}/n{number}"
        node = graph.node.add(name=name, op=kind)
        node.attr["T"].type = 1
        # An input of the same shape, behind the placeholder: types that keep it, and no others.
        same = [at for at, type_ in op.items() if type_ in ("Identity", "Placeholder")]
        fits = [at for at in same if _is_known(graph, at) == known]
        inputs = [rng.choice(fits)] * (2 if kind == "MatMul" else 1)
        node.input.extend(inputs)
        if known:
            _set_shape(node, known=True)
        op[name] = kind
        gaps |= {name} if is_gap else set()
        product_gaps |= {name} if is_product_gap else set()
        stack = [rng.randrange(2, 6) for _ in range(rng.randrange(1, 4))]
        for each, amount in ((log, 0), (twin_log, int(is_gap))):
            entry = each.log_entries.add(name=name, float_ops=amount)
            for place, function in enumerate(stack):
                entry.code_def.traces.add(
                    file_id=1, function_id=function, lineno=function + place, func_start_line=1
                )
    data = np.frombuffer(graph.SerializeToString(), np.uint8)

    def made(op_log: Any) -> Loaded:
        bytes_ = np.frombuffer(op_log.SerializeToString(), np.uint8)
        return Loaded(load(Source("graph", data), log=Source("log", bytes_)))

    return Planted(made(log), made(twin_log), op, gaps, product_gaps)


def cases() -> Iterator[Planted]:
    return map(planted, sampling.numbers(CASES, CASES // 24))


def _set_shape(node: Any, *, known: bool) -> None:
    for shape in (node.attr["shape"].shape, node.attr["_output_shapes"].list.shape.add()):
        shape.unknown_rank = not known
        if known:
            shape.dim.add(size=4)
            shape.dim.add(size=4)


def _is_known(graph: Any, name: str) -> bool:
    (node,) = (one for one in graph.node if one.name == name)
    return "_output_shapes" in node.attr and not any(
        shape.unknown_rank for shape in node.attr["_output_shapes"].list.shape
    )


OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "all": {},
    "some types": {"account_type_regexes": ["Relu", "SomebodysOwn"]},
    "from a scope": {"start_name_regexes": ["a.*"]},
    "without a type": {"hide_name_regexes": [".*n1.*", "Relu"]},
    "shallow": {"max_depth": 3},
    "displayed": {"account_displayed_op_only": True, "hide_name_regexes": [".*n2.*"]},
}
EVERYTHING: Final = {"select": ["float_ops"], "max_depth": 10_000, "order_by": "name"}


@pytest.mark.sampled
@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_views_are_marked_where_a_counted_node_is_a_gap(view: str) -> None:
    for case, options in product(cases(), OPTIONS.values()):
        report = getattr(case.loaded, view)(**{**EVERYTHING, **options})
        twin = getattr(case.twin, view)(**{**EVERYTHING, **options, "flops": "log"})
        assert [row.name for row in report] == [row.name for row in twin]
        for row, traced in zip(report, twin, strict=True):
            expected = [
                name for name in ("own_float_ops", "total_float_ops") if getattr(traced, name)
            ]
            assert row.incomplete == expected, (row, options)


def _check_names(case: Planted) -> None:
    """The same by names alone, where names say what a row holds."""
    for row in case.loaded.scope(**EVERYTHING).rows:
        below = case.gaps if row.name == ROOT else {n for n in case.gaps if _in(n, row.name)}
        assert ("own_float_ops" in row.incomplete) == (row.name in case.gaps)
        assert ("total_float_ops" in row.incomplete) == bool(below)
    rows = case.loaded.op(**EVERYTHING).rows
    own = [any(case.op[gap] == row.name for gap in case.gaps) for row in rows]
    for at, row in enumerate(rows):  # a chain: a total runs to the end
        assert ("own_float_ops" in row.incomplete) == own[at]
        assert ("total_float_ops" in row.incomplete) == any(own[at:])
    rows = case.loaded.graph(**EVERYTHING).rows
    for row in rows:
        inside = {row.row}
        for other in rows:  # a parent stands before its children
            inside |= {other.row} if other.parent in inside else set()
        names = {rows[at].name for at in inside}
        assert ("own_float_ops" in row.incomplete) == (row.name in case.gaps)
        assert ("total_float_ops" in row.incomplete) == bool(names & case.gaps)


def _in(name: str, scope: str) -> bool:
    return name == scope or name.startswith(f"{scope}/")


def _check_layers(case: Planted) -> None:
    """Layers are marked where a node in them is a gap."""
    report = case.loaded.summary(depth=99)
    paths = {row["path"] for row in report.rows if row["name"] != "(other)"}
    for column, gaps in (("float_ops", case.gaps), ("multiply_adds", case.product_gaps)):
        for row in report.rows:
            path = row["path"]
            held = {gap for gap in gaps if not path or _in(gap, path)}
            if row["name"] == "(other)":
                inner = [one for one in paths if one != path and (not path or _in(one, path))]
                held = {gap for gap in held if not any(_in(gap, one) for one in inner)}
            assert (column in row["incomplete"]) == bool(held), (row, column)
        assert (column in report.total_incomplete) == bool(gaps)


def test_cases_have_gaps_and_none() -> None:
    found = [bool(planted(seed).gaps) for seed in range(12)]
    assert any(found)
    assert not all(found)


# --- formats -----------------------------------------------------------------------------------


def expected_cell(value: Any, *, marked: bool) -> str:
    return "?" if value is None else f"≥ {value}" if marked else str(value)


def _check_every_format(case: Planted) -> None:
    for view in ("scope", "graph", "op", "code"):
        report = getattr(case.loaded, view)(**EVERYTHING)
        _check_formats(report, ["own_float_ops", "total_float_ops"], dashes=True)
        html = report._repr_html_()
        cells = re.findall(r'<td style="text-align:right">([^<]*)</td>', html)
        own, total = cells[::2], cells[1::2]
        for row, *texts in zip(report.rows[:200], own, total, strict=False):
            _check_cells(row._asdict(), ["own_float_ops", "total_float_ops"], texts, dashes=True)
    summary = case.loaded.summary(depth=99)
    _check_formats(summary, ["float_ops", "multiply_adds", "activation_bytes"], dashes=False)


def _check_formats(report: Any, names: list[str], *, dashes: bool) -> None:
    made = json.loads(b"".join(report.pieces("json")))
    rows = made["rows"]
    for row in rows:
        for name in names:  # 0 is never a lower bound, and what is unknown is never complete
            assert row[name] != 0 or name not in row["incomplete"]
            assert row[name] is not None or name in row["incomplete"]
    if "total" in made:
        for name in names:
            value, marked = made["total"][name], name in made["total_incomplete"]
            assert marked if value is None else not (marked and value == 0)
    read = list(csv.DictReader(io.StringIO(b"".join(report.pieces("csv")).decode())))
    assert [line["incomplete"] for line in read] == ["|".join(row["incomplete"]) for row in rows]
    for name in names:
        texts = ["" if row[name] is None else str(row[name]) for row in rows]
        assert [line[name] for line in read] == texts
    table = b"".join(report.pieces("md")).decode().splitlines()
    heads = [head.strip() for head in table[0].split("|")]
    titles = {"multiply_adds": "mult-adds", "activation_bytes": "activations"}
    heads = [head.replace("running total", "total") for head in heads]
    places = [heads.index(titles.get(name, name.replace("_", " "))) for name in names]
    for row, line in zip(rows, table[2:], strict=False):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
        _check_cells(row, names, [cells[place] for place in places], dashes=dashes)


def _check_cells(row: Any, names: list[str], cells: list[str], *, dashes: bool) -> None:
    for name, cell in zip(names, cells, strict=True):
        if dashes and name.startswith("own") and not row["accounted"]:
            assert cell == "--"
            continue
        value, marked = row[name], name in row["incomplete"]
        assert cell.startswith("≥ ") == (marked and value is not None)
        assert (cell == "?") == (value is None)
        if value is not None and value < 1000:
            unit = " B" if name.endswith("bytes") else ""
            assert cell == expected_cell(value, marked=marked) + unit


@pytest.mark.sampled
@pytest.mark.parametrize("check", [_check_names, _check_layers, _check_every_format])
def test_names_layers_and_every_format_say_the_same(check: Callable[[Planted], None]) -> None:
    for case in cases():
        check(case)
