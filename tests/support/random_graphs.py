"""Random graphs and op logs, drawn from small alphabets so that names collide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from case import GraphDef, OpLogProto, is_gradient
from random_values import amount, chance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

PLAIN: Final = ("a", "b", "c", "A", "B", "_k", "w", "x", "conv1", "Adam", "1", "b1", "BatchNorm")
AWKWARD: Final = ("a-b", "a.b", "a_b", "", "é", "日本", "a b", "a\nb", "(x)", "a:b", "+", "\t")
WHOLE: Final = ("", "/", "//", "/q", "a/", "a//b", "a/b/", "^a", "gradients", "gradients/")
GRADIENTS: Final = (
    *("gradients/{}_grad/{}", "gradients/{}_grad/{}", "gradients/{}_grad/{}"),
    *("{1}/gradients/{0}_grad/x", "gradients/_grad/{}", "x_grad/gradients/{}", "gradients/{}_grad"),
    *("gradients_1/{}_grad/{}", "gradients/gradients/{}_grad/{}_grad/y"),
)
OPS: Final = (
    *("MatMul", "Conv2D", "VariableV2", "VarHandleOp", "Placeholder", "Const", "Add", "NoOp"),
    *("", "a", "matmul", "FusedBatchNormGradV3Extended", "ExactlyTwentyFiveLetters_", "x y"),
    *("_kTFScopeParent", "Mul|Add", "Größe", "Conv2DBackpropFilter"),
)
TYPES: Final = (
    *("_trainable_variables", "_trainable_variables", "weights", "MatMul", "gpu:0", "", "ü"),
    *("/job:localhost/replica:0/task:0/device:gpu:0", "a|b", "Zz"),
)
DIMENSIONS: Final = (1, 2, 3, 4, 7, 10, 32, 64, 100, 224, 1000, 1024, 2000, 65536)
FILES: Final = ("model.py", "/home/u/model.py", "lib/model.py", "train.py", "", "dir/", "mödel.py")
FUNCTIONS: Final = (
    *("build", "f", "<module>", "", "größe", "f:g", "nineteen_bytes_long", "twenty_bytes_long_fn"),
    *("shares_seventeen_bytes_one", "shares_seventeen_bytes_two", "twenty_one_bytes_long"),
)


def make_names(rng: Random) -> list[str]:
    """Node names in the order of the graph: 0 to 40, some of them twice."""
    size = rng.choice((0, 1, 2, 3, 4, 5, 6, 8, 8, 10, 12, 12, 15, 20, 30, 40))
    alphabet = rng.sample(PLAIN, rng.randrange(2, 6))
    if chance(rng, 0.4):
        alphabet += rng.sample(AWKWARD, rng.randrange(1, 4))
    names: list[str] = []
    for _ in range(size):
        names.append(_name(rng, alphabet, names))
    return names


def _name(rng: Random, alphabet: Sequence[str], names: Sequence[str]) -> str:
    fresh = "/".join(rng.choice(alphabet) for _ in range(rng.choice((1, 1, 2, 2, 3, 4, 6))))
    known = rng.choice(names) if names else fresh
    roll = rng.random()
    if roll < 0.03:
        return known
    if roll < 0.06:
        return rng.choice(WHOLE)
    if roll < 0.26:
        return f"{known}/{rng.choice(alphabet)}"
    if roll < 0.31:
        return known.rpartition("/")[0]
    if roll < 0.43:
        return rng.choice(GRADIENTS).format(known, rng.choice(alphabet))
    return fresh


def make_graph(rng: Random, names: Sequence[str]) -> Any:
    """A GraphDef with these nodes."""
    graph = GraphDef()
    ops = rng.sample(OPS, rng.randrange(1, 8))
    complete = chance(rng, 0.5)
    for name in names:
        node = graph.node.add(name=name, op=rng.choice(ops))
        inputs = _inputs(rng, name, names)
        node.input.extend(i for i in inputs if not complete or input_node(i) in names)
        _attributes(rng, node)
        if chance(rng, 0.1):
            node.device = "/job:ps/device:GPU:1"
    if names and chance(rng, 0.05):
        graph.versions.producer = 21
        graph.library.function.add().node_def.add(name="inside/function", op="MatMul")
    return graph


def input_node(text: str) -> str:
    """The node that an input string names."""
    return text.partition(":")[0].removeprefix("^")


def _inputs(rng: Random, name: str, names: Sequence[str]) -> list[str]:
    earlier = names[: names.index(name)] or ["not/there"]
    inputs = []
    for _ in range(rng.choice((0, 0, 1, 1, 2, 2, 3, 5))):
        roll = rng.random()
        if roll < 0.78:
            target = rng.choice(earlier)
        elif roll < 0.9:
            target = rng.choice(names)
        elif roll < 0.93:
            target = name
        else:
            target = rng.choice(("not/there", "gone", "", "a"))
        prefix = "^" if chance(rng, 0.15) else ""
        suffix = rng.choice((":0", ":1", ":2", ":")) if chance(rng, 0.25) else ""
        inputs.append(prefix + target + suffix)
    if inputs and chance(rng, 0.1):
        inputs.append(inputs[0])
    return inputs


def _attributes(rng: Random, node: Any) -> None:
    if chance(rng, 0.5):
        _shape(rng, node.attr["shape"].shape)
    elif chance(rng, 0.1):
        _wrong_kind(rng, node.attr["shape"])
    if chance(rng, 0.6):
        node.attr["_output_shapes"].list.SetInParent()
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
            _shape(rng, node.attr["_output_shapes"].list.shape.add())
    elif chance(rng, 0.1):
        _wrong_kind(rng, node.attr["_output_shapes"])
    if chance(rng, 0.1):
        node.attr["data_format"].s = rng.choice((b"NHWC", b"NCHW", b"\xff\x00"))
    if chance(rng, 0.1):
        _shape(rng, node.attr[rng.choice(("shapes", "Shape", "output_shapes"))].shape)


def _shape(rng: Random, shape: Any) -> None:
    shape.SetInParent()
    if chance(rng, 0.12):
        shape.unknown_rank = True
        if chance(rng, 0.7):
            return
    elif chance(rng, 0.15):
        return
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        roll = rng.random()
        if roll < 0.08:
            size = -1
        elif roll < 0.12:
            size = 0
        elif roll < 0.16:
            size = rng.choice((2**31, 2**33 + 1, 2**62, -7))
        else:
            size = rng.choice(DIMENSIONS)
        shape.dim.add(size=size)


def _wrong_kind(rng: Random, attribute: Any) -> None:
    kind = rng.randrange(5)
    if kind == 0:
        attribute.i = 12
    elif kind == 1:
        attribute.s = b"2x3"
    elif kind == 2:
        _shape(rng, attribute.shape)
    elif kind == 3:
        attribute.list.i.extend([2, 3])
    else:
        _shape(rng, attribute.list.shape.add())


def make_op_log(rng: Random, names: Sequence[str], *, traces: bool) -> Any:
    """An OpLogProto about these names and others."""
    op_log = OpLogProto()
    stacks = _stacks(rng, op_log) if traces else []
    mentioned = [name for name in names if chance(rng, 0.8)]
    mentioned += [rng.choice(names) for _ in range(rng.randrange(3)) if names]
    mentioned += rng.sample(("not/in/graph", "zz", "a"), rng.randrange(3))
    rng.shuffle(mentioned)
    for name in mentioned:
        entry = op_log.log_entries.add(name=name)
        if chance(rng, 0.5):
            entry.float_ops = amount(rng, negative=0.01)
        if chance(rng, 0.4):
            entry.types.extend(rng.choice(TYPES) for _ in range(rng.randrange(1, 4)))
        if stacks and chance(rng, 0.85):
            entry.code_def.SetInParent()
            if chance(rng, 0.92):
                entry.code_def.traces.extend(rng.choice(stacks))
    return op_log


def _stacks(rng: Random, op_log: Any) -> list[list[Any]]:
    """Call stacks that share their beginnings, their strings entered in the op log."""
    ids = rng.sample((0, *range(1, 30), -4, 2**40), 12)
    strings = op_log.id_to_string
    files = _identify(strings, ids[:4], rng.sample(FILES, 4))
    functions = _identify(strings, ids[4:9], rng.sample(FUNCTIONS, 5))
    frames = [
        op_log.log_entries.add().code_def.traces.add(
            file_id=rng.choice(files),
            function_id=rng.choice(functions),
            lineno=rng.choice((1, 2, 12, 12, 345, 0, -1)),
            func_start_line=rng.choice((0, 1, -1)),
            line_id=rng.choice(files),
        )
        for _ in range(rng.randrange(2, 8))
    ]
    del op_log.log_entries[:]
    stacks: list[list[Any]] = [[rng.choice(frames)]]
    for _ in range(rng.randrange(2, 9)):
        shared = rng.choice(stacks)
        kept = shared[: rng.randrange(len(shared) + 1)]
        stacks.append([*kept, *(rng.choice(frames) for _ in range(rng.randrange(1, 4)))])
    return stacks


def _identify(strings: Any, ids: Sequence[int], texts: Sequence[str]) -> list[int]:
    for number, text in zip(ids, texts, strict=True):
        strings[number] = text
    return list(ids)


def frame_names(op_log: Any) -> list[str]:
    """What code view calls the frames of this op log, in order of appearance."""
    names: dict[str, None] = {}
    for entry in op_log.log_entries:
        suffix = " (gradient)" if is_gradient(entry.name) else ""
        for frame in entry.code_def.traces:
            file = op_log.id_to_string[frame.file_id].rpartition("/")[2]
            function = op_log.id_to_string[frame.function_id]
            if len(function.encode()) >= 20:
                function = function[:17] + "..."
            names[f"{file}:{frame.lineno}:{function}{suffix}"] = None
    return list(names)
