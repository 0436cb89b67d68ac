"""The imaginary network behind the generated files: a TF1 training graph of any size.

Experts stand side by side, each a short chain of residual units, so the graph grows in width and
its depth stays that of a real network. Variables are shared; four towers read them:

    expert_007/block_2/unit_1/conv/kernel                            variables, slots, initialisers
    tower_3/expert_007/block_2/unit_1/conv/Conv2D                    forward
    tower_3/gradients/tower_3/expert_007/…/Conv2D_grad/tuple/…       backward
    train/update_expert_007/block_2/unit_1/conv/kernel/ApplyMomentum

Every name follows from its place, so nothing is kept: passes stream in the order a program builds
them, and every input names a node of the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops import Shape

TOWERS = 4
UNITS = 12  # an expert: four blocks of three units
SHAPES: tuple[Shape, ...] = (
    (32, 56, 56, 64),
    (32, 28, 28, 128),
    (32, 14, 14, 256),
    (32, 7, 7, 512),
)
TRAINED = (b"conv/kernel", b"conv/bias", b"norm/gamma", b"norm/beta")
MOVING = (b"norm/moving_mean", b"norm/moving_variance")
IDLE, CPU, GPU = 0, 1, 2


class Node(NamedTuple):
    """A node of the graph; `code` and `place` tell which call stack made it."""

    name: bytes
    op: bytes
    inputs: tuple[bytes, ...]
    shape: Shape
    device: int
    code: str
    place: int
    variable: bytes = b""
    trained: bool = False


class Model(NamedTuple):
    """A network of a number of units, padded with summaries to an exact number of nodes."""

    units: int
    nodes_wanted: int

    @property
    def experts(self) -> int:
        """How many experts share the units; the last may be short."""
        return -(-self.units // UNITS)

    def last(self, place: int) -> bool:
        """Whether a unit is the last of its expert."""
        return place % UNITS == UNITS - 1 or place == self.units - 1

    def nodes(self) -> Iterator[Node]:
        """Every node, in the order a program would build them."""
        made = 0
        for node in self.network():
            made += 1
            yield node
        for number in range(self.nodes_wanted - made):
            yield _summary(number, self.units)

    def network(self) -> Iterator[Node]:
        """The nodes without the padding."""
        yield from _head()
        for place in range(self.units):
            yield from _variables(place)
        for tower in range(TOWERS):
            for place in range(self.units):
                yield from _forward(tower, place)
                if self.last(place):
                    yield from _loss(tower, place)
            yield from _backward_head(tower, self.experts)
            for place in reversed(range(self.units)):
                yield from _backward(tower, place, last=self.last(place))
        for place in range(self.units):
            yield from _update(place)
        for expert in range(self.experts):
            first = expert * UNITS
            yield from _groups(expert, range(first, min(first + UNITS, self.units)))
        yield from _tail(self.experts)


def model(nodes: int) -> Model:
    """The largest network that fits into that many nodes."""
    units = [sum(1 for _ in Model(count, 0).network()) for count in (0, 1, 2)]
    a_unit = units[2] - units[1]
    an_expert = units[1] - units[0] - a_unit
    if nodes < units[0]:
        message = f"the smallest graph has {units[0]} nodes"
        raise ValueError(message)
    count = (nodes - units[0]) // a_unit
    while units[0] + count * a_unit + -(-count // UNITS) * an_expert > nodes:
        count -= 1
    return Model(count, nodes)


def unit_scope(place: int) -> bytes:
    """The name scope of a unit, without tower."""
    expert, inside = divmod(place, UNITS)
    return b"expert_%03d/block_%d/unit_%d" % (expert, inside // 3, inside % 3)


def unit_shape(place: int) -> Shape:
    """The shape of a unit's output."""
    return SHAPES[place % UNITS // 3]


def _head() -> Iterator[Node]:
    yield from _variable(b"global_step", (), "input", -1)
    for name in (b"train/learning_rate", b"train/momentum", b"average_gradients/factor"):
        yield Node(name, b"Const", (), (), CPU, "train", -1)
    for name in (b"input_pipeline/images", b"input_pipeline/labels"):
        yield Node(name, b"Placeholder", (), (-1, 224, 224, 3), CPU, "input", -1)
    yield Node(b"input_pipeline/split/split_dim", b"Const", (), (), CPU, "input", -1)
    inputs = (b"input_pipeline/split/split_dim", b"input_pipeline/images")
    yield Node(b"input_pipeline/split", b"Split", inputs, SHAPES[0], CPU, "input", -1)


def _variables(place: int) -> Iterator[Node]:
    scope, channels = unit_scope(place), unit_shape(place)[-1]
    for name in (*TRAINED, *MOVING):
        variable = b"%s/%s" % (scope, name)
        shape = (3, 3, channels, channels) if name == b"conv/kernel" else (channels,)
        code = "kernel" if name == b"conv/kernel" else "weights"
        yield from _variable(variable, shape, code, place, trained=name in TRAINED)
        if name in TRAINED:
            slot = variable + b"/Momentum"
            yield from _variable(slot, shape, "slots", -1, home=variable)


def _variable(  # noqa: PLR0913 - a node has this many sides
    name: bytes,
    shape: Shape,
    code: str,
    place: int,
    *,
    home: bytes = b"",
    trained: bool = False,
) -> Iterator[Node]:
    home = home or name
    start = name + b"/Initializer/zeros"
    if len(shape) > 1 and home == name:
        start = name + b"/Initializer/random_uniform"
        yield from _random(start, shape, code, place)
    else:
        yield Node(start, b"Const", (), shape, IDLE, code, place, home)
    klass = b"" if home == name else home
    yield Node(name, b"VariableV2", (), shape, GPU, code, place, klass, trained)
    yield Node(name + b"/Assign", b"Assign", (name, start), shape, IDLE, code, place, home)
    read = GPU if klass == b"" else IDLE
    yield Node(name + b"/read", b"Identity", (name,), shape, read, code, place, home)


def _random(scope: bytes, shape: Shape, code: str, place: int) -> Iterator[Node]:
    yield Node(scope + b"/shape", b"Const", (), shape, IDLE, code, place)
    for bound in (b"/min", b"/max"):
        yield Node(scope + bound, b"Const", (), (), IDLE, code, place)
    low, high, drawn = scope + b"/min", scope + b"/max", scope + b"/RandomUniform"
    yield Node(drawn, b"RandomUniform", (scope + b"/shape",), shape, IDLE, code, place)
    yield Node(scope + b"/sub", b"Sub", (high, low), (), IDLE, code, place)
    yield Node(scope + b"/mul", b"Mul", (drawn, scope + b"/sub"), shape, IDLE, code, place)
    yield Node(scope, b"Add", (scope + b"/mul", low), shape, IDLE, code, place)


def _before(tower: int, place: int) -> bytes:
    """What a unit reads: the unit before it, or the tower's share of the batch."""
    if place % UNITS == 0:
        return b"input_pipeline/split" + (b":%d" % tower if tower else b"")
    return b"tower_%d/%s/add" % (tower, unit_scope(place - 1))


def _forward(tower: int, place: int) -> Iterator[Node]:
    variables, shape = unit_scope(place), unit_shape(place)
    scope, channels = b"tower_%d/%s" % (tower, variables), shape[-1:]
    conv, norm = scope + b"/conv", scope + b"/norm"
    before, fused = _before(tower, place), norm + b"/FusedBatchNorm"
    weights = (variables + b"/conv/kernel/read", variables + b"/conv/bias/read")
    scales = (variables + b"/norm/gamma/read", variables + b"/norm/beta/read")
    yield Node(conv + b"/dilation_rate", b"Const", (), (1, 1), GPU, "conv", place)
    yield Node(conv + b"/Conv2D", b"Conv2D", (before, weights[0]), shape, GPU, "conv", place)
    inputs: tuple[bytes, ...] = (conv + b"/Conv2D", weights[1])
    yield Node(conv + b"/BiasAdd", b"BiasAdd", inputs, shape, GPU, "conv", place)
    for name in (b"/Const", b"/Const_1"):
        yield Node(norm + name, b"Const", (), (), GPU, "norm", place)
    inputs = (conv + b"/BiasAdd", *scales, norm + b"/Const", norm + b"/Const_1")
    yield Node(fused, b"FusedBatchNorm", inputs, shape, GPU, "norm", place)
    for slot, name in enumerate(MOVING, start=1):
        variable = b"%s/%s" % (variables, name)
        moving = b"%s/AssignMovingAvg_%d" % (norm, slot)
        inputs = (variable + b"/read", b"%s:%d" % (fused, slot))
        yield Node(moving + b"/sub", b"Sub", inputs, channels, GPU, "norm", place, variable)
        inputs = (moving + b"/sub", norm + b"/Const")
        yield Node(moving + b"/mul", b"Mul", inputs, channels, GPU, "norm", place, variable)
        inputs = (variable, moving + b"/mul")
        yield Node(moving, b"AssignSub", inputs, channels, GPU, "norm", place, variable)
    yield Node(scope + b"/Relu", b"Relu", (fused,), shape, GPU, "relu", place)
    yield Node(scope + b"/add", b"Add", (scope + b"/Relu", before), shape, GPU, "residual", place)


def _loss(tower: int, place: int) -> Iterator[Node]:
    name = b"tower_%d/expert_%03d/loss/L2Loss" % (tower, place // UNITS)
    inputs = (b"tower_%d/%s/add" % (tower, unit_scope(place)),)
    yield Node(name, b"L2Loss", inputs, (), GPU, "loss", place - place % UNITS)


def _backward_head(tower: int, experts: int) -> Iterator[Node]:
    losses = tuple(b"tower_%d/expert_%03d/loss/L2Loss" % (tower, each) for each in range(experts))
    yield Node(b"tower_%d/total_loss" % tower, b"AddN", losses, (), GPU, "loss", -1)
    scope = b"tower_%d/gradients" % tower
    yield Node(scope + b"/Shape", b"Const", (), (1,), GPU, "gradient", -1)
    yield Node(scope + b"/grad_ys_0", b"Const", (), (), GPU, "gradient", -1)
    inputs = (scope + b"/Shape", scope + b"/grad_ys_0")
    yield Node(scope + b"/Fill", b"Fill", inputs, (), GPU, "gradient", -1)


def _tuple(scope: bytes, values: tuple[tuple[bytes, Shape], ...]) -> Iterator[Node]:
    """Gradients of one op leave together: a no-op waits for all, identities wait for it."""
    group = scope + b"/tuple/group_deps"
    waits = tuple(b"^" + value for value, _ in values if b":" not in value)
    yield Node(group, b"NoOp", waits, (), CPU, "gradient", -1)
    for number, (value, shape) in enumerate(values):
        name = scope + b"/tuple/control_dependency" + (b"_%d" % number if number else b"")
        inputs, home = (value, b"^" + group), value.partition(b":")[0]
        yield Node(name, b"Identity", inputs, shape, GPU, "gradient", -1, home)


def _backward(tower: int, place: int, *, last: bool) -> Iterator[Node]:
    variables, shape = unit_scope(place), unit_shape(place)
    forward = b"tower_%d/%s" % (tower, variables)
    scope, channels = b"tower_%d/gradients/%s" % (tower, forward), shape[-1:]
    sums = b"tower_%d/gradients/AddN_%d"
    if last:
        loss = b"tower_%d/expert_%03d/loss/L2Loss" % (tower, place // UNITS)
        above = b"tower_%d/gradients/%s_grad/mul" % (tower, loss)
        inputs: tuple[bytes, ...] = (forward + b"/add", b"tower_%d/gradients/Fill" % tower)
        yield Node(above, b"Mul", inputs, shape, GPU, "gradient", -1)
    else:
        above = sums % (tower, place + 1)
    kept, relu = b"/tuple/control_dependency", scope + b"/Relu_grad/ReluGrad"
    add, norm = scope + b"/add_grad", scope + b"/norm/FusedBatchNorm_grad"
    bias, conv = scope + b"/conv/BiasAdd_grad", scope + b"/conv/Conv2D_grad"
    yield from _tuple(add, ((above, shape), (above, shape)))
    inputs = (add + kept, forward + b"/Relu")
    yield Node(relu, b"ReluGrad", inputs, shape, GPU, "gradient", -1)

    fused, gamma = forward + b"/norm/FusedBatchNorm", variables + b"/norm/gamma/read"
    inputs = (relu, forward + b"/conv/BiasAdd", gamma, fused + b":3", fused + b":4")
    back = norm + b"/FusedBatchNormGrad"
    yield Node(back, b"FusedBatchNormGrad", inputs, shape, GPU, "gradient", -1)
    yield from _tuple(norm, ((back, shape), (back + b":1", channels), (back + b":2", channels)))

    back = bias + b"/BiasAddGrad"
    yield Node(back, b"BiasAddGrad", (norm + kept,), channels, GPU, "gradient", -1)
    yield from _tuple(bias, ((norm + kept, shape), (back, channels)))

    before, kernel = _before(tower, place), variables + b"/conv/kernel/read"
    sizes, window = conv + b"/ShapeN", (3, 3, channels[0], channels[0])
    yield Node(sizes, b"ShapeN", (before, kernel), (4,), CPU, "gradient", -1)
    back, weights = conv + b"/Conv2DBackpropInput", conv + b"/Conv2DBackpropFilter"
    inputs = (sizes, kernel, bias + kept)
    yield Node(back, b"Conv2DBackpropInput", inputs, shape, GPU, "gradient", -1)
    inputs = (before, sizes + b":1", bias + kept)
    yield Node(weights, b"Conv2DBackpropFilter", inputs, window, GPU, "gradient", -1)
    yield from _tuple(conv, ((back, shape), (weights, window)))
    inputs = (add + kept + b"_1", conv + kept)
    yield Node(sums % (tower, place), b"AddN", inputs, shape, GPU, "gradient", -1)


_LEAVES = {
    b"conv/kernel": b"conv/Conv2D_grad/tuple/control_dependency_1",
    b"conv/bias": b"conv/BiasAdd_grad/tuple/control_dependency_1",
    b"norm/gamma": b"norm/FusedBatchNorm_grad/tuple/control_dependency_1",
    b"norm/beta": b"norm/FusedBatchNorm_grad/tuple/control_dependency_2",
}


def _update(place: int) -> Iterator[Node]:
    scope, channels = unit_scope(place), unit_shape(place)[-1]
    for name, leaf in _LEAVES.items():
        variable = b"%s/%s" % (scope, name)
        shape = (3, 3, channels, channels) if name == b"conv/kernel" else (channels,)
        mean = b"average_gradients/" + variable
        inputs: tuple[bytes, ...] = tuple(
            b"tower_%d/gradients/tower_%d/%s/%s" % (tower, tower, scope, leaf)
            for tower in range(TOWERS)
        )
        yield Node(mean + b"/AddN", b"AddN", inputs, shape, GPU, "train", -1)
        inputs = (mean + b"/AddN", b"average_gradients/factor")
        yield Node(mean + b"/mul", b"Mul", inputs, shape, GPU, "train", -1)
        update = b"train/update_%s/ApplyMomentum" % variable
        inputs = (variable, variable + b"/Momentum", b"train/learning_rate", mean + b"/mul")
        inputs = (*inputs, b"train/momentum")
        yield Node(update, b"ApplyMomentum", inputs, shape, GPU, "train", -1, variable)


def _groups(expert: int, places: range) -> Iterator[Node]:
    """An expert's updates and initialisers, gathered as tf.group does it."""
    scopes = [unit_scope(place) for place in places]
    updates = tuple(
        b"^train/update_%s/%s/ApplyMomentum" % (scope, name) for scope in scopes for name in TRAINED
    )
    yield Node(b"train/expert_%03d/update" % expert, b"NoOp", updates, (), CPU, "train", -1)
    starts = tuple(
        b"^%s/%s/Assign" % (scope, name) for scope in scopes for name in (*TRAINED, *MOVING)
    )
    slots = tuple(b"^%s/%s/Momentum/Assign" % (scope, name) for scope in scopes for name in TRAINED)
    yield Node(b"init/expert_%03d" % expert, b"NoOp", starts + slots, (), IDLE, "train", -1)


def _summary(number: int, units: int) -> Node:
    watched = b"global_step/read"
    if units:
        watched = b"tower_%d/%s/add" % (number % TOWERS, unit_scope(number // TOWERS % units))
    name = b"summaries/%s/activation_%d/sparsity" % (watched, number)
    return Node(name, b"ScalarSummary", (watched, b"^global_step/read"), (), CPU, "input", -1)


def _tail(experts: int) -> Iterator[Node]:
    inputs: tuple[bytes, ...] = tuple(b"^init/expert_%03d" % each for each in range(experts))
    inputs = (*inputs, b"^global_step/Assign")
    yield Node(b"init", b"NoOp", inputs, (), IDLE, "train", -1)
    inputs = tuple(b"^train/expert_%03d/update" % each for each in range(experts))
    yield Node(b"train/update", b"NoOp", inputs, (), CPU, "train", -1)
    inputs = (b"global_step", b"train/learning_rate", b"^train/update")
    yield Node(b"train", b"AssignAdd", inputs, (), GPU, "train", -1, b"global_step")
