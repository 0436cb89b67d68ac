"""The timeline of the page: lanes and memory under Node, the tab in Chromium.

gpu:0   lane 0  |0    9)  |12  15)
        lane 1     |3 6)
"""

from __future__ import annotations

import random
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import numpy as np
import pytest

import tfprof
from page_browser import PHONE
from page_node import run_script
from profiles import DATA, PROFILES
from tfprof.model import UNTIMED
from tfprof.writers.timeline_graph import _first_free
from tfprof.writers.timeline_memory import device_memories

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Page

    from page_browser import Pages
    from tfprof.model import Step
    from tfprof.results.loaded import Loaded

COLUMNS: Final = ("node", "device", "start_us", "us", "counts_as", "memory_node", "memory_us")
MORE: Final = ("in_use", "peak", "allocation_node", "allocation_us", "allocation_bytes")
SCRIPT: Final = """
import { readFileSync } from "node:fs";
import { blocks, laneLayout, ticks } from "PAGE/lanes.js";
import { memoryCurves, perPixel } from "PAGE/memory_curve.js";
const input = JSON.parse(readFileSync(0, "utf8"));
const column = (values) =>
  values.some((value) => typeof value === "string")
    ? BigInt64Array.from(values, BigInt)
    : Float64Array.from(values);
const read = ({ devices, ...step }) => ({
  ...Object.fromEntries(Object.entries(step).map(([name, values]) => [name, column(values)])),
  devices: { length: devices.length, compare: (a, b) => (devices[a] < devices[b] ? -1 : 1) },
});
const plain = (value) => JSON.stringify(value, (_, part) =>
  ArrayBuffer.isView(part) ? [...part] : typeof part === "bigint" ? String(part) : part);
const answer = () => { BODY };
console.log(plain(answer()));
"""


def in_node(body: str, value: object) -> Any:
    """What *body* returns for the *input*."""
    return run_script(SCRIPT.replace("BODY", body), value)


def executions(rows: list[tuple[str, int, int]], **others: list[int]) -> dict[str, Any]:
    """A step of (device, start, duration)."""
    devices = sorted({device for device, _, _ in rows})
    return {
        "devices": devices,
        "node": list(range(len(rows))),
        "device": [devices.index(device) for device, _, _ in rows],
        "start_us": [start for _, start, _ in rows],
        "us": [us for _, _, us in rows],
        "counts_as": [2] * len(rows),
        **{name: [] for name in (*COLUMNS[5:], *MORE)},
        **others,
    }


def of_step(step: Step) -> dict[str, Any]:
    """The columns of a step, as JSON."""
    columns = {name: getattr(step, name).tolist() for name in (*COLUMNS, *MORE)}
    return {"devices": list(step.devices.texts()), **columns}


def loaded(name: str) -> Loaded:
    if name.startswith("xplane"):
        folder = DATA / name
        return tfprof.load(folder / "graph.pb.gz", trace=folder / "trace.xplane.pb.gz")
    files = PROFILES[name]
    return tfprof.load(files.graph, list(files.runs), files.op_log)


def test_hand_made_lanes() -> None:
    rows = [("gpu:0", 112, 3), ("gpu:0", 100, 9), ("gpu:0", 103, 3), ("cpu:0", 101, 50)]
    # One that ends where another starts shares its lane, and so does one that takes no time.
    rows += [("gpu:0", 109, 3), ("gpu:0", 103, 0), ("gpu:0", 104, 1)]
    lanes = in_node("return laneLayout(read(input))", executions(rows))
    assert lanes["origin"] == 100
    assert lanes["span"] == 51
    cpu, gpu = {"device": 0, "lane": 0, "lanes": 1}, {"device": 1, "lane": 1, "lanes": 3}
    assert lanes["groups"] == [cpu, gpu]
    by_lane = [lanes["row"][a:b] for a, b in zip(lanes["first"], lanes["first"][1:], strict=False)]
    assert by_lane == [[3], [1, 4, 0], [2], [5, 6]]
    assert lanes["start"] == [1, 0, 9, 12, 3, 3, 4]
    assert lanes["busy"] == [0, 50, 59, 62, 65, 68, 68, 69]


def test_executions_without_a_start_are_counted() -> None:
    step = executions([("cpu:0", 0, 5), ("cpu:0", 7, 5)], counts_as=[UNTIMED, 2])
    lanes = in_node("return laneLayout(read(input))", step)
    assert (lanes["row"], lanes["untimed"], lanes["origin"]) == ([1], 1, 7)
    nothing = in_node("return laneLayout(read(input))", executions([]))
    assert (nothing["row"], nothing["span"], nothing["groups"]) == ([], 0, [])


def test_starts_beyond_doubles_stay_exact() -> None:
    big = 2**62
    step = executions([("cpu:0", 0, 1)] * 3)
    step["start_us"] = [str(big + 3), str(big), str(big + 1)]
    lanes = in_node("return laneLayout(read(input))", step)
    assert lanes["origin"] == str(big)
    assert lanes["start"] == [0, 1, 3]


@pytest.mark.parametrize("sample", ["resnet", "seq2seq", "handmade", "xplane/keras"])
def test_lanes_of_samples(sample: str) -> None:
    steps = loaded(sample).profile.steps
    answers = in_node("return input.map(read).map(laneLayout)", [of_step(step) for step in steps])
    for step, lanes in zip(steps, answers, strict=True):
        row = np.array(lanes["row"])
        timed = np.flatnonzero(step.counts_as != UNTIMED)
        assert sorted(row.tolist()) == timed.tolist()
        assert lanes["untimed"] == step.node.size - timed.size
        start, us = np.array(lanes["start"]) + lanes["origin"], np.array(lanes["us"])
        assert start.tolist() == step.start_us[row].tolist()
        assert us.tolist() == step.us[row].tolist()
        lane = np.repeat(np.arange(len(lanes["first"]) - 1), np.diff(lanes["first"]))
        ends, same = start + us, lane[1:] == lane[:-1]
        assert (ends[:-1][same] <= start[1:][same]).all()
        assert lanes["span"] == ends.max() - step.start_us[timed].min()
        for group in lanes["groups"]:
            _check_device(step, group, lane, row)


def _check_device(step: Step, group: dict[str, int], lane: Any, row: Any) -> None:
    """The lanes of one device are those of the timeline that Python writes."""
    mine = np.flatnonzero((step.device == group["device"]) & (step.counts_as != UNTIMED))
    mine = mine[np.lexsort((mine, step.start_us[mine]))]
    start = step.start_us[mine]
    expected = _first_free(start.tolist(), (start + step.us[mine]).tolist())
    place = np.argsort(row)[np.searchsorted(np.sort(row), mine)]
    assert (lane[place] - group["lane"]).tolist() == expected
    assert group["lanes"] == 1 + max(expected)


def test_number_of_lanes_is_the_most_that_overlap() -> None:
    chance = random.Random(7)  # noqa: S311 - repeatable, not secret
    steps = []
    for _ in range(40):
        count, devices = chance.randint(1, 60), [f"cpu:{n}" for n in range(chance.randint(1, 3))]
        steps.append(executions([
            (chance.choice(devices), chance.randint(1, 80), chance.randint(1, 12))
            for _ in range(count)
        ]))  # fmt: skip
    answers = in_node("return input.map(read).map(laneLayout)", steps)
    for step, lanes in zip(steps, answers, strict=True):
        for group in lanes["groups"]:
            rows = [at for at, device in enumerate(step["device"]) if device == group["device"]]
            bars = [(step["start_us"][at], step["us"][at]) for at in rows]
            most = max(sum(s <= t < s + us for s, us in bars) for t in range(100))
            assert group["lanes"] == most


BLOCKS: Final = """
  return input.map(({ step, range }) => {
    const lanes = laneLayout(read(step));
    const drawn = [];
    for (let lane = 0; lane + 1 < lanes.first.length; lane += 1) {
      blocks(lanes, lane, range, (first, last) => drawn.push([lane, first, last]));
    }
    return { lanes, drawn };
  })"""


def test_what_is_visible_is_drawn_once_and_narrow_ones_together() -> None:
    chance = random.Random(11)  # noqa: S311 - repeatable, not secret
    asked = []
    for _ in range(30):
        rows = [("cpu:0", chance.randint(1, 5000), chance.randint(0, 9)) for _ in range(400)]
        start = chance.uniform(0, 4000)
        span = {"from": start, "to": start + 800, "pixel": 8}
        asked.append({"step": executions(rows), "range": span})
    for question, answered in zip(asked, in_node(BLOCKS, asked), strict=True):
        lanes, drawn = answered["lanes"], answered["drawn"]
        covered = [at for _, first, last in drawn for at in range(first, last)]
        assert len(covered) == len(set(covered))
        for at, (start, us) in enumerate(zip(lanes["start"], lanes["us"], strict=True)):
            if start < question["range"]["to"] and start + us > question["range"]["from"]:
                assert at in covered
        for lane in range(len(lanes["first"]) - 1):
            # One per pixel, and one more where a narrow one is beside a wide one.
            assert sum(block[0] == lane for block in drawn) <= 2 * 800 / 8 + 2
        for _, first, last in drawn:
            if last - first > 1:
                assert lanes["start"][last - 1] - lanes["start"][first] <= 8
                assert all(us < 8 for us in lanes["us"][first:last])


@pytest.mark.parametrize(
    ("start", "end", "texts"),
    [
        (0, 10, ["0 us", "2 us", "4 us", "6 us", "8 us", "10 us"]),
        (0, 2500, ["0.0 ms", "0.5 ms", "1.0 ms", "1.5 ms", "2.0 ms", "2.5 ms"]),
        (2_000_100, 2_000_500, ["2.0001 s", "2.0002 s", "2.0003 s", "2.0004 s", "2.0005 s"]),
        (0, 5_000_000, ["0 s", "1 s", "2 s", "3 s", "4 s", "5 s"]),
    ],
)
def test_ticks(start: int, end: int, texts: list[str]) -> None:
    answer = in_node("return ticks(input[0], input[1], 5)", [start, end])
    assert [tick["text"] for tick in answer] == texts


CURVES: Final = """
  return input.map(({ step, device, origin }) => memoryCurves({ device }, read(step), origin))"""


def test_hand_made_memory() -> None:
    step = executions(
        [],
        memory_node=[0, 1, 2, 0, 2, 3],
        memory_us=[110, 105, 120, 105, 0, 118],
        in_use=[70, 40, 0, 50, 99, 0],
        peak=[1, 1, 8, 1, 9, 0],
        allocation_node=[1, 0, 0],
        allocation_us=[108, 104, 106],
        allocation_bytes=[-5, 30, 10],
    )
    # Nodes 0 and 1 are on a GPU, whose allocator reports; node 2 is not; node 3 took nothing.
    curves = in_node(CURVES, [{"step": step, "device": [4, 4, 2, 5], "origin": 100}])[0]
    assert curves == [
        {
            "kind": "operation", "device": 2, "time": [20], "row": [2], "bytes": [8], "peak": 0,
            "held": {"time": [], "bytes": []},
        },
        {
            "kind": "in use", "device": 4, "time": [5, 10], "row": [3, 0], "bytes": [50, 70],
            "peak": 1, "held": {"time": [4, 6, 8], "bytes": [30, 40, 35]},
        },
    ]  # fmt: skip


def test_memory_per_pixel() -> None:
    curve = {"time": [1, 2.5, 2.6, 5], "bytes": [7, 9, 3, 4]}
    level = "return perPixel(input, true, { from: 0, to: 7, width: 7 })"
    assert in_node(level, curve) == [0, 7, 9, 3, 3, 4, 4]
    moment = "return perPixel(input, false, { from: 0, to: 7, width: 7 })"
    assert in_node(moment, curve) == [0, 7, 9, 0, 0, 4, 0]
    assert in_node("return perPixel(input, true, { from: 3, to: 5, width: 2 })", curve) == [3, 3]


@pytest.mark.parametrize("sample", ["handmade", "seq2seq", "xplane/keras"])
def test_memory_of_samples(sample: str) -> None:
    profile = loaded(sample).profile
    device = profile.nodes.device.tolist()
    asked = [{"step": of_step(step), "device": device, "origin": 0} for step in profile.steps]
    for step, curves in zip(profile.steps, in_node(CURVES, asked), strict=True):
        reported = {
            memory.device: memory
            for memory in device_memories(profile, step, np.arange(len(profile)), 0)
            if memory.in_use.any()
        }
        of_kind = [curve for curve in curves if curve["kind"] == "in use"]
        in_use = {profile.types[curve["device"]]: curve for curve in of_kind}
        assert in_use.keys() == reported.keys()
        for name, curve in in_use.items():
            memory = reported[name]
            assert curve["time"] == memory.time_us[memory.in_use > 0].tolist()
            assert curve["bytes"] == memory.in_use[memory.in_use > 0].tolist()
            assert curve["bytes"][curve["peak"]] == memory.in_use.max()
        for curve in curves:
            if curve["kind"] == "operation":
                mine = profile.nodes.device[step.memory_node] == curve["device"]
                assert curve["bytes"][curve["peak"]] == step.peak[mine].max()
                assert curve["time"] == np.unique(step.memory_us[mine]).tolist()


# The tab in Chromium.

CANVAS: Final = "#panel-timeline canvas"
MOVED: Final = """(before) =>
  location.hash !== before && document.querySelector("#panel-timeline [aria-busy]") === null"""
TOP: Final = 42  # the axis, and the name of the first device


@pytest.fixture(scope="module")
def sample() -> Loaded:
    return tfprof.load_sample()


def _fragment(page: Page) -> dict[str, str]:
    """The state in the address."""
    parts = page.evaluate("location.hash.slice(1)").split("&")
    return {key: unquote(value) for key, _, value in (part.partition("=") for part in parts)}


@contextmanager
def _moving(page: Page) -> Iterator[None]:
    """Waits until the address names what is in sight after a movement."""
    before = page.evaluate("location.hash")
    yield
    page.wait_for_function(MOVED, arg=before)


def _sight(page: Page) -> tuple[float, float]:
    start, end = _fragment(page)["range"].split("-")
    return float(start), float(end)


def _longest(step: Step) -> tuple[int, float, float]:
    """The longest execution on the first device: its row, and where it is in the whole picture."""
    rows = np.argsort(step.start_us, kind="stable")
    start, us = step.start_us[rows], step.us[rows]
    lane = _first_free(start.tolist(), (start + us).tolist())
    at = int(np.argmax(us))
    share = (start[at] + us[at] / 2 - start[0]) / ((start + us).max() - start[0])
    return int(rows[at]), float(share), TOP + 26 * (lane[at] + 0.5)


def _at(page: Page, share: float, y: float) -> tuple[float, float]:
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + y


def test_pointer_selects_zooms_and_pans(open_page: Pages, sample: Loaded) -> None:
    profile, step = sample.profile, sample.profile.steps[0]
    page = open_page(sample, "tab=timeline")
    row, share, y = _longest(step)
    name = profile.nodes.name[int(step.node[row])].decode()
    page.mouse.move(*_at(page, share, y))
    tip = page.locator("#panel-timeline .picture-tip").inner_text()
    start = int(step.start_us[row] - step.start_us.min())
    assert name in tip
    assert profile.types[int(profile.nodes.op[step.node[row]])].decode() in tip
    assert f"start {start / 1e6:.2f} s" in tip
    assert f"time {step.us[row] / 1e3:.3g} ms" in tip
    page.mouse.down()
    page.mouse.up()
    assert _fragment(page)["node"] == name
    assert name in page.locator("#details").inner_text()

    page.locator("#details").press("Escape")
    page.mouse.move(*_at(page, share, y))
    with _moving(page):
        page.mouse.wheel(0, -1000)
    start_us, end_us = _sight(page)
    span = int((step.start_us + step.us).max() - step.start_us.min())
    assert end_us - start_us == pytest.approx(span * np.exp(-2), rel=0.01)
    # The place under the pointer stays where it is.
    assert start_us + share * (end_us - start_us) == pytest.approx(share * span, rel=0.01)
    with _moving(page):
        page.mouse.down()
        page.mouse.move(*_at(page, share + 0.1, y), steps=3)
        page.mouse.up()
    moved = _sight(page)
    assert moved[0] == pytest.approx(start_us - 0.1 * (end_us - start_us), rel=0.01)
    assert moved[1] - moved[0] == pytest.approx(end_us - start_us, rel=0.01)
    assert "node" not in _fragment(page), "a drag is no click"
    # The address opens the same part of the step.
    again = open_page(sample, page.evaluate("location.hash.slice(1)"))
    sight = "#panel-timeline .toolbar .num"
    assert again.locator(sight).inner_text() == page.locator(sight).inner_text()
    with _moving(page):
        page.get_by_role("button", name="Show the whole step").click()
    assert "range" not in _fragment(page)


def test_keyboard(open_page: Pages, sample: Loaded) -> None:
    page = open_page(sample, "tab=timeline")
    step = sample.profile.steps[0]
    canvas, live = page.locator(CANVAS), page.locator("#panel-timeline [aria-live]")
    canvas.focus()
    with _moving(page):
        page.keyboard.press("+")
        page.keyboard.press("+")
    span = int((step.start_us + step.us).max() - step.start_us.min())
    assert _sight(page) == pytest.approx((span * 3 / 8, span * 5 / 8), abs=1)
    with _moving(page):
        page.keyboard.press("Shift+ArrowRight")
    assert _sight(page) == pytest.approx((span * 7 / 16, span * 11 / 16), abs=1)
    with _moving(page):
        page.keyboard.press("-")
        page.keyboard.press("0")
    assert "range" not in _fragment(page)
    # To where executions are wide enough to stand alone.
    page.evaluate("range => location.hash = `tab=timeline&range=${range}`", "2000000-2200000")
    page.locator("#panel-timeline .num", has_text="200 ms of").wait_for()
    page.keyboard.press("ArrowDown")
    said = [live.inner_text()]
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        said.append(live.inner_text())
    assert len(set(said)) == len(said)
    assert all("execution" in text or ", time " in text for text in said)
    while ", time " not in live.inner_text():
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert live.inner_text().startswith(_fragment(page)["node"])


def test_search_and_steps(open_page: Pages, sample: Loaded) -> None:
    profile = sample.profile
    page = open_page(sample, "tab=timeline")
    panel = page.locator("#panel-timeline")
    panel.locator("input[type=search]").fill("sub1.*Conv2D$")
    for number in (0, 1):
        panel.get_by_label("Step", exact=True).select_option(str(number))
        step = profile.steps[number]
        names = profile.nodes.name.take(step.node).texts()
        found = [bool(re.search(r"sub1.*Conv2D$", name)) for name in names]
        us = int(step.us[found].sum())
        status = panel.get_by_role("status").inner_text()
        assert status == f"{sum(found)} executions, {us / 1e3:.3g} ms"
        span = int((step.start_us + step.us).max() - step.start_us.min())
        assert f"of {span / 1e6:.2f} s" in panel.locator(".toolbar .num").inner_text()
    assert _fragment(page)["step"] == "1"
    assert _fragment(page)["search"] == "sub1.*Conv2D$"
    for wrong, why in [("(", "missing"), ("a)|(b", "unexpected")]:
        panel.locator("input[type=search]").fill(wrong)
        assert panel.locator("input[type=search]").get_attribute("aria-invalid") == "true"
        assert why in panel.get_by_role("status").inner_text()


def test_phone(open_page: Pages, sample: Loaded) -> None:
    page = open_page(sample, "tab=timeline", size=PHONE)
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    assert box["width"] <= PHONE[0]
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
    for button in page.locator("#panel-timeline button").all():
        place = button.bounding_box()
        assert place is not None
        assert place["x"] + place["width"] <= PHONE[0]
    # Two fingers go apart: the time between them is in sight twice as large.
    client = page.context.new_cdp_session(page)
    with _moving(page):
        for kind, left, right in [("Start", 150, 200), ("Move", 125, 225), ("End", 0, 0)]:
            points = [{"x": x, "y": box["y"] + 60, "id": int(x > 180)} for x in (left, right)]
            touch = {"type": f"touch{kind}", "touchPoints": points if left else []}
            client.send("Input.dispatchTouchEvent", touch)
    step = sample.profile.steps[0]
    span = int((step.start_us + step.us).max() - step.start_us.min())
    start, end = _sight(page)
    assert end - start == pytest.approx(span / 2, rel=0.02)


def test_memory_names_its_peak(open_page: Pages) -> None:
    page = open_page(loaded("handmade"), "tab=timeline")
    notes = page.locator("#panel-timeline .lane-notes")
    # An execution of 9,000 to 9,040 us, which is 8 ms after the first one, and the GPU at 10,012.
    assert "gpu:0 memory: peak in use 6.29 MB at 9.01 ms" in notes.inner_text()
    assert "The line adds up allocation records." in notes.inner_text()
    assert "The file does not record the total in use on cpu:0." in notes.inner_text()
    notes.get_by_role("link").click()
    assert _fragment(page)["node"] == "gradients/net/fc/MatMul_grad/MatMul"
    box = page.locator(CANVAS).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 5)
    assert "4 B" not in page.locator("#panel-timeline .picture-tip").inner_text()


def test_a_link_can_be_pressed_while_the_address_changes(open_page: Pages) -> None:
    page = open_page(loaded("handmade"), "tab=timeline")
    link = page.locator("#panel-timeline .lane-notes a").element_handle()
    assert link is not None
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_url(lambda address: "range=" in address)
    assert link.evaluate("(one) => one.isConnected")
    link.click()
    assert _fragment(page)["node"] == "gradients/net/fc/MatMul_grad/MatMul"
    assert "range" in _fragment(page)


def test_without_a_run_it_says_what_is_missing(open_page: Pages) -> None:
    page = open_page(tfprof.load(DATA / "handmade" / "graph.pbtxt"), "tab=timeline")
    text = page.locator("#panel-timeline").inner_text()
    assert "--run_meta_path" in text
    assert "--trace_path" in text


def _hostile_run(folder: Path) -> Loaded:
    """Names that want to be markup, turn around or never end; times at the ends of int64."""
    names = [
        "</script><img src=x onerror=alert(1)>", "a\\342\\200\\256b", "x" * 1_000_000, "a\\001b",
    ]  # fmt: skip
    times = [(1, 5), (2**63 - 1, 9), (2**62, 2**62), (3, -7), (4, 0), (4, 0), (4, 0)]
    nodes = [f'node {{ name: "{name}" op: "Add" }}' for name in names]
    stats = [
        f'node_stats {{ node_name: "{names[at % 4]}" all_start_micros: {start} '
        f"op_end_rel_micros: {us} all_end_rel_micros: {us} "
        f'memory {{ allocator_name: "GPU" total_bytes: 5 peak_bytes: {2**63 - 1} '
        f"allocator_bytes_in_use: {2**63 - 1 - at} }} }}"
        for at, (start, us) in enumerate(times)
    ]
    (folder / "graph.pbtxt").write_text("\n".join(nodes))
    device = "/job:a/replica:0/task:0/device:GPU:0"
    run = f'step_stats {{ dev_stats {{ device: "{device}" {" ".join(stats)} }} }}'
    (folder / "run.pbtxt").write_text(run)
    return tfprof.load(folder / "graph.pbtxt", folder / "run.pbtxt")


def test_hostile_runs(open_page: Pages, tmp_path: Path) -> None:
    page = open_page(_hostile_run(tmp_path), "tab=timeline&range=0-6")
    page.locator(CANVAS).focus()
    live, said = page.locator("#panel-timeline [aria-live]"), set()
    for key in ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowDown", "ArrowRight", "0", "+"]:
        page.keyboard.press(key)
        said.add(live.inner_text())
    assert any("</script><img src=x onerror=alert(1)>" in text for text in said)
    page.keyboard.press("Enter")
    assert page.locator("img").count() == 0
    assert "9223 PB" in page.locator("#panel-timeline .lane-notes").inner_text()
    assert not page.locator(".problem").is_visible()
