"""A zoo of models as scripts build them: each row of MODELS is one kind of graph there is.

A builder adds its model to the default graph and says what a step runs. `build` gives it a graph,
a session and initial values:

    live = build("rnn")         live.graph, live.op_log
    live.step(0)                a RunMetadata of a traced step
    live.untouched()            the graph as nobody has filled in its shapes

Other numbers make other steps, where a model has something to vary. Settings of the whole process
(what variables and loops are made of) last for the length of a build.
"""

from __future__ import annotations

import contextlib
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar
from unittest import mock

import numpy as np
import tensorflow.compat.v1 as tf

import paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")

ROWS: Final = 4
SEED: Final = 7
tf.get_logger().setLevel("ERROR")


@dataclass(frozen=True)
class Step:
    """What a session runs, and with what: the feeds of step n, and what comes before each."""

    fetches: Any
    feeds: Callable[[int], Mapping[Any, Any]] = lambda _: {}
    before: tuple[Any, ...] = ()
    first: tuple[Any, ...] = ()  # once, when variables have values
    op_log: Any = None


@dataclass(frozen=True)
class Live:
    """A model with a session in which it runs."""

    model: Model
    graph: Any
    session: Any
    made: Step

    def untouched(self) -> Any:
        """The graph; made anew where shapes are open, into which the original writes others."""
        return _apart(_graph, self.model)[0] if self.model.open_shapes else self.graph

    @property
    def op_log(self) -> Any:
        """What the user knows of ops, new each time: the original writes into it."""
        log = self.made.op_log
        return log and tf.profiler.OpLogProto.FromString(log.SerializeToString())

    def step(self, number: int) -> Any:
        """What a traced step recorded."""
        for op in self.made.before:
            self.session.run(op)
        recorded = tf.RunMetadata()
        full, feeds = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), self.made.feeds(number)
        self.session.run(self.made.fetches, feeds, full, recorded)
        return recorded


@dataclass(frozen=True)
class Model:
    """A builder and the settings of TensorFlow under which it builds and runs."""

    build: Callable[[], Step]
    resource_variables: bool = True
    control_flow_v2: bool = False
    devices: int = 1
    open_shapes: bool = False  # there are some that only a run tells
    config: Mapping[str, Any] = field(default_factory=dict)


def build(name: str) -> Live:
    """The model of this name in a graph and session of its own, ready to run.

    It is built in a thread, whose calls begin with the model's: not with those of the test runner.
    """
    return _apart(_built, MODELS[name])


def _apart(work: Callable[[Model], T], model: Model) -> T:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work, model).result()


def _graph(model: Model) -> tuple[Any, Step, Any]:
    """(graph, what a step runs, what gives variables their first values)."""
    graph = tf.Graph()
    with graph.as_default(), _settings(model):
        tf.set_random_seed(SEED)
        return graph, model.build(), tf.global_variables_initializer()


def _built(model: Model) -> Live:
    graph, made, initial = _graph(model)
    config = tf.ConfigProto(device_count={"CPU": model.devices}, **model.config)
    session = tf.Session(graph=graph, config=config)
    for op in (initial, *made.first):
        session.run(op)
    return Live(model, graph, session, made)


@contextlib.contextmanager
def _settings(model: Model) -> Iterator[None]:
    switches = (
        (tf.resource_variables_enabled(), tf.enable_resource_variables, model.resource_variables),
        (tf.control_flow_v2_enabled(), tf.enable_control_flow_v2, model.control_flow_v2),
    )
    off = (tf.disable_resource_variables, tf.disable_control_flow_v2)
    for (_, turn_on, wanted), turn_off in zip(switches, off, strict=True):
        (turn_on if wanted else turn_off)()
    try:
        yield
    finally:
        for (was_on, turn_on, _), turn_off in zip(switches, off, strict=True):
            (turn_on if was_on else turn_off)()


# --- layers and training ------------------------------------------------------------------------


def _dense(inputs: Any, size: int, name: str, partitioner: Any = None) -> Any:
    with tf.variable_scope(name, partitioner=partitioner):
        weights = tf.get_variable("weights", [inputs.shape[-1], size])
        biases = tf.get_variable("biases", [size], initializer=tf.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(inputs, tf.convert_to_tensor(weights)), biases)


def _trained(logits: Any, optimizer: Any = None) -> Any:
    """A step of training towards classes 0, 1, 0, 1 and so on."""
    with tf.name_scope("loss"):
        labels = tf.range(ROWS) % 2
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        weights = [tf.nn.l2_loss(v) for v in tf.trainable_variables()]
        loss = tf.reduce_mean(losses) + 0.01 * tf.add_n(weights)
    optimizer = optimizer or tf.train.MomentumOptimizer(0.1, 0.9)
    return optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())


def _rows(columns: int) -> Any:
    return tf.random.normal([ROWS, columns], name="rows")


def _mlp() -> Step:
    hidden = tf.nn.relu(_dense(_rows(8), 16, "hidden"))
    return Step(_trained(_dense(hidden, 3, "logits")))


def _adam() -> Step:
    """Embeddings, whose gradients are slices, and an optimiser with much of its own."""
    table = tf.get_variable("table", [11, 8])
    words = tf.nn.embedding_lookup(table, tf.constant([1, 2, 2, 10]))
    return Step(_trained(_dense(tf.nn.tanh(words), 2, "logits"), tf.train.AdamOptimizer()))


def _resnet() -> Step:
    """The tutorials' model, small."""
    sys.path.insert(0, str(paths.ROOT / "examples"))
    try:
        import resnet_model  # noqa: PLC0415 - only found while its folder is on the path
    finally:
        sys.path.pop(0)
    small: dict[str, Any] = {"BATCH_SIZE": ROWS, "IMAGE_SIZE": 8, "FILTERS": (2, 4)}
    with mock.patch.multiple(resnet_model, UNITS_PER_GROUP=1, **small):
        model = resnet_model.build()
    return Step([model.train, model.cost], before=(model.fill_queue,), first=(model.fill_queue,))


# --- control flow -------------------------------------------------------------------------------


def _recurrent(steps: Any) -> Any:
    """The last state of a recurrent cell that reads a sequence."""
    words = tf.TensorArray(tf.float32, 5).unstack(tf.random.normal([5, ROWS, 3]))
    with tf.variable_scope("cell"):
        kernel = tf.get_variable("kernel", [3 + 6, 6])

    def cell(time: Any, state: Any) -> tuple[Any, Any]:
        seen = tf.concat([words.read(time), state], axis=1)
        return time + 1, tf.tanh(tf.matmul(seen, kernel))

    first = (tf.constant(0), tf.zeros([ROWS, 6]))
    return tf.while_loop(lambda time, _: time < steps, cell, first, maximum_iterations=5)[1]


def _rnn() -> Step:
    """Switch, Merge and stacks; a step of another number goes round another number of times."""
    steps = tf.placeholder_with_default(3, [], name="steps")
    state = _recurrent(steps)
    chosen = tf.cond(steps > 2, lambda: tf.square(state), lambda: -state)
    return Step(_trained(_dense(chosen, 2, "logits")), lambda n: {steps: 1 + n % 5})


def _functions() -> Step:
    """While, If and calls: graphs inside of nodes."""
    steps = tf.placeholder_with_default(3, [], name="steps")

    def gated(inputs: Any) -> Any:
        return tf.cond(steps > 2, lambda: inputs * 2.0, lambda: tf.matmul(inputs, tf.eye(6)))

    logits = _dense(tf.function(gated)(_recurrent(steps)), 2, "logits")
    return Step(_trained(logits), lambda n: {steps: 1 + n % 5})


# --- where things are ---------------------------------------------------------------------------


def _partitioned() -> Step:
    parts = tf.fixed_size_partitioner(2)
    hidden = tf.nn.relu(_dense(_rows(8), 16, "hidden", parts))
    return Step(_trained(_dense(hidden, 4, "logits", parts)))


def _two_devices() -> Step:
    with tf.device("/cpu:0"):
        hidden = tf.nn.relu(_dense(_rows(8), 16, "lower"))
    with tf.device("/cpu:1"):
        logits = _dense(hidden, 3, "upper")
    return Step(_trained(logits))


def _servers() -> Step:
    """Placed on jobs that are not there: a graph to look at, whose steps leave it out."""
    with tf.device("/job:ps/task:1/cpu:0"):
        table = tf.get_variable("table", [5, 7], collections=["not initialised"])
    with tf.device("/job:worker/gpu:0"):
        tf.matmul(table, table, transpose_a=True)
    return Step(tf.multiply(tf.random.normal([2]), 2.0))


# --- input and output ---------------------------------------------------------------------------


def _summaries() -> Step:
    logits = _dense(_rows(8), 2, "logits")
    tf.summary.histogram("logits", logits)
    tf.summary.scalar("mean", tf.reduce_mean(logits))
    tf.summary.text("words", tf.constant("said"))
    return Step([_trained(logits), tf.summary.merge_all()])


def _queues() -> Step:
    queue = tf.FIFOQueue(16, [tf.float32], shapes=[[8]])
    words = tf.train.string_input_producer(["a", "b", "c"], shuffle=False)
    word, length = tf.py_func(lambda w: (w, len(w)), [words.dequeue()], [tf.string, tf.int64])
    runner = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0]
    epoch = tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES)
    before = (queue.enqueue_many(_rows(8)), tf.variables_initializer(epoch), runner.enqueue_ops)
    logits = _dense(queue.dequeue_many(ROWS), 2, "logits")
    return Step([_trained(logits), word, length], before=before)


def _unknown_batch() -> Step:
    """Shapes that only a run tells, of some outputs and not of others."""
    images = tf.placeholder(tf.float32, [None, 8, 8, 3], name="images")
    anything = tf.placeholder(tf.float32, name="anything")
    kernel = tf.get_variable("kernel", [3, 3, 3, 4])
    seen = tf.nn.max_pool2d(tf.nn.conv2d(images * 2.0, kernel, 1, "SAME"), 2, 2, "VALID")
    kinds, places = tf.unique(tf.cast(tf.reshape(anything, [-1]), tf.int32))
    logits = _dense(tf.reshape(seen, [-1, 64]), 2, "logits")
    gradients = tf.gradients(tf.nn.l2_loss(logits), tf.trainable_variables())
    sums = [tf.add(anything, 1.0), kinds + 1, places * 2, tf.reduce_sum(anything)]

    def feeds(number: int) -> dict[Any, Any]:
        count = 2 + number % 3
        return {images: np.ones([count, 8, 8, 3]), anything: np.arange(2.0 * count)}

    return Step([gradients, logits, sums], feeds)


def _images_of_any_size() -> Step:
    """A net of convolutions of which neither batch nor height nor width is known, and gradients."""
    images = tf.placeholder(tf.float32, [None, None, None, 3], name="images")
    first = tf.get_variable("first", [3, 3, 3, 4])
    second = tf.get_variable("second", [3, 3, 4, 2])
    seen = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(images, first, 1, "SAME")), 2, 2, "VALID")
    scores = tf.reduce_mean(tf.nn.conv2d(seen, second, 2, "SAME"), [1, 2])
    gradients = tf.gradients(tf.nn.l2_loss(scores), [first, second])

    def feeds(number: int) -> dict[Any, Any]:
        return {images: np.ones([1 + number % 2, 8 + 2 * number, 6, 3])}

    return Step([gradients, tf.nn.softmax(scores)], feeds)


# --- arithmetic ---------------------------------------------------------------------------------


def _second_gradients() -> Step:
    inputs = _rows(3)
    outputs = tf.reduce_sum(tf.square(_dense(tf.tanh(_dense(inputs, 5, "lower")), 1, "upper")))
    (slope,) = tf.gradients(outputs, [inputs])
    penalty = tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
    again = tf.gradients(penalty, tf.trainable_variables())
    (curvature,) = tf.hessians(outputs, [tf.trainable_variables()[1]])
    return Step([[g for g in again if g is not None], curvature])


def _images() -> list[Any]:
    """Every kernel that slides over images, forth and back, and what may go wrong in counting."""
    images = tf.random.normal([2, 7, 7, 3])
    kernel, film = tf.get_variable("kernel", [3, 3, 3, 5]), tf.random.normal([1, 4, 4, 4, 2])
    seen = tf.nn.conv2d(images, kernel, strides=2, padding="SAME")
    channels_first = tf.transpose(images, [0, 3, 1, 2])
    with tf.device("/cpu:0"):
        tf.nn.max_pool2d(channels_first, 2, 2, "VALID", data_format="NCHW", name="never_run")
    return [
        *tf.gradients(tf.nn.l2_loss(seen), [images, kernel]),
        tf.nn.depthwise_conv2d(images, kernel[:, :, :, :2], [1, 1, 1, 1], "VALID"),
        tf.nn.dilation2d(images, kernel[:, :, :, 0], [1] * 4, [1] * 4, "SAME"),
        tf.nn.conv3d(film, tf.random.normal([2, 2, 2, 2, 3]), [1, 1, 1, 1, 1], "SAME"),
        *tf.gradients(tf.nn.avg_pool2d(images, 2, 2, "VALID"), [images]),
        *tf.gradients(tf.nn.max_pool2d(images, 3, 2, "SAME"), [images]),
    ]


def _arithmetic() -> Step:
    """An op of every type that has float operations, and some that have none."""
    a, b = tf.random.uniform([2, 3], 1.0, 2.0), tf.random.uniform([2, 3], 1.0, 2.0)
    pairs = [a + b, a - b, a * b, a / b, a > b, a >= b, a < b, a <= b, a**b]
    pairs += [tf.maximum(a, b), tf.minimum(a, b), tf.equal(a, b), tf.not_equal(a, b)]
    pairs += [tf.squared_difference(a, b), tf.raw_ops.Add(x=a, y=b)]
    single = [tf.reciprocal(a), tf.square(a), tf.log(a), -a, tf.nn.l2_loss(a), tf.nn.softmax(a)]
    single += [tf.reduce_mean(a, 1), tf.reduce_sum(a, 0), tf.argmax(a, 1), tf.argmin(a, 0)]
    single += tf.gradients(tf.rsqrt(a), [a])
    counter = tf.get_variable("counter", [2, 3], use_resource=False)
    with tf.control_dependencies([a]):
        sums = [tf.add_n([a, b]), tf.assign_add(counter, a), tf.assign_sub(counter, b)]
    stacks = [tf.random.normal([2, 4, n]) for n in (3, 5)]
    products = [tf.matmul(*stacks, adjoint_a=True), tf.matmul(a, b, transpose_a=True)]
    products += [tf.einsum("ij,kj->ik", a, b), tf.nn.l2_loss(tf.zeros([0, 3]))]
    return Step([*pairs, *single, *sums, *products, *_images()])


def _own_statistic() -> Step:
    """An op type for which the user has said what it costs."""
    register_statistic()
    return Step(_trained(_dense(tf.math.softplus(_rows(8)), 2, "logits")))


def register_statistic() -> None:
    """Count three float operations an element of Softplus; the process remembers it."""
    from tensorflow.python.framework import ops  # noqa: PLC0415 - no module name of its own

    with contextlib.suppress(KeyError):  # said before

        @ops.RegisterStatistics("Softplus", "flops")  # type: ignore[untyped-decorator]
        def _softplus_flops(graph: Any, node: Any) -> Any:
            elements = graph.get_operation_by_name(node.name).outputs[0].shape.num_elements()
            return ops.OpStats("flops", 3 * elements)


def _own_log() -> Step:
    """Types and float operations that the user adds: of ops with and without them, and of none."""
    made = _mlp()
    log = tf.profiler.OpLogProto()
    log.log_entries.add(name="hidden/MatMul", types=["mine", "heavy"], float_ops=12345)
    log.log_entries.add(name="logits/weights", types=["mine"])
    log.log_entries.add(name="logits/MatMul", types=["mine"])
    log.log_entries.add(name="logits/MatMul", types=["last"])
    log.log_entries.add(name="Relu", float_ops=77)
    log.log_entries.add(name="not/there", types=["mine"], float_ops=5)
    return Step(made.fetches, op_log=log)


def _nothing() -> Step:
    return Step([])


_L0: Final = tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0)
_UNALTERED: Final = {"graph_options": tf.GraphOptions(optimizer_options=_L0)}
_PRUNED: Final = {"graph_options": tf.GraphOptions(place_pruned_graph=True)}
MODELS: Final = {
    "mlp": Model(_mlp),
    "mlp_ref": Model(_mlp, resource_variables=False),
    "adam": Model(_adam),
    "resnet": Model(_resnet, resource_variables=False, config=_UNALTERED),
    "rnn": Model(_rnn),
    "rnn_ref": Model(_rnn, resource_variables=False, config=_UNALTERED),
    "functions": Model(_functions, control_flow_v2=True),
    "partitioned": Model(_partitioned),
    "two_devices": Model(_two_devices, devices=2),
    "servers": Model(_servers, config=_PRUNED),
    "summaries": Model(_summaries),
    "queues": Model(_queues, open_shapes=True),
    "unknown_batch": Model(_unknown_batch, open_shapes=True),
    "images_of_any_size": Model(_images_of_any_size, open_shapes=True),
    "second_gradients": Model(_second_gradients, resource_variables=False),
    "arithmetic": Model(_arithmetic, config=_UNALTERED),
    "own_statistic": Model(_own_statistic),
    "own_log": Model(_own_log),
    "nothing": Model(_nothing),
}
