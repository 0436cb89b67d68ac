"""Bad input gets one clear sentence and an exit code: never a traceback, never a lost file."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from hostile_parts import device, node, part, stat
from ours import wire_of
from profiles import DATA, PROFILES, SAMPLE, content
from tfprof import cli

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., "Ran"]

HANDMADE = PROFILES["handmade"]
CHECKPOINT = DATA / "checkpoints" / "golden"
GRAPH = f"--graph_path={HANDMADE.graph}"
RUNS = f"--run_meta_path={HANDMADE.runs[0]},{HANDMADE.runs[1]}"
FILES: Final = {
    "graph_path": HANDMADE.graph,
    "run_meta_path": HANDMADE.runs[0],
    "op_log_path": HANDMADE.op_log,
}
each_flag = pytest.mark.parametrize("flag", FILES)


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    return lambda *words: Ran(cli.run(words), *capfd.readouterr())


def refused(ran: Ran, code: int, *parts: str) -> None:
    """One sentence on stderr that has all *parts*, nothing on stdout."""
    assert ran.out == ""
    sentences = [line for line in ran.err.splitlines() if line.startswith("tfprof: ")]
    assert len(sentences) == 1
    for each in parts:
        assert each in sentences[0]
    assert ran.code == code


NOISE: Final = bytes(range(255, 0, -1)) * 20
HALF: Final = (SAMPLE / "run_meta_0.gz").read_bytes()[:1000]
# What is there, and what is said of it.
UNUSABLE: Final[dict[str, tuple[Callable[[Path], object], tuple[str, ...]]]] = {
    "missing": (lambda _: None, ("does not exist", "{flag}")),
    "folder": (Path.mkdir, ("is a folder", "{flag}")),
    "empty": (Path.touch, ("is empty; expected a",)),
    "noise": (lambda path: path.write_bytes(NOISE), ("not a",)),
    "half a gzip file": (lambda path: path.write_bytes(HALF), ("damaged gzip",)),
}


@each_flag
@pytest.mark.parametrize("name", UNUSABLE)
def test_a_file_that_cannot_be_used(run: Run, name: str, flag: str, tmp_path: Path) -> None:
    path, (make, told) = tmp_path / "given", UNUSABLE[name]
    make(path)
    if (name, flag) == ("folder", "graph_path"):
        told = told[:1]  # what could be in a folder is named, and no flag
    parts = (each.format(flag=flag) for each in told)
    refused(run("scope", f"--{flag}={path}"), 3, str(path), *parts)


@pytest.fixture(params=["binary", "text"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Path]:
    """A good file for each flag, in both formats."""
    if request.param == "text":
        return FILES
    for flag, path in FILES.items():
        (tmp_path / flag).write_bytes(wire_of(path))
    return {flag: tmp_path / flag for flag in FILES}


@pytest.mark.parametrize("given", FILES)
@each_flag
def test_each_flag_given_each_file(run: Run, files: dict[str, Path], flag: str, given: str) -> None:
    kind = {"graph_path": "GraphDef", "run_meta_path": "RunMetadata", "op_log_path": "op log"}
    ran = run("scope", f"--{flag}={files[given]}")
    if flag == given:
        assert ran.code == 0
        assert "_TFProfRoot" in ran.out
    else:
        refused(ran, 3, str(files[given]), f"{kind[given]}", "expected a", kind[flag])


@each_flag
def test_every_tenth_truncation_of_a_binary_file(run: Run, tmp_path: Path, flag: str) -> None:
    whole = wire_of(FILES[flag])
    path = tmp_path / "cut"
    refusals = 0
    for size in range(1, len(whole), 10):
        path.write_bytes(whole[:size])
        ran = run("scope", f"--{flag}={path}")
        if ran.code:
            refused(ran, 3, str(path), "at byte")
            refusals += 1
    assert refusals > len(whole) / 10 * 0.9


def test_damaged_text_names_line_and_column(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.pbtxt"
    path.write_text('node {\n  name: "a"\n  op = "Add"\n}\n')
    refused(run("scope", f"--graph_path={path}"), 3, f"{path}:3:6: expected")
    path.write_bytes(content(HANDMADE.graph)[:500])
    refused(run("scope", f"--graph_path={path}"), 3, f'{path}:39:12: expected "}}"')


def test_meta_graph_without_a_graph(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.pbtxt"
    path.write_text('meta_info_def {\n  tensorflow_version: "2"\n}\n')
    refused(run("scope", f"--graph_path={path}"), 3, str(path), "no graph in it")


def test_damaged_attribute_is_told_by_who_needs_it(run: Run, tmp_path: Path) -> None:
    graph, ran = tmp_path / "g", tmp_path / "r"
    graph.write_bytes(node(b"a", b"Add", part(5, b"\x0a\x0bdata_format\x12\x7f")))
    ran.write_bytes(part(1, device(b"/gpu:0", stat(b"a", 5, 7))))
    files = [f"--graph_path={graph}", f"--run_meta_path={ran}"]
    assert run("scope", *files).code == 0
    refused(run("advise", *files), 3, "an attribute of the graph is damaged")


def test_timeline_without_a_run(run: Run, tmp_path: Path) -> None:
    for view in ("scope", "graph"):
        ran = run(view, GRAPH, f"--output=timeline:outfile={tmp_path / 'x'}")
        refused(ran, 2, "a timeline needs a run")
    assert not list(tmp_path.iterdir())


def test_nothing_to_save(run: Run, tmp_path: Path) -> None:
    ran = run("save", f"--op_log_path={HANDMADE.op_log}", f"--output=file:outfile={tmp_path / 'x'}")
    refused(ran, 2, "nothing to write")
    assert not list(tmp_path.iterdir())


# What is typed wrongly is told with the nearest right word.
WRONG: Final[dict[str, tuple[str, ...]]] = {
    "demo GRAPH": ("demo takes no --graph_path: it has its own files",),
    "scope GRAPH --max_dept=3": ("--max_dept", "mean '--max_depth'"),
    "scpoe GRAPH": ("'scpoe'", "mean 'scope'"),
    "--max_depth=3": ("no command", "scope"),
    "scope": ("--graph_path",),
    "scope GRAPH --select --max_depth=3": ("--select needs a value",),
    "scope GRAPH --max_depth": ("--max_depth needs a value",),
    **{
        f"scope GRAPH --min_micros={number}": ("--min_micros", repr(number))
        for number in ("3x", "", "0x10", "1.5", "9223372036854775808", "٣")
    },
    **{
        f"scope GRAPH --{name}_regexes={wrong}": told
        for name in ("account_type", "start_name", "trim_name", "show_name", "hide_name")
        for wrong, told in (("a,(b", ("'(b'", "missing )")), ("\udcff", ("not UTF-8",)))
    },
    "scope GRAPH --select=param": ("'param'", "mean 'params'", "micros"),
    "scope GRAPH --order_by=nam": ("'nam'", "mean 'name'"),
    "scope GRAPH --order_by=occurrence": ("occurrence", "scope"),
    "scope GRAPH RUNS --step=7": ("no step 7", "0, 1"),
    "scope GRAPH --step=0": ("no step 0", "no run"),
    "scope GRAPH --output=fil:outfile=x": ("'fil'", "mean 'file'"),
    "scope GRAPH --output=file": ("file:outfile=PATH",),
    "scope GRAPH --output=stdout:outfile=x": ("takes no 'outfile'",),
}


@pytest.mark.parametrize("line", WRONG)
def test_words_that_are_wrong(run: Run, line: str) -> None:
    words = [{"GRAPH": GRAPH, "RUNS": RUNS}.get(word, word) for word in line.split()]
    refused(run(*words), 2, *WRONG[line])


def test_two_commands(run: Run) -> None:
    refused(run("scope", "scope", GRAPH), 3, "scope does not exist; expected a graph, ")


class TestOutput:
    """A failed write leaves what was there."""

    def test_missing_folder_and_folder_in_the_way(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "no" / "out.txt"
        ran = run("scope", GRAPH, f"--output=file:outfile={path}")
        refused(ran, 4, str(path), "no folder", str(path.parent))
        refused(run("scope", GRAPH, f"--output=file:outfile={tmp_path}"), 4, "is a folder")

    def test_input_is_not_overwritten(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "graph.pbtxt"
        path.write_bytes(content(HANDMADE.graph))
        ran = run("scope", f"--graph_path={path}", f"--output=file:outfile={path}")
        refused(ran, 4, str(path), "not overwritten")
        assert path.read_bytes() == content(HANDMADE.graph)

    def test_no_file_of_the_checkpoint_is_overwritten(self, run: Run, tmp_path: Path) -> None:
        for name in ("ck.index", "ck.data-00000-of-00001"):
            (tmp_path / name).write_bytes((CHECKPOINT / name).read_bytes())
        words = ["scope", f"--graph_path={CHECKPOINT / 'graph.pb'}"]
        words.append(f"--checkpoint_path={tmp_path / 'ck'}")
        around = tmp_path / ".." / tmp_path.name / "ck.index"
        refused(run(*words, f"--output=file:outfile={around}"), 4, "not overwritten")
        assert (tmp_path / "ck.index").read_bytes() == (CHECKPOINT / "ck.index").read_bytes()
        assert run(*words, f"--output=file:outfile={tmp_path / 'ck.txt'}").code == 0

    def test_links_in_a_circle(self, run: Run, tmp_path: Path) -> None:
        one, other = tmp_path / "one", tmp_path / "other"
        one.symlink_to(other)
        other.symlink_to(one)
        ran = run("scope", GRAPH, f"--output=file:outfile={one}")
        refused(ran, 4, str(one), "cannot be written")

    def test_a_name_as_long_as_names_may_be(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / ("x" * 255)
        assert run("scope", GRAPH, f"--output=file:outfile={path}").code == 0
        assert path.read_bytes().startswith(b"\nDoc:")

    @pytest.mark.parametrize(("closed", "code"), [(1, 4), (2, 0)])
    def test_closed_streams(self, closed: int, code: int) -> None:
        command = shlex.join([sys.executable, "-m", "tfprof", "demo", "--max_depth=1"])
        ran = subprocess.run(
            ["/bin/sh", "-c", f"{command} {closed}>&-"], check=False, capture_output=True, text=True
        )
        assert ran.returncode == code
        assert "Traceback" not in ran.stderr
        assert ("_TFProfRoot" in ran.stdout) == (closed == 2)

    def test_no_input_is_overwritten_by_a_name_with_a_step(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "run_0"
        path.write_bytes(wire_of(HANDMADE.runs[0]))
        words = ["graph", GRAPH, f"--run_meta_path={path}"]
        ran = run(*words, f"--output=timeline:outfile={tmp_path / 'run'}")
        refused(ran, 4, str(path), "not overwritten")
        assert path.read_bytes() == wire_of(HANDMADE.runs[0])

    @pytest.mark.parametrize("name", ["x" * 300, "nul\0byte"])
    def test_impossible_name(self, run: Run, tmp_path: Path, name: str) -> None:
        ran = run("scope", GRAPH, f"--output=file:outfile={tmp_path / name}")
        refused(ran, 4, "cannot be written")
        refused(run("scope", f"--graph_path={tmp_path / name}"), 3, "cannot be read")

    def test_failed_write_keeps_the_old_file(self, tmp_path: Path) -> None:
        path = tmp_path / "out.txt"
        path.write_text("before")
        # A limit on the size of files is a full disk as far as the writer can tell.
        command = (
            "import resource, signal, sys; from tfprof import cli;"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
            "cli.main(sys.argv[1:])"
        )
        flags = [*PROFILES["resnet"].flags(), f"--output=file:outfile={path}"]
        line = [sys.executable, "-B", "-c", command, "scope", *flags]
        ran = subprocess.run(line, check=False, capture_output=True, text=True)
        refused(Ran(ran.returncode, ran.stdout, ran.stderr), 4, str(path), "File too large")
        assert path.read_text() == "before"
        assert list(tmp_path.iterdir()) == [path]

    def test_closed_pipe(self) -> None:
        # The reader takes one line and goes, while the report is larger than a pipe holds.
        flags = [*PROFILES["resnet"].flags(), "--select=micros,bytes,op_types"]
        with subprocess.Popen(
            [sys.executable, "-m", "tfprof", "scope", *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.readline()
            process.stdout.close()
            err = process.stderr.read()
        assert process.returncode == 141  # as if by SIGPIPE, and as quiet
        assert not [line for line in err.splitlines() if line.startswith("tfprof: ")]
        assert "Traceback" not in err
        assert "Exception ignored" not in err
