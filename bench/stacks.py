"""The call stacks that made the nodes: fifteen frames, most of them shared.

The outer frames are those of the training program, the inner ones those of the library; between
them stand an expert, a block and a unit, each with its own line. Towers run the same lines, so one
stack serves about thirty nodes, as in real programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from encode import block, varint
from model import UNITS

if TYPE_CHECKING:
    from model import Node

Frame = tuple[str, int, str]

_PROGRAM: tuple[Frame, ...] = (
    ("lib/python/runpy.py", 193, "_run_module_as_main"),
    ("lib/python/runpy.py", 85, "_run_code"),
    ("project/train.py", 412, "<module>"),
    ("site-packages/tensorflow/python/platform/app.py", 125, "run"),
    ("project/train.py", 388, "main"),
    ("project/train.py", 301, "train"),
)
_LIBRARY = "site-packages/tensorflow/python"
_OPS: tuple[Frame, ...] = (
    (f"{_LIBRARY}/framework/op_def_library.py", 787, "_apply_op_helper"),
    (f"{_LIBRARY}/framework/ops.py", 3414, "create_op"),
    (f"{_LIBRARY}/framework/ops.py", 1740, "__init__"),
)
# How each kind of node is reached: the frames between the program's and the library's.
_ROUTES: dict[str, tuple[Frame, ...]] = {
    "kernel": (
        (f"{_LIBRARY}/layers/convolutional.py", 167, "build"),
        (f"{_LIBRARY}/ops/variable_scope.py", 1203, "get_variable"),
    ),
    "weights": (
        (f"{_LIBRARY}/layers/normalization.py", 262, "build"),
        (f"{_LIBRARY}/ops/variable_scope.py", 1203, "get_variable"),
    ),
    "conv": (
        (f"{_LIBRARY}/layers/convolutional.py", 614, "conv2d"),
        (f"{_LIBRARY}/ops/gen_nn_ops.py", 1042, "conv2d"),
    ),
    "norm": (
        (f"{_LIBRARY}/layers/normalization.py", 519, "call"),
        (f"{_LIBRARY}/ops/gen_nn_ops.py", 3802, "fused_batch_norm"),
    ),
    "relu": (
        ("project/models/activations.py", 31, "activation"),
        (f"{_LIBRARY}/ops/gen_nn_ops.py", 6274, "relu"),
    ),
    "residual": (
        (f"{_LIBRARY}/ops/math_ops.py", 850, "binary_op_wrapper"),
        (f"{_LIBRARY}/ops/gen_math_ops.py", 330, "add"),
    ),
    "loss": (
        ("project/models/losses.py", 58, "expert_loss"),
        (f"{_LIBRARY}/ops/gen_nn_ops.py", 4419, "l2_loss"),
    ),
}
_SHARED: dict[str, tuple[Frame, ...]] = {
    "slots": (
        ("project/train.py", 260, "apply_gradients"),
        (f"{_LIBRARY}/training/optimizer.py", 593, "apply_gradients"),
        (f"{_LIBRARY}/training/momentum.py", 75, "_create_slots"),
        (f"{_LIBRARY}/training/slot_creator.py", 183, "create_zeros_slot"),
    ),
    "gradient": (
        ("project/train.py", 244, "compute_gradients"),
        (f"{_LIBRARY}/training/optimizer.py", 519, "compute_gradients"),
        (f"{_LIBRARY}/ops/gradients_impl.py", 630, "gradients"),
        (f"{_LIBRARY}/ops/gradients_impl.py", 814, "_GradientsHelper"),
        (f"{_LIBRARY}/ops/gradients_impl.py", 408, "_MaybeCompile"),
    ),
    "train": (
        ("project/train.py", 271, "average_and_apply"),
        (f"{_LIBRARY}/training/optimizer.py", 605, "apply_gradients"),
        (f"{_LIBRARY}/training/momentum.py", 87, "_apply_dense"),
    ),
    "input": (
        ("project/train.py", 205, "build_inputs"),
        ("project/data/pipeline.py", 77, "inputs"),
    ),
}


def frames(node: Node) -> tuple[Frame, ...]:
    """The stack of a node, outermost frame first."""
    if node.place < 0 or node.code not in _ROUTES:
        made = _SHARED.get(node.code, _ROUTES.get(node.code, ()))
        if node.code == "gradient":
            line = 100 + crc32(node.op) % 900
            made = (*made, (f"{_LIBRARY}/ops/nn_grad.py", line, f"_{node.op.decode()}"))
        return (*_PROGRAM, *made, *_OPS)
    expert, inside = divmod(node.place, UNITS)
    unit, line = inside % 3, crc32(node.code.encode()) % 40
    source = f"project/models/experts_{expert // 20}.py"
    return (
        *_PROGRAM,
        ("project/train.py", 176, "tower_loss"),
        (source, 20 + expert % 20 * 31, f"expert_{expert}"),
        ("project/models/blocks.py", 40 + inside // 3 * 7, "residual_block"),
        ("project/models/blocks.py", 120 + unit * 45 + line, f"unit_{unit}"),
        *_ROUTES[node.code],
        *_OPS,
    )


class Stacks:
    """CodeDef messages, each spelled once, and the strings their numbers stand for."""

    def __init__(self) -> None:
        """Start with the string every log starts with."""
        self.strings: dict[str, int] = {"none": 0}
        self._spelled: dict[tuple[str, int, bytes], bytes] = {}

    def code(self, node: Node) -> bytes:
        """The node's CodeDef."""
        key = (node.code, node.place, node.op if node.code == "gradient" else b"")
        if key not in self._spelled:
            self._spelled[key] = b"".join(self._frame(*frame) for frame in frames(node))
        return self._spelled[key]

    def _frame(self, source: str, line: int, function: str) -> bytes:
        numbers = [
            self.strings.setdefault(each, len(self.strings))
            for each in (source, function, f"{function}(inputs, line={line}, scope=scope)")
        ]
        return block(
            b"\x0a",
            b"\x10" + varint(line)
            # TensorFlow does not know where functions start and writes -1: ten bytes of varint.
            + b"\x28" + varint(-1)
            + b"\x30" + varint(numbers[0])
            + b"\x38" + varint(numbers[1])
            + b"\x40" + varint(numbers[2]),
        )  # fmt: skip
