"""tfprof check: the numbers of a budget's rows, and whether its bounds hold.

Expected numbers are worked out by hand from the drawing, or come from the commands that show them.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import paths
import tfprof
from draw import loaded
from tfprof import cli
from tfprof.compare.lock import lock_text, read_lock
from tfprof.errors import InputError, UsageError

if TYPE_CHECKING:
    from tfprof.results.check_report import CheckReport
    from tfprof.results.loaded import Loaded

LOCK_1: Final = paths.DATA / "check"
# Relu runs twice per step. Float operations: 2·4·3·5 + 2·(4·5) + 2·4·5·2 = 120 + 40 + 80.
MODEL: Final = """
in               op=Placeholder out=4x3
net/dense/w      op=VariableV2 params=3x5 out=3x5 us=1+3 bytes=60+60
net/dense/MatMul op=MatMul out=4x5 us=10+20 bytes=100+300 on=/gpu:0 peak=80+90 < in, net/dense/w
net/dense/Relu   op=Relu out=4x5 us=3,4+5,6 < net/dense/MatMul
net/out/w        op=VariableV2 params=5x2 out=5x2
net/out/MatMul   op=MatMul out=4x2 us=7+7 < net/dense/Relu, net/out/w
"""
# Nothing is known of Mystery, which is one of two operations; the product has 2·4·3·5.
INCOMPLETE: Final = """
in         op=Placeholder out=4x3
net/a/w    op=VariableV2 params=3x5 out=3x5
net/a/mul  op=MatMul out=4x5 < in, net/a/w
net/b/what op=Mystery out=4x5 < net/a/mul
"""


UNKNOWN: Final = "cannot be shown: unknown, as s"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return loaded(MODEL, tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def incomplete(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    return loaded(INCOMPLETE, tmp_path_factory.mktemp("incomplete"))


def values(report: CheckReport) -> dict[str, Any]:
    """The value of each row; ≥ where it is a lower bound."""
    return {
        row["name"]: f"≥ {row['value']}" if row["incomplete"] else row["value"]
        for row in report.rows
    }


NUMBERS: Final = [
    ("model", "params", {"": 25}),
    ("model", "float_ops", {"": 240}),
    ("model", "multiply_adds", {"": 60 + 40}),
    ("model", "micros", {"": (1 + 3) // 2 + 15 + (7 + 11) // 2 + 7}),
    ("model", "bytes", {"": 60 + 200}),
    ("model", "peak_bytes", {"": 85}),
    ("model", "occurrence", {"": 6}),
    ("model", "uncounted", {"": 0}),
    ("scope", "params", {"net": 25, "net/dense": 15, "net/out": 10}),
    ("scope", "float_ops", {"net": 240, "net/dense": 160, "net/out": 80}),
    ("scope", "multiply_adds", {"net": 100, "net/dense": 60, "net/out": 40}),
    ("scope", "micros", {"net": 33, "net/dense": 26, "net/out": 7}),
    ("scope", "time", {"net": 33, "net/dense": 26, "net/out": 7}),
    ("scope", "occurrence", {"net": 5, "net/dense": 3, "net/out": 2}),
    ("op", "params", {"Placeholder": 0, "VariableV2": 25, "MatMul": 0, "Relu": 0}),
    ("op", "float_ops", {"Placeholder": 0, "VariableV2": 0, "MatMul": 200, "Relu": 40}),
    ("op", "occurrence", {"Placeholder": 1, "VariableV2": 2, "MatMul": 2, "Relu": 1}),
    ("op", "bytes", {"Placeholder": 0, "VariableV2": 60, "MatMul": 200, "Relu": 0}),
    ("layer", "params", {"dense": 15, "out": 10}),
    ("layer", "float_ops", {"dense": 160, "out": 80}),
    ("layer", "multiply_adds", {"dense": 60, "out": 40}),
    ("layer", "micros", {"dense": 26, "out": 7}),
    ("layer", "peak_bytes", {"dense": 85, "out": 0}),
    ("layer", "occurrence", {"dense": 3, "out": 2}),
    ("layer", "uncounted", {"dense": 0, "out": 0}),
    ("device", "micros", {"/cpu:0": 18, "/gpu:0": 15}),
    ("device", "multiply_adds", {"/cpu:0": 40, "/gpu:0": 60}),
]


@pytest.mark.parametrize(("table", "metric", "expected"), NUMBERS)
def test_numbers(model: Loaded, table: str, metric: str, expected: dict[str, int]) -> None:
    bounds = {metric: ">= 0%" if metric == "uncounted" else ">= 0"}
    patterns = map(re.escape, expected) if table == "scope" else [".*"]
    report = model.check({table: bounds if table == "model" else dict.fromkeys(patterns, bounds)})
    assert values(report) == expected


def test_what_is_inside_of_a_match_counts_with_it(model: Loaded) -> None:
    report = model.check({"scope": {".*": {"occurrence": ">= 0"}, "net/.*": {"occurrence": 3}}})
    assert values(report) == {"net": 5, "net/dense": 3, "net/out": 2}
    assert len(report.verdicts) == 3
    assert report.ok


def test_steps_that_do_not_count_are_left_out(model: Loaded) -> None:
    assert values(model.check({"scope": {"net/.*": {"micros": 0}}}, steps="1-")) == {
        "net/dense": 3 + 20 + 5 + 6,
        "net/out": 7,
    }


@pytest.mark.parametrize(
    ("table", "metric", "bound", "expected"),
    [
        # A lower bound of 120 may be anything above it.
        ({"model": {}}, "float_ops", "<= 119", (False, "at least 120 is above the bound by 0.84%")),
        ({"model": {}}, "float_ops", "<= 120", (False, "cannot be shown: at least 120, as some")),
        ({"model": {}}, "float_ops", ">= 120", (True, "")),
        ({"model": {}}, "float_ops", ">= 121", (False, "cannot be shown: at least 120, as some")),
        ({"model": {}}, "float_ops", "== 120", (False, "cannot be shown: at least 120, as some")),
        ({"model": {}}, "float_ops", "== 119", (False, "at least 120 is above the bound by 0.84%")),
        ({"model": {"allow_incomplete": True}}, "float_ops", "<= 120", (True, "")),
        ({"model": {"uncounted": "<= 50%"}}, "float_ops", "<= 120", (True, "")),
        ({"model": {"uncounted": "<= 50%"}}, "uncounted", "<= 50%", (True, "")),
        ({"scope": {"net/b": {"uncounted": "<= 100%"}}}, "float_ops", "<= 9", (False, "cannot be")),
        ({"scope": {"net/b": {"allow_incomplete": True}}}, "float_ops", "<= 9", (True, "")),
        ({"model": {}}, "uncounted", "< 50%", (False, "50% is at the bound")),
        ({"model": {}}, "params", "<= 15", (True, "")),
        ({"model": {}}, "params", "< 15", (False, "15 is at the bound")),
        ({"model": {}}, "micros", "<= 1s", (False, "cannot be shown: unknown, as the files do no")),
        ({"model": {"allow_incomplete": True}}, "micros", "<= 1s", (False, "cannot be shown: u")),
        ({"scope": {"net/a": {}}}, "float_ops", "<= 120", (True, "")),
        ({"scope": {"net/b": {}}}, "float_ops", "<= 120", (False, UNKNOWN)),
        ({"scope": {"net/b": {}}}, "uncounted", "<= 99.9%", (False, "100% is above the bound")),
        ({"op": {"Mystery": {}}}, "multiply_adds", "<= 1", (False, UNKNOWN)),
        ({"layer": {"b": {}}}, "float_ops", "<= 1", (False, UNKNOWN)),
    ],
)
def test_what_is_not_counted_never_passes_silently(
    incomplete: Loaded, table: dict[str, Any], metric: str, bound: str, expected: tuple[bool, str]
) -> None:
    ((name, rows),) = table.items()
    row = rows if name == "model" else next(iter(rows.values()))
    row[metric] = bound
    report = incomplete.check(table)
    (verdict,) = [verdict for verdict in report.verdicts if verdict.bound.metric == metric]
    ok, reason = expected
    assert verdict.ok == ok
    assert verdict.reason.startswith(reason)
    assert bool(verdict.reason) == (not ok)


def test_an_open_batch_counts_as_one(tmp_path: Path) -> None:
    drawing = MODEL.replace("=4x", "=?x").replace(" us=7+7", "")
    drawing = "\n".join(line.split(" us=")[0] if " us=" in line and "<" not in line else line
                        for line in drawing.splitlines())  # fmt: skip
    graph = loaded(drawing, tmp_path).inputs[0]
    model = tfprof.load(graph)
    report = model.check({"model": {"float_ops": "== 70"}})  # 2·3·5 + 5 + 2·5·2 = 30 + 5 + 20
    assert values(report) == {"": 55}
    assert "batch counts as 1; --dim batch=N sets it" in report.text()
    report = model.check({"model": {"float_ops": "== 220"}}, dims={"batch": 4})
    assert report.ok
    assert "counts as 1" not in report.text()


def test_another_open_dimension_needs_a_size(tmp_path: Path) -> None:
    drawing = "in op=Placeholder out=?x?\nnet/relu op=Relu < in"
    report = loaded(drawing, tmp_path).check({"model": {"float_ops": 9, "uncounted": "<= 0%"}})
    (verdict, covered) = report.verdicts
    reason = "cannot be shown: unknown, as it depends on open dimensions: set --dim in_1=N"
    assert (verdict.reason, covered.ok) == (reason, True)
    assert report.command(verdict).startswith("tfprof summary ")
    assert loaded(drawing, tmp_path).check({"model": {"float_ops": "== 7"}}, dims={"in_1": 7}).ok


def test_a_run_alone_has_time_and_nothing_else(tmp_path: Path) -> None:
    run = loaded(MODEL, tmp_path).inputs[1]
    bounds = {"micros": "<= 25us", "params": 25, "float_ops": 240, "uncounted": "<= 100%"}
    report = tfprof.load(run_meta=run).check({"model": bounds})
    assert [verdict.ok for verdict in report.verdicts] == [True, False, False, False]
    assert "cannot be shown: unknown, as a run alone holds no model" in report.text()


# --- recorded numbers --------------------------------------------------------------------------


def run(line: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = cli.run(shlex.split(line))
    return code, *capfd.readouterr()


def test_numbers_are_recorded_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded(MODEL, tmp_path)
    Path("budget.toml").write_text(
        '[scope."net/.*"]\nmicros = "< +10%"\nparams = "== base"\n'
        '[model]\nmicros = "<= base + 5us"\n'
    )
    code, _, err = run("check budget.toml graph run_0 run_1", capfd)
    assert (code, err.splitlines()[-1]) == (
        3, "tfprof: budget.lock does not exist: tfprof check --record writes it"
    )  # fmt: skip
    code, out, err = run("check budget.toml graph run_0 run_1 --record", capfd)
    assert (code, out.splitlines()[0]) == (0, "budget.toml: 5 bounds: all hold")
    assert err.endswith("tfprof: wrote budget.lock\n")
    recorded = Path("budget.lock").read_text()
    assert recorded.split("\n", 1)[1] == (
        "version = 1\n\n[model]\nmicros = 33\n\n"
        '[scope."net/dense"]\nmicros = 26\nparams = 15\n\n'
        '[scope."net/out"]\nmicros = 7\nparams = 10\n'
    )
    # Step 0 alone takes 1 + 10 + 7 in dense and 7 in out; step 1 alone 3 + 20 + 11 and 7.
    assert run("check budget.toml graph run_0", capfd)[0] == 0
    code, out, _ = run("check budget.toml graph run_1", capfd)
    assert code == 1
    dense = "scope net/dense: micros < +10%: 34 us is above the bound by 18.9%, recorded: 26 us"
    assert dense in out
    assert "model: micros <= base + 5us: 41 us is above the bound by 7.89%, recorded: 33 us" in out
    assert Path("budget.lock").read_text() == recorded
    Path("budget.lock").write_text(recorded.replace('[scope."net/out"]', "[scope.other]"))
    code, out, _ = run("check budget.toml graph run_0", capfd)
    assert code == 1
    assert "scope net/out: micros < +10%: nothing is recorded for it: use --record" in out


def test_version_1_of_budget_lock_is_read(tmp_path: Path) -> None:
    model = loaded(MODEL.replace("net/out/", 'net/out_"2"/'), tmp_path)
    report = model.check(LOCK_1 / "budget.toml")
    assert [(row["base"], row["limit"], row["value"], row["result"]) for row in report.rows] == [
        (25, 25, 25, "ok"),
        (220, 242, 240, "ok"),  # what was recorded may have been more
        (18, 27, 26, "ok"),
        (5, 7.5, 7, "ok"),
        (0.25, 0.26, 0, "ok"),
    ]
    path = LOCK_1 / "budget.lock"
    assert lock_text(read_lock(str(path))) == path.read_text()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("version = 2\n", "has version 2, and this tfprof reads up to 1: update tfprof, or record"),
        ("", "is not a budget.lock: it has no version"),
        ("version = 1\nmodel = 3\n", "is damaged at [model]: record it again"),
        ("version = 1\n[scope]\nx = 3\n", "is damaged at [scope]: record it again"),
        ("version = 1\n[model]\nincomplete = 3\n", "is damaged at [model]: record it again"),
        ("version = true\n", "is not a budget.lock: it has no version"),
        ("version = 1\n[model]\nparams = nan\n", "is damaged at [model]: record it again"),
        ("version = 1\n[model]\nparams = true\n", "is damaged at [model]: record it again"),
        ("version 1", "is not a budget.lock: Expected '='"),
    ],
)
def test_a_lock_that_cannot_be_read(
    model: Loaded, tmp_path: Path, content: str, expected: str
) -> None:
    (tmp_path / "b.toml").write_text('[model]\nparams = "<= base"\n')
    (tmp_path / "b.lock").write_text(content)
    with pytest.raises(InputError) as problem:
        model.check(tmp_path / "b.toml")
    assert str(problem.value).startswith(f"{tmp_path}/b.lock {expected}")


def test_what_is_unknown_cannot_be_recorded(model: Loaded, tmp_path: Path) -> None:
    (tmp_path / "b.toml").write_text('[model]\nbytes_in_use = "<= base"\n')
    (row,) = model.check(tmp_path / "b.toml", record=True).rows
    assert row["reason"] == "cannot be shown: unknown, as the files do not record it"


def test_a_budget_that_is_no_file_has_no_recorded_numbers(model: Loaded) -> None:
    for record, bound in ((True, "<= 3"), (False, "<= base")):
        with pytest.raises(UsageError, match="only a budget in a file has recorded numbers"):
            model.check({"model": {"params": bound}}, record=record)
