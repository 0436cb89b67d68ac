"""Inputs over two gigabytes: mapped, never held, and what is wrong with them is one sentence.

The files are sparse: what is large about them is a hole, which takes no room and reads as zeros.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

from wire_parts import Hole, Part, attribute, field, node, output_shapes, shape_of, sparse

if TYPE_CHECKING:
    from pathlib import Path

HOLE: Final = (2 << 30) + (100 << 20)
# Of Python, NumPy and us, and a good deal more: a tenth of what a copy would take.
MOST_MEMORY: Final = 210 << 20

ASK = """
import json, re, sys
from pathlib import Path
import tfprof
from tfprof.errors import InputError
from tfprof.checkers import advise
try:
    loaded = tfprof.load(**json.loads(sys.argv[1]))
    by_name = {"max_depth": 9, "order_by": "name"}
    told = {
        "scope": [row.name for row in loaded.scope(select=["params"], **by_name).rows],
        "op": [row.name for row in loaded.op(select=["occurrence"], **by_name).rows],
        "float_ops": loaded.scope(select=["float_ops"]).rows[0].total_float_ops,
        "micros": loaded.scope(select=["micros"]).rows[0].total_micros,
        "advice": list(advise(loaded.profile).sections),
    }
    if loaded.profile.has_traces:
        told["code"] = [row.name for row in loaded.code().rows]
except InputError as problem:
    told = {"refused": str(problem)}
# Not ru_maxrss: that begins with the memory of whoever started this process.
status = Path("/proc/self/status").read_text()
told["memory"] = 1024 * int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1])
print(json.dumps(told))
"""


def ask(**inputs: Path) -> dict[str, Any]:
    """What another process, which never takes much memory, says of these files."""
    given = json.dumps({name: str(path) for name, path in inputs.items()})
    ran = subprocess.run(
        [sys.executable, "-c", ASK, given], check=True, stdout=subprocess.PIPE, timeout=100
    )
    told: dict[str, Any] = json.loads(ran.stdout)
    assert told["memory"] < MOST_MEMORY
    return told


def refusal(given: str, path: Path) -> str:
    """Why a file is not read; beside runs and op logs, there is a graph."""
    inputs = {given: path}
    if given in ("run_meta", "op_log"):
        inputs["graph"] = sparse(path.with_name("graph.pb"), *SMALL)
    return str(ask(**inputs)["refused"])


CONST = node(
    b"layer/huge",
    b"Const",
    attribute(b"value", *field(8, b"\x08\x01", *field(4, Hole(HOLE)))),
    output_shapes(2, 3),
)
SHAPE = attribute(b"shape", *field(7, shape_of(3, 4)))
W = node(b"layer/w", b"VariableV2", SHAPE, output_shapes(3, 4))
MATMUL = node(b"layer/mul", b"MatMul", output_shapes(2, 4), inputs=(b"layer/huge", b"layer/w"))
SMALL = (*W, *MATMUL)
DEVICE = b"/job:w/device:CPU:0"


def run_parts(*more: Part) -> list[Part]:
    stat = [*field(1, b"layer/mul"), b"\x10\x64\x20\x07"]
    device = [*field(1, DEVICE), *field(2, *stat)]
    return [*more, *field(1, *field(1, *device))]


def log_parts(*more: Part) -> list[Part]:
    frame = field(1, b"\x10\x07\x30\x01\x38\x02")
    entry = [*field(1, b"layer/mul"), *field(4, *frame)]
    file, function = field(2, b"model.py"), field(2, b"f")
    texts = [*field(2, b"\x08\x01", *file), *field(2, b"\x08\x02", *function)]
    return [*field(1, *entry), *more, *texts]


def test_a_graph_with_a_huge_tensor(tmp_path: Path) -> None:
    """Nodes that stand behind it are read, and no answer opens it."""
    told = ask(graph=sparse(tmp_path / "graph.pb", *CONST, *SMALL))
    assert told["scope"] == ["_TFProfRoot", "layer", "layer/huge", "layer/mul", "layer/w"]
    assert told["op"] == ["_TFProfRoot", "Const", "MatMul", "VariableV2"]
    assert told["float_ops"] == 2 * 2 * 3 * 4


def test_a_meta_graph_with_a_huge_tensor(tmp_path: Path) -> None:
    meta = field(2, *CONST, *SMALL)
    told = ask(graph=sparse(tmp_path / "model.meta", *meta))
    assert "layer/w" in told["scope"]


def test_a_run_and_a_log_with_huge_fields(tmp_path: Path) -> None:
    """Fields that nobody asked for are stepped over, wherever they stand."""
    unknown = field(15, Hole(HOLE))
    told = ask(
        graph=sparse(tmp_path / "graph.pb", *SMALL),
        run_meta=sparse(tmp_path / "run_meta", *run_parts(), *unknown),
        op_log=sparse(tmp_path / "log", *log_parts(*unknown)),
    )
    assert told["micros"] == 7
    assert told["code"] == ["_TFProfRoot", "model.py:7:f"]


def test_a_run_whose_stats_stand_behind_a_huge_field(tmp_path: Path) -> None:
    told = ask(
        graph=sparse(tmp_path / "graph.pb", *SMALL),
        run_meta=sparse(tmp_path / "run_meta", *run_parts(*field(3, Hole(HOLE)))),
    )
    assert told["micros"] == 7


ZEROS: Final = {
    "graph": "is damaged or cut off, or not a GraphDef, a MetaGraphDef, a SavedModel",
    "run_meta": "is damaged or cut off, or not a RunMetadata",
    "op_log": "is damaged or cut off, or not an op log (OpLogProto)",
    "profile": "is damaged or cut off, or not a saved profile (ProfileProto)",
}


@pytest.mark.parametrize("given", ZEROS)
def test_nothing_but_zeros(tmp_path: Path, given: str) -> None:
    """As a disk that was full, or a download that was never finished, leaves them."""
    path = sparse(tmp_path / "zeros", Hole(HOLE))
    refused = refusal(given, path)
    assert refused.startswith(f"{path} {ZEROS[given]}")
    assert "\n" not in refused


TEXTS: Final = {
    "graph": b'node {\n  name: "a"\n  op: "NoOp"\n}\n',
    "run_meta": b'step_stats {\n  dev_stats {\n    device: "d"\n  }\n}\n',
    "op_log": b'log_entries {\n  name: "a"\n}\n',
}


@pytest.mark.parametrize("given", TEXTS)
def test_text_that_ends_in_zeros(tmp_path: Path, given: str) -> None:
    path = sparse(tmp_path / "text", TEXTS[given], Hole(HOLE))
    assert refusal(given, path).startswith(f"{path}: expected text, found zeros from byte ")
