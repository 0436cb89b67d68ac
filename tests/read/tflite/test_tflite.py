"""TensorFlow Lite: parameters as its interpreter counts them, costs as those of the SavedModel."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import flat
import tfprof
from flat import FLOAT32, INT4, INT8, INT32, byte, ints, operator, packed, subgraph, tensor, whole
from tf_wheel import piece
from tfprof.cli import run
from tfprof.errors import InputError, UsageError
from tfprof.read import Source, load
from tfprof.read.tflite.model import builtin_operators
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

BYTES: Final = {"float32": 4, "float16": 2, "int8": 1, "int32": 4, "int64": 8}
KINDS: Final = ("float", "dynamic", "float16", "int8", "int16")


@pytest.fixture(scope="module")
def folder(model_folder: Callable[[str], Path]) -> Path:
    return model_folder("tflite")


def weights(folder: Path, name: str) -> list[dict[str, Any]]:
    """The constants that are weights, by the interpreter: no shapes, indices or single numbers."""
    constants = json.loads((folder / "truth.json").read_text())[name]
    return [
        each for each in constants
        if each["elements"] > 1 and (each["dtype"].startswith("float") or each["quantized"])
    ]  # fmt: skip


@cache
def summary(path: Path, *dims: tuple[str, int]) -> Any:
    return tfprof.load(path).summary(dims=dict(dims)).total


# --- what the converter writes ---


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_are_the_interpreters_and_costs_those_of_the_saved_model(
    folder: Path, kind: str
) -> None:
    expected = weights(folder, f"mobile_{kind}")
    report = tfprof.load(str(folder / f"mobile_{kind}.tflite")).summary(dims={"batch": 3})
    total = report.total
    assert total["parameters"] == sum(each["elements"] for each in expected)
    sizes = (each["elements"] * BYTES[each["dtype"]] for each in expected)
    assert total["parameter_bytes"] == sum(sizes)
    types = {each["dtype"] for each in expected}
    assert types >= {"float": {"float32"}, "float16": {"float16"}}.get(kind, {"int8"})
    named = "integer operations count as float operations" in report.text()
    assert named == kind.startswith("int")
    origin = summary(folder / "mobile" / "saved_model.pb", ("batch", 3))
    assert total["multiply_adds"] == origin["multiply_adds"]


def test_parameters_of_an_lstm_are_without_its_states(folder: Path) -> None:
    # The interpreter lists six states, [batch, units] each, among what nothing computes.
    states = 2 * 2 * (5 + 6 + 6)
    listed = sum(each["elements"] for each in weights(folder, "lstm"))
    assert summary(folder / "lstm.tflite")["parameters"] == listed - states


@pytest.mark.parametrize("name", ["lstm", "control", "many"])
def test_multiply_adds_are_those_of_the_saved_model(folder: Path, name: str) -> None:
    dims = (("batch", 3),) if name == "control" else ()
    own = summary(folder / f"{name}.tflite", *dims)
    origin = summary(folder / name / "saved_model.pb", *dims)
    assert own["multiply_adds"] == origin["multiply_adds"] > 0


def test_float_operations_differ_by_what_the_converter_changes(folder: Path) -> None:
    origin = summary(folder / "many" / "saved_model.pb")["float_ops"]
    # It adds a bias of zeros to a convolution with an output of [2, 3, 3, 8].
    assert summary(folder / "many.tflite")["float_ops"] == origin + 2 * 3 * 3 * 8


def test_layers_have_the_names_and_shapes_of_keras(folder: Path) -> None:
    report = tfprof.load(str(folder / "mobile_float.tflite")).summary(dims={"batch": 3})
    rows = {row["name"]: row for row in report.rows}
    assert rows["stem_1"]["output_shape"] == [3, 8, 8, 8]
    assert rows["depthwise_1"]["multiply_adds"] == 3 * 8 * 8 * 48 * 3 * 3
    assert rows["stem_1"]["parameters"] == 3 * 3 * 3 * 8 + 8
    assert rows["hidden_1"]["multiply_adds"] == 3 * 8 * 200


def test_a_signature_is_chosen(folder: Path) -> None:
    path = str(folder / "control.tflite")
    loop, pick = (
        tfprof.load(path, signature=name).summary(dims=dims).total["multiply_adds"]
        for name, dims in (("loop", {"batch": 3}), ("pick", {}))
    )
    assert loop == 5 * 3 * 8 * 8  # five turns of a loop
    assert pick == 2 * 2 * 8 * 8  # the larger branch
    with pytest.raises(UsageError, match=r"no signature 'pik'; did you mean 'pick'.*loop, pick"):
        tfprof.load(path, signature="pik")


def test_control_flow_is_expanded(folder: Path) -> None:
    profile = tfprof.load(str(folder / "control.tflite")).profile
    names = {name.decode() for name in profile.nodes.name}
    assert {"loop/while/While/body/while/MatMul", "loop/while/While/cond/while/Less"} <= names
    assert sum("/then/" in name for name in names)
    assert sum("/else/" in name for name in names)


def test_a_variable_that_a_run_changes_counts_once(folder: Path) -> None:
    total = summary(folder / "state.tflite")
    assert total["parameters"] == 3 * 4
    names = set(tfprof.load(str(folder / "state.tflite")).profile.types)
    assert {b"VarHandleOp", b"ReadVariableOp", b"AssignVariableOp"} <= names


def test_operations_of_tensorflow_count_as_such(folder: Path) -> None:
    for name in ("flex", "custom"):
        report = tfprof.load(str(folder / f"{name}.tflite")).summary()
        rows = {row["name"]: row for row in report.rows}
        assert rows["Erf"]["float_ops"] == 3 * 4


def test_info_lists_operators_and_signatures(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["info", str(folder / "control.tflite")]) == 0
    out = capsys.readouterr().out
    assert "a TensorFlow Lite model" in out
    assert "operators: FULLY_CONNECTED 4" in out
    assert "2 signatures: loop, pick" in out


# --- by hand ---


def read(root: dict[int, Any]) -> Loaded:
    return Loaded(load(Source("a.tflite", np.frombuffer(packed(root), np.uint8))))


def one(
    codes: Sequence[int | str], tensors: list[Any], operators: list[Any], **more: Any
) -> Loaded:
    """A model whose first tensor is its input and whose last one is its output."""
    graph = subgraph(tensors, [0], [len(tensors) - 1], operators)
    return read(flat.model([graph], codes, **more))


def dense(weight_type: int, data: bytes | dict[int, Any], scale: float = 0.5) -> Loaded:
    tensors = [
        tensor("x", [2, 7]),
        tensor("net/dense/MatMul", [3, 7], weight_type, 1, scale),
        tensor("net/dense/Relu;net/dense/MatMul", [2, 3]),
    ]
    operators = [operator(0, [0, 1, -1], [2], {0: byte(flat.RELU)})]
    return one([9], tensors, operators, buffers=[b"", data])


def test_elements_of_four_bits_share_bytes() -> None:
    loaded = dense(INT4, bytes(11))
    total = loaded.summary().total
    assert (total["parameters"], total["parameter_bytes"]) == (21, 11)
    assert total["multiply_adds"] == 2 * 3 * 7
    assert total["float_ops"] == 2 * 2 * 3 * 7 + 2 * 3
    names = {*loaded.profile.nodes.name}
    assert {b"net/dense/kernel", b"net/dense/MatMul", b"net/dense/Relu"} < names


def test_bytes_behind_the_tables_are_a_constant() -> None:
    # Files of more than 2 GB store buffers by their offset and size in the file.
    total = dense(INT8, {1: flat.Number("Q", 16), 2: flat.Number("Q", 21)}).summary().total
    assert (total["parameters"], total["parameter_bytes"]) == (21, 21)
    with pytest.raises(InputError, match="a buffer of 21 bytes goes beyond the end"):
        dense(INT8, {1: flat.Number("Q", 1 << 33), 2: flat.Number("Q", 21)})


def test_a_custom_operator_is_unknown() -> None:
    tensors = [tensor("x", [2, 7]), tensor("y", [2, 7]), tensor("z", [2, 7])]
    loaded = one(["Mine", 0], tensors, [operator(0, [0], [1]), operator(1, [1, 1], [2])])
    report = loaded.summary()
    assert report.total["float_ops"] == 2 * 7
    assert report.total_incomplete == ["float_ops", "multiply_adds"]
    assert "not counted: 1 Mine (no rule)" in report.text()


def test_every_builtin_operator_has_a_name() -> None:
    schema = piece("tensorflow.lite.python.schema_py_generated").BuiltinOperator
    codes = {name: value for name, value in vars(schema).items() if isinstance(value, int)}
    assert [row.name for row in builtin_operators()] == sorted(codes, key=lambda name: codes[name])


def test_every_builtin_operator_is_read_whatever_its_inputs() -> None:
    for inputs in ([], [0, 0, 0], [0, 1] * 24):
        tensors = [tensor("x", [2, 7]), tensor("w", [7, 7], FLOAT32, 1), tensor("y", [2, 7])]
        codes = range(len(builtin_operators()))
        operators = [operator(code, inputs, [2], {0: whole(1)}) for code in codes]
        loaded = one(codes, tensors, operators, buffers=[b"", bytes(4 * 49)])
        assert loaded.summary().rows


def test_subgraphs_that_call_each_other_are_refused() -> None:
    graphs = [
        subgraph([tensor("x", [2])], [0], [0], [operator(0, [0], [0], {0: whole(at)})])
        for at in (1, 2, 1)
    ]
    with pytest.raises(InputError, match="calls itself: subgraph_1 → subgraph_2 → subgraph_1"):
        read(flat.model(graphs, [31]))


def test_constants_of_several_subgraphs_in_one_buffer_count_once() -> None:
    def graph(name: str) -> Any:
        tensors = [tensor("x", [2, 7]), tensor("w", [3, 7], FLOAT32, 1), tensor(name, [2, 3])]
        return subgraph(tensors, [0], [2], [operator(0, [0, 1], [2], {})])

    buffers = [b"", bytes(4 * 21)]
    model = flat.model([graph("a/y"), graph("b/y")], [9], buffers, {"first": 0, "second": 1})
    total = read(model).summary().total
    assert (total["parameters"], total["multiply_adds"]) == (21, 2 * 2 * 3 * 7)


def test_filters_over_time() -> None:
    tensors = [
        tensor("x", [2, 5]), tensor("feature", [8, 5], buffer=1), tensor("time", [8, 3], buffer=2),
        tensor("state", [2, 24]), tensor("y", [2, 4]),
    ]  # fmt: skip
    loaded = one([27], tensors, [operator(0, [0, 1, 2, -1, 3], [4], {0: whole(2)})],
                 buffers=[b"", bytes(160), bytes(96)])  # fmt: skip
    total = loaded.summary().total
    assert total["parameters"] == 8 * 5 + 8 * 3
    assert total["multiply_adds"] == 2 * 8 * 5
    # Products over time, two additions for each filter, and one for the two filters of a unit.
    assert total["float_ops"] == 2 * (2 * 8 * 5 + 8 * 3 + 8 * 2 + 4)


def test_shapes_of_a_file_without_signatures_of_shapes_are_fixed() -> None:
    tensors = [tensor("x", [1, 4]), tensor("y", [1, 4])]
    report = one([21], tensors, [operator(0, [0], [1])]).summary()
    assert report.total["float_ops"] == 2 * 4  # maximum, minimum
    assert "Open dimensions" not in report.text()


def test_open_dimensions_are_those_of_the_signature() -> None:
    tensors = [{**tensor(name, [1, 4]), 7: ints(-1, 4)} for name in ("x", "y")]
    loaded = one([19], tensors, [operator(0, [0], [1])])
    assert loaded.summary(dims={"batch": 6}).total["float_ops"] == 6 * 4


def test_a_constant_of_many_numbers_has_no_values() -> None:
    tensors = [tensor("x", [1500]), tensor("at", [1500], INT32, 1), tensor("y", [1500])]
    loaded = one([36], tensors, [operator(0, [0, 1], [2], {})], buffers=[b"", bytes(6000)])
    assert b"GatherV2" in set(loaded.profile.types)
    assert loaded.summary().total["parameters"] == 0


def test_weights_of_int32_are_not_shapes() -> None:
    tensors = [
        tensor("x", [2, 3], INT8, scale=0.1), tensor("w", [4, 3], INT8, 1, 0.1),
        tensor("b", [4], INT32, 2, 0.01), tensor("y", [2, 4], INT8, scale=0.1),
    ]  # fmt: skip
    operators = [operator(0, [0, 1, 2], [3], {})]
    loaded = one([9], tensors, operators, buffers=[b"", bytes(12), bytes(16)])
    total = loaded.summary().total
    assert (total["parameters"], total["parameter_bytes"]) == (16, 28)
