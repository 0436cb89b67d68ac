"""The tree table of a page: what it shows is what `--format=json` says for the same options."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from functools import cache, partial
from importlib import import_module
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from hostile_parts import node as graph_node
from hostile_parts import shape_attribute
from page_node import run_script
from page_profiles import FILES
from page_table import check_table, fragment, read_table, report_of
from profiles import DATA
from random_options import make_options
from sampling import numbers, rng, sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Page

    from page_browser import Chromium, Pages
    from tfprof.results.loaded import Loaded

QUOTE: Final = """
import { readFileSync } from "node:fs";
import { commandLine, quote } from "PAGE/command_line.js";
const { words, lines } = JSON.parse(readFileSync(0, "utf8"));
const commands = lines.map(([meta, view, state]) => commandLine(meta, view, state));
console.log(JSON.stringify({ words: words.map(quote), commands }));
"""
META: Final = {
    "command": ["tfprof"],
    "files": ["graph.pbtxt", "my run"],
    "dims": [],
    "spelled": {},
    "options": [
        {"name": "max_depth", "kind": "int", "default": 10},
        {"name": "order_by", "kind": "text", "default": "name"},
        {"name": "show_name_regexes", "kind": "regexes", "default": [".*"]},
        {"name": "account_displayed_op_only", "kind": "bool", "default": False},
        {"name": "select", "kind": "list", "default": ["micros"]},
    ],
    "defaults": {"scope": {"select": ["float_ops", "params"], "order_by": "float_ops"}},
}


def test_words_are_quoted_as_python_quotes_them() -> None:
    random = rng("quote")
    letters = "ab Z09_-./:,@%+=$`'\"\\*?[](){}|&;<>~#!^\n\t\x07\x1bé日\u202e"
    words = ["", "'", "a b", "it's", "''", "$(rm -rf ~)", "ключ", "ß", "\u0660", *letters]
    words += ["".join(random.choices(letters, k=random.randrange(1, 12))) for _ in range(500)]
    quoted = run_script(QUOTE, {"words": words, "lines": []})["words"]
    assert quoted == [shlex.quote(word) for word in words]


def test_a_command_line_has_the_options_that_differ_from_the_defaults() -> None:
    lines = [
        [META, "scope", {}],
        [META, "scope", {"tab": "table", "view": "scope", "max_depth": "10", "node": "a"}],
        [META, "scope", {"select": "float_ops,params", "order_by": "float_ops"}],
        [META, "scope", {"select": "params", "order_by": "float_ops"}],
        [META, "scope", {"order_by": "params", "max_depth": "3"}],
        [META, "scope", {"account_displayed_op_only": "true", "show_name_regexes": ".*it's.*"}],
        [{**META, "dims": ["batch=8", "n=2"]}, "scope", {"max_depth": "-1"}],
        [{**META, "command": ["tfprof", "demo"], "files": []}, "op", {}],
        [{**META, "spelled": {"scope": ["select", "max_depth"]}}, "scope", {"max_depth": "3"}],
    ]
    files, odd = "graph.pbtxt 'my run'", "'--show_name_regexes=.*it'\"'\"'s.*'"
    assert run_script(QUOTE, {"words": [], "lines": lines})["commands"] == [
        f"tfprof scope {files}",
        f"tfprof scope {files}",
        f"tfprof scope {files}",
        # Without it, rows would be in the order of what is selected.
        f"tfprof scope {files} --order_by=float_ops --select=params",
        f"tfprof scope {files} --max_depth=3 --order_by=params",
        f"tfprof scope {files} {odd} --account_displayed_op_only=true",
        f"tfprof scope {files} --dim=batch=8,n=2 --max_depth=-1",
        "tfprof demo op",
        # The command has other defaults than the page.
        f"tfprof scope {files} --max_depth=3 --select=float_ops,params",
    ]


SAMPLES: Final[dict[str, Callable[[], Loaded]]] = {
    "resnet": tfprof.load_sample,
    **{
        name: partial(tfprof.load, **FILES[name])
        for name in ("handmade", "seq2seq", "model_analyzer")
    },
    "keras_trace": lambda: tfprof.load(
        DATA / "xplane/keras/graph.pb.gz", trace=DATA / "xplane/keras/trace.xplane.pb.gz"
    ),
    "lstm": lambda: tfprof.load(DATA / "tf2/lstm.pb.gz"),
    "beyond 2^53": lambda: tfprof.load(
        b"".join(
            graph_node(b"big/v%d" % at, b"VariableV2", shape_attribute((1 << 53) + at))
            for at in range(9)
        )
    ),
    "training": lambda: tfprof.load(DATA / "variables/training.meta.gz"),
}


@cache
def loaded_sample(name: str) -> Loaded:
    """A sample, read once."""
    return SAMPLES[name]()


def _random_options(random: Random, loaded: Loaded, view: str) -> dict[str, str]:
    """Options as a command line spells them; one that is empty is one that is not there."""
    profile = loaded.profile
    names = [random.choice(profile.nodes.name).decode("utf-8", "replace") for _ in range(20)]
    types = [*profile.types.texts()]
    options = make_options(random, view, names, types, loaded.steps)
    for name in random.sample([*options], random.randrange(len(options))):
        del options[name]  # most people leave most of them alone
    options.pop("output", None)
    if random.random() < 0.2:
        options["device_regexes"] = [random.choice((".*cpu.*", ".*GPU.*", "", "none"))]
    texts = {n: ",".join(v) if isinstance(v, list) else str(v) for n, v in options.items()}
    return {name: text for name, text in texts.items() if text}


@pytest.mark.sampled
@pytest.mark.parametrize("sample", sampled([*SAMPLES], 3, "samples", again=True))
def test_the_table_of_random_queries_is_that_of_python(open_page: Pages, sample: str) -> None:
    loaded = loaded_sample(sample)
    page = open_page(loaded, "tab=table")
    for number in numbers(60, 6):
        random = Random(f"{sample} {number}")  # noqa: S311 - repeatable, not secret
        views = ["scope", "graph", "op", *["code"] * loaded.profile.has_traces]
        view = random.choice(views)
        options = _random_options(random, loaded, view)
        try:
            check_table(page, loaded, view, options)
        except AssertionError as problem:
            raise AssertionError(f"{view} {options}") from problem


@pytest.fixture(scope="module")
def shared(
    chromium: tuple[Chromium, Pages], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Page, Pages]]:
    """One page for all tests of a small profile: to open one takes longer than most of them."""
    one, _ = chromium
    pages = import_module("page_browser").Pages(one.browser, tmp_path_factory.mktemp("shared"))
    with one.in_use():
        page = pages(loaded_sample("handmade"), "tab=table")
    yield page, pages
    with one.in_use():
        assert pages.close() == []


@pytest.fixture
def table(chromium: tuple[Chromium, Pages], shared: tuple[Page, Pages]) -> Iterator[Page]:
    """The page of the handmade profile, without filters."""
    page, pages = shared
    with chromium[0].in_use():
        read_table(page, "tab=table")
        yield page
        assert pages.problems == []


def _show_all_filters(page: Page) -> None:
    more = page.get_by_role("button", name="More filters")
    if more.get_attribute("aria-expanded") == "false":
        more.click()


# --- filters --------------------------------------------------------------------------------------


@pytest.mark.sampled
def test_each_filter_of_the_form_does_what_its_option_does(table: Page) -> None:
    loaded = loaded_sample("handmade")
    _show_all_filters(table)
    values = {
        "show_name_regexes": ".*MatMul.*, w.*", "account_type_regexes": "MatMul,VariableV2,.*gpu.*",
        "step": "0", "max_depth": "3", "min_micros": "5", "min_params": "1",
        "start_name_regexes": "net", "trim_name_regexes": "net.*", "hide_name_regexes": ".*/fc.*",
        "device_regexes": ".*gpu.*",
    }  # fmt: skip
    for name, value in sampled([*values.items()], 4, "filters"):
        table.locator(f"#filter-{name}").fill(value)
        table.locator(f"#filter-{name}").press("Enter")
        seen = read_table(table)
        expected = report_of(loaded, "scope", {name: value}).table()
        assert seen.names == expected.to_dict()["name"][: len(seen.rows)]
        assert seen.count == len(expected)
        assert f"--{name}={value}" in shlex.split(seen.command)
        table.get_by_role("button", name="Reset").click()
    assert "=" not in table.evaluate("location.hash").removeprefix("#tab=table&opened=")


def test_choices_and_boxes_are_filters_too(table: Page) -> None:
    loaded = loaded_sample("handmade")
    _show_all_filters(table)
    table.locator("#filter-order_by").select_option("name")
    table.locator("#filter-account_displayed_op_only").check()
    table.locator("#filter-select").click()
    table.get_by_role("checkbox", name="params").check()
    table.get_by_role("checkbox", name="micros", exact=True).uncheck()
    table.locator("#filter-show_name_regexes").fill("w.*")
    table.locator("#filter-show_name_regexes").press("Enter")
    assert not table.locator(".choices").is_visible()
    options = {
        "order_by": "name",
        "account_displayed_op_only": "true",
        "select": "params",
        "show_name_regexes": "w.*",
    }
    seen = read_table(table)
    expected = report_of(loaded, "scope", options).table()
    assert seen.names == expected.to_dict()["name"]
    column = seen.columns.index("total_params")
    totals = [f"{number:,}" for number in expected.to_dict()["total_params"]]
    assert [row["cells"][column][1] for row in seen.rows] == totals
    assert table.get_by_role("button", name="More filters (2 set)").is_visible()


def test_a_wrong_filter_is_named_and_the_last_rows_stay(table: Page) -> None:
    loaded = loaded_sample("handmade")
    before = read_table(table)
    for name, value in {
        "step": "7", "show_name_regexes": "(", "account_type_regexes": "[z-a]", "max_depth": "many",
        "min_bytes": "1.5", "min_params": "9223372036854775808",
    }.items():  # fmt: skip
        seen = read_table(table, fragment("scope", {"order_by": "name", name: value}))
        with pytest.raises(tfprof.UsageError) as problem:
            report_of(loaded, "scope", {name: value})
        assert seen.problems == {name: str(problem.value)}
        assert table.locator(f"#filter-{name}").get_attribute("aria-invalid") == "true"
        assert seen.rows == before.rows[: len(seen.rows)]  # the sentence takes a line of the screen
    seen = read_table(table, fragment("scope", {}))
    assert seen.problems == {}
    # In a view that has no rows yet, the sentence stands in their place.
    seen = read_table(table, fragment("graph", {"order_by": "occurrence"}))
    assert seen.hidden
    assert "cannot order by occurrence" in table.locator(".empty").inner_text()
    # Once it is right, all rows that fit are there, and not only those around the first one.
    assert read_table(table, fragment("op", {"step": "7"})).hidden
    seen = read_table(table, fragment("op", {}))
    assert not seen.hidden
    assert len(seen.rows) == len(report_of(loaded, "op", {}).table()) > 4


def test_a_view_that_the_files_do_not_have_says_what_is_missing(open_page: Pages) -> None:
    page = open_page(tfprof.load(graph_node(b"a")), fragment("code", {"max_depth": "3"}))
    seen = read_table(page)
    assert seen.hidden
    assert seen.problems == {}
    assert "call stacks" in page.locator(".empty:visible").inner_text()


def test_a_filter_that_matches_nothing_says_what_would(table: Page) -> None:
    loaded = loaded_sample("handmade")
    for options in (
        {"show_name_regexes": "fc,BiasAd"},
        {"account_type_regexes": "Variable"},
        {"device_regexes": "tpu"},
    ):
        seen = read_table(table, fragment("scope", options))
        notes = [note.text for note in report_of(loaded, "scope", options).answer.notes]
        assert notes
        assert set(notes) <= {*seen.notes}
    read_table(table, fragment("scope", {"show_name_regexes": "fc,BiasAd"}))
    table.get_by_role("link", name="'.*BiasAd.*'").click()
    options = {"show_name_regexes": "fc,.*BiasAd.*"}
    expected = report_of(loaded, "scope", options).to_dict()["name"]
    assert read_table(table).names == expected


# --- the command line -----------------------------------------------------------------------------


def test_the_command_line_that_is_shown_prints_the_rows(table: Page) -> None:
    options = {
        "show_name_regexes": "[^']*w.*|it's \"$HOME\" `x` \\$.*",
        "max_depth": "5",
        "select": "params,micros",
        "order_by": "micros",
    }
    seen = read_table(table, fragment("scope", options))
    run = f'tfprof() {{ "{sys.executable}" -m tfprof "$@"; }}; {seen.command} --format=json'
    ran = subprocess.run(["sh", "-c", run], capture_output=True, check=True)  # noqa: S607
    rows = json.loads(ran.stdout)["rows"]
    assert len(rows) == seen.count > 1
    for name in ("own_params", "total_params", "own_micros", "total_micros"):
        at, unit = seen.columns.index(name), " microseconds" if "micros" in name else ""
        exact = [f"{row[name]:,}{unit}" for row in rows]
        assert [row["cells"][at][1] for row in seen.rows] == exact


def test_the_command_line_can_be_copied(table: Page) -> None:
    read_table(table, fragment("scope", {"show_name_regexes": "it's"}))
    command = table.locator(".command").inner_text()
    table.context.grant_permissions(["clipboard-read", "clipboard-write"])
    table.get_by_role("button", name="Copy").click()
    table.get_by_text("Copied").wait_for()
    assert table.evaluate("navigator.clipboard.readText()") == command
    # A browser may have no clipboard for a page: the old way.
    table.evaluate("""() => {
      navigator.clipboard.writeText("nothing");
      Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
    }""")
    table.get_by_role("button", name="Copy").click()
    table.get_by_text("Copied").wait_for()
    field = table.locator("#filter-show_name_regexes")
    field.fill("")
    field.press("ControlOrMeta+V")
    assert field.input_value() == command
    field.fill("")
    field.press("Enter")
    table.evaluate("delete navigator.clipboard")


# --- rows ----------------------------------------------------------------------


def test_the_keyboard_stays_at_a_heading_that_orders_rows(table: Page) -> None:
    table.locator('[data-column="name"] button').focus()
    table.keyboard.press("Enter")
    assert "order_by=name" in table.evaluate("location.hash")
    focused = "document.activeElement.closest('[data-column]').dataset.column"
    assert table.evaluate(focused) == "name"


def test_a_row_of_op_view_leads_to_its_nodes(table: Page) -> None:
    read_table(table, fragment("op", {}))
    table.get_by_text("MatMul", exact=True).click()
    seen = read_table(table)
    options = {"account_type_regexes": "MatMul"}
    expected = report_of(loaded_sample("handmade"), "scope", options).to_dict()["name"]
    assert seen.names == expected
    assert len(expected) > 2


def test_a_click_on_a_heading_orders_rows(table: Page) -> None:
    loaded = loaded_sample("handmade")
    read_table(table, fragment("scope", {"select": "micros,params,bytes"}))
    for view, heading, column in (
        ("scope", "total bytes", "total_bytes"),
        ("scope", "name", "name"),
        ("op", "own params", "own_params"),
    ):
        table.get_by_role("button", name=view, exact=True).click()
        table.get_by_role("columnheader", name=heading).get_by_role("button").click()
        order = column.removeprefix("total_").removeprefix("own_")
        assert f"order_by={order}" in table.evaluate("location.hash")
        seen = read_table(table)
        assert seen.sorted == [column]
        options = {"select": "micros,params,bytes", "order_by": order}
        names = report_of(loaded, view, options).to_dict()["name"]
        assert seen.names == names[: len(seen.rows)]
