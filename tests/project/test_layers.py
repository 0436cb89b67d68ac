"""The corridor: imports go one way, and only the rooms at its ends touch the world.

A room is a module or a package directly under tfprof. It may import rooms of the floors above
its own in the table, and what is inside itself. A module of a room may have a floor of its own.
"""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

import tfprof
from processes import python

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FLOORS: Final = (
    "errors",
    "foundation",
    "tables",
    "kernels",
    "columns",
    "wire",
    "model",
    "read  views",
    "tables.commands",
    "tables.command_checks",
    "ops",
    "summary  query",
    "checkers  explain",
    "io",
    "console",
    "fleet",
    "compare",
    "results",
    "writers",
    "fleet.decode  fleet.gather",
    "cache",
    "capture",
    "api  compat",
    "model_analyzer  tfprof_logger  tfprof_log_pb2  pytest_plugin",
    "cli",
    "shell",
    "__init__  __main__",
)
FLOOR: Final = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms.split()}

# The rooms that may open, print and look at the terminal. Everything else is the corridor.
EDGE: Final = {"api", "cache", "io", "console", "cli", "shell", "capture", "fleet"}
# Our own tables, shipped beside the module that reads them, are no input.
OWN_DATA: Final = {
    "wire.schema", "wire.schema.build", "read.functions.calls", "read.tflite.model", "writers.page"
}  # fmt: skip
MAY_EXIT: Final = {"cli", "console"}
MAY_IMPORT_TENSORFLOW: Final = {"capture"}

LONGEST: Final = 400
HEAVY: Final = (
    "numpy", "google.protobuf", "re2", "tensorflow", "rich", "prompt_toolkit",
    "pyarrow", "fsspec", "dask", "distributed", "duckdb",
)  # fmt: skip

FOLDER: Final = Path(tfprof.__file__).parent


class Import(NamedTuple):
    """A module of ours that is imported, and where."""

    module: str
    line: int


class Module:
    """A source file: `read.wire` for tfprof/read/wire.py, `read` for tfprof/read/__init__.py."""

    def __init__(self, path: Path) -> None:
        parts = path.relative_to(FOLDER).with_suffix("").parts
        self.path = path
        self.name = ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)
        self.room = parts[0]
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.tree = ast.parse("\n".join(self.lines))

    def imported(self) -> Iterator[tuple[str, int]]:
        """(full name, line) of everything imported, also inside functions and for types only."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((name.name, node.lineno) for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.path}:{node.lineno}: imports name the whole way"
                yield from ((f"{node.module}.{name.name}", node.lineno) for name in node.names)

    def ours(self) -> Iterator[Import]:
        """The modules of tfprof that are imported."""
        for name, line in self.imported():
            package, _, inside = name.partition(".")
            if package != "tfprof":
                continue
            while inside and inside not in modules():
                inside = inside.rpartition(".")[0]
            yield Import(inside or "__init__", line)

    def where(self, line: int) -> str:
        return f"{self.path.relative_to(FOLDER.parent)}:{line}"


@cache
def modules() -> dict[str, Module]:
    """Every source file of the package by its name."""
    found = map(Module, sorted(FOLDER.rglob("*.py")))
    return {module.name: module for module in found}


def listed(offenders: Iterable[str]) -> str:
    """All offenders, one line each; nothing if there are none."""
    return "\n".join(offenders)


def test_every_room_has_a_floor_and_every_floor_its_rooms() -> None:
    rooms = {module.room for module in modules().values()}
    assert rooms == {name.partition(".")[0] for name in FLOOR}
    assert set(FLOOR) - rooms <= set(modules())


def floor_of(module: str) -> int:
    return FLOOR.get(module, FLOOR.get(module.partition(".")[0], -1))


def test_imports_go_one_way() -> None:
    assert not listed(
        f"{module.where(line)}: {module.name} does not know {imported}"
        for module in modules().values()
        for imported, line in module.ours()
        if not may_import(module, imported)
    )


def may_import(module: Module, imported: str) -> bool:
    """Whether *module* stands behind the module that it imports, or beside it in its room."""
    own, other = floor_of(module.name), floor_of(imported)
    same_room = imported.partition(".")[0] == module.room
    return other < own or (other == own and same_room) or imported == "__init__"


def test_no_module_imports_itself_by_a_detour() -> None:
    left = {name: {one.module for one in module.ours()} for name, module in modules().items()}
    while free := {name for name, needs in left.items() if not needs & left.keys() - {"__init__"}}:
        left = {name: needs for name, needs in left.items() if name not in free}
    assert not left, f"these import each other: {sorted(left)}"


def test_the_corridor_opens_nothing_and_prints_nothing() -> None:
    assert not listed(
        f"{module.where(line)}: {what} is for {', '.join(sorted(EDGE))}"
        for module in modules().values()
        if module.room not in EDGE and module.name not in OWN_DATA
        for what, line in touched(module.tree)
    )


def test_only_one_module_writes_to_the_standard_streams() -> None:
    streams = {"print", "sys.stdin", "sys.stdout", "sys.stderr"}
    streams |= {"sys.__stdin__", "sys.__stdout__", "sys.__stderr__"}
    users = {
        module.name
        for module in modules().values()
        for what, _ in touched(module.tree)
        if what in streams
    }
    assert users == {"console.stdio"}


def touched(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(name, line) of whatever reaches out of the process."""
    calls = {"print", "open", "input", "exit", "quit"}
    methods = {"open", "read_bytes", "read_text", "write_bytes", "write_text"}
    streams = {"stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in calls:
            yield node.func.id, node.lineno
        elif isinstance(node, ast.Attribute) and node.attr in methods:
            yield f".{node.attr}", node.lineno
        elif isinstance(node, ast.Attribute) and node.attr in streams and _is(node.value, "sys"):
            yield f"sys.{node.attr}", node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module in {"sys", "io", "subprocess"}:
            yield f"from {node.module}", node.lineno


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def test_only_the_command_exits() -> None:
    assert not listed(
        f"{module.where(node.lineno)}: {node.attr}"
        for module in modules().values()
        if module.room not in MAY_EXIT
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"exit", "_exit"}
        and (_is(node.value, "sys") or _is(node.value, "os"))
    )


def test_nobody_but_capture_imports_tensorflow() -> None:
    assert not listed(
        module.where(line)
        for module in modules().values()
        if module.room not in MAY_IMPORT_TENSORFLOW
        for name, line in module.imported()
        if name.split(".")[0] == "tensorflow"
    )


def test_nobody_but_the_tree_touches_its_end_column() -> None:
    assert not listed(
        module.where(node.lineno)
        for module in modules().values()
        if module.name != "columns.tree"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and node.attr == "_end" and not _is(node.value, "self")
    )


def test_nobody_but_wire_does_varint_arithmetic() -> None:
    lower = [module for module in modules().values() if FLOOR[module.room] > FLOOR["wire"]]
    lines = [module.where(line) for module in lower for line in varint_arithmetic(module.tree)]
    assert not lines, "varints and tags are decoded and encoded in wire/"


def varint_arithmetic(tree: ast.AST) -> Iterator[int]:
    """The lines that take a varint or a tag apart, or put one together."""
    lines_of: dict[tuple[type[ast.operator], object], dict[str, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
            operation = (type(node.op), node.right.value)
            lines_of.setdefault(operation, {})[ast.unparse(node.left)] = node.lineno
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            yield from [node.lineno] * ast.unparse(node.left).endswith("<< 3")
    for operation in ((ast.BitAnd, 127), (ast.BitOr, 128), (ast.RShift, 7), (ast.LShift, 7)):
        yield from lines_of.get(operation, {}).values()
    wire_types, numbers = lines_of.get((ast.BitAnd, 7), {}), lines_of.get((ast.RShift, 3), {})
    yield from (wire_types[tag] for tag in wire_types.keys() & numbers)


def test_varint_arithmetic_is_found() -> None:
    decoding = (
        "(byte & 0x7f) << shift",
        "number, kind = tag >> 3, tag & 7",
        "key & 7 == 2; key >> 3",
    )
    encoding = "low | 0x80", "number >> 7", "number << 3 | 2", "(number << 3) | kind"
    for source in decoding + encoding:
        assert [*varint_arithmetic(ast.parse(source))], source


def test_no_source_file_is_long() -> None:
    assert not listed(
        f"{module.where(LONGEST)}: {len(module.lines)} lines"
        for module in modules().values()
        if len(module.lines) > LONGEST
    )


@pytest.mark.parametrize(
    "program",
    [
        *(
            f"from tfprof import cli; cli.run({words.split()})"
            for words in ("--help", "op --help", "completion zsh", "--version", "scoep")
        ),
        "import tfprof",
    ],
)
def test_what_needs_no_profile_imports_nothing_heavy(program: str) -> None:
    listing = f"{program}; import json, sys; print(json.dumps([*sys.modules]))"
    ran = python("-c", listing, env={"PYTHONPATH": str(FOLDER.parent)})
    loaded = json.loads(ran.stdout.splitlines()[-1])
    assert "tfprof" in loaded
    heavy = [name for name in loaded if name.startswith(HEAVY)]
    assert not heavy
