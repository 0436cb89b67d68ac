"""Live functions and Keras models: the bytes they become, and what is loaded from them."""

from __future__ import annotations

import functools
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import keras
import pytest
import tensorflow as tf

import live_functions
import tfprof
from live_functions import KERAS_3, Folder, Own, convolutions, gru, lstm, own, transformer
from tfprof.capture.keras_models import weights
from tfprof.capture.saved_model import saved_model_of
from tfprof.capture.traced_functions import Traced, concrete_functions, python_name

if TYPE_CHECKING:
    from collections.abc import Callable

HERE: Final = str(Path(__file__))


def folder(*given: Any, listed: Any = None) -> Folder:
    functions = [Traced.of(*pair) for one in given for pair in concrete_functions(one)]
    return Folder.parsed(*saved_model_of(functions, listed))


def line_of(marked: object, mark: str) -> int:
    """The line of a function of this file, or of a class elsewhere, that contains *mark*."""
    lines, first = inspect.getsourcelines(marked)  # type: ignore[arg-type]
    (place,) = [place for place, line in enumerate(lines) if mark in line]
    return first + place


# --- functions -------------------------------------------------------------------------------

weight = tf.Variable(tf.ones([4, 4]), name="weight")
offset = tf.constant([1.0, 2.0, 3.0, 4.0])


def product(x: Any) -> Any:
    return tf.matmul(x, weight) + offset


def squared(x: Any) -> Any:
    return tf.matmul(x, x, transpose_b=True)


inner = tf.function(product)
compiled = tf.function(squared, jit_compile=True)


def everything(x: Any) -> Any:
    rows = tf.map_fn(lambda row: row * 2.0, inner(x))  # map_fn
    chosen = tf.cond(tf.reduce_sum(rows) > 0, lambda: rows + weight[0], lambda: rows - 1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(inner(x) * tf.square(x))  # loss
    return chosen, tape.gradient(loss, x), compiled(x)


@pytest.fixture(scope="module")
def concrete() -> Any:
    return tf.function(everything).get_concrete_function(tf.TensorSpec([None, 4]))


def test_every_node_of_every_function_has_shapes(concrete: Any) -> None:
    functions = folder(concrete).functions()
    named = {re.sub(r"(_\d+)+$", "", name) for name in functions}
    assert named == {
        *("__inference_everything", "__inference_product", "__forward_product"),
        *("__inference___backward_product", "__inference_squared"),
        *("map_while_body", "map_while_cond", "cond_true", "cond_false"),
    }
    bare = [
        (name, node.name)
        for name, function in functions.items()
        for node in function.node_def
        if "_output_shapes" not in node.attr
    ]
    assert not bare
    (own_name,) = [name for name in functions if name.startswith("__inference_everything")]
    shapes = {node.name: node.attr["_output_shapes"] for node in functions[own_name].node_def}
    assert [dim.size for dim in shapes["Square"].list.shape[0].dim] == [-1, 4]


def test_the_top_level_calls_the_function_with_all_it_reads(concrete: Any) -> None:
    made = folder(concrete)
    ((name, call),) = made.nodes("StatefulPartitionedCall").items()
    assert name == "everything"
    assert list(call.input) == ["x", "weight", "captured"]
    assert call.attr["f"].func.name == concrete.name.decode()
    variable = made.nodes("VarHandleOp")["weight"]
    assert [dim.size for dim in variable.attr["shape"].shape.dim] == [4, 4]
    assert variable.attr["dtype"].type == tf.float32.as_datatype_enum
    argument = made.nodes("Placeholder")["x"]
    (shape,) = argument.attr["_output_shapes"].list.shape
    assert [dim.size for dim in shape.dim] == [-1, 4]
    constant = made.nodes("Const")["captured"].attr["value"].tensor
    assert tf.make_ndarray(constant).tolist() == [1, 2, 3, 4]
    signature = made.meta.signature_def["everything"]
    assert [one.name for one in signature.inputs.values()] == ["x:0"]
    names = {one.name for one in signature.outputs.values()}
    assert names == {"everything:0", "everything:1", "everything:2"}


def test_the_bytes_are_the_same_each_time(concrete: Any) -> None:
    traced = [Traced.of("everything", concrete)]
    assert saved_model_of(traced) == saved_model_of(traced)


def test_nodes_have_the_lines_that_made_them(concrete: Any) -> None:
    made = folder(concrete)
    square = (HERE, line_of(everything, "# loss"))
    assert {stack[-1] for stack in made.stacks_of("Square")} == {square}
    assert {stack[-1] for stack in made.stacks_of("map/while/mul")} == {
        (HERE, line_of(everything, "# map_fn"))
    }
    # Frames of TensorFlow are left out.
    files = set(made.lines.files)
    assert HERE in files
    assert not [file for file in files if "site-packages/tensorflow" in file]


def test_gradients_have_the_lines_of_what_they_belong_to(concrete: Any) -> None:
    made = folder(concrete)
    square = (HERE, line_of(everything, "# loss"))
    assert {stack[-1] for stack in made.stacks_of("gradient_tape/mul/Mul")} == {square}
    matmul = (HERE, line_of(product, "tf.matmul"))
    assert {stack[-1] for stack in made.stacks_of("gradients/MatMul_grad/MatMul")} == {matmul}


def test_code_view_marks_gradients(concrete: Any) -> None:
    report = tfprof.load(concrete).code(select=["op_types"], max_depth=100, frames="all")
    types = {row.name: set(row.op_types) for row in report.rows}
    line = f"{Path(HERE).name}:{line_of(everything, '# loss')}:everything"
    assert {"Square", "Mul"} <= types[line]
    assert "Square" not in types[f"{line} (gradient)"]
    assert "Mul" in types[f"{line} (gradient)"]


def test_a_variable_has_the_line_that_reads_it(concrete: Any) -> None:
    assert folder(concrete).stack("weight@")[-1] == (HERE, line_of(product, "tf.matmul"))


def test_functions_share_their_variables() -> None:
    again = tf.function(lambda x: x @ weight)
    again(tf.ones([1, 4]))
    inner(tf.ones([1, 4]))
    first = inner.get_concrete_function(tf.ones([1, 4]))
    made = folder(first, again, first)
    assert list(made.nodes("VarHandleOp")) == ["weight"]
    assert list(made.nodes("StatefulPartitionedCall")) == ["product", "lambda", "product_1"]
    assert list(made.nodes("Placeholder")) == ["x", "x_1", "x_2"]


def module_of(shape: list[int | None]) -> Any:
    """A module with one function of an input of this shape, and its 3x5 weights."""
    module = tf.Module()
    module.weight = tf.Variable(tf.ones([3, 5]), name="weight")
    given = [tf.TensorSpec(shape, name="x")]
    module.run = tf.function(lambda x: x @ module.weight, input_signature=given)
    return module


def test_a_function_that_was_saved_counts_once(tmp_path: Path) -> None:
    """Saving traces a function again, for the same inputs."""
    module = module_of([2, 3])
    module.run(tf.ones([2, 3]))
    tf.saved_model.save(module, str(tmp_path))
    made = folder(module.run)
    assert list(made.nodes("StatefulPartitionedCall")) == ["lambda"]
    rows = tfprof.load(module.run).op(select=["float_ops"]).rows
    assert rows[0].total_float_ops == 2 * 2 * 3 * 5


def test_a_function_that_creates_its_variables_counts_once() -> None:
    """TensorFlow traces it a second time, without the creation."""
    held: list[Any] = []

    def product_of_new(x: Any) -> Any:
        if not held:
            held.append(tf.Variable(tf.ones([3, 5]), name="late"))
        return x @ held[0]

    function = tf.function(product_of_new)
    function(tf.ones([2, 3]))
    function(tf.ones([4, 3]))
    made = folder(function)
    assert list(made.nodes("StatefulPartitionedCall")) == ["product_of_new", "product_of_new_1"]
    assert list(made.nodes("VarHandleOp")) == ["late"]
    assert not any("VarIsInitialized" in str(one) for one in made.functions().values())


def test_a_large_constant_is_not_kept() -> None:
    large = tf.ones([100, 100])
    reads = tf.function(lambda: tf.reduce_sum(large))
    reads()
    made = folder(reads)
    assert not made.nodes("Const")
    (shape,) = made.nodes("Placeholder")["captured"].attr["_output_shapes"].list.shape
    assert [dim.size for dim in shape.dim] == [100, 100]


def test_a_function_that_returns_nothing_is_reached() -> None:
    def assign() -> None:
        weight.assign(weight)

    step = tf.function(assign)
    step()
    made = folder(step)
    assert [one.name for one in made.meta.signature_def["assign"].outputs.values()] == ["assign"]
    assert b"assign/AssignVariableOp" in tfprof.load(step).profile.nodes.name.tolist()


def test_integers_are_not_trainable() -> None:
    """By default every tf.Variable is trainable, but integers have no gradient."""
    batches = tf.Variable(3, dtype=tf.int64, name="batches")
    step = tf.function(lambda: tf.reduce_sum(weight) * tf.cast(batches, tf.float32))
    step()
    loaded = tfprof.load(step)
    assert batches.trainable
    assert (variables(loaded), trainable(loaded)) == (17, 16)


def test_variables_that_are_not_trained_are_not_listed() -> None:
    count = tf.Variable(tf.zeros([3]), trainable=False, name="count")
    step = tf.function(lambda: tf.reduce_sum(count) + tf.reduce_sum(weight))
    step()
    loaded = tfprof.load(step)
    assert trainable(loaded) == 16
    assert variables(loaded) == 19


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("__inference_train_step_153", "train_step"),
        (b"__inference_step_2_153", "step_2"),
        ("__forward_f_7", "f"),
        ("__inference___backward_f_7_9", "f_backward"),
        ("__inference___backward_f_2_7_9", "f_2_backward"),
        ("while_body_3", "while_body_3"),
    ],
)
def test_the_name_of_the_python_function(name: str | bytes, python: str) -> None:
    assert python_name(name) == python


# --- Keras models ----------------------------------------------------------------------------


def variables(loaded: tfprof.Loaded) -> int:
    report = loaded.scope(select=["params"], account_type_regexes=["VarHandleOp"])
    return int(report.rows[0].total_params)


def trainable(loaded: tfprof.Loaded) -> int:
    report = loaded.scope(select=["params"], account_type_regexes=["_trainable_variables"])
    return int(report.rows[0].total_params)


@pytest.mark.parametrize("make", [convolutions, lstm, gru, transformer, own])
def test_parameters_are_those_that_keras_counts(make: Callable[[], Any]) -> None:
    model = make()
    loaded = tfprof.load(model)
    assert variables(loaded) == model.count_params()
    assert trainable(loaded) == sum(weight.numpy().size for weight in model.trainable_weights)
    assert loaded.scope(select=["params"]).rows[0].total_params == model.count_params()


def test_frozen_layers_are_not_trainable() -> None:
    model = convolutions()
    model.layers[0].trainable = False
    loaded = tfprof.load(model)
    assert variables(loaded) == model.count_params()
    assert trainable(loaded) == model.count_params() - (3 * 3 * 3 * 4 + 4) - 2 * 4


def test_variables_have_the_names_of_their_layers() -> None:
    made = folder(model := own(), listed=weights(model))
    dense = model.dense.name
    assert set(made.nodes("VarHandleOp")) == {
        f"own/{dense}/kernel",
        f"own/{dense}/bias",
        "own/unread" if KERAS_3 else "unread",
    }
    # The state of random numbers is no weight.
    if KERAS_3:
        assert any("seed_generator" in name for name in made.nodes("Placeholder"))


def test_the_batch_stays_open() -> None:
    made = folder(model := transformer(), listed=weights(model))
    (shape,) = made.nodes("Placeholder")["tokens"].attr["_output_shapes"].list.shape
    assert [dim.size for dim in shape.dim] == [-1, 12]


def test_the_code_of_a_model_is_that_of_its_class() -> None:
    report = tfprof.load(own()).code(select=["params"], account_type_regexes=["VarHandleOp"])
    line = line_of(Own.call, "# the line of the dense layer")
    name = f"{Path(live_functions.__file__).name}:{line}:call"
    assert {row.name: row.total_params for row in report.rows}[name] == 3 * 4 + 4


def test_functions_that_call_a_model_have_the_paths_of_its_variables() -> None:
    model = own()
    step = tf.function(model)
    step(tf.ones([2, 3]))
    assert f"own/{model.dense.name}/kernel" in folder(step).nodes("VarHandleOp")


def test_the_float_operations_of_a_model_with_a_batch() -> None:
    tokens = keras.layers.Input([6], batch_size=2)
    model = keras.Model(tokens, keras.layers.Dense(4)(tokens))
    rows = tfprof.load(model).op(select=["float_ops"]).rows
    assert {row.name: row.own_float_ops for row in rows}["MatMul"] == 2 * 2 * 6 * 4


def test_a_loaded_model_is_read_by_its_signatures(tmp_path: Path) -> None:
    module = module_of([None, 3])
    tf.saved_model.save(module, str(tmp_path), signatures={"run": module.run})
    loaded = tfprof.load(tf.saved_model.load(str(tmp_path)))
    assert (variables(loaded), trainable(loaded)) == (15, 15)


def test_the_classic_calls_take_them_too() -> None:
    options = {**tfprof.ProfileOptionBuilder.trainable_variables_parameter(), "output": "none"}
    model = convolutions()
    expected = sum(weight.numpy().size for weight in model.trainable_weights)
    assert tfprof.profile(model, options=options).total_parameters == expected
    profiler = tfprof.Profiler(model)
    assert profiler.profile_name_scope(options).total_parameters == expected


# --- what is refused -------------------------------------------------------------------------


def not_called(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: tf.function(not_called), r"^not_called was not traced yet: call it once"),
        (Own, r"^the model own is not built yet: call it once, or build it$"),
        (lambda: functools.partial(own), r"not functools.partial \(give tf.function\(it\)"),
        (lambda: not_called, r"not function \(give tf.function\(it\)"),
        (tf.Module, r"not tensorflow.*Module$"),
    ],
    ids=["function", "model", "partial", "python", "module"],
)
def test_what_cannot_be_read_is_told_how(given: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(tfprof.UsageError, match=sentence):
        tfprof.load(given())


class Two(keras.Model):  # type: ignore[misc]
    """A model whose second input is not told when it is built."""

    def call(self, one: Any, other: Any = None) -> Any:
        return one + other


@pytest.mark.skipif(not KERAS_3, reason="Keras 2 records all inputs of the first call")
def test_a_model_that_does_not_tell_its_inputs() -> None:
    model = Two(name="two")
    model(tf.ones([2, 3]), other=tf.ones([2, 3]))
    with pytest.raises(tfprof.UsageError, match=r"the model two cannot be traced with the inputs"):
        tfprof.load(model)


def test_other_backends_of_keras_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = convolutions()
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    with pytest.raises(tfprof.UsageError, match=r"^Keras runs on jax here"):
        tfprof.load(model)


@pytest.mark.skipif(not KERAS_3, reason="Keras 2 leaves the batch of the first call open")
def test_a_model_that_was_only_called_says_for_which_batch_its_numbers_are(tmp_path: Path) -> None:
    """A multiply-add for each of 4 x 4 weights and 32 rows."""
    model = Own()
    model(tf.ones([32, 4]))
    loaded = tfprof.load(model)
    report = loaded.summary()
    assert report.total["multiply_adds"] == 32 * 4 * 4
    sentence = (
        "Sizes: those of inputs of 32x4, which the model was built with. For an open batch, load "
        "tf.function(model).get_concrete_function(...) with None as its size."
    )
    assert sentence in report.sentences
    assert sentence in str(report)
    loaded.convert(tmp_path / "profile")
    assert sentence in tfprof.load(profile=tmp_path / "profile").summary().sentences
    opened = Own()
    opened(keras.Input([4]))
    assert not any(text.startswith("Sizes") for text in tfprof.load(opened).summary().sentences)


def test_a_function_with_no_trainable_variable_says_so() -> None:
    constant = tf.Variable(tf.ones([4, 4]), trainable=False)
    traced = tf.function(lambda x: tf.matmul(x, constant))
    report = tfprof.load(traced.get_concrete_function(tf.TensorSpec([2, 4]))).summary()
    assert (report.total["trainable"], report.total["non_trainable"]) == (0, 16)
