"""Small JAX programs of every kind that a profile must get right, for hlo_programs.py.

Only a Python with JAX imports this. Each program is a function that jit compiles, and its
arguments; the name of the function is the name of the program. Sizes are tiny and differ from
each other, so that no two formulas agree by accident. hlo_figures.py has what they must count.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen, nnx
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES: Final = 4


class Program(NamedTuple):
    """A jitted function with its arguments, and which of them are what."""

    step: Any
    arguments: tuple[Any, ...]
    params: str = "params"  # the argument that holds the parameters, if one does
    optimizer: str = "opt"  # and the one with the state of the optimizer


def zeros(tree: Any) -> Any:
    """Arrays of NumPy for the shapes of *tree*: no program of JAX makes them."""
    return jax.tree.map(lambda leaf: np.full(leaf.shape, 0.01, leaf.dtype), tree)


def numbers(*shape: int) -> Any:
    return np.linspace(0.1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def cross_entropy(logits: Any, labels: Any) -> Any:
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


# --- flax -------------------------------------------------------------------------------------


class Block(linen.Module):  # type: ignore[misc]
    """Two dense layers around a ReLU, added to what comes in."""

    @linen.compact  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> Any:
        return x + linen.Dense(32, name="down")(linen.relu(linen.Dense(64, name="up")(x)))


class Net(linen.Module):  # type: ignore[misc]
    """A convolution, a projection, two blocks and a head."""

    @linen.compact  # type: ignore[untyped-decorator]
    def __call__(self, x: Any) -> Any:
        x = linen.relu(linen.Conv(8, (3, 3), strides=2)(x))
        x = linen.Dense(32, name="proj")(x.reshape(x.shape[0], -1))
        for number in range(2):
            x = Block(name=f"block{number}")(x)
        return linen.Dense(10, name="head")(x)


def flax_linen() -> Program:
    """A training step with Adam."""
    net, adam = Net(), optax.adam(1e-3)
    x, labels = numbers(4, 16, 16, 3), np.arange(4, dtype=np.int32)
    params = zeros(jax.eval_shape(net.init, jax.random.key(0), x))["params"]

    def flax_linen(params: Any, opt: Any, x: Any, labels: Any) -> Any:
        def loss(params: Any) -> Any:
            return cross_entropy(net.apply({"params": params}, x), labels)

        value, grads = jax.value_and_grad(loss)(params)
        updates, opt = adam.update(grads, opt, params)
        return value, optax.apply_updates(params, updates), opt

    opt = zeros(jax.eval_shape(adam.init, params))
    return Program(jax.jit(flax_linen), (params, opt, x, labels))


class Mlp(nnx.Module):  # type: ignore[misc]
    """Two dense layers; nnx writes no names of modules into the program."""

    def __init__(self, rngs: Any) -> None:
        self.first = nnx.Linear(12, 24, rngs=rngs)
        self.last = nnx.Linear(24, 6, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.last(nnx.relu(self.first(x)))


def flax_nnx() -> Program:
    """A training step with stochastic gradient descent; the model is the argument `weights`."""
    definition, state = nnx.split(nnx.eval_shape(lambda: Mlp(nnx.Rngs(0))))

    def flax_nnx(weights: Any, x: Any, labels: Any) -> Any:
        def loss(weights: Any) -> Any:
            return cross_entropy(nnx.merge(definition, weights)(x), labels)

        value, grads = jax.value_and_grad(loss)(weights)
        return value, jax.tree.map(lambda old, grad: old - 0.1 * grad, weights, grads)

    weights = zeros(state)
    arguments = (weights, numbers(5, 12), np.arange(5, dtype=np.int32))
    return Program(jax.jit(flax_nnx), arguments, params="weights")


# --- functions without modules ----------------------------------------------------------------


def plain() -> Program:
    """A gradient of functions that know no modules; all parameters are in one dictionary."""
    params = {
        "embed": numbers(20, 12),
        "layers": [{"w": numbers(12, 12), "b": numbers(12)} for _ in range(3)],
        "head": numbers(12, 20),
    }

    def plain(params: Any, tokens: Any) -> Any:
        def loss(params: Any) -> Any:
            x = params["embed"][tokens]
            for layer in params["layers"]:
                x = jnp.tanh(x @ layer["w"] + layer["b"])
            return (x @ params["head"]).mean()

        return jax.grad(loss)(params)

    return Program(jax.jit(plain), (params, np.arange(7, dtype=np.int32)))


def half() -> Program:
    """A gradient in bfloat16 of a function of one row, mapped over all."""
    params = {"up": numbers(16, 40), "down": numbers(40, 16)}

    def row_loss(params: Any, row: Any) -> Any:
        with jax.named_scope("layer"):
            return jnp.sin(jnp.tanh(row @ params["up"]) @ params["down"]).sum()

    def half(params: Any, x: Any) -> Any:
        return jax.grad(lambda params: jax.vmap(row_loss, (None, 0))(params, x).sum())(params)

    in_half = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params)
    return Program(jax.jit(half), (in_half, numbers(3, 16).astype(jnp.bfloat16)))


LAYERS, BATCH, LENGTH, WIDTH, HEADS, HIDDEN, WORDS = 3, 2, 8, 16, 2, 40, 20


def transformer(params: Any, tokens: Any) -> Any:
    """The logits of a transformer; one scan runs all layers, whose parameters are stacked."""

    def layer(x: Any, layer: Any) -> Any:
        split = (BATCH, LENGTH, HEADS, WIDTH // HEADS)
        with jax.named_scope("attention"):
            inner = x * layer["scale"]
            parts = (inner @ layer["qkv"]).reshape(BATCH, LENGTH, 3, *split[2:])
            query, key, value = (parts[:, :, number] for number in range(3))
            scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", query, key))
            mixed = jnp.einsum("bhqk,bkhd->bqhd", scores, value).reshape(x.shape)
            x = x + mixed @ layer["out"]
        with jax.named_scope("mlp"):
            return x + jax.nn.relu(x @ layer["up"]) @ layer["down"], None

    x, _ = lax.scan(layer, params["embed"][tokens], params["layers"])
    return x @ params["head"]


def transformer_arguments() -> tuple[Any, ...]:
    layers = {
        "scale": numbers(LAYERS, WIDTH),
        "qkv": numbers(LAYERS, WIDTH, 3 * WIDTH),
        "out": numbers(LAYERS, WIDTH, WIDTH),
        "up": numbers(LAYERS, WIDTH, HIDDEN),
        "down": numbers(LAYERS, HIDDEN, WIDTH),
    }
    params = {"embed": numbers(WORDS, WIDTH), "head": numbers(WIDTH, WORDS), "layers": layers}
    return params, np.ones((BATCH, LENGTH), np.int32)


def scanned() -> Program:
    """The transformer forwards."""

    def scanned(params: Any, tokens: Any) -> Any:
        return transformer(params, tokens)

    return Program(jax.jit(scanned), transformer_arguments())


def scanned_grad() -> Program:
    """Its gradient: the backward pass is a loop of its own."""

    def scanned_grad(params: Any, tokens: Any) -> Any:
        return jax.grad(lambda params: (transformer(params, tokens) ** 2).mean())(params)

    return Program(jax.jit(scanned_grad), transformer_arguments())


def remat() -> Program:
    """Two blocks whose activations are computed again for the gradient."""
    params = [{"up": numbers(24, 48), "down": numbers(48, 24)} for _ in range(2)]

    @jax.checkpoint  # type: ignore[untyped-decorator]
    def block(x: Any, layer: Any) -> Any:
        return jnp.tanh(x @ layer["up"]) @ layer["down"]

    def remat(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            y = x
            for layer in params:
                y = block(y, layer)
            return jnp.sin(y).sum()

        return jax.grad(loss)(params)

    return Program(jax.jit(remat), (params, numbers(6, 24)))


def remat_scanned() -> Program:
    """The same by a scan of four: in a loop of its own, XLA cannot undo it."""
    params = {"up": numbers(4, 24, 48), "down": numbers(4, 48, 24)}

    @jax.checkpoint  # type: ignore[untyped-decorator]
    def block(x: Any, layer: Any) -> Any:
        return jnp.tanh(x @ layer["up"]) @ layer["down"], None

    def remat_scanned(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            return jnp.sin(lax.scan(block, x, params)[0]).sum()

        return jax.grad(loss)(params)

    return Program(jax.jit(remat_scanned), (params, numbers(6, 24)))


# --- windows ----------------------------------------------------------------------------------

_ORDER: Final = ("NHWC", "HWIO", "NHWC")


def convolutions() -> Program:
    """Four convolutions and the gradients of all inputs and kernels."""
    convolved = partial(lax.conv_general_dilated, dimension_numbers=_ORDER)

    def strided(x: Any, kernel: Any) -> Any:
        return convolved(x, kernel, (2, 2), "SAME")

    def dilated(x: Any, kernel: Any) -> Any:
        return convolved(x, kernel, (1, 1), "VALID", rhs_dilation=(2, 2))

    def grouped(x: Any, kernel: Any) -> Any:
        return convolved(x, kernel, (1, 1), "SAME", feature_group_count=2)

    def transposed(x: Any, kernel: Any) -> Any:
        return lax.conv_transpose(x, kernel, (2, 2), "SAME")

    kinds = {one.__name__: one for one in (strided, dilated, grouped, transposed)}

    def convolutions(params: Any, images: Any) -> Any:
        def loss(params: Any, images: Any) -> Any:
            total = 0.0
            for name, kind in kinds.items():
                with jax.named_scope(name):
                    total += jnp.sin(kind(images[name], params[name])).sum()
            return total

        return jax.value_and_grad(loss, (0, 1))(params, images)

    kernels = {"strided": (3, 3, 4, 6), "dilated": (3, 3, 4, 6), "grouped": (3, 3, 2, 6)}
    params = {name: numbers(*shape) for name, shape in kernels.items()}
    params["transposed"] = numbers(3, 3, 4, 5)
    images = dict.fromkeys(kernels, numbers(2, 12, 12, 4))
    return Program(jax.jit(convolutions), (params, {**images, "transposed": numbers(2, 6, 6, 4)}))


def pooling() -> Program:
    """The largest of 2 by 2 and the mean of 3 by 3, with gradients."""

    def pooling(x: Any) -> Any:
        def loss(x: Any) -> Any:
            largest = linen.max_pool(x, (2, 2), (2, 2))
            mean = linen.avg_pool(x, (3, 3))
            return jnp.sin(largest).sum() + jnp.cos(mean).sum()

        return jax.value_and_grad(loss)(x)

    return Program(jax.jit(pooling), (numbers(2, 12, 12, 4),))


# --- loops and choices ------------------------------------------------------------------------


def nested() -> Program:
    """A scan of 3 in a loop of 5, one product in each turn and one after."""

    def nested(w: Any, x: Any) -> Any:
        def outer(_: Any, x: Any) -> Any:
            return lax.scan(lambda x, _: (jnp.tanh(x @ w), None), x, None, length=3)[0]

        return lax.fori_loop(0, 5, outer, x) @ w

    return Program(jax.jit(nested), (numbers(8, 8), numbers(4, 8)), params="w")


def runtime_loop() -> Program:
    """A loop whose number of turns is an argument: 7 here."""

    def runtime_loop(w: Any, x: Any, turns: Any) -> Any:
        return lax.fori_loop(0, turns, lambda _, x: jnp.tanh(x @ w), x)

    return Program(jax.jit(runtime_loop), (numbers(64, 64), numbers(4, 64), 7), params="w")


def branches() -> Program:
    """A cond of one product or two, and a switch of none, one or three."""

    def branches(w: Any, x: Any, which: Any) -> Any:
        with jax.named_scope("either"):
            x = lax.cond(which > 0, lambda x: x @ w, lambda x: jnp.tanh(x @ w) @ w, x)
        with jax.named_scope("any"):
            cases = (jnp.cos, lambda x: jnp.sin(x) @ w, lambda x: jnp.tanh(x @ w @ w) @ w)
            return lax.switch(which, cases, x)

    return Program(jax.jit(branches), (numbers(8, 8), numbers(4, 8), 1), params="w")


# --- library calls ----------------------------------------------------------------------------


def library() -> Program:
    """What XLA has an instruction for, or a routine of LAPACK."""

    def library(x: Any, spd: Any, signal: Any) -> Any:
        return (
            jnp.sort(x),
            jnp.fft.fft(signal),
            jnp.fft.rfft(x),
            jnp.linalg.cholesky(spd),
            jnp.linalg.solve(spd, x),
        )

    spd = np.eye(8, dtype=np.float32)
    return Program(jax.jit(library), (numbers(8, 16), spd, numbers(3, 32).astype(np.complex64)))


# --- many devices -----------------------------------------------------------------------------


def mesh(name: str) -> Any:
    return Mesh(np.array(jax.devices()[:DEVICES]), (name,))


def sharded() -> Program:
    """A gradient with the batch on four devices; XLA adds the sum of the gradients."""
    rows, whole = (NamedSharding(mesh("batch"), spec) for spec in (P("batch"), P()))
    params = {"up": numbers(32, 24), "down": numbers(24, 8)}

    def sharded(params: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            return jnp.sin(jnp.tanh(x @ params["up"]) @ params["down"]).sum()

        return jax.grad(loss)(params)

    step = jax.jit(sharded, in_shardings=(whole, rows), out_shardings=whole)
    return Program(step, (params, numbers(16, 32)))


def mapped() -> Program:
    """A product whose inner dimension is on four devices, summed by hand."""

    def block(w: Any, x: Any) -> Any:
        return lax.psum(x @ w, "model")

    over = jax.shard_map(
        block, mesh=mesh("model"), in_specs=(P("model"), P(None, "model")), out_specs=P()
    )

    def mapped(w: Any, x: Any) -> Any:
        return over(w, x)

    return Program(jax.jit(mapped), (numbers(32, 12), numbers(6, 32)), params="w")


def grid() -> Program:
    """A step with momentum on two by two devices: the batch on one axis, the layer on the other."""
    devices = np.array(jax.devices()[:DEVICES]).reshape(2, 2)
    over = Mesh(devices, ("batch", "model"))
    specs = {"up": P(None, "model"), "down": P("model", None), "bias": P()}
    state = {name: NamedSharding(over, spec) for name, spec in specs.items()}
    params = {"up": numbers(16, 12), "down": numbers(12, 6), "bias": numbers(6)}

    def grid(params: Any, momentum: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            hidden = jnp.tanh(x @ params["up"]) @ params["down"] + params["bias"]
            return (hidden * hidden).sum()

        gradient = jax.grad(loss)(params)
        momentum = jax.tree.map(lambda old, new: 0.5 * old + new, momentum, gradient)
        return jax.tree.map(jnp.subtract, params, momentum), momentum

    rows = NamedSharding(over, P("batch"))
    step = jax.jit(grid, in_shardings=(state, state, rows), out_shardings=(state, state))
    arguments = (params, jax.tree.map(np.zeros_like, params), numbers(8, 16))
    return Program(step, arguments, optimizer="momentum")


PROGRAMS: Final = (
    *(flax_linen, flax_nnx, plain, half, scanned, scanned_grad, remat, remat_scanned),
    *(convolutions, pooling, nested, runtime_loop, branches, library, sharded, mapped, grid),
)
