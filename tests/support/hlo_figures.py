"""The float operations of the programs of hlo_models.py, by hand.

Two for each multiply-add; taps of a convolution on padding count, zeros that only dilate its input
do not. A gradient of a product is two products of the same size: one for each factor. What no
output needs is not computed, and is left out here with a word why.
"""

from __future__ import annotations

from typing import Final

# What a program is made of: a name for each part, and its float operations in one run.
Parts = dict[str, int]


def dense(rows: int, inputs: int, outputs: int) -> int:
    """A product of a [rows, inputs] and an [inputs, outputs] matrix."""
    return 2 * rows * inputs * outputs


def _linen() -> Parts:
    """Model N: a convolution of stride 2, a projection, two blocks, a head; batch of 4."""
    batch = 4
    conv = 2 * (batch * 8 * 8 * 8) * (3 * 3 * 3)  # outputs of 8 by 8 by 8; 3 by 3 by 3 taps each
    proj = dense(batch, 8 * 8 * 8, 32)
    up, down = dense(batch, 32, 64), dense(batch, 64, 32)
    parts = {
        "Conv_0 forward": conv,
        "Conv_0 backward": conv,  # of its kernel alone: no parameter is below its input
        "proj forward": proj,
        "proj backward": 2 * proj,
        "head forward": dense(batch, 32, 10),
        "head backward": 2 * dense(batch, 32, 10),
    }
    for block in ("block0", "block1"):
        parts |= {f"{block}/up forward": up, f"{block}/up backward": 2 * up}
        parts |= {f"{block}/down forward": down, f"{block}/down backward": 2 * down}
    return parts


def _nnx() -> Parts:
    """12 to 24 to 6, a batch of 5."""
    first, last = dense(5, 12, 24), dense(5, 24, 6)
    return {
        "first forward": first,
        "first backward": first,  # of its kernel alone
        "last forward": last,
        "last backward": 2 * last,
    }


def _plain() -> Parts:
    """7 words, three layers of 12 to 12, a head of 12 to 20; the loss is the mean of its output."""
    layers, head = 3 * dense(7, 12, 12), dense(7, 12, 20)
    return {
        "layers forward": layers,
        "layers backward": 2 * layers,  # down to the embedding
        "head backward": 2 * head,  # a mean's gradient needs no value: nothing forward
    }


LAYERS: Final = 3


def transformer_layer() -> Parts:
    """2 texts of 8 words, 16 wide, 2 heads of 8, 40 hidden units."""
    texts, length, width, heads, hidden = 2, 8, 16, 2, 40
    scores = 2 * (texts * heads * length * length) * (width // heads)
    words = texts * length
    return {
        "attention/qkv": dense(words, width, 3 * width),
        "attention/scores": scores,
        "attention/values": scores,  # weights times values: the same three sizes
        "attention/out": dense(words, width, width),
        "mlp/up": dense(words, width, hidden),
        "mlp/down": dense(words, hidden, width),
    }


def _scanned() -> Parts:
    head = dense(2 * 8, 16, 20)
    return {"head": head} | {name: LAYERS * of for name, of in transformer_layer().items()}


def _scanned_grad() -> Parts:
    forward = _scanned()
    backward = {f"{name} backward": 2 * of for name, of in forward.items()}
    return {f"{name} forward": of for name, of in forward.items()} | backward


def _remat(*, optimized: bool) -> Parts:
    """Two blocks of 24 to 48 to 24, 6 rows. The gradient needs the hidden layer again."""
    one = dense(6, 24, 48)
    return {
        "forward": 2 * 2 * one,
        # XLA's CPU compiler finds the same product forward, and drops the second.
        "recomputation": 0 if optimized else 2 * one,
        "backward": (2 * 4 - 1) * one,  # all but the gradient of the input
    }


def _remat_scanned() -> Parts:
    """Four such blocks by a scan; one body serves all, so it has the gradient of the input, too."""
    one = dense(6, 24, 48)
    return {"forward": 4 * 2 * one, "recomputation": 4 * one, "backward": 4 * 4 * one}


def _convolutions() -> Parts:
    """Outputs times taps; a batch of 2."""
    strided = 2 * (2 * 6 * 6 * 6) * (3 * 3 * 4)
    dilated = 2 * (2 * 8 * 8 * 6) * (3 * 3 * 4)
    grouped = 2 * (2 * 12 * 12 * 6) * (3 * 3 * 2)  # a group has 2 of 4 features
    transposed = 2 * (2 * 6 * 6 * 4) * (3 * 3 * 5)  # every input is multiplied by all taps
    # A gradient multiplies what the way forward multiplied: the padding of a convolution that
    # computes one is no work. So TensorFlow counts Conv2DBackpropInput, too.
    return {
        "strided forward": strided,
        "strided backward": 2 * strided,
        "dilated forward": dilated,
        "dilated backward": 2 * dilated,
        "grouped forward": grouped,
        "grouped backward": 2 * grouped,
        "transposed forward": transposed,
        "transposed backward": 2 * transposed,
    }


_STEP: Final = dense(4, 8, 8)

TURNS: Final = 7
"""What runtime_loop is called with."""
TURN: Final = dense(4, 64, 64)
"""One turn of it."""

CONTRACTIONS: Final[dict[str, Parts]] = {
    "flax_linen": _linen(),
    "flax_nnx": _nnx(),
    "plain": _plain(),
    "half": {
        "up": 2 * dense(3, 16, 40),  # forward, and the gradient of its matrix
        "down": 3 * dense(3, 40, 16),
    },
    "scanned": _scanned(),
    "scanned_grad": _scanned_grad(),
    "remat": _remat(optimized=True),
    "remat_scanned": _remat_scanned(),
    "convolutions": _convolutions(),
    "pooling": {},
    "nested": {"inside": 5 * 3 * _STEP, "after": _STEP},
    "runtime_loop": {"turns": TURNS * TURN},
    "branches": {"either": 2 * _STEP, "any": 3 * _STEP},  # the most expensive branch of each
    "library": {},
    # Of one device: 4 of 16 rows; 8 of 32 that are summed over.
    "sharded": {
        "up": 2 * dense(4, 32, 24),  # forward, and the gradient of its matrix
        "down": 3 * dense(4, 24, 8),
    },
    "mapped": {"product": dense(6, 8, 12)},
    # 4 of 8 rows, 6 of 12 hidden units.
    "grid": {"up": 2 * dense(4, 16, 6), "down": 3 * dense(4, 6, 6)},
}
"""Products and convolutions in one run of each program after optimizations."""

BEFORE: Final[dict[str, Parts]] = {
    **{name: CONTRACTIONS[name] for name in ("flax_linen", "scanned_grad", "convolutions")},
    **{name: CONTRACTIONS[name] for name in ("pooling", "branches")},
    "remat": _remat(optimized=False),
    "grid": {"up": 2 * dense(8, 16, 12), "down": 3 * dense(8, 12, 6)},  # not yet divided
}
"""Likewise before optimizations, of those that are recorded."""

ELEMENTWISE: Final[dict[str, Parts]] = {
    "plain": {"tanh": 3 * 7 * 12},
    "scanned": {"exponential": LAYERS * 2 * 2 * 8 * 8},  # softmax over 8 words, 2 heads, 2 texts
    "remat": {"cosine": 6 * 24},
    # The sine of all that comes out of the four is the loss.
    "convolutions": {"sine": 2 * (6 * 6 * 6 + 8 * 8 * 6 + 12 * 12 * 6 + 12 * 12 * 5)},
    "nested": {"tanh": 5 * 3 * 4 * 8},
    "sharded": {"tanh": 4 * 24, "cosine": 4 * 8},
}
"""Mathematical functions, by opcode: one for each element, in all turns."""

# --- windows and library calls ----------------------------------------------------------------

WINDOWS: Final = {
    "max forward": (2 * 6 * 6 * 4) * (2 * 2 - 1),  # comparisons
    "mean forward": (2 * 10 * 10 * 4) * (3 * 3 - 1),  # sums
    "mean backward": (2 * 12 * 12 * 4) * (3 * 3 - 1),  # with 2 rows of padding on each side
}
"""The reduce-windows of pooling; the gradient of the maximum depends on how XLA expands it."""

LIBRARY: Final = {
    "fft": 3 * 5 * 32 * 5 + 8 * (5 * 16 * 4) // 2,  # 5·N·log₂N; half of it if the input is real
    "cholesky": 8**3 // 3,
    "lu": 2 * 8**3 // 3,
    "triangular_solve": 2 * 8**2 * 16,  # n²k each, twice, 16 columns on the right
}
"""The textbook's leading terms, as docs/flops.md has them."""


def total(parts: Parts) -> int:
    return sum(parts.values())
