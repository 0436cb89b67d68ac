"""Whatever files call nodes, types, devices and lines: nothing of it runs, and none is lost."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pexpect
import pytest

import tfprof
from hostile_parts import device, entry, frame, node, number, part, run, stat, text
from output_words import OUTPUTS
from profiles import DATA, PROFILES
from sampling import sampled
from tfprof.shell.editor import offer
from tools import go_pprof

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Browser

    from forked import Forked

SCRIPT: Final = "</script><script>document.title='owned'</script>"
WORDS: Final = (
    SCRIPT, "<img src=x onerror=\"document.title='owned'\">",
    "\"onload=\"document.title='owned'", "a|b||", "`code` ```", "[link](javascript)",
    "line\nbreak | x |\n| y |", "back\rover", "nul\0nul", "clear\x1b[2Jscreen",
    "title\x1b]0;owned\x07", "turned\u202eround\u2066", "=1+1", "+1+1", "-1+1", "@SUM(1+1)",
    "\t=1+1", "\r=1+1", " =1+1", "\ufeff=1+1", "\uff1d1+1", 'quo"ted,cell', "é/日本 \U0001f600",
)  # fmt: skip
NAMES: Final = [word.encode() for word in WORDS]
NO_TEXT: Final = [b"bad\xff\xfe", b"half a pair \xed\xa0\x80"]
DEVICE: Final = "=1+1\x1b[2j</script>\u202e|/device:cpu:0"


def graph_of(names: list[bytes]) -> bytes:
    return b"".join(node(name, b"Op" + name, part(4, DEVICE.encode())) for name in names)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A graph, a run of it and the lines that made it; in the last two, all is text."""
    folder = tmp_path_factory.mktemp("hostile")
    ran = [stat(name, at + 1, 5, number(5, 5)) for at, name in enumerate(NAMES)]
    log = b"".join(
        text(at, name)
        + entry(name, *(frame(at, line, at, at) for line in (3, 4)), float_ops=7, types=(name,))
        for at, name in enumerate(NAMES)
    )
    paths = {name: folder / name for name in ("graph", "run_meta", "op_log", "no_text")}
    paths["graph"].write_bytes(graph_of(NAMES))
    paths["no_text"].write_bytes(graph_of(NO_TEXT))
    paths["run_meta"].write_bytes(run(device(DEVICE.encode(), *ran)))
    paths["op_log"].write_bytes(log)
    return paths


@pytest.fixture(scope="module")
def flags(files: dict[str, Path]) -> list[str]:
    return [f"--{name}_path={files[name]}" for name in ("graph", "run_meta", "op_log")]


SELECTED: Final = "--select=micros,params,device,op_types"
VIEWS: Final = ("scope", "graph", "op", "code")
each_view = pytest.mark.parametrize("view", VIEWS)


@each_view
def test_csv(view: str, forked: Forked, flags: list[str]) -> None:
    ran = forked([view, *flags, SELECTED, "--format=csv", "--max_depth=100"])
    assert ran.code == 0
    head, *rows = csv.reader(io.StringIO(ran.out.decode(), newline=""), strict=True)
    assert {len(row) for row in rows} == {len(head)}
    for row in rows:
        for column, cell in zip(head, row, strict=True):
            if not re.fullmatch(r"row|parent|depth|(own|total)_.*", column):
                assert not re.match("[\\s\ufeff]*[=+\\-@\uff1d]|[\t\r\n]", cell), cell
    named = [row[head.index("name")].removeprefix("'") for row in rows]
    if view == "graph":
        assert {name.decode() for name in NAMES} <= set(named)


@each_view
def test_md(view: str, forked: Forked, flags: list[str]) -> None:
    ran = forked([view, *flags, SELECTED, "--format=md", "--max_depth=100"])
    assert ran.code == 0
    table = ran.out.decode().partition("\n\n")[0].rstrip("\n").split("\n")
    bars = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table]
    assert set(bars) == {bars[0]}
    assert all(line.startswith("| ") and line.endswith(" |") for line in table)
    assert not re.search(r"(?<!\\)(?:\\\\)*[<`\[](?!br>)", ran.out.decode())


@each_view
def test_json(view: str, forked: Forked, flags: list[str]) -> None:
    ran = forked([view, *flags, SELECTED, "--format=json", "--max_depth=100"])
    assert ran.code == 0
    made = json.loads(ran.out.decode("ascii"), parse_constant=pytest.fail)
    rows = [row["name"] for row in made["rows"]]
    if view in ("graph", "op"):
        prefix = "Op" if view == "op" else ""
        assert {prefix + name.decode() for name in NAMES} <= set(rows)
    assert any(DEVICE in row["devices"] for row in made["rows"])


def test_bytes_that_are_no_text(forked: Forked, files: dict[str, Path]) -> None:
    words = ["graph", f"--graph_path={files['no_text']}", SELECTED]
    ran = forked(words)
    assert all(name in ran.out for name in NO_TEXT)  # as the original has it
    for form in ("json", "csv", "md"):
        shown = forked([*words, f"--format={form}"]).out.decode()
        if form == "json":
            shown = json.dumps(json.loads(shown), ensure_ascii=False)
        assert "bad\ufffd\ufffd" in shown


@each_view
def test_text_is_to_the_byte(view: str, forked: Forked, flags: list[str], tmp_path: Path) -> None:
    words = [view, *flags, SELECTED, "--max_depth=100"]
    piped = forked(words).out
    assert forked([*words, f"--output=file:outfile={tmp_path / 'report'}"]).code == 0
    assert (tmp_path / "report").read_bytes() == piped
    for name in NAMES:
        assert name.rpartition(b"/")[2] in piped, name


def test_timeline(forked: Forked, flags: list[str], tmp_path: Path) -> None:
    for view in ("graph", "scope"):
        ran = forked([view, *flags, "--step=0", f"--output=timeline:outfile={tmp_path / view}"])
        assert ran.code == 0
        made = json.loads((tmp_path / f"{view}_0").read_text("utf-8"), parse_constant=pytest.fail)
        told = {str(event.get("args", {}).get("name")) for event in made["traceEvents"]}
        told |= {event["name"] for event in made["traceEvents"]}
        assert {name.decode() for name in NAMES} <= told or view == "scope"
        assert "=1+1" in told


def test_pprof(forked: Forked, flags: list[str], tmp_path: Path) -> None:
    for view in VIEWS:
        path = tmp_path / view
        words = [view, *flags, "--select=micros", "--max_depth=100"]
        assert forked([*words, f"--output=pprof:outfile={path}"]).code == 0
        shown = go_pprof.run(path, "-raw")
        assert "=1+1" in shown, view


def test_html_in_a_browser(files: dict[str, Path], browser: Browser) -> None:
    """No script runs, no element but ours is there, and every name is shown to the letter."""
    loaded = tfprof.load(files["graph"], files["run_meta"], files["op_log"])
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for view in VIEWS:
        report = getattr(loaded, view)(select=["micros", "device", "op_types"], max_depth=100)
        page.set_content(f"<title>ours</title>{report._repr_html_()}")
        page.wait_for_timeout(100)
        assert page.title() == "ours"
        tags = page.evaluate("[...document.body.querySelectorAll('*')].map(e => e.tagName)")
        assert set(tags) <= {"TABLE", "THEAD", "TBODY", "TR", "TH", "TD", "DIV"}
        first = "[...document.querySelectorAll('td:first-child')]"
        cells = page.evaluate(f"{first}.map(e => e.textContent)")
        names = report.to_dict()["name"]
        shown = {name.replace("\r", "\n").replace("\0", "") for name in names}  # browsers drop it
        assert {cell.replace("\r", "\n") for cell in cells} == shown
    assert not asked
    page.close()


# --- on a terminal --------------------------------------------------------------------------------

ON_A_TERMINAL: Final = {
    "text": ["scope", "{flags}", SELECTED],
    "code": ["code", "{flags}", SELECTED],
    "csv": ["graph", "{flags}", SELECTED, "--format=csv"],
    "md": ["graph", "{flags}", SELECTED, "--format=md"],
    "json": ["graph", "{flags}", SELECTED, "--format=json"],
    "advise": ["advise", "{flags}"],
    "timeline": ["graph", "{flags}", "--step=0", "--output=timeline:outfile=/dev/null"],
    "info": ["info", "{graph}", "{op_log}"],
    "a note": ["scope", "--graph_path={graph}", "--run_meta_path={run_meta}"],
    "a sentence": ["scope", "--graph_path={graph}/\x1b[2J"],
    "no such command": ["sc\x1b[2Jope"],
}


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("name", ON_A_TERMINAL)
def test_nothing_steers_a_terminal(name: str, files: dict[str, Path], flags: list[str]) -> None:
    words: list[str] = []
    for word in ON_A_TERMINAL[name]:
        words += flags if word == "{flags}" else [word.format(**files)]
    told = on_terminal(words)
    assert told
    assert_harmless(told)


def on_terminal(words: list[str], typed: str = "") -> str:
    """All that a terminal is sent."""
    plain = {"TERM": "xterm", "NO_COLOR": "1", "PAGER": "cat", "XDG_STATE_HOME": "/nowhere"}
    line = ["-m", "tfprof", *words]
    env: Any = {**os.environ, **plain}
    child = pexpect.spawn(sys.executable, line, env=env, timeout=60, dimensions=(50, 400))
    if typed:
        child.expect_exact("tfprof>")
        child.send(typed)
    told: Any = child.read()  # bytes, where no encoding is given
    child.close()
    return str(told.decode("utf-8", "surrogateescape"))


def assert_harmless(told: str) -> None:
    """Nothing that a terminal obeys but line ends, tabs, and wiping the line of how far it is."""
    told = told.replace("\r\n", "\n").replace("\r\x1b[K", "")
    found = re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]", told
    )
    assert found is None, told[max(0, found.start() - 60) : found.end() + 60].encode()


def test_the_shell_on_a_terminal(flags: list[str]) -> None:
    """Its editor steers the terminal, but no name does."""
    told = on_terminal(flags, "graph -select device\rcode\ropp\x1b[2J\rexit\r")
    assert "clear\\x1b[2Jscreen" in told
    assert "clear\x1b[2Jscreen" not in told
    for hostile in ("\x1b]0;owned", "\u202e", "\x07"):
        assert hostile not in told


def test_what_tab_offers(files: dict[str, Path]) -> None:
    profile = tfprof.load(files["graph"], files["run_meta"], files["op_log"]).profile
    for view in VIEWS:
        for option in ("show_name_regexes", "account_type_regexes"):
            words = list(offer(f"{view} -{option} ", profile).words)
            assert len(words) > 10
            for word in words:
                assert_harmless(word)


# --- files that are read --------------------------------------------------------------------------


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    """Copies of files, the run with a name that a timeline of step 0 could have."""
    handmade = PROFILES["handmade"]
    sources = {"graph": handmade.graph, "run_0": handmade.runs[0], "op_log": handmade.op_log}
    sources |= {path.name: path for path in (DATA / "checkpoints").glob("several.*")}
    made = {name: Path(shutil.copy(path, tmp_path / name)) for name, path in sources.items()}
    assert len(made) == 7
    return made


@pytest.mark.sampled
def test_no_input_is_overwritten(forked: Forked, inputs: dict[str, Path], tmp_path: Path) -> None:
    """By no output and under no name: its own, a link's, another of the same file's."""
    before = {path: path.read_bytes() for path in inputs.values()}
    flags = {"graph": "graph", "run_meta": "run_0", "op_log": "op_log"}
    words = [f"--{flag}_path={inputs[name]}" for flag, name in flags.items()]
    words.append(f"--checkpoint_path={tmp_path / 'several'}")

    def refuses(how: Sequence[str], target: str, written: Path) -> None:
        command, *options = how
        ran = forked([command, *words, *(option.format(target) for option in options)])
        told = f"tfprof: {written} is an input of this result and is not overwritten\n"
        assert (ran.code, ran.told[-len(told) :]) == (4, told)

    for name, how in OUTPUTS.items():
        if isinstance(how, str):
            continue
        run = inputs["run_0"]
        refuses(how, str(run).removesuffix("_0") if name == "timeline" else str(run), run)
    for path in sampled([*inputs.values()], 2, "inputs"):
        link, other = tmp_path / "a link", tmp_path / "another name"
        link.symlink_to(path)
        other.hardlink_to(path)
        for target in (path, link, other):
            refuses(OUTPUTS["file"], str(target), target)
        link.unlink()
        other.unlink()
    assert {path: path.read_bytes() for path in inputs.values()} == before
