"""Optimizers: each update as TensorFlow documents it, element by element, with steps counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tallied import Number, Tally, counted, exp, largest, rsqrt, sign, sqrt
from tfprof.ops.optimizers import UPDATES
from tfprof.ops.table import rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.ops.shape import Shape

RATE, RHO, L1, L2, EPSILON = 0.1, 0.9, 0.01, 0.02, 1e-7


def gradient_descent(var: Number, g: Number, *_: Number) -> None:
    var -= RATE * g


def momentum(var: Number, g: Number, accum: Number, *_: Number) -> None:
    accum = accum * RHO + g
    var -= RATE * accum


def momentum_nesterov(var: Number, g: Number, accum: Number, *_: Number) -> None:
    accum = accum * RHO + g
    var -= g * RATE + accum * RHO * RATE


def keras_momentum(var: Number, g: Number, accum: Number, *_: Number) -> None:
    accum = accum * RHO - RATE * g
    var += accum


def keras_momentum_nesterov(var: Number, g: Number, accum: Number, *_: Number) -> None:
    accum = accum * RHO - RATE * g
    var += accum * RHO - RATE * g


def adagrad(var: Number, g: Number, accum: Number, *_: Number) -> None:
    accum += g**2
    var -= RATE * g * rsqrt(accum)


def adagrad_frozen(var: Number, g: Number, accum: Number, *_: Number) -> None:
    var -= RATE * g * rsqrt(accum)


def adagrad_v2(var: Number, g: Number, accum: Number, *_: Number) -> None:
    accum += g**2
    var -= RATE * g / (sqrt(accum) + EPSILON)


def adagrad_v2_frozen(var: Number, g: Number, accum: Number, *_: Number) -> None:
    var -= RATE * g / (sqrt(accum) + EPSILON)


def adagrad_da(_var: Number, g: Number, gradients: Number, squares: Number, _: Number) -> None:
    gradients += g
    squares += g**2
    shrunk = sign(gradients) * largest(abs(gradients) - L1, 0)
    -RATE * shrunk / (L2 + sqrt(squares))


def adadelta(var: Number, g: Number, accum: Number, updates: Number, _: Number) -> None:
    accum = RHO * accum + (1 - RHO) * g**2
    update = sqrt(updates + EPSILON) * rsqrt(accum + EPSILON) * g
    updates = RHO * updates + (1 - RHO) * update**2
    var -= RATE * update


def adam(var: Number, g: Number, m: Number, v: Number, _: Number) -> None:
    m = RHO * m + (1 - RHO) * g
    v = RHO * v + (1 - RHO) * g**2
    var -= RATE * m / (sqrt(v) + EPSILON)


def adam_nesterov(var: Number, g: Number, m: Number, v: Number, _: Number) -> None:
    m = RHO * m + (1 - RHO) * g
    v = RHO * v + (1 - RHO) * g**2
    var -= RATE * (RHO * m + (1 - RHO) * g) / (sqrt(v) + EPSILON)


def amsgrad(var: Number, g: Number, m: Number, v: Number, most: Number) -> None:
    m = RHO * m + (1 - RHO) * g
    v = RHO * v + (1 - RHO) * g**2
    var -= RATE * m / (sqrt(largest(most, v)) + EPSILON)


def ada_max(var: Number, g: Number, m: Number, v: Number, _: Number) -> None:
    m = RHO * m + (1 - RHO) * g
    v = largest(RHO * v, abs(g))
    var -= RATE * (m / (v + EPSILON))


def rms_prop(var: Number, g: Number, ms: Number, mom: Number, _: Number) -> None:
    ms = RHO * ms + (1 - RHO) * g**2
    mom = RHO * mom + RATE * g / sqrt(ms + EPSILON)
    var -= mom


def centered_rms_prop(var: Number, g: Number, ms: Number, mom: Number, mg: Number) -> None:
    mg = RHO * mg + (1 - RHO) * g
    ms = RHO * ms + (1 - RHO) * g**2
    mom = RHO * mom + RATE * g / sqrt(ms + EPSILON - mg**2)
    var -= mom


def ftrl(var: Number, g: Number, accum: Number, linear: Number, _: Number) -> None:
    new = accum + g**2
    root = new**0.5
    linear += g - (root - accum**0.5) / RATE * var
    quadratic = root / RATE + 2 * L2
    if abs(linear) > L1:
        var = (sign(linear) * L1 - linear) / quadratic


def ftrl_v2(var: Number, g: Number, accum: Number, linear: Number, _: Number) -> None:
    ftrl(var, g + 2 * L2 * var, accum, linear, _)


def add_sign(var: Number, g: Number, m: Number, *_: Number) -> None:
    m = m * RHO + g * (1 - RHO)
    var -= RATE * ((1 + RHO * (sign(g) * sign(m))) * g)


def power_sign(var: Number, g: Number, m: Number, *_: Number) -> None:
    m = m * RHO + g * (1 - RHO)
    var -= RATE * (exp(RHO * (sign(g) * sign(m))) * g)


def proximal_gradient_descent(var: Number, g: Number, *_: Number) -> None:
    prox = var - RATE * g
    var = sign(prox) / (1 + RATE * L2) * largest(abs(prox) - RATE * L1, 0)


def proximal_adagrad(var: Number, g: Number, accum: Number, *_: Number) -> None:
    accum += g**2
    rate = RATE * rsqrt(accum)
    prox = var - g * rate
    var = sign(prox) / (1 + rate * L2) * largest(abs(prox) - rate * L1, 0)


UPDATE: dict[str, Callable[..., None]] = {
    "GradientDescent": gradient_descent, "Momentum": momentum, "KerasMomentum": keras_momentum,
    "Adagrad": adagrad, "AdagradV2": adagrad_v2, "AdagradDA": adagrad_da, "Adadelta": adadelta,
    "Adam": adam, "AdamWithAmsgrad": amsgrad, "AdaMax": ada_max, "RMSProp": rms_prop,
    "CenteredRMSProp": centered_rms_prop, "Ftrl": ftrl, "FtrlV2": ftrl_v2, "AddSign": add_sign,
    "PowerSign": power_sign, "ProximalGradientDescent": proximal_gradient_descent,
    "ProximalAdagrad": proximal_adagrad,
}  # fmt: skip


def steps(update: Callable[..., None], elements: int) -> int:
    tally = Tally()
    for _ in range(elements):
        update(*tally.numbers(5))
    return tally.steps


def shapes(optimizer: str, gradient: Shape) -> list[Shape]:
    """Inputs where all but the gradient are told as one element, as handles and rates are."""
    (at,) = (one.gradient for one in UPDATES if one.optimizer == optimizer)
    return [*[(1,)] * at, gradient]


@pytest.mark.parametrize("optimizer", UPDATE)
def test_update(optimizer: str) -> None:
    expected = steps(UPDATE[optimizer], 6)
    forms = [op for op in rules("all") if op.endswith(f"Apply{optimizer}")]
    assert forms
    for op in forms:
        assert counted(op, shapes(optimizer, (2, 3))) == expected, op


def test_every_optimizer_is_written_out() -> None:
    assert {one.optimizer for one in UPDATES} == set(UPDATE)


@pytest.mark.parametrize(
    ("optimizer", "attributes", "update"),
    [
        ("Momentum", {"use_nesterov": True}, momentum_nesterov),
        ("KerasMomentum", {"use_nesterov": True}, keras_momentum_nesterov),
        ("Adam", {"use_nesterov": True}, adam_nesterov),
        ("Adagrad", {"update_slots": False}, adagrad_frozen),
        ("AdagradV2", {"update_slots": False}, adagrad_v2_frozen),
    ],
)
def test_nesterov_and_slots_that_stay(
    optimizer: str, attributes: dict[str, Any], update: Callable[..., None]
) -> None:
    op = f"ResourceApply{optimizer}"
    assert counted(op, shapes(optimizer, (2, 3)), **attributes) == steps(update, 6)


def test_gradient_is_where_tensorflow_has_it() -> None:
    """The places of gradients, from the documented order of arguments."""
    order = {
        "Adam": "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad",
        "RMSProp": "var ms mom lr rho momentum epsilon grad",
        "Ftrl": "var accum linear grad lr l1 l2 lr_power",
        "Momentum": "var accum lr grad momentum",
        "GradientDescent": "var alpha grad",
    }
    places = {one.optimizer: one.gradient for one in UPDATES}
    for optimizer, names in order.items():
        assert names.split()[places[optimizer]] == "grad"


def test_steps_by_hand() -> None:
    """The documented updates of RMSProp, counted without a tally.

    ms: two products, a square, a sum. mom: two products, sum, root, quotient, sum. var: one.
    Centered, mg: two products, a sum; and a square and a difference below the root.
    """
    assert counted("ApplyRMSProp", shapes("RMSProp", (1,))) == 4 + 6 + 1
    centered = counted("ResourceSparseApplyCenteredRMSProp", shapes("CenteredRMSProp", (1,)))
    assert centered == 3 + 4 + (6 + 2) + 1


def test_sums_into_variables() -> None:
    assert counted("AssignAddVariableOp", [(1,), (2, 3)]) == 6
    assert counted("AssignSubVariableOp", [(1,), (2, 3)]) == 6
