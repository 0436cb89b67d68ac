"""SavedModels: what signatures run, each variable once, without a look at the weights."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

import paths
import tfprof
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

DATA: Final = paths.DATA / "tf2"


def names(loaded: tfprof.Loaded, op: str) -> list[str]:
    profile = loaded.profile
    types = list(profile.types.texts())
    ops = [types[kind] for kind in profile.nodes.op.tolist()]
    return [name for name, one in zip(profile.nodes.name.texts(), ops, strict=True) if one == op]


def notes(loaded: tfprof.Loaded) -> list[str]:
    return [str(note) for note in loaded.notes]


def params(loaded: tfprof.Loaded, kind: str) -> int:
    report = loaded.scope(select=["params"], account_type_regexes=[kind], max_depth=1)
    total: int = report.rows[0].total_params
    return total


def test_each_variable_of_a_keras_export_is_there_once() -> None:
    conv = tfprof.load(DATA / "conv")
    assert params(conv, "VarHandleOp") == 15_946  # model.count_params()
    assert params(conv, "_trainable_variables") == 15_946 - 16  # less the moving mean and variance
    assert len(names(conv, "VarHandleOp")) == 8


def test_signatures_that_run_one_function_are_counted_once() -> None:
    conv = tfprof.load(DATA / "conv")
    assert "signature serve runs the same as serving_default and is left out" in notes(conv)
    assert len(names(conv, "Conv2D")) == 1
    alone = tfprof.load(DATA / "conv", signature="serve")
    assert len(names(alone, "Conv2D")) == 1
    assert not [note for note in notes(alone) if "signature" in note]


def test_all_signatures_are_read_or_the_one_that_is_named() -> None:
    both = tfprof.load(DATA / "module")
    assert len(names(both, "MatMul")) == 3
    assert len(names(tfprof.load(DATA / "module", signature="nested"), "MatMul")) == 2
    assert len(names(tfprof.load(DATA / "module", signature="chosen"), "MatMul")) == 1
    assert params(both, "VarHandleOp") == 64 * 64


def test_what_only_saves_and_restores_is_left_out_and_noted() -> None:
    module = tfprof.load(DATA / "module")
    assert not names(module, "SaveV2") + names(module, "RestoreV2")
    left_out = "nodes of the graph that no output needs are left out"
    assert any(left_out in note for note in notes(module))


def test_a_signature_that_is_not_there_is_an_error_with_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"no signature 'neste'.*mean 'nested'.*chosen, nested"):
        tfprof.load(DATA / "module", signature="neste")
    with pytest.raises(UsageError, match="has no signatures"):
        tfprof.load(DATA / "nested.pb.gz", signature="nested")


def test_the_code_view_names_the_lines_of_functions() -> None:
    nested = tfprof.load(DATA / "module", signature="nested")
    lines = str(nested.code(select=["float_ops"], account_type_regexes=["MatMul"]))
    assert "tf2.py:" in lines
    # Two calls of one function, in one line of the one that calls it.
    assert ":product (131.07k/131.07k flops)" in lines
    assert ":nested (--/131.07k flops)" in lines


WATCHED: Final = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
import tfprof
summary = tfprof.load(sys.argv[1]).summary(dims={"batch": 1})
assert summary.total["parameters"] == 15_946
assert any("saved_model.pb" in path for path in opened)
print([path for path in opened if "variables." in path])
"""


def test_weights_are_not_looked_at(tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(DATA / "conv", model)
    (model / "variables").mkdir()
    weights = model / "variables" / "variables.data-00000-of-00001"
    with weights.open("wb") as file:
        file.truncate(300 << 20)  # takes no room on the disk
    words = [sys.executable, "-c", WATCHED, str(model)]
    ran = subprocess.run(words, check=True, capture_output=True, text=True)
    assert ran.stdout == "[]\n"
