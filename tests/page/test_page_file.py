"""The page as one file: it opens from disk, its policy holds in Chromium, and names stay text."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from hostile_names import NAMES
from hostile_parts import CPU, device, entry, frame, node, run, stat, text
from page_browser import DRAWN
from page_files import PageFile
from profiles import PROFILES
from tfprof.writers.page import served_page

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Frame, Page

    from page_browser import Pages
    from tfprof.results.loaded import Loaded

HANDMADE: Final = PROFILES["handmade"]
ELSEWHERE: Final = "https://example.com/secret"
# What a name would like to do, and the directive that stops it. The code has add(tag, properties).
ATTACKS: Final = {
    "add('script', { textContent: 'document.title = 1' })": "script-src-elem: inline",
    f"add('script', {{ src: '{ELSEWHERE}' }})": f"script-src-elem: {ELSEWHERE}",
    "add('p', {}).setAttribute('onclick', 'document.title = 1')": "script-src-attr: inline",
    "setTimeout('document.title = 1')": "script-src: eval",
    f"fetch('{ELSEWHERE}').catch(() => 0)": f"connect-src: {ELSEWHERE}",
    f"navigator.sendBeacon('{ELSEWHERE}')": f"connect-src: {ELSEWHERE}",
    f"add('img', {{ src: '{ELSEWHERE}' }})": f"img-src: {ELSEWHERE}",
    "add('img', { src: 'beside.png' })": "img-src: file",
    "add('style', { textContent: '* { color: red }' })": "style-src-elem: inline",
    "add('p', {}).setAttribute('style', 'color: red')": "style-src-attr: inline",
    f"add('iframe', {{ src: '{ELSEWHERE}' }})": "frame-src: https://example.com",
    f"add('object', {{ data: '{ELSEWHERE}' }})": "object-src: https://example.com",
    f"add('base', {{ href: '{ELSEWHERE}' }})": "base-uri: https://example.com",
    "new Worker('data:text/javascript,1')": "worker-src: data",
    f"add('form', {{ action: '{ELSEWHERE}' }}).submit()": "form-action: https://example.com",
}
_ATTEMPT: Final = """() => {
  const add = (tag, properties) => {
    const element = Object.assign(document.createElement(tag), properties);
    document.body.append(element);
    return element;
  };
  try { %s; } catch { /* its violation was seen */ }
}"""
_SEEN: Final = """async () => {
  for (let turn = 0; turn < 500 && violations.length === 0; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return violations.splice(0);
}"""


@pytest.fixture(scope="module")
def handmade() -> Loaded:
    return tfprof.load(HANDMADE.graph, HANDMADE.runs, HANDMADE.op_log)


def hash_of(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


# --- the policy ----------------------------------------------------------------------------------


def test_the_policy_allows_one_script_and_one_style_sheet(handmade: Loaded) -> None:
    html = handmade.page().text()
    page = PageFile(html)
    script, style = page.texts["script"], page.texts["style"]
    assert page.policy == (
        f"default-src 'none'; script-src {hash_of(script)}; style-src {hash_of(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    scripts = [attributes.get("type") for tag, attributes in page.elements if tag == "script"]
    assert scripts == ["application/octet-stream", "module"]
    assert html.index("Content-Security-Policy") < html.index("<style>")
    named = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in named if name.startswith("on")} | named & {"style", "src"}


def test_a_served_page_may_fetch_its_data_from_where_it_is(handmade: Loaded) -> None:
    report = handmade.page()
    html, data, policy = served_page(report)
    page = PageFile(html.decode())
    assert policy == page.policy == f"{PageFile(report.text()).policy}; connect-src 'self'"
    (element,) = (had for _, had in page.elements if had.get("id") == "profile")
    assert element["data-source"] == "profile"
    assert "profile" not in page.texts
    assert data == PageFile(report.text()).data


def test_chromium_enforces_it(handmade: Loaded, open_page: Pages) -> None:
    page = open_page(handmade)
    assert page.evaluate("violations") == []
    for attack, directive in ATTACKS.items():
        page.evaluate(_ATTEMPT % attack)
        seen = page.evaluate(_SEEN)
        assert [one.startswith(directive) for one in seen] == [True], (attack, seen)
        assert page.title() != "1"
    # The browser says on its console what it blocked, and asked nobody for anything.
    assert [problem for problem in open_page.problems if "asked for" in problem] == []
    open_page.problems.clear()


# --- names ---------------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path: Path) -> Loaded:
    """A profile where everything that has a name has every hostile one."""
    names = [*NAMES.values(), b"{{data}}{{script}}", b"<!--<script>", b"n" * 1_000_000]
    graph = tmp_path / '</title><script>document.title="owned"<'.replace("/", "\u2215")
    graph.write_bytes(b"".join(node(name, name, inputs=(name,)) for name in names))
    steps = tmp_path / "<img src=x onerror=alert(1)>&amp;\u202e"
    stats = [stat(name, at, 3) for at, name in enumerate(names)]
    steps.write_bytes(run(*(device(name, *stats[:3]) for name in names[:-1]), device(CPU, *stats)))
    log = tmp_path / "log"
    log.write_bytes(
        b"".join(
            entry(name, frame(at, 1, at, at), float_ops=5, types=(name,))
            for at, name in enumerate(names, 1)
        )
        + b"".join(text(at, name) for at, name in enumerate(names, 1))
    )
    return tfprof.load(graph, [steps], log)


def test_no_name_leaves_its_place(hostile: Loaded) -> None:
    report = hostile.page()
    page, plain = PageFile(report.text()), PageFile(tfprof.load_sample().page().text())
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    assert page.texts["script"] == plain.texts["script"]
    assert page.texts["title"] == report.title
    assert page.data.startswith(b"\x1f\x8b")


def test_in_chromium_they_are_text(hostile: Loaded, open_page: Pages) -> None:
    page = open_page(hostile)
    page.on("dialog", lambda dialog: open_page.problems.append(dialog.message))
    for tab in page.get_by_role("tab").all():
        tab.click()
        assert page.locator("script").count() == 2
        assert page.locator("img, iframe, object, embed").count() == 0
        assert page.locator("[onerror], [onclick], a[href^=javascript]").count() == 0
    assert "owned" not in page.title().replace('"owned"', "")


# --- a notebook --------------------------------------------------------------------------------


NOTEBOOK: Final = "http://127.0.0.1:9/lab/"


def framed(open_page: Pages, html: str) -> tuple[Page, Frame]:
    """A notebook with *html* as the output of a cell, and the frame in that."""
    page = open_page.blank("about:")
    body = f"<!doctype html><title>Notebook</title><p>In [1]</p><div>{html}</div><p>In [2]</p>"
    page.route(f"{NOTEBOOK}*", lambda route: route.fulfill(body=body, content_type="text/html"))
    page.goto(NOTEBOOK)
    (child,) = page.main_frame.child_frames
    child.wait_for_load_state()
    child.evaluate(DRAWN)
    return page, child


def test_a_notebook_shows_the_page_in_a_frame(handmade: Loaded, open_page: Pages) -> None:
    report = handmade.page()
    page, inside = framed(open_page, report._repr_html_())
    assert page.locator("body > p").all_inner_texts() == ["In [1]", "In [2]"]
    box = page.locator("iframe").bounding_box()
    assert box is not None
    assert box["height"] > 600
    overview = inside.get_by_role("tabpanel").inner_text()
    assert "Parameters" in overview
    for tab in inside.get_by_role("tab").all():
        tab.click()
        assert tab.get_attribute("aria-selected") == "true"
    for link in ("Overview", "Table"):
        inside.get_by_role("tab", name=link).click()
    assert page.url == NOTEBOOK


def test_the_list_of_keys_closes_in_a_frame(handmade: Loaded, open_page: Pages) -> None:
    _, inside = framed(open_page, handmade.page()._repr_html_())
    inside.get_by_role("button", name="Keys").click()
    inside.get_by_role("button", name="Close", exact=True).click()
    assert inside.locator("dialog[open]").count() == 0


def test_the_frame_reaches_nothing_of_the_notebook(handmade: Loaded, open_page: Pages) -> None:
    _, inside = framed(open_page, handmade.page()._repr_html_())
    tries = {"parent.document": "SecurityError", "localStorage": "SecurityError"}
    for what, error in tries.items():
        tried = f"() => {{ try {{ return String({what}); }} catch (e) {{ return e.name; }} }}"
        assert inside.evaluate(tried) == error
    assert inside.evaluate("origin") == "null"


def test_a_hostile_page_stays_in_its_frame(hostile: Loaded, open_page: Pages) -> None:
    page, inside = framed(open_page, hostile.page()._repr_html_())
    assert page.title() == "Notebook"
    assert page.locator("iframe").count() == 1
    assert page.locator("script, img").count() == 0
    assert inside.locator("script").count() == 2
