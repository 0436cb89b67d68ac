"""Makes models before and after one change, as `tfprof diff` compares them.

    python tests/data/make/pairs.py [OUT_DIR]        (needs tensorflow and tf-keras; takes a minute)
    python tests/data/make/pairs.py [OUT_DIR] --case release     (with another TensorFlow)

    mlp/            two dense layers that train: graph, op log and ten traced steps
    mlp_wide/       the same with a first layer of 96 units in place of 64
    mlp_renamed/    the same as mlp/ with a scope `backbone` in place of `encoder`
    cnn/            a SavedModel of Keras with two convolutions and a dense layer
    cnn_short/      the same without the second convolution
    norm_steps/     a convolution and a batch norm of single operations
    norm_fused/     the same with the batch norm as one operation
    norm_folded/    that graph frozen, after TensorFlow's own optimizer
    twin_v1/        a convolution and a dense layer as a graph of TensorFlow 1
    twin_v2/        the same model of tf-keras as a SavedModel
    release_2.16/   a model of Keras 3.3 as TensorFlow 2.16 saves it
    release_2.21/   the same model of Keras 3.15 as TensorFlow 2.21 saves it

Weights are not kept. Every case runs in a process of its own, as Keras numbers what it makes. For
TensorFlow 2.16, make an environment of `tensorflow-cpu==2.16.*` and `keras==3.3.*`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from profile_files import DATA, as_written, binary, make_alone, op_log, parser, steps_only, write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OUT_DIR = DATA / "pairs"
BATCH, FEATURES, UNITS, WIDE_UNITS, CLASSES = 32, 20, 64, 96, 10
IMAGES, SIDE, COLOURS, FILTERS = 4, 16, 3, 8
WARM_UP_STEPS, TRACED_STEPS = 40, 10
SEED = 14

Files = dict[str, bytes]


def mlps() -> Files:
    """Three models that train in turns, so that a busy minute of the machine is shared by all."""
    import numpy as np  # noqa: PLC0415
    import tensorflow.compat.v1 as tf  # noqa: PLC0415

    tf.disable_v2_behavior()  # reference variables, static graph
    files, sessions = {}, {}
    for model in (mlp, mlp_wide, mlp_renamed):
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(SEED)
            train = model(tf)
            session = tf.Session(config=as_written(tf, threads=1))
            session.run(tf.global_variables_initializer())
        sessions[model.__name__] = session, train
        files[f"{model.__name__}/graph.pb"] = _graph(graph)
        files[f"{model.__name__}/tfprof_log"] = op_log(tf, graph)
    random = np.random.default_rng(SEED)
    feed = {"x:0": random.random((BATCH, FEATURES)), "labels:0": random.integers(0, CLASSES, BATCH)}
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    for step in range(-WARM_UP_STEPS, TRACED_STEPS):
        for name, (session, train) in sessions.items():
            run = tf.RunMetadata()
            session.run(train, feed, options, run)
            if step >= 0:
                files[f"{name}/run_meta_{step}"] = steps_only(run)
    return files


def mlp(tf: Any) -> Any:
    """Two dense layers."""
    return _perceptron(tf, "encoder", UNITS)


def mlp_wide(tf: Any) -> Any:
    """The first of them wider."""
    return _perceptron(tf, "encoder", WIDE_UNITS)


def mlp_renamed(tf: Any) -> Any:
    """In another scope."""
    return _perceptron(tf, "backbone", UNITS)


def _perceptron(tf: Any, scope: str, units: int) -> Any:
    """What trains the model, with momentum."""
    x = tf.placeholder(tf.float32, (BATCH, FEATURES), "x")
    labels = tf.placeholder(tf.int32, (BATCH,), "labels")
    with tf.variable_scope(scope):
        hidden = tf.nn.relu(_dense(tf, "hidden", x, units))
    with tf.variable_scope("head"):
        logits = _dense(tf, "logits", hidden, CLASSES)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(losses, name="loss")
    return tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)


def _dense(tf: Any, name: str, x: Any, units: int) -> Any:
    """A dense layer of reference variables."""
    with tf.variable_scope(name):
        kernel = tf.get_variable("kernel", (x.shape[1], units), use_resource=False)
        bias = tf.get_variable("bias", (units,), use_resource=False)
        return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def cnn() -> Files:
    """Two convolutions."""
    return _exported(["first", "second"])


def cnn_short() -> Files:
    """One of them."""
    return _exported(["first"])


def _exported(convolutions: list[str]) -> Files:
    import keras  # noqa: PLC0415

    layers = keras.layers
    image = x = keras.Input((SIDE, SIDE, COLOURS), name="image")
    for name in convolutions:
        x = layers.Conv2D(FILTERS, 3, padding="same", activation="relu", name=name)(x)
    x = layers.GlobalAveragePooling2D(name="pool")(x)
    model = keras.Model(image, layers.Dense(CLASSES, name="classes")(x), name="cnn")
    return _saved(model.export)


def norm_steps() -> Files:
    """A batch norm of single operations."""
    return {"graph.pb": _graph(_normed(fused=False).graph)}


def norm_fused() -> Files:
    """A batch norm that is one operation."""
    return {"graph.pb": _graph(_normed(fused=True).graph)}


def norm_folded() -> Files:
    """Variables become constants, and the optimizer folds what is constant."""
    from tensorflow.core.protobuf import config_pb2, meta_graph_pb2  # noqa: PLC0415
    from tensorflow.python.framework.convert_to_constants import (  # noqa: PLC0415
        convert_variables_to_constants_v2,
    )
    from tensorflow.python.grappler import tf_optimizer  # noqa: PLC0415

    frozen = convert_variables_to_constants_v2(_normed(fused=True))
    meta = meta_graph_pb2.MetaGraphDef(graph_def=frozen.graph.as_graph_def(add_shapes=True))
    fetches = meta.collection_def["train_op"].node_list.value
    fetches.extend(output.name for output in frozen.outputs)
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.optimizers.extend(["constfold", "remap", "dependency"])
    optimized = tf_optimizer.OptimizeGraph(config, meta)
    return {"graph.pb": binary(optimized)}


def _normed(*, fused: bool) -> Any:
    """A function for four images, in inference."""
    import tensorflow as tf  # noqa: PLC0415
    import tf_keras  # noqa: PLC0415

    tf_keras.utils.set_random_seed(SEED)
    layers = tf_keras.layers
    image = tf_keras.Input((SIDE, SIDE, COLOURS), batch_size=IMAGES, name="image")
    x = layers.Conv2D(FILTERS, 3, padding="same", use_bias=False, name="conv")(image)
    x = layers.BatchNormalization(fused=fused, name="norm")(x)
    model = tf_keras.Model(image, layers.ReLU(name="relu")(x), name="net")
    function = tf.function(lambda image: model(image, training=False))
    return function.get_concrete_function(
        tf.TensorSpec((IMAGES, SIDE, SIDE, COLOURS), name="image")
    )


def twin_v1() -> Files:
    """A graph as programs of TensorFlow 1 build it."""
    import tensorflow.compat.v1 as tf  # noqa: PLC0415

    tf.disable_v2_behavior()
    with tf.Graph().as_default() as graph:
        image = tf.placeholder(tf.float32, (IMAGES, SIDE, SIDE, COLOURS), "image")
        with tf.variable_scope("conv"):
            kernel = tf.get_variable("kernel", (3, 3, COLOURS, FILTERS), use_resource=False)
            bias = tf.get_variable("bias", (FILTERS,), use_resource=False)
            x = tf.nn.conv2d(image, kernel, strides=1, padding="SAME", name="Conv2D")
            x = tf.nn.relu(tf.nn.bias_add(x, bias))
        x = tf.reshape(x, (IMAGES, -1), name="flatten")
        tf.nn.softmax(_dense(tf, "dense", x, CLASSES))
        return {"graph.pb": _graph(graph), "tfprof_log": op_log(tf, graph)}


def twin_v2() -> Files:
    """The same model of tf-keras."""
    import tf_keras  # noqa: PLC0415

    layers = tf_keras.layers
    model = tf_keras.Sequential(
        [
            tf_keras.Input((SIDE, SIDE, COLOURS), batch_size=IMAGES, name="image"),
            layers.Conv2D(FILTERS, 3, padding="same", activation="relu", name="conv"),
            layers.Flatten(name="flatten"),
            layers.Dense(CLASSES, activation="softmax", name="dense"),
        ],
        name="net",
    )
    return _saved(model.export)


def release() -> Files:
    """A model of layers of many kinds, as this release of TensorFlow saves it."""
    import keras  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    layers = keras.layers
    image = keras.Input((SIDE, SIDE, COLOURS), name="image")
    x = layers.Conv2D(FILTERS, 3, padding="same", use_bias=False, name="conv")(image)
    x = layers.ReLU(name="relu")(layers.BatchNormalization(name="norm")(x))
    x = layers.DepthwiseConv2D(3, padding="same", name="depthwise")(x)
    x = layers.MaxPooling2D(name="pool")(x)
    x = layers.Reshape((SIDE * SIDE // 4, FILTERS), name="rows")(x)
    x = layers.LSTM(UNITS, name="lstm")(x)
    x = layers.LayerNormalization(name="layer_norm")(x)
    x = layers.Dense(CLASSES, activation="softmax", name="classes")(x)
    number = ".".join(tf.__version__.split(".")[:2])
    (saved,) = _saved(keras.Model(image, x, name="net").export).items()
    return {f"release_{number}/{saved[0]}": saved[1]}


CASES: Mapping[str, Callable[[], Files]] = {
    case.__name__: case
    for case in (
        *(mlps, cnn, cnn_short, norm_steps, norm_fused, norm_folded),
        *(twin_v1, twin_v2, release),
    )
}


def main() -> None:
    """Make every case, or the one that is named, in this process."""
    options = parser(__doc__, OUT_DIR)
    options.add_argument("--case", choices=CASES)
    asked = options.parse_args()
    if asked.case is None:
        for case in CASES:
            make_alone(__file__, asked.out_dir, case)
        return
    for name, content in CASES[asked.case]().items():
        # The files of a case are in its folder, but for those that name another.
        path = asked.out_dir / (f"{name}.gz" if "/" in name else f"{asked.case}/{name}.gz")
        path.parent.mkdir(parents=True, exist_ok=True)
        packed = write(path, content)
        print(f"{path.relative_to(asked.out_dir)}: {len(content):,} bytes, packed {packed:,}")


def _saved(export: Callable[[str], object]) -> Files:
    """The graph of a SavedModel."""
    with tempfile.TemporaryDirectory() as folder:
        export(folder)
        return {"saved_model.pb": Path(folder, "saved_model.pb").read_bytes()}


def _graph(graph: Any) -> bytes:
    return binary(graph.as_graph_def(add_shapes=True))


if __name__ == "__main__":
    main()
