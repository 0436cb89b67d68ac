"""Every tab of the pages of all samples, and every control on it, used once.

Chromium has no network. Nothing may go wrong on the console, no drawing may fail, and nothing that
a program makes of a missing number may be read: undefined, NaN, [object Object].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from fleet_engine import HereEngine
from model_files import unpacked
from profiles import DATA, PROFILES
from sampling import sampled
from tfprof.fleet.gather import gather

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import JSHandle, Page

    from page_browser import Pages
    from tfprof.results.fleet import Fleet
    from tfprof.results.loaded import Loaded

TABS: Final = ("overview", "icicle", "table", "treemap", "types", "timeline", "roofline")
KEYS: Final = ("ArrowDown", "ArrowRight", "ArrowLeft", "ArrowUp", "Home", "End", "+", "-", "0")

# What a reader can press, choose or fill in: one of each kind, so two rows of a table are one.
_CONTROLS: Final = """() => {
  const kinds = new Map();
  const used = "button, select, input, textarea, summary, a[href^='#'], canvas, [role=row]";
  const isFirst = document.querySelector("#tab-overview[aria-selected=true]") !== null;
  for (const one of (isFirst ? document : document.getElementById("main")).querySelectorAll(used)) {
    if (!one.checkVisibility() || one.disabled) continue;
    const repeats = one.closest("[role=row], tr, li, dd, .rows");
    const name = repeats ? "" : one.getAttribute("aria-label") ?? one.id ?? "";
    const text = repeats || one.matches("a") ? "" : one.innerText;
    kinds.set([one.tagName, one.type ?? "", one.className, name, text].join("|"), one);
  }
  return kinds;
}"""
_WRONG: Final = r"""() => {
  const texts = [document.body.innerText];
  for (const one of document.querySelectorAll("[title], [aria-label], [aria-valuetext], input")) {
    texts.push(one.title, one.getAttribute("aria-label") ?? "", one.value ?? "");
  }
  const wrong = /.{0,40}(\bundefined\b|\bNaN\b|\bInfinity\b|\[object ).{0,40}/g;
  return texts.flatMap((text) => String(text).match(wrong) ?? []);
}"""


def _models(name: str, path: str) -> Callable[[Path], Loaded]:
    return lambda folder: tfprof.load(unpacked(name, folder) / path)


def _profile(name: str) -> Callable[[Path], Loaded]:
    files = PROFILES[name]
    return lambda _: tfprof.load(files.graph, list(files.runs), files.op_log)


def _trace(name: str) -> Callable[[Path], Loaded]:
    folder = DATA / "xplane" / name
    trace, path = folder / "trace.xplane.pb.gz", folder / "graph.pb.gz"
    return lambda _: tfprof.load(path if path.exists() else None, trace=trace)


def _fleet(folder: Path) -> Fleet:
    gather([str(DATA / "fleet")], str(folder / "fleet"), engine=HereEngine())
    return tfprof.fleet(folder / "fleet")


Sample = Callable[[str], "Loaded | Fleet"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """The profile of a sample, loaded once."""
    return cache(lambda name: SAMPLES[name](tmp_path_factory.mktemp("walk")))


SAMPLES: Final[dict[str, Callable[[Path], Loaded | Fleet]]] = {
    **{name: _profile(name) for name in ("resnet", "seq2seq", "handmade")},
    "trace": _trace("keras"),
    "trace without a graph": _trace("eager"),
    "saved model": lambda _: tfprof.load(DATA / "tf2" / "conv"),
    "saved model with stacks": lambda _: tfprof.load(DATA / "tf2" / "module"),
    "functions": lambda _: tfprof.load(DATA / "tf2" / "lstm_saved_model.pb.gz"),
    "graph": lambda _: tfprof.load(DATA / "handmade" / "graph.pbtxt"),
    "session": lambda _: tfprof.load(
        DATA / "tf2" / "session" / "graph.pb", DATA / "tf2" / "session" / "run_meta.pb"
    ),
    "tflite": lambda _: tfprof.load(DATA / "tf2" / "control.tflite"),
    "keras archive": _models("summary", "conv.keras"),
    "hdf5": _models("hdf5", "images-3.h5"),
    "events": _models("events", "keras3/train"),
    "checkpoint": lambda _: tfprof.load(checkpoint=DATA / "variables" / "keras3" / "ckpt-1"),
    "fleet": _fleet,
    "no run in a run": lambda _: tfprof.load(None, DATA / "handmade" / "run_meta_0.pbtxt"),
}


CASES: Final = [*product(SAMPLES, TABS), *product(["fleet"], ["workers", "distribution"])]


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "tab"), sampled(CASES, 2, "walk"))
def test_every_control(open_page: Pages, sample: Sample, name: str, tab: str) -> None:
    page = open_page(sample(name))
    _to(page, tab)
    _check(page, "as it opens")
    for kind in page.evaluate(f"[...({_CONTROLS})().keys()]"):
        _to(page, tab)
        control = page.evaluate_handle(f"(kind) => ({_CONTROLS})().get(kind) ?? null", kind)
        if control.as_element() is not None:
            _use(page, control)
            _check(page, kind)


def test_what_is_not_counted_has_a_name(open_page: Pages, sample: Sample) -> None:
    page = open_page(sample("events"), "tab=overview")
    notes = page.locator("#panel-overview .notes").inner_text()
    assert "float_ops counts 18 of the graph's 37 operations; not counted: 4 Assign" in notes
    assert "2 BiasAdd (unknown shape), 2 MatMul (unknown shape) and 4 more kinds." in notes


def _to(page: Page, tab: str) -> None:
    page.evaluate("document.querySelectorAll('dialog[open]').forEach((one) => one.close())")
    page.evaluate("(tab) => { location.hash = `tab=${tab}`; }", tab)
    page.wait_for_selector(f"#tab-{tab}[aria-selected=true]")


def _use(page: Page, control: JSHandle) -> None:
    """What a reader does with a control."""
    element = control.as_element()
    assert element is not None
    kind = element.evaluate("(one) => one.tagName + (one.type ?? '')").lower()
    if kind.startswith("select"):
        enabled = "(one) => [...one.options].filter((o) => !o.disabled).map((o) => o.value)"
        for value in element.evaluate(enabled):
            if element.is_visible():
                element.select_option(value)
    elif kind.startswith(("inputtext", "inputsearch", "inputnumber", "textarea")):
        element.fill("1")
        element.press("Enter")
        page.wait_for_timeout(300)  # it searches when no key follows
    elif kind == "canvas":
        _use_picture(page, control)
    else:
        element.click(timeout=5000)


def _use_picture(page: Page, control: JSHandle) -> None:
    element = control.as_element()
    assert element is not None
    box = element.bounding_box()
    assert box is not None
    bottom = min(box["y"] + box["height"], 715)
    for share in (0.03, 0.3, 0.6, 0.97):
        for part in (0.05, 0.2, 0.5, 0.95):
            page.mouse.move(box["x"] + share * box["width"], box["y"] + part * (bottom - box["y"]))
            _check(page, "a tooltip")
    element.evaluate("(one) => one.focus()")
    for key in KEYS:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.2 * (bottom - box["y"]))


def _check(page: Page, what: str) -> None:
    wrong = page.evaluate(_WRONG)
    assert wrong == [], what
    problem = page.locator(".problem")
    assert not problem.is_visible(), f"{what}: {problem.inner_text()}"
