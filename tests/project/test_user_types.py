"""Programs that use tfprof pass a strict type checker, and it finds their mistakes."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from processes import python
from profiles import PROFILES
from tfprof.results.report import Row

if TYPE_CHECKING:
    from pathlib import Path

HANDMADE: Final = PROFILES["handmade"]

PROGRAM: Final = '''
"""What the documents show, as a program of its own."""

from pathlib import Path

import tfprof
from tfprof import ProfileContext, ProfileOptionBuilder, Profiler, Report


def names(report: Report) -> list[str]:
    return [row.name for row in report if row.depth > 1 and row.accounted]


def largest(report: Report) -> int:
    top = max(report.rows[1:], key=lambda row: row.total_params)
    parent: int | None = top.parent
    return int(top.total_params) if parent is not None else 0


loaded = tfprof.load("graph.pbtxt", ["run_meta_0", Path("run_meta_1")], "tfprof_log")
report = loaded.scope(select=["params"], max_depth=3)
print(report, names(report), largest(report), report.proto().total_parameters)
report.to_pandas().sort_values("total_params")
fields: dict[str, object] = report.rows[0]._asdict()
if report.flops is not None:
    print(report.flops.ops, [one.why for one in report.flops.uncounted])
loaded.save(Path("saved"))
tfprof.load(profile=Profiler().serialize_to_string())


@tfprof.flops_rule("MyAttention", attributes=("heads",))
def my_attention(op: tfprof.Op) -> int:
    batch, length, depth = op.input(0)
    return 4 * batch * length * length * depth + int(op.attr("heads")) * tfprof.size(op.output())


options = ProfileOptionBuilder(ProfileOptionBuilder.time_and_memory()).order_by("bytes")
profiler = Profiler()
profiler.add_step(0, "run_meta_0")
profiler.profile_operations(options.build())
profiler.profile_name_scope(options)
print(tfprof.profile(cmd="op", options=options).total_float_ops)
tfprof.profile(options=0)
print(tfprof.advise(options={"ExpensiveOperationChecker": {"top": 5}}).checkers)
tfprof.write_op_log(None, Path("logs"))
with ProfileContext(Path("train"), trace_steps=range(3), dump_steps={5}) as context:
    context.add_auto_profiling("op", options, [15, 50])
    context.add_auto_profile_dump("dumps", (step for step in [1, 2]))
if context.profiler is not None:
    print(context.get_profiles("op")[50], context.profiler.loaded.steps)
'''


def checked(folder: Path, program: str) -> list[str]:
    """The lines that mypy says of *program*."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    arguments = ["--strict", "--config-file=", f"--cache-dir={folder / 'cache'}", "program.py"]
    ran = python("-m", "mypy", *arguments, cwd=folder, check=False)
    assert not ran.stderr
    return ran.stdout.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests, so that what mypy knows of tfprof is found out once."""
    return tmp_path_factory.mktemp("program")


def test_what_the_documents_show(folder: Path) -> None:
    assert checked(folder, PROGRAM) == ["Success: no issues found in 1 source file"]


@pytest.mark.whole
@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        ("report.rows[0].depth.upper()", '"int" has no attribute "upper"'),
        ("report.row", '"Report" has no attribute "row"'),
        ('profiler.add_step("0", None)', 'incompatible type "str"; expected "int"'),
        ('ProfileContext("d", trace_steps=5)', 'incompatible type "int"'),
        ("loaded.save(5)", 'incompatible type "int"; expected "str | PathLike[str]"'),
        ("tfprof.profile(options=[])", 'incompatible type "list[Never]"'),
    ],
)
def test_mistakes_are_found(folder: Path, mistake: str, found: str) -> None:
    first, last = checked(folder, PROGRAM + mistake + "\n")
    assert first.startswith(f"program.py:{PROGRAM.count(chr(10)) + 1}: error: ")
    assert found in first
    assert last == "Found 1 error in 1 file (checked 1 source file)"


# --- rows, which have a type of their own ------------------------------------------------------


def test_rows_are_tuples_with_names() -> None:
    report = tfprof.load(HANDMADE.graph, HANDMADE.runs).scope(select=["params"])
    row = report.rows[1]
    assert isinstance(row, Row)
    assert row == tuple(row)
    assert row[:2] == (1, 0) == (row.row, row.parent)
    assert row._asdict() == dict(zip(report.columns, row, strict=True))
    assert repr(row).startswith("Row(row=1, parent=0, depth=2, name=")
    assert not hasattr(row, "total_micros")
    assert not hasattr(row, "__dict__")


def test_rows_can_be_pickled_and_are_the_same_again() -> None:
    loaded = tfprof.load(HANDMADE.graph, HANDMADE.runs)
    for view in ("scope", "op"):
        rows = getattr(loaded, view)(select=["params", "micros", "input_shapes"]).rows
        again = pickle.loads(pickle.dumps(rows))  # noqa: S301 - our own
        assert again == rows
        assert [type(row) for row in again] == [type(row) for row in rows]
        assert again[1].total_micros == rows[1].total_micros


def test_another_process_reads_pickled_rows(tmp_path: Path) -> None:
    rows = tfprof.load(HANDMADE.graph).scope(select=["params"]).rows
    (tmp_path / "rows").write_bytes(pickle.dumps(rows))
    program = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb'))[0].total_params)"
    ran = python("-W", "ignore", "-c", program, tmp_path / "rows")
    assert ran.stdout == f"{rows[0].total_params}\n"
