"""Layouts of the page's pictures under Node: boxes by hand, laws for random trees.

row  tree        total     icicle, 100 pixels wide
0    root         100      |0                               100|
1    ├─ a          60      |0               60|
2    │  ├─ b       40      |0        40|
3    │  └─ c       15               |40  55|        5 of a are its own
4    └─ d          30                       |60      90|
5       └─ e       30                       |60      90|
"""

from __future__ import annotations

import math
import random
import re
from itertools import pairwise
from typing import Any, Final

import pytest

from page_node import PAGE_FOLDER, run_script
from tfprof.ops.kinds import KINDS, kind_of

SCRIPT: Final = """
import { readFileSync } from "node:fs";
import { boxes, icicle, levels, matched } from "PAGE/icicle.js";
import { squarified, treemap } from "PAGE/treemap.js";
import { contrast, diverging, rgb, sequential, textOn } from "PAGE/colours.js";
import { neighbour, tipPlace } from "PAGE/canvas.js";
import { magnitude, roofline } from "PAGE/roofline.js";
const input = JSON.parse(readFileSync(0, "utf8"));
const plain = (_, part) => (ArrayBuffer.isView(part) ? [...part] : part);
const laid = () => icicle(input, Float64Array.from(input.total));
const answer = () => { BODY };
console.log(JSON.stringify(answer(), plain));
"""
PARENT: Final = [-1, 0, 1, 1, 0, 4]
TOTAL: Final = [100, 60, 40, 15, 30, 30]


def in_node(body: str, value: object = None) -> Any:
    """What *body* returns for the *input*."""
    return run_script(SCRIPT.replace("BODY", body), value)


def tree_of(parent: list[int], total: list[int], **others: object) -> dict[str, object]:
    """The columns of a tree whose rows are in drawing order."""
    depth = [1] * len(parent)
    end = [row + 1 for row in range(len(parent))]
    for row, above in enumerate(parent):
        if row:
            depth[row] = depth[above] + 1
    for row in reversed(range(1, len(parent))):
        end[parent[row]] = max(end[parent[row]], end[row])
    return {"parent": parent, "depth": depth, "end": end, "total": total, **others}


def drawn(boxes: list[dict[str, Any]]) -> list[tuple[int, int, int, float, float]]:
    """(level, row, count, left, right) of each box."""
    return [(b["level"], b["row"], b["count"], b["x"], b["x"] + b["width"]) for b in boxes]


def test_the_boxes_of_an_icicle() -> None:
    """As drawn at the head of this file."""
    tree = tree_of(PARENT, TOTAL)
    whole = in_node("return boxes(laid(), 0, 100, 0, 9);", tree)
    assert drawn(whole) == [
        (0, 0, 1, 0, 100),
        (1, 1, 1, 0, 60), (1, 4, 1, 60, 90),
        (2, 2, 1, 0, 40), (2, 3, 1, 40, 55), (2, 5, 1, 60, 90),
    ]  # fmt: skip


def test_a_zoomed_icicle_is_the_subtree_over_the_whole_width() -> None:
    """Row a, 60 wide, over 120 pixels: two pixels per unit; and its levels from 1 on."""
    tree = tree_of(PARENT, TOTAL)
    two = "boxes(l, 1, 120, 0, 9), boxes(l, 1, 120, 1, 2)"
    body = f"const l = laid(); return [{two}, levels(l, 1)];"
    zoomed, second, levels = in_node(body, tree)
    assert drawn(zoomed) == [(0, 1, 1, 0, 120), (1, 2, 1, 0, 80), (1, 3, 1, 80, 110)]
    assert drawn(second) == drawn(zoomed)[1:]
    assert levels == 2


def test_boxes_narrower_than_a_pixel_are_one() -> None:
    """Ten pixels for 100: rows of 4 are merged, the wide one among them stays itself."""
    total = [100, 4, 4, 4, 50, 4, 4, 0, 4]
    tree = tree_of([-1] + [0] * 8, total)
    merged = in_node("return boxes(laid(), 0, 10, 1, 2);", tree)
    assert [(row, count) for _, row, count, _, _ in drawn(merged)] == [(1, 3), (4, 1), (5, 3)]
    edges = [edge for *_, left, right in drawn(merged) for edge in (left, right)]
    assert edges == pytest.approx([0, 1.2, 1.2, 6.2, 6.2, 7.4])


def test_rows_of_different_parents_are_not_merged_where_these_are_wide() -> None:
    """A box never crosses the edge of two boxes above it."""
    tree = tree_of([-1, 0, 1, 1, 0, 4, 4], [40, 20, 10, 10, 20, 10, 10])
    merged = in_node("return boxes(laid(), 0, 3, 2, 3);", tree)
    assert [(row, count) for _, row, count, _, _ in drawn(merged)] == [(2, 2), (5, 2)]


def test_what_counts_more_below_a_row_than_in_it_still_fits() -> None:
    """Children that exceed their parent share its width; nothing is left of or below zero."""
    tree = tree_of([-1, 0, 0], [50, 60, 40])
    edges = [box[3:] for box in drawn(in_node("return boxes(laid(), 0, 100, 1, 2);", tree))]
    assert [edge for pair in edges for edge in pair] == pytest.approx([0, 60, 60, 100])
    nothing = tree_of([-1, 0, 0], [0, -5, 5])
    assert in_node("return boxes(laid(), 0, 100, 0, 2);", nothing) == []


def random_tree(seed: int) -> dict[str, object]:
    """A tree of some hundred rows, some of which count nothing."""
    draw = random.Random(seed)  # noqa: S311
    parent, path = [-1], [0]
    for row in range(1, 400):
        del path[draw.randrange(max(1, len(path) - 3), len(path) + 1) :]
        parent.append(path[-1])
        path.append(row)
    total = [draw.choice([0, 1, 7, 300]) for _ in parent]
    for row in reversed(range(1, len(parent))):
        total[parent[row]] += total[row]
    return tree_of(parent, total, width=draw.choice([10, 375, 1280]), zoomed=draw.randrange(50))


@pytest.mark.parametrize("seed", range(3))
def test_laws_of_icicles(seed: int) -> None:
    """Boxes of a level do not overlap, lie inside boxes above, and widths are in proportion."""
    tree: Any = random_tree(seed)
    levels: dict[int, list[tuple[float, float, int, int]]] = {}
    found = in_node("return boxes(laid(), input.zoomed, input.width, 0, 1000);", tree)
    for level, row, count, left, right in drawn(found):
        levels.setdefault(level, []).append((left, right, row, count))
    whole = tree["total"][tree["zoomed"]]
    rows = range(tree["zoomed"], tree["end"][tree["zoomed"]])
    for level, boxes in levels.items():
        assert all(a[1] <= b[0] + 1e-6 for a, b in pairwise(boxes))
        depth = tree["depth"][tree["zoomed"]] + level
        there = [row for row in rows if tree["depth"][row] == depth and tree["total"][row]]
        assert sum(box[3] for box in boxes) == len(there)
        covered = sum(tree["total"][row] for row in there) / whole * tree["width"]
        assert sum(right - left for left, right, *_ in boxes) == pytest.approx(covered)
        for left, right, _, count in boxes:
            above = levels.get(level - 1, [(0, tree["width"], 0, 1)])
            holds = [(a, b) for a, b, *_ in above if a < right - 1e-6 and b > left + 1e-6]
            assert min(a for a, _ in holds) <= left + 1e-6
            assert max(b for _, b in holds) >= right - 1e-6
            assert count == 1 or right - left < count


def test_a_match_below_a_match_counts_once() -> None:
    """Rows a and b match, b inside of a: 60 of 100. With d: 90. Zoomed into a: all of it."""
    body = """
      const marks = (...rows) => Uint8Array.from(input.total, (_, row) => rows.includes(row));
      const share = (zoomed, ...rows) => matched(laid(), marks(...rows), zoomed);
      return [[0, 1, 2], [0, 1, 2, 4], [1, 1], [1, 0], [1, 3], [4, 3]].map((a) => share(...a));
    """
    found = in_node(body, tree_of(PARENT, TOTAL))
    assert [one["share"] for one in found] == [0.6, 0.9, 1, 1, 0.25, 0]
    assert [one["count"] for one in found] == [2, 3, 1, 0, 1, 0]
    assert found[0]["covered"] == [0, 1, 1, 1, 0, 0]


def test_squares() -> None:
    """The example of Bruls, Huizing and van Wijk: 6 6 4 3 2 2 1 in 6 × 4."""
    sizes = [6, 6, 4, 3, 2, 2, 1]
    rects = in_node("return squarified(input, { x: 0, y: 0, width: 6, height: 4 });", sizes)
    sides = [(round(r["x"], 2), round(r["y"], 2), round(r["width"], 2)) for r in rects]
    assert sides == [
        (0, 0, 3), (0, 2, 3), (3, 0, 1.71), (4.71, 0, 1.29), (3, 2.33, 1.2), (4.2, 2.33, 1.2),
        (5.4, 2.33, 0.6),
    ]  # fmt: skip
    assert [r["width"] * r["height"] for r in rects] == pytest.approx(sizes)


@pytest.mark.parametrize("seed", range(3))
def test_laws_of_treemaps(seed: int) -> None:
    """Areas of siblings are in proportion, children are inside their parents, nothing overlaps."""
    tree: Any = random_tree(seed)
    boxes = in_node(
        "return treemap(input.parent, input.total, 0, { x: 0, y: 0, width: 1200, height: 700 });",
        tree,
    )
    assert len(boxes) > 20
    inside = {box["row"]: box for box in boxes if box["row"] != box["above"]}
    groups: dict[int, list[Any]] = {}
    for box in boxes:
        groups.setdefault(box["above"], []).append(box)
    for above, group in groups.items():
        scale = {box["width"] * box["height"] / box["value"] for box in group}
        assert max(scale) == pytest.approx(min(scale))
        assert sum(box["value"] for box in group) <= tree["total"][above]
        for box in group:
            own = sum(t for t, p in zip(tree["total"], tree["parent"], strict=True) if p == above)
            total = tree["total"][box["row"]]
            assert box["value"] == (total - own if box["row"] == above else total)
        if above > 0:
            outer = inside[above]
            assert outer["open"]
            for box in group:
                assert box["x"] >= outer["x"]
                assert box["y"] >= outer["y"]
                assert box["x"] + box["width"] <= outer["x"] + outer["width"] + 1e-6
                assert box["y"] + box["height"] <= outer["y"] + outer["height"] + 1e-6
        for one, other in ((a, b) for a in group for b in group if a is not b):
            apart = one["x"] + one["width"] <= other["x"] + 1e-6
            apart |= other["x"] + other["width"] <= one["x"] + 1e-6
            apart |= one["y"] + one["height"] <= other["y"] + 1e-6
            apart |= other["y"] + other["height"] <= one["y"] + 1e-6
            assert apart


def test_a_tooltip_stays_in_the_window() -> None:
    """Right below the pointer; on the other side at the edges; never beyond the top left."""
    places = in_node(
        """return [[10, 10, 100, 50], [790, 10, 100, 50], [790, 590, 100, 50], [400, 300, 900, 700]]
          .map((place) => tipPlace(...place, 800, 600));"""
    )
    assert places == [[24, 24], [676, 24], [676, 526], [6, 6]]


def test_arrow_keys_move_to_the_near_shape() -> None:
    """Three in a row and one below the middle."""
    body = """
      const at = (x, y) => ({ x, y, width: 10, height: 10 });
      const shapes = [at(0, 0), at(20, 0), at(40, 0), at(20, 30)];
      const to = (from, key) => shapes.indexOf(neighbour(shapes, shapes[from] ?? null, key));
      return [to(0, "ArrowRight"), to(2, "ArrowLeft"), to(1, "ArrowDown"), to(3, "ArrowUp"),
        to(0, "ArrowLeft"), to(0, "x"), to(9, "ArrowUp")];
    """
    assert in_node(body) == [1, 1, 3, 1, -1, -1, 0]


def test_text_is_readable_on_every_colour() -> None:
    """4.5 to 1, as WCAG asks of small text, on scales and on the categories of the style sheet."""
    tokens = re.findall(
        r"--c\d: light-dark\((#\w{6}), (#\w{6})\)", (PAGE_FOLDER / "page.css").read_text()
    )
    body = """
      const shares = Array.from({ length: 101 }, (_, at) => at / 100);
      const scales = [sequential, diverging].flatMap((scale) => [false, true]
        .flatMap((dark) => shares.map((share) => scale(share, dark))));
      return [...scales, ...input.map(rgb)].map((ground) => contrast(ground, textOn(ground)));
    """
    ratios = in_node(body, [colour for pair in tokens for colour in pair])
    assert len(ratios) == 4 * 101 + 18
    assert min(ratios) >= 4.5
    assert in_node("return contrast(rgb('#000000'), rgb('rgb(255, 255, 255)'));") == 21


@pytest.mark.parametrize("dark", ["true", "false"])
def test_scales_grow_in_lightness(dark: str) -> None:
    """Who sees no colour still sees the order."""
    body = f"""
      const shade = (at) => contrast(sequential(at / 20, {dark}), [0, 0, 0]);
      return Array.from({{ length: 21 }}, (_, at) => shade(at));
    """
    lightness = in_node(body)
    assert sorted(lightness, reverse=dark == "false") == lightness
    assert max(lightness) / min(lightness) > 4


def test_places_on_a_roofline() -> None:
    """Powers of ten are evenly apart; the roof bends at peak FLOP/s by peak bytes/s."""
    body = """
      const layer = (work, bytes, micros) => ({ name: "", path: "", work, bytes, micros });
      const layers = [layer(1000, 1000, 1000), layer(1e5, 1000, 250)];
      const plot = roofline(layers, { flops: 1e9, bandwidth: 1e8 }, 278, 264);
      const middle = ({ x, y, width }) => [x + width / 2, y + width / 2, width / 2];
      return [plot.dots.map(middle), plot.roof, plot.across, plot.up];
    """
    # 52 + 2 · 105 + 16 wide, from 1 to 100 per byte; 26 + 3 · 66.67 + 38 high, from 1M to 1G.
    dots, roof, across, up = in_node(body)
    assert dots[0] == pytest.approx([52, 226, 18])  # 1 per byte, 1M: the longest is the largest
    assert dots[1] == pytest.approx([262, 226 - 200 * (math.log10(4e8) - 6) / 3, 11])
    assert [x for point in roof for x in (point["x"], point["y"])] == pytest.approx(
        [52, 226 - 200 * 2 / 3, 52 + 105, 26, 262, 26]
    )
    assert [tick["value"] for tick in across] == [1, 10, 100]
    assert [tick["value"] for tick in up] == pytest.approx([1e6, 1e7, 1e8, 1e9])


def test_magnitudes() -> None:
    """As people write them, with or without a unit."""
    texts = ["312T", "1.5e12", "900 GB/s", "2 tflops", "20k", "7", "fast", "", "-1", "1Z"]
    assert in_node("return input.map(magnitude);", texts) == [
        312e12, 1.5e12, 900e9, 2e12, 20e3, 7, 0, 0, 0, 0,
    ]  # fmt: skip


def test_kinds_of_operations() -> None:
    """One colour of the style sheet each."""
    ops = {
        "Conv2DBackpropFilter": "convolution", "DepthwiseConv2dNative": "convolution",
        "BatchMatMulV2": "matrix product", "CudnnRNNV3": "matrix product",
        "FusedBatchNormV3": "normalization", "MaxPoolGrad": "pooling and reduction",
        "Sum": "pooling and reduction", "LeakyReluGrad": "activation", "AddV2": "elementwise",
        "ResourceApplyAdam": "variables and updates", "VarHandleOp": "variables and updates",
        "Reshape": "data movement", "StatefulPartitionedCall": "other", "MyOwnOp": "other",
    }  # fmt: skip
    assert {op: kind_of(op) for op in ops} == ops
    colours = re.findall(r"--c(\d):", (PAGE_FOLDER / "page.css").read_text())
    assert list(map(int, colours)) == list(range(len(KINDS)))
