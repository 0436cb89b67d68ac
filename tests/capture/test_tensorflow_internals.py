"""The internals of TensorFlow: one table, read in one place, and checked before anything runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import tensorflow as tf

import tfprof
from live_functions import own
from tfprof.capture import tensorflow_internals
from tfprof.capture.tensorflow_internals import NEWEST, OLDEST, Internal, Part

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER: Final = Path(tfprof.__file__).parent
TABLE: Final = Path(tensorflow_internals.__file__)
# Names that other classes have, too: only the table's readers in capture/ are checked for them.
COMMON: Final = {"name", "graph", "inputs", "variables", "run", "graph_debug_info"}
NOT_TENSORFLOW: Final = {
    *("_replace", "_fields", "_field_defaults", "_asdict"),
    *("_getframe", "_exit", "_run_exitfuncs"),
    *("_core", "_set_madvise_hugepage"),  # of NumPy
}
GETTERS: Final = {"getattr", "hasattr", "setattr", "delattr"}
REQUIRED: Final = [row for row in Internal if row.part is not Part.OPTIONAL]


# --- names stand in the table only -------------------------------------------------------------


def names_of(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(name, line) of attributes of other objects, of what getattr is asked for, of imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}):
                yield node.attr, node.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in GETTERS and isinstance(node.args[1], ast.Constant):
                yield str(node.args[1].value), node.lineno
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorflow."):
            yield str(node.module), node.lineno
        elif isinstance(node, ast.Import):
            yield from ((one.name, node.lineno) for one in node.names if "tensorflow." in one.name)
        elif isinstance(node, ast.Constant) and re.match(
            r"tensorflow\.(python|core)\b", str(node.value)
        ):
            yield str(node.value), node.lineno


def defined(tree: ast.AST) -> Iterator[str]:
    """The names that a module of ours defines itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            for target in ast.walk(ast.Module(body=list(map(ast.Expr, targets)), type_ignores=[])):
                if isinstance(target, ast.Attribute):
                    yield target.attr
                elif isinstance(target, ast.Name):
                    yield target.id


def internals_in(tree: ast.AST, ours: set[str], *, live: bool) -> list[tuple[str, int]]:
    """The private names in a module that are not ours; if it is *live*, those of the table, too."""
    table = {name for row in Internal for name in row.spellings} - COMMON - {"steps_per_execution"}
    return [
        (name, line)
        for name, line in names_of(tree)
        if name.startswith("tensorflow.")
        or (live and name in table)
        or (re.match(r"_[a-z]", name) and name not in ours | NOT_TENSORFLOW)
    ]


def test_nobody_else_names_an_internal_of_tensorflow() -> None:
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(FOLDER.rglob("*.py"))}
    ours = {name for tree in trees.values() for name in defined(tree)}
    found = [
        f"{path.relative_to(FOLDER)}:{line}: {name}"
        for path, tree in trees.items()
        if path != TABLE
        for name, line in internals_in(tree, ours, live=path.parent == TABLE.parent)
    ]
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "tensor._handle_data",
        "getattr(function, '_list_all_concrete_functions', None)",
        "concrete.captured_inputs",
        "from tensorflow.python.framework import ops",
        "import tensorflow.core.protobuf.saved_model_pb2",
        "import_module('tensorflow.python.framework.ops')",
    ],
)
def test_each_way_to_name_one_is_noticed(line: str) -> None:
    assert internals_in(ast.parse(line), set(), live=True)


def test_every_row_is_used_and_says_what_for() -> None:
    sources = "".join(path.read_text("utf-8") for path in TABLE.parent.glob("*.py"))
    for row in Internal:
        assert len(re.findall(rf"Internal\.{row.name}\b", sources)) >= 1, row
        assert row.purpose
    rows = [(row.owner, row.spellings) for row in Internal]
    assert len(set(rows)) == len(rows)


# --- another release fails before the run ------------------------------------------------------


def hide(monkeypatch: pytest.MonkeyPatch, row: Internal) -> None:
    """Take the name away from TensorFlow, as another release may."""
    holder: Any = tensorflow_internals._holder(row.owner)
    for name in row.spellings:
        for kind in (holder if isinstance(holder, type) else type(holder)).__mro__:
            if name in vars(kind):
                monkeypatch.delattr(kind, name)
        if hasattr(holder, name):
            monkeypatch.delattr(holder, name)


def sentence(row: Internal) -> str:
    """The whole error, whatever the feature is called."""
    return rf"^[a-z A-Z]+ needs {re.escape(str(row))}, which TensorFlow " + re.escape(
        f"{tf.__version__} does not have: tfprof works with TensorFlow {OLDEST} to {NEWEST}"
    )


@pytest.mark.parametrize(
    "row", [row for row in REQUIRED if row.part is not Part.FUNCTIONS], ids=lambda row: row.name
)
def test_a_name_that_is_gone_is_told_before_the_run(
    row: Internal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    context = tfprof.ProfileContext(tmp_path / "log")
    hide(monkeypatch, row)
    with pytest.raises(tfprof.UsageError, match=sentence(row)), context:
        pytest.fail("it was entered")
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    "row", [row for row in REQUIRED if row.part is Part.FUNCTIONS], ids=lambda row: row.name
)
def test_without_a_name_a_capture_has_the_trace_alone(
    row: Internal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hide(monkeypatch, row)
    warns = pytest.warns(UserWarning, match=sentence(row).removeprefix("^[a-z A-Z]+"))
    with warns, tfprof.capture(tmp_path) as run, run.step():
        tf.ones([2]) + 1.0
    assert not (tmp_path / "saved_model.pb").exists()
    loaded = tfprof.load(tmp_path)
    assert loaded.steps == (0,)
    assert any(f"needs {row}" in note.text for note in loaded.profile.notes)


def test_the_calls_on_live_objects_fail_with_the_same_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function = tf.function(lambda x: x * 2.0)
    function(tf.ones([2]))
    graph = tf.Graph()
    with graph.as_default():
        tf.constant(1.0)
    hide(monkeypatch, Internal.CHILDREN)
    hide(monkeypatch, Internal.STATISTICS)
    for live in (function, own()):
        with pytest.raises(tfprof.UsageError, match=sentence(Internal.CHILDREN)):
            tfprof.load(live)
    with pytest.raises(tfprof.UsageError, match=sentence(Internal.STATISTICS)):
        tfprof.profile(graph, options={"output": "none"})


def test_looking_for_names_leaves_the_programs_graph_alone() -> None:
    tensorflow_internals._samples.cache_clear()
    with tf.Graph().as_default() as graph:
        assert tensorflow_internals.missing(*{row.part for row in REQUIRED}) is None
    assert not graph.get_operations()
