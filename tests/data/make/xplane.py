"""Makes the traces of the profiler of TensorFlow 2, and the graphs of what they trace.

    python tests/data/make/xplane.py [OUT_DIR]     (needs tensorflow; takes two minutes)

    loop/       a function with a while loop, a cond, a switch and a nested function; three steps
    kept/       a function that is not inlined, so its call node's time contains that of its body
    eager/      operations outside of any function
    compiled/   a function compiled by XLA
    compiled_inside/    one that is called by another, which is not
    keras/      a batch of a Keras `fit` as its TensorBoard callback traces it, at level 3, with the
                memory events that TF_CPU_ALLOCATOR_USE_BFC=1 adds
    level2/, keras_level2/    the loop and the batch at level 2, as everybody gets it

Each folder has trace.xplane.pb.gz. Those above have graph.pb.gz, too, but for eager/: the concrete
function's GraphDef with shapes. Every case runs in a process of its own. Times are the machine's.
"""

from __future__ import annotations

import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from profile_files import DATA, make_alone, parser, write

OUT_DIR = DATA / "xplane"
LOOP_STEPS, LOOP_TRIPS = 3, 5


class _Whole:
    """A number that is nothing but one: TensorFlow 2.21 takes an int option for a bool."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value


def _start(folder: str, level: int) -> None:
    import tensorflow as tf  # noqa: PLC0415

    options = tf.profiler.experimental.ProfilerOptions(
        host_tracer_level=_Whole(level),
        python_tracer_level=_Whole(0),
        device_tracer_level=_Whole(1),
    )
    tf.profiler.experimental.start(folder, options=options)


def _made(folder: str) -> bytes:
    """The one trace in *folder*."""
    (trace,) = Path(folder).glob("plugins/profile/*/*.xplane.pb")
    return trace.read_bytes()


def _traced(folder: str, level: int, run: Any) -> bytes:
    import tensorflow as tf  # noqa: PLC0415

    _start(folder, level)
    run()
    tf.profiler.experimental.stop()
    return _made(folder)


def _with_graph(trace: bytes, *functions: Any) -> dict[str, bytes]:
    """With the graph of what ran: a function may be traced more than once, and call others."""
    every = [one for function in functions for one in function._list_all_concrete_functions()]
    concrete = next(one for one in every if one.name in trace)
    graph = concrete.graph.as_graph_def(add_shapes=True).SerializeToString()
    return {"trace.xplane.pb": trace, "graph.pb": graph}


def _traced_call(folder: str, outer: Any, x: Any) -> dict[str, bytes]:
    """A call behind the one that compiles."""
    outer(x)
    return _with_graph(_traced(folder, 3, lambda: outer(x)), outer)


def _loop_function() -> tuple[Any, Any]:
    import tensorflow as tf  # noqa: PLC0415

    weights = tf.Variable(tf.random.normal([64, 64], seed=1) * 0.1, name="weights")

    @tf.function  # type: ignore[untyped-decorator]
    def inner(x: Any) -> Any:
        with tf.name_scope("inside"):
            return tf.nn.relu(tf.matmul(x, weights, name="product"))

    @tf.function  # type: ignore[untyped-decorator]
    def outer(x: Any) -> Any:
        with tf.name_scope("first"):
            y = tf.matmul(x, weights, name="MatMul")
        y = inner(y)

        def body(i: Any, z: Any) -> Any:
            with tf.name_scope("turn"):
                return i + 1, tf.tanh(tf.matmul(z, weights, name="again"))

        with tf.name_scope("repeated"):
            turns = tf.while_loop(lambda i, _: i < LOOP_TRIPS, body, (0, y))
        with tf.name_scope("either"):
            z = tf.cond(
                tf.reduce_sum(x) > 0,
                lambda: tf.matmul(turns[1], weights, name="yes"),
                lambda: tf.matmul(turns[1], weights, transpose_b=True, name="no"),
            )
        with tf.name_scope("any"):
            which = tf.cast(tf.reduce_max(x), tf.int32)
            return tf.switch_case(
                which, {0: lambda: tf.exp(z, name="zero"), 1: lambda: tf.sin(z, name="one")}
            )

    return outer, tf.ones([32, 64])


def loop(folder: str, level: int = 3) -> dict[str, bytes]:
    """Three steps, each with its marker."""
    import tensorflow as tf  # noqa: PLC0415

    outer, x = _loop_function()
    outer(x)

    def run() -> None:
        for step in range(LOOP_STEPS):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                outer(x)
        tf.add(x, x)  # in no step

    return _with_graph(_traced(folder, level, run), outer)


def level2(folder: str) -> dict[str, bytes]:
    """The same as everybody gets it."""
    return {"trace.xplane.pb": loop(folder, 2)["trace.xplane.pb"]}


def kept(folder: str) -> dict[str, bytes]:
    """A function that stays one: its nodes run inside of the call's own event."""
    import tensorflow as tf  # noqa: PLC0415

    weights = tf.ones([128, 128])

    @tf.function(experimental_attributes={"_noinline": True})  # type: ignore[untyped-decorator]
    def inner(x: Any) -> Any:
        with tf.name_scope("inside"):
            return tf.matmul(x, weights, name="product")

    @tf.function  # type: ignore[untyped-decorator]
    def outer(x: Any) -> Any:
        with tf.name_scope("calling"):
            y = inner(x)
        return inner(y) + 1

    x = tf.ones([128, 128])
    return _traced_call(folder, outer, x)


def eager(folder: str) -> dict[str, bytes]:
    """Four products and four sums, one at a time."""
    import tensorflow as tf  # noqa: PLC0415

    x = tf.ones([64, 64])

    def run() -> None:
        for _ in range(4):
            tf.add(tf.matmul(x, x), x)

    run()
    return {"trace.xplane.pb": _traced(folder, 3, run)}


def compiled(folder: str) -> dict[str, bytes]:
    """Two layers compiled by XLA."""
    import tensorflow as tf  # noqa: PLC0415

    weights = tf.Variable(tf.ones([256, 256]), name="weights")

    @tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
    def outer(x: Any) -> Any:
        with tf.name_scope("one"):
            x = tf.tanh(tf.matmul(x, weights) + 1.0)
        with tf.name_scope("two"):
            return tf.reduce_sum(tf.sin(tf.matmul(x, weights)) * 2.0, axis=0)

    x = tf.ones([128, 256])
    outer(x)

    def run() -> None:
        for step in range(2):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                outer(x)

    return _with_graph(_traced(folder, 3, run), outer)


def compiled_inside(folder: str) -> dict[str, bytes]:
    """A function compiled by XLA that another one calls, which is not."""
    import tensorflow as tf  # noqa: PLC0415

    weights = tf.ones([64, 64])

    @tf.function(jit_compile=True)  # type: ignore[untyped-decorator]
    def inner(x: Any) -> Any:
        with tf.name_scope("inside"):
            return tf.tanh(tf.matmul(x, weights)) + 1.0

    @tf.function  # type: ignore[untyped-decorator]
    def outer(x: Any) -> Any:
        with tf.name_scope("calling"):
            y = inner(x)
        return tf.matmul(y, weights)

    x = tf.ones([64, 64])
    return _traced_call(folder, outer, x)


def keras(folder: str, level: int = 3) -> dict[str, bytes]:
    """A fit of three batches, of which one is traced and marked."""
    import numpy as np  # noqa: PLC0415
    import tensorflow as tf  # noqa: PLC0415

    layers = tf.keras.layers
    tf.keras.utils.set_random_seed(1)
    given = tf.keras.Input((8, 8, 3), name="picture")
    x = layers.Conv2D(8, 3, strides=3, activation="relu", name="conv")(given)
    x = layers.BatchNormalization(name="norm")(x)
    x = layers.Reshape((2, 16), name="rows")(x)
    x = layers.LSTM(16, name="lstm")(x)
    model = tf.keras.Model(given, layers.Dense(4, name="dense")(x), name="net")
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss=loss, jit_compile=False)
    pictures = np.random.default_rng(1).random((24, 8, 8, 3), np.float32)

    class Board(tf.keras.callbacks.Callback):  # type: ignore[misc]
        """Traces batches as the callback of TensorBoard does, which is not installed here."""

        marker: Any = None

        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            del logs
            if batch == 1:
                _start(folder, level)
                self.marker = tf.profiler.experimental.Trace("Profiled batch", step_num=batch)
                self.marker.__enter__()

        def on_train_batch_end(self, batch: int, logs: object = None) -> None:
            del logs
            if batch == 1:
                self.marker.__exit__(None, None, None)
                tf.profiler.experimental.stop()

    def fit(*callbacks: Any) -> None:
        labels = np.arange(24) % 4
        model.fit(pictures, labels, batch_size=8, verbose=0, callbacks=list(callbacks))

    fit()
    fit(Board())
    return _with_graph(_made(folder), *_functions_in(model))


def keras_level2(folder: str) -> dict[str, bytes]:
    """The same as everybody gets it."""
    return {"trace.xplane.pb": keras(folder, 2)["trace.xplane.pb"]}


def _functions_in(model: Any) -> list[Any]:
    """The tf.functions that a Keras 3 model trains with: they are in closures, some in others."""
    waiting, seen, found = [model.train_function], set(), []
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if hasattr(one, "_list_all_concrete_functions"):
            found.append(one)
            waiting.append(one.python_function)
        waiting += [cell.cell_contents for cell in getattr(one, "__closure__", None) or ()]
    return found


CASES = {
    case.__name__: case
    for case in (loop, level2, kept, eager, compiled, compiled_inside, keras, keras_level2)
}


def main() -> None:
    """Make every case, or the one that is named, in this process."""
    options = parser(__doc__, OUT_DIR)
    options.add_argument("--case", choices=CASES)
    given = options.parse_args()
    if given.case is None:
        for case in CASES:
            memory = {"TF_CPU_ALLOCATOR_USE_BFC": "1"} if case == "keras" else {}
            make_alone(__file__, given.out_dir, case, **memory)
        return
    with tempfile.TemporaryDirectory() as folder:
        made = CASES[given.case](folder)
    target = given.out_dir / given.case
    target.mkdir(parents=True, exist_ok=True)
    # XLA names files of TensorFlow; where that is installed is nobody's business.
    here = sysconfig.get_path("purelib").encode()
    for name, content in made.items():
        packed = write(target / f"{name}.gz", content.replace(here, b"_" * len(here)))
        print(f"{given.case}/{name}.gz: {len(content):,} bytes, packed {packed:,}")


if __name__ == "__main__":
    main()
