"""Attention. Masks are no part of a configuration, so what they cost is not counted."""

from __future__ import annotations

from itertools import islice
from string import ascii_lowercase
from typing import TYPE_CHECKING

from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read.keras.graph import Call, Tensor, Unexpandable, known, layer
from tfprof.read.keras.layers.activation import softmax
from tfprof.read.keras.layers.dense import projected

if TYPE_CHECKING:
    from collections.abc import Sequence


def _sources(call: Call) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value; a key that is not given is the value."""
    query, value, *key = call.inputs[:3]
    return query, key[0] if key else value, value


@layer("Attention")
def attention(call: Call) -> list[Tensor]:
    """Scores of queries and keys, and a sum of values weighted by them."""
    query, key, value = _sources(call)
    is_dot = call.config.get("score_mode", "dot") == "dot"
    if is_dot:
        scores = call.op("BatchMatMulV2", query, key, adj_y=True)
    else:
        scores = call.op("AddV2", call.expanded(query, -2), call.expanded(key, -3))
    if call.has("scale"):
        scores = call.op("Mul", scores, call.weight("scale"))
    if not is_dot:
        scores = call.reduced("Sum", call.op("Tanh", scores), [-1], keep=False)
        scores = call.op("Mul", call.weight("concat_score_weight"), scores)
    return _weighted(call, scores, value)


@layer("AdditiveAttention")
def additive_attention(call: Call) -> list[Tensor]:
    """The same with sums for scores."""
    query, key, value = _sources(call)
    scores = call.op("AddV2", call.expanded(query, -2), call.expanded(key, -3))
    scale = call.weight("scale") if call.has("scale") else 1.0
    scores = call.op("Mul", scale, call.op("Tanh", scores))
    return _weighted(call, call.reduced("Sum", scores, [-1], keep=False), value)


def _weighted(call: Call, scores: Tensor, value: Tensor) -> list[Tensor]:
    weights = call.op("Softmax", scores)
    return [call.op("BatchMatMulV2", weights, value), weights]


def _projected(call: Call, x: Tensor, equation: str, name: str) -> Tensor:
    return projected(call, x, equation, call.weight(f"{name}/kernel"), f"{name}/bias")


def _projection(left: int, right: int, result: int) -> str:
    """An equation that keeps *left* dimensions, sums over *right*, and adds *result*."""
    letters = iter(ascii_lowercase)
    keeps, sums, adds = ("".join(islice(letters, count)) for count in (left, right, result))
    return f"{keeps}{sums},{sums}{adds}->{keeps}{adds}"


@layer("MultiHeadAttention")
def multi_head_attention(call: Call) -> list[Tensor]:
    """Projections of queries, keys and values; scores, and a weighted sum; a projection back."""
    query, key, value = _sources(call)
    ranks = [len(known(each)) for each in (query, key, value)]
    if call.config.get("use_gate") or max(ranks) > 8:  # noqa: PLR2004 - letters
        raise Unexpandable
    rank = ranks[0]
    given = call.config.get("attention_axes") or [*range(1, rank - 1)]
    axes = [axis % rank for axis in given]
    q, k, v = (
        _projected(call, each, _projection(len(known(each)) - 1, 1, 2), name)
        for each, name in ((query, "query"), (key, "key"), (value, "value"))
    )
    scores, combine = _equations(rank + 1, axes)
    several = rank > 3 or bool(call.config.get("dropout"))  # noqa: PLR2004 - Keras scales scores of one axis
    if several:
        q = call.op("Mul", q, 1.0)
    weights = call.op("Einsum", k, q, equation=scores, N=2)
    if not several:
        weights = call.op("Mul", weights, 1.0)
    shape = rank + len(axes)
    inner = replace(call, config={"axis": [*range(shape - len(axes), shape)]})
    weights = softmax(inner, weights)
    y = call.op("Einsum", weights, v, equation=combine, N=2)
    shape_of_output = call.config.get("output_shape")
    dims = len(shape_of_output) if isinstance(shape_of_output, list) else 1
    return [_projected(call, y, _projection(rank - 1, 2, dims), "output"), weights]


def _equations(rank: int, axes: Sequence[int]) -> tuple[str, str]:
    """The equations of the scores and of the weighted sum; the last two axes are head and size."""
    target, others = ascii_lowercase[:rank], iter(ascii_lowercase[rank:])
    source = "".join(next(others) if axis in axes else target[axis] for axis in range(rank))
    batch = [target[axis] for axis in range(rank - 1) if axis not in axes]
    product = "".join(batch + [text[axis] for text in (target, source) for axis in axes])
    return f"{source},{target}->{product}", f"{product},{source}->{target}"


@layer("GroupQueryAttention")
def grouped_query_attention(call: Call) -> list[Tensor]:
    """Several heads of queries for one of keys and values."""
    query, key, value = _sources(call)
    if call.config.get("use_gate"):
        raise Unexpandable
    q, k, v = (
        _projected(call, each, "abm,muh->abuh", name)
        for each, name in ((query, "query"), (key, "key"), (value, "value"))
    )
    times = int(call.config["num_query_heads"]) // int(call.config["num_key_value_heads"])
    k, v = (call.op("Tile", each, [1, 1, times, 1]) for each in (k, v))
    scores = call.op("Einsum", q, k, equation="bquh,bkuh->buqk", N=2)
    weights = call.op("Softmax", call.op("Mul", scores, 1.0))
    y = call.op("Einsum", weights, v, equation="buqk,bkuh->bquh", N=2)
    return [_projected(call, y, "bquh,uhm->bqm", "output"), weights]
