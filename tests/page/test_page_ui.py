"""The page around its pictures: tabs, keys, address, theme, overview, details, hostile names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import draw
import tfprof
from hostile_parts import CPU, device, node, run, shape_attribute, stat
from page_browser import PHONE
from page_node import run_script
from page_parts import MARKUP, card, chosen, fragment, sample, serious, table
from profiles import DATA
from sampling import rng, sampled

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from page_browser import Pages
    from tfprof.results.loaded import Loaded

TABS: Final = ("overview", "icicle", "table", "treemap", "types", "timeline", "roofline")
DRAWN: Final = """
    net/w    op=VariableV2 params=2x3
    net/in   op=Placeholder out=4x2
    net/fc   op=MatMul out=4x3 us=40,40+90 bytes=100+300 flops=48   < net/in, net/w
    loss     op=Sum us=10+20                                        < net/fc, ^net/w
"""
# Names, and how they are shown.
SHOWN: Final = {
    MARKUP.encode(): MARKUP,
    "turned\u202eround\u2066".encode(): r"turned\u202eround\u2066",
    b"control\x00\x1b[2J\x07\nline": r"control\x00\x1b[2J\x07\nline",
    b"bad\xff\xfeutf": r"bad\xff\xfeutf",
    b"#12": "#12",
    b"a&tab=table=b %41+c": "a&tab=table=b %41+c",
    b"long/" + b"x" * 1_000_000: f"long/{'x' * 395}…",
}
HOSTILE: Final = [*SHOWN]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return draw.loaded(DRAWN, tmp_path_factory.mktemp("drawn"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """Names, types, inputs and devices that are not nice."""
    folder = tmp_path_factory.mktemp(f"{MARKUP.replace('/', '')}")
    graph = b"".join(
        node(name, b"Op" + name[:40], shape_attribute(2), inputs=(HOSTILE[at - 1],))
        for at, name in enumerate(HOSTILE)
    )
    stats = [stat(name, 5 + at, 6) for at, name in enumerate(HOSTILE)]
    (folder / "graph").write_bytes(graph)
    (folder / "run").write_bytes(run(device(CPU, *stats), device(b"/" + HOSTILE[0], *stats)))
    return tfprof.load(folder / "graph", folder / "run")


# --- tabs, keys, address --------------------------------------------------------------------------


def test_tabs_by_keyboard_alone(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn)
    while page.evaluate("document.activeElement.role") != "tab":
        page.keyboard.press("Tab")
    for tab in (*TABS[1:], TABS[0]):
        page.keyboard.press("ArrowRight")
        assert chosen(page) == tab
        assert page.evaluate("document.activeElement.id") == f"tab-{tab}"
    for key, tab in (("ArrowLeft", TABS[-1]), ("Home", TABS[0]), ("End", TABS[-1])):
        page.keyboard.press(key)
        assert chosen(page) == tab
    page.keyboard.press("Tab")  # one stop for all tabs, then what the tab shows
    assert page.evaluate("document.activeElement.closest('#main') !== null")
    for number, tab in enumerate(TABS, 1):
        page.keyboard.press(str(number))
        assert chosen(page) == tab


def test_keys_open_and_close(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn)
    page.keyboard.press("?")
    assert page.locator("dialog").is_visible()
    listed = page.locator("dialog").inner_text()
    assert all(key in listed for key in ("Backspace", "zoom out", "+ - 0"))
    page.keyboard.press("3")  # not while the list is open
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert chosen(page) == "overview"
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("button", name="Close").click()
    assert not page.locator("dialog").is_visible()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.type("3?")
    assert page.evaluate("document.activeElement.value") == "3?"
    assert chosen(page) == "table"


def test_links_back_and_forward(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn)
    page.get_by_role("link", name="MatMul", exact=True).click()
    assert chosen(page) == "table"
    assert fragment(page) == "#tab=table&view=op&show_name_regexes=MatMul"
    page.keyboard.press("5")
    assert chosen(page) == "types"
    page.go_back()
    assert chosen(page) == "table"
    page.go_back()
    assert chosen(page) == "overview"
    assert fragment(page) == ""
    page.go_forward()
    assert chosen(page) == "table"
    assert fragment(page) == "#tab=table&view=op&show_name_regexes=MatMul"


def test_the_address_restores_what_was_shown(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn, "tab=types&node=net/fc&nobody=reads&__proto__=x&step")
    assert chosen(page) == "types"
    assert page.locator("#details h2").text_content() == "net/fc"
    page.keyboard.press("Escape")
    assert not page.locator("#details").is_visible()
    page.evaluate("location.hash = '#tab=no_such_tab&node=no_such_node'")
    page.wait_for_selector("#panel-overview:not([hidden])")
    assert not page.locator("#details").is_visible()


def test_states_survive_the_address() -> None:
    random = rng("fragments")
    letters = "aZ09/:,$.*&=#%+ ?\"'<>\n\0é日\U0001f600\u202e\\^()[]{}|"
    states = [
        {key: "".join(random.choices(letters, k=random.randrange(1, 9))) for key in ("tab", "a_1")}
        for _ in range(300)
    ]
    script = """
import { readFileSync } from "node:fs";
import { fragmentOf, parseFragment } from "PAGE/state.js";
const states = JSON.parse(readFileSync(0, "utf8"));
const back = states.map((state) => [fragmentOf(state), parseFragment(fragmentOf(state))]);
console.log(JSON.stringify([...back, parseFragment("#=1&a&%zz=1&b=%zz&c=1=2&__proto__=3")]));
"""
    *pairs, odd = run_script(script, states)
    assert [state for _, state in pairs] == states
    assert all(text.isascii() and not set(text) & set(' "<>`\n\0') for text, _ in pairs)
    assert odd == {"b": "%zz", "c": "1=2"}


def test_theme(open_page: Pages, drawn: Loaded) -> None:
    def ground(page: Page) -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.strip("rgb()").split(","))

    page = open_page(drawn, dark=True)
    assert ground(page) < 150
    page.get_by_role("button", name="Switch to light").click()
    assert ground(page) > 600
    page.reload()  # it stays chosen
    page.get_by_role("button", name="Switch to dark").click()
    assert ground(page) < 150
    assert ground(open_page(drawn)) > 600


# --- overview and details -------------------------------------------------------------------------


def test_overview(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn)
    assert card(page, "Parameters").split("\n")[1:] == ["6"]  # which are trainable is unknown
    # Of the averages of two steps: (80 + 90) / 2 for net/fc, (10 + 20) / 2 for loss.
    assert card(page, "Time of operations").split("\n")[1] == "100 us"
    rows = page.locator("tr", has=page.get_by_role("link", name="MatMul", exact=True))
    assert rows.inner_text().split()[:2] == ["MatMul", "85.0%"]
    steps = page.locator(".card", has=page.get_by_role("heading", name="Steps and devices"))
    assert "step 0" in steps.inner_text()
    assert [text.split() for text in steps.locator("tbody tr").all_inner_texts()][2:] == [
        ["cpu:0", "5", "100", "us"]
    ]


def test_details(open_page: Pages, drawn: Loaded) -> None:
    page = open_page(drawn, "node=net/fc")
    facts = page.locator("#details dl").inner_text().split("\n")
    assert facts[:6] == ["Type", "MatMul", "Output", "(4, 3)", "Inputs", "(4, 2), (2, 3)"]
    numbers = {row[0]: row[1:] for row in table(page, "#details")}
    assert numbers["Own numbers"] == ["average", "step 0", "step 1"]
    assert numbers["total execution time"] == ["85 us", "80 us", "90 us"]
    assert numbers["requested bytes"] == ["200 B", "100 B", "300 B"]
    assert numbers["float ops"][2] == "48"
    page.get_by_role("link", name="loss").click()
    assert page.locator("#details h2").text_content() == "loss"
    assert page.evaluate("document.activeElement.id") == "details"
    inputs = page.locator("#details .links li").all_inner_texts()
    assert inputs == ["net/fc MatMul", "^net/w VariableV2"]
    page.get_by_role("button", name="Close details").click()
    assert not page.locator("#details").is_visible()


def test_a_line_of_code_the_formula_and_the_place(open_page: Pages) -> None:
    page = open_page(sample(), "node=unit_1_0/sub1/conv1/Conv2D")
    text = page.locator("#details").inner_text()
    assert "2 · size(output)" in text
    assert "= 603,979,776" in text
    assert "resnet_model.py:146" in text
    assert "return tf.nn.conv2d(inputs, kernel" in text
    page.get_by_text("of the call stack").click()
    assert "resnet.py:124" in page.locator("#details").inner_text()
    page.get_by_role("link", name="Show in icicle").click()
    assert chosen(page) == "icicle"
    path = page.locator("#panel-icicle nav").inner_text()
    assert path.split()[-1].endswith("conv1")
    page.get_by_role("link", name="Show in table").click()
    assert chosen(page) == "table"
    row = page.locator("#panel-table [role=row][aria-selected=true]")
    assert row.locator("[role=rowheader]").get_attribute("title") == "unit_1_0/sub1/conv1/Conv2D"
    assert row.is_visible()


def test_what_is_missing_is_said(open_page: Pages) -> None:
    page = open_page(tfprof.load(DATA / "tf2" / "conv"))
    assert "add a run (RunMetadata) or a trace" in card(page, "Time of operations")
    page.get_by_role("tab", name="Timeline").click()
    assert "trace" in page.locator("#panel-timeline").inner_text()
    page = open_page(tfprof.load(checkpoint=DATA / "checkpoints" / "objects"))
    assert page.locator("header").inner_text().endswith("☾") is True
    assert "Checkpoint of 2 variables" in page.locator("header").inner_text()
    assert "add a graph" in card(page, "Float operations")


def test_a_page_that_is_cut_off_says_so(open_page: Pages, drawn: Loaded, tmp_path: Path) -> None:
    whole = open_page.file(drawn).read_text(encoding="utf-8")
    start = whole.index('id="profile">') + len('id="profile">')
    cut = whole[: start + 400] + whole[whole.index("</script>", start) :]
    (tmp_path / "cut.html").write_text(cut, encoding="utf-8")
    page = open_page(tmp_path / "cut.html")
    said = page.get_by_role("alert").inner_text()
    assert said.startswith("The profile in this page could not be read: ")
    assert open_page.problems  # on the console, too
    open_page.problems.clear()


def test_hostile_names_stay_text(open_page: Pages, hostile: Loaded) -> None:
    page = open_page(hostile)
    allowed = page.evaluate("document.querySelectorAll('script, img, iframe').length")
    for tab in TABS:
        page.evaluate(f"location.hash = '#tab={tab}'")
        page.wait_for_selector(f"#panel-{tab}:not([hidden])")
    texts = [*SHOWN.values()]
    for at, shown in enumerate(texts):
        page.evaluate(f"location.hash = '#tab=table&node=%23{at}'")
        page.wait_for_selector("#details")
        assert page.locator("#details h2").text_content() == shown
        # The inputs of a node are links by name, or by number where an address cannot hold it.
        page.locator("#details .links a").first.click()
        assert page.locator("#details h2").text_content() == texts[at - 1]
    assert page.evaluate("document.querySelectorAll('script, img, iframe').length") == allowed
    assert "owned" not in page.title()


# --- how it feels ---------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("tab", sampled(TABS, 1, "phone"))
def test_a_phone_scrolls_down_only(open_page: Pages, tab: str) -> None:
    page = open_page(sample(), f"tab={tab}", size=PHONE)
    wide = "[document.body, document.documentElement].map(e => e.scrollWidth)"
    assert max(page.evaluate(wide)) <= PHONE[0]
    page.evaluate("location.hash += '&node=unit_1_0/sub1/conv1/Conv2D'")
    page.wait_for_selector("#details")
    assert max(page.evaluate(wide)) <= PHONE[0]


def test_nothing_moves_while_it_is_drawn(open_page: Pages) -> None:
    page = open_page(sample())
    for number in range(1, 8):
        page.keyboard.press(str(number))
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")
    assert page.evaluate("window.shifts") < 0.02


LOOKS: Final = [(tab, dark) for tab in TABS for dark in (False, True)]


@pytest.mark.sampled
@pytest.mark.parametrize(("tab", "dark"), sampled(LOOKS, 1, "axe"))
def test_axe_finds_nothing_serious(
    open_page: Pages, drawn: Loaded, tab: str, *, dark: bool
) -> None:
    assert serious(open_page(drawn, f"tab={tab}&node=net/fc", dark=dark)) == []


@pytest.mark.whole
@pytest.mark.parametrize(("tab", "dark"), LOOKS)
def test_axe_finds_nothing_serious_in_a_large_page(
    open_page: Pages, tab: str, *, dark: bool
) -> None:
    page = open_page(sample(), f"tab={tab}&node=unit_1_0/sub1/conv1/Conv2D", dark=dark)
    assert serious(page) == []
