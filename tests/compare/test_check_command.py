"""tfprof check: bounds, budgets that are wrong, outputs, exit codes.

The commands that show why a bound is broken are run, and show the number that the check says.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import pytest
from junitparser import Failure, JUnitXml

from draw import loaded
from sampling import sampled
from tfprof import cli
from tfprof.compare.bounds import Bound, bounds
from tfprof.errors import InputError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.results.loaded import Loaded

Run = Any  # (line) -> (exit code, stdout, stderr)
MODEL: Final = """
in         op=Placeholder out=4x3
conv1/w    op=VariableV2 params=3x5 out=3x5
conv1/mul  op=MatMul out=4x5 us=10+20 bytes=100+300 peak=80+90 < in, conv1/w
net/v      op=VariableV2 params=5x2 out=5x2
net/mul    op=MatMul out=4x2 us=7+7 bytes=8+8 peak=8+8 < conv1/mul, net/v
save       op=SaveV2 us=4+4 < net/v
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return loaded(MODEL, tmp_path_factory.mktemp("model"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    loaded(MODEL, tmp_path)

    def run_line(line: str) -> tuple[int, str, str]:
        code = cli.run(shlex.split(line))
        return code, *capfd.readouterr()

    return run_line


# --- bounds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "text", "relation", "amount"),
    [
        ("params", 25_600_000, "<=", 25_600_000),
        ("params", 2.5e3, "<=", 2500),
        ("params", "25.6M", "<=", 25_600_000),
        ("params", "<= 25.6M", "<=", 25_600_000),
        ("params", "< 464.15k", "<", 464_150),
        ("params", ">=1_000", ">=", 1000),
        ("params", "== 1,234,567", "==", 1_234_567),
        ("float_ops", "> 1.5e3 G", ">", 1_500_000_000_000),
        ("bytes", "<= 2GiB", "<=", 2 * 1024**3),
        ("bytes", "<= 54.1 kB", "<=", 54_100),
        ("peak_bytes", "1TiB", "<=", 1024**4),
        ("micros", "<= 5ms", "<=", 5000),
        ("micros", "3.80sec", "<=", 3_800_000),
        ("micros", 7, "<=", 7),
        ("uncounted", 0, "<=", 0),
    ],
)
def test_a_bound(metric: str, text: object, relation: str, amount: int) -> None:
    (bound,) = bounds(metric, text)
    assert (bound.relation, int(bound.amount), bound.is_relative) == (relation, amount, False)
    assert bound.amount.denominator == 1


@pytest.mark.parametrize(
    ("metric", "text", "base", "limit"),
    [
        ("params", "< +5%", 200, 210),
        ("params", "<= base + 5%", 200, 210),
        ("params", "base", 200, 200),
        ("params", "-10%", 200, 180),
        ("params", "<= base - 1k", 3000, 2000),
        ("micros", "<= base+5ms", 200, 5200),
        ("uncounted", "<= base + 1%", 0.5, 0.51),  # of all operations, not of the recorded share
    ],
)
def test_a_relative_bound(metric: str, text: str, base: float, limit: float) -> None:
    (bound,) = bounds(metric, text)
    assert bound.is_relative
    assert float(bound.limit(base)) == limit


# (relation, value) → for an exact value and base; a value, a base, and both that are lower bounds.
# The limit is 10. What is a lower bound may be anything above.
OPEN: Final = None
LAWS: Final = {
    ("<=", 10): [True, OPEN, True, OPEN],
    ("<=", 11): [False, False, OPEN, OPEN],
    (">=", 10): [True, True, OPEN, OPEN],
    (">=", 9): [False, OPEN, False, OPEN],
    ("==", 10): [True, OPEN, OPEN, OPEN],
    ("==", 11): [False, False, OPEN, OPEN],
    ("==", 9): [False, OPEN, False, OPEN],
    ("<", 10): [False, False, OPEN, OPEN],
    (">", 10): [False, OPEN, False, OPEN],
}


@pytest.mark.parametrize(("relation", "value"), LAWS)
def test_lower_bounds_leave_open_what_they_leave_open(relation: str, value: int) -> None:
    bound = Bound("params", relation, Fraction(0), "", is_relative=True)
    both = ((False, False), (True, False), (False, True), (True, True))
    assert [
        bound.holds(value, 10, is_lower=of_value, base_is_lower=of_base)
        for of_value, of_base in both
    ] == LAWS[relation, value]


# --- budgets that are wrong --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ("[modle]\nparams = 3", ":1: a budget has no table 'modle'; did you mean 'model'? (there"),
        ("\nparams = 3", ":2: params is in no table: put it below [model]"),
        ("[model]\n\nparms = 3", ":3: model has no 'parms'; did you mean 'params'? (there are: pa"),
        ("[scope.net]\nbytes_in_use = 3", ":2: scope has no 'bytes_in_use' (there are: params, fl"),
        ("[model]\nparams = '3X'", ":2: there is no unit 'X' in '3X' (params takes k, K, M, G, T"),
        ("[model]\nmicros = '3mss'", ":2: there is no unit 'mss' in '3mss'; did you mean 'ms'? "),
        ("[model]\nuncounted = 1", ":2: a unit is missing in '1' (uncounted takes %)"),
        ("[model]\nparams = true", ":2: params takes a number or a text such as"),
        ("[model]\nparams = []", ":2: params takes a number or a text such as"),
        ("[model]\nparams = nan", ":2: params takes a number or a text such as"),
        ("[model]\nparams = -3", ":2: params takes a number or a text such as"),
        (f"[model]\nparams = 1{'0' * 5000}", " is not a budget in TOML: Exceeds the limit"),
        (f"[model]\nparams = 0x{'f' * 5000}", ":2: params takes a number or a text such as"),
        ("[model]\nparams = 1e300", ":2: params takes a number or a text such as"),
        ("[model]\nparams = '=< 3'", ":2: params takes a bound such as"),
        ("[model]\nparams = '= 3'", ":2: params takes a bound such as"),
        ("[model]\nparams = 'base 3'", ":2: params takes a bound such as"),
        ("[model]\nparams = '<= base +'", ":2: params takes a bound such as"),
        ("[model]\nparams = ''", ":2: params takes a bound such as"),
        ("[scope.nett]\nparams = 3", ":2: no scope matches 'nett'; did you mean 'net'?"),
        ("[scope.conv]\nparams = 3", ":2: no scope matches 'conv' (a regex matches the whole nam"),
        ("[scope.'(net']\nparams = 3", ":2: '(net' is not a valid regex"),
        ("[op.matmul]\nparams = 3", ":2: no node has the type 'matmul'; there is 'MatMul'"),
        ("[layer.conv2]\nparams = 3", ":2: no layer matches 'conv2'; did you mean 'conv1'?"),
        ("[device.cpu]\nparams = 3", ":2: no device matches 'cpu' (a regex matches the whole"),
        ("[device.tpu]\nparams = 3", ":2: no device matches 'tpu'; there is '/"),
        ("[scope.a.b]\nparams = 3", ':1: b is a table: quote the name, as in [scope."a.b"]'),
        ("[scope]\nparams = 3", ':2: params is in no table: write [scope."NAME"] above it'),
        ("[[model]]\nparams = 3", ": model takes a table, as in [model], not [{'params': 3}]"),
        ("[model]\nallow_incomplete = 3\nparams = 3", ":1: allow_incomplete takes true or false"),
        ("[model]", ": it has no bounds, as in [model] params"),
        ("[model", " is not a budget in TOML: Expected ']'"),
        ("[scope]\nnet = {micros = '3x'}", ":2: there is no unit 'x' in '3x' (micros takes us,"),
        # The time for blanks grew with their square and more, as that for parts of keys does.
        (f"[model]\nparams = '<{' ' * 10_000}x'", ":2: params takes a bound such as"),
        (f"[model]\n{' ' * 10_000}\nparms = 3", ":3: model has no 'parms'; did you mean 'params'"),
        (f'[model]\nbytes = """\na{" " * 200_000}\n"""', ":2: bytes takes a bound such as"),
        (f"{'a.' * 100_000}a = 3", " is not a budget in TOML: a line has more than 100 dots"),
        (f"['a' . {'a.' * 100_000}a]", " is not a budget in TOML: a line has more than 100 dots"),
    ],
)
def test_a_budget_that_is_wrong(model: Loaded, tmp_path: Path, budget: str, expected: str) -> None:
    path = tmp_path / "b.toml"
    path.write_text(budget)
    with pytest.raises(InputError) as problem:
        model.check(path)
    assert str(problem.value).startswith(f"{path}{expected}")


def test_a_mapping_that_is_wrong(model: Loaded) -> None:
    for budget in ({"scope": {"nett": {"params": 3}}}, {"model": {"parms": 3}}, {3: 4}, {}):
        with pytest.raises(UsageError, match=r"^invalid budget: "):
            model.check(budget)  # type: ignore[arg-type]  # as people do
    with pytest.raises(UsageError, match=r"budget takes a string or a pathlib\.Path, not 3"):
        model.check(3)  # type: ignore[arg-type]  # likewise


def test_a_command_line_that_is_wrong(run: Run, tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text("[model]\nparams = 25")
    (tmp_path / "wrong.toml").write_text("[modle]\nparams = 25")
    lines = {
        "check": (2, "check needs a budget as its first word, as in: tfprof check budget.toml g"),
        "check graph.pbtxt budget.toml": (2, "check needs a budget as its first word"),
        "check b.toml": (2, "no input: name a file or folder"),
        "check c.toml graph": (3, "c.toml does not exist; expected a budget in TOML; did you me"),
        "check wrong.toml graph": (3, "wrong.toml:1: a budget has no table 'modle'; did you mean"),
        "check . graph": (3, ". is a folder; expected a budget in TOML"),
        "check b.toml graph --steps=3": (2, "no step is in '3': none is recorded"),
        "check b.toml graph --format=pprof": (2, "format has no 'pprof'"),
        "scope graph --format=junit": (2, "format has no 'junit' (there are: text, json,"),
        "check b.toml graph --dim=batch=2": (2, "no dimension of the inputs is called 'batch'"),
    }
    for line, (code, sentence) in lines.items():
        ended, out, err = run(line)
        assert (ended, out) == (code, "")
        assert err.splitlines()[-1].startswith(f"tfprof: {sentence}")


def test_exit_codes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for most, code in ((25, 0), (24, 1)):
        (tmp_path / "b.toml").write_text(f"[model]\nparams = {most}")
        assert run("check b.toml graph")[0] == code

    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tfprof.cli.check.read_budget", full)
    assert run("check b.toml graph") == (5, "", "tfprof: out of memory\n")


# --- outputs -----------------------------------------------------------------------------------

BUDGET: Final = """[model]
params = "<= 24"
# a comment

[scope."conv1|net"]
float_ops = ["<= 100", ">= 1"]
"""
ROWS: Final = [
    ("model", "", "params", "<= 24", 25, "broken", 2),
    ("scope", "conv1", "float_ops", "<= 100", 120, "broken", 6),
    ("scope", "net", "float_ops", "<= 100", 80, "ok", 6),
    ("scope", "conv1", "float_ops", ">= 1", 120, "ok", 6),
    ("scope", "net", "float_ops", ">= 1", 80, "ok", 6),
]
COLUMNS: Final = ("table", "name", "metric", "bound", "value", "result", "line")


def test_outputs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text(BUDGET)
    code, out, err = run("check b.toml graph")
    assert (code, err) == (1, "")
    assert out.splitlines()[0] == "b.toml: 2 of 5 bounds broken"
    assert "model: params <= 24: 25 is above the bound by 4.17%\n    tfprof summary graph " in out
    code, out, _ = run("check b.toml graph --format=json")
    content = json.loads(out)
    assert (code, content["schema"], content["ok"]) == (1, "tfprof.check/1", False)
    assert [tuple(row[name] for name in COLUMNS) for row in content["rows"]] == ROWS
    code, out, _ = run("check b.toml graph --format=csv")
    rows = [tuple(row[name] for name in COLUMNS) for row in csv.DictReader(io.StringIO(out))]
    assert rows == [tuple(map(str, row)) for row in ROWS]
    code, out, _ = run("check b.toml graph --format=md")
    assert out.startswith("**b.toml: 2 of 5 bounds broken**\n")
    row = "| model | params | \\<= 24 | 25 | broken | 25 is above the bound by 4.17% | tfprof "
    assert row in out
    assert run("check b.toml graph --output=junit:outfile=b.xml")[0] == 1
    (suite,) = JUnitXml.fromfile(str(tmp_path / "b.xml"))
    assert (suite.name, suite.tests, suite.failures, suite.errors) == ("b.toml", 5, 2, 0)
    cases = list(suite)
    assert [(case.classname, case.name, len(case.result)) for case in cases] == [
        ("model", "params <= 24", 1),
        ("scope", "scope conv1: float_ops <= 100", 1),
        ("scope", "scope net: float_ops <= 100", 0),
        ("scope", "scope conv1: float_ops >= 1", 0),
        ("scope", "scope net: float_ops >= 1", 0),
    ]
    (failure,) = cases[1].result
    assert isinstance(failure, Failure)
    assert failure.message == "120 is above the bound by 20%"
    code, out, _ = run("check b.toml graph --format=github")
    lines = out.splitlines()[1:]
    place = "file=b.toml,line=6,title=scope conv1%3A float_ops <= 100"
    why = "tfprof scope graph --start_name_regexes=conv1 --select=float_ops --order_by=float_ops"
    assert lines[0] == f"::error {place}::120 is above the bound by 20%25%0A{why}"
    assert lines[1:] == ["b.toml: 2 of 5 bounds broken"]


def test_names_that_outputs_could_take_for_their_own(tmp_path: Path) -> None:
    name = 'a:b,c%d<"&>]]>\x01'
    model = loaded(MODEL.replace("net/mul", f"{name}/mul"), tmp_path)
    report = model.check({"scope": {".*<.*": {"float_ops": "<= 1"}}})
    ((case,),) = JUnitXml.fromstring(b"".join(report.pieces("junit")))
    assert case.name == f"scope {name}: float_ops <= 1".replace("\x01", "\ufffd")
    line = b"".join(report.pieces("github")).decode().splitlines()[0]
    assert line.startswith('::error title=scope a%3Ab%2Cc%25d<"&>]]>\x01%3A float_ops <= 1::80 is')


def test_recorded_numbers_are_not_overwritten_by_a_report(run: Run, tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text("[model]\nparams = 99\n")
    code, _, err = run("check b.toml graph --record --output=junit:outfile=b.lock")
    assert (code, "b.lock is an input of this result and is not overwritten" in err) == (4, True)
    assert "params = 25" in (tmp_path / "b.lock").read_text()


def test_names_of_several_lines_stay_on_theirs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "lines.pbtxt").write_text(r'node { name: "a\n::error::e/b" op: "Add" }')
    (tmp_path / "b.toml").write_text('[scope."(?s:a.*)"]\noccurrence = 0\nmicros = 0\n')
    for form in ("text", "md", "github"):
        code, out, _ = run(f"check b.toml lines.pbtxt --format={form}")
        commands = [line for line in out.splitlines() if line.startswith("::")]
        places = [line[: len("::error file=b.toml,line=2")] for line in commands]
        assert places == [f"::error file=b.toml,line={n}" for n in (2, 3) if form == "github"]
        assert code == 1
    _, out, _ = run("check b.toml lines.pbtxt")
    assert r"scope a\x0a::error::e: occurrence <= 0: 1 is above the bound" in out
    command = next(line for line in out.splitlines() if "tfprof explain" in line)
    code, out, _ = run(command.strip().removeprefix("tfprof "))
    assert (code, "(Add)" in out) == (0, True)


# --- the commands that show why ----------------------------------------------------------------

NUMBERS: Final = (
    *("float_ops", "micros", "bytes", "peak_bytes", "cpu_micros"),
    *("occurrence", "multiply_adds", "uncounted"),
)
EVERY: Final = {
    table: NUMBERS if table == "op" else (*NUMBERS, "params")
    for table in ("model", "scope", "op", "device", "layer")
}
NAMES: Final = {"scope": "a,[+]b", "op": "MatMul", "device": ".*cpu.*", "layer": "a,[+]b|conv1"}
# What no command shows as one number; these list what it consists of.
NOT_SHOWN: Final = {
    (table, metric)
    for table in EVERY
    for metric in ("uncounted", "occurrence", "multiply_adds")
    if (table, metric) not in {("layer", "multiply_adds"), ("model", "multiply_adds")}
} | {("layer", metric) for metric in ("bytes", "peak_bytes", "cpu_micros")}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("table", "metric"),
    sampled([(table, metric) for table in EVERY for metric in EVERY[table]], 6, "check commands"),
)
def test_the_command_shows_the_number(
    table: str, metric: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = loaded(MODEL.replace("net/mul", "a,+b/mul"), tmp_path)
    bounds = {metric: "< 0%" if metric == "uncounted" else "< 0"}
    # No layer, so no row of the summary, is called a,+b unless it has parameters.
    name = "conv1" if (table, metric) == ("scope", "params") else NAMES.get(table, "")
    report = model.check({table: bounds if table == "model" else {name: bounds}})
    for verdict in report.verdicts:
        command = report.command(verdict)
        assert cli.run([*shlex.split(command)[1:], "--format=json"]) == 0, command
        out, err = capfd.readouterr()
        assert "matches" not in err
        if (table, metric) not in NOT_SHOWN:
            assert verdict.value in numbers(json.loads(out), verdict.name), command


@pytest.mark.parametrize(("table", "name"), [("op", "Add"), ("scope", "a" + 14 * "/a")])
def test_the_command_shows_what_is_deep_or_far_down(
    table: str, name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    others = "".join(f"x{n} op=Op{n} us=9\ny{n} op=Op{n} us=9\n" for n in range(14))
    model = loaded(f"{others}a{14 * '/a'}/b op=Add us=3", tmp_path)
    (verdict,) = (report := model.check({table: {name: {"micros": "< 0"}}})).verdicts
    assert cli.run(shlex.split(report.command(verdict))[1:]) == 0
    assert "3us" in capfd.readouterr().out


def test_the_command_shows_the_number_of_an_open_batch(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = loaded(MODEL.replace("4x", "?x"), tmp_path)
    (verdict,) = (report := model.check({"scope": {"conv1": {"float_ops": "< 0"}}})).verdicts
    assert verdict.value == 2 * 3 * 5
    assert cli.run([*shlex.split(report.command(verdict))[1:], "--format=json"]) == 0
    assert 2 * 3 * 5 in numbers(json.loads(capfd.readouterr().out), "conv1")


def numbers(shown: dict[str, Any], name: str) -> list[Any]:
    """The numbers of the row called *name*, or of the first row; and the totals of a summary."""
    row = next((row for row in shown["rows"] if row["name"] == name), shown["rows"][0])
    return [*row.values(), *(row.get("total") or {}).values(), *shown.get("total", {}).values()]
