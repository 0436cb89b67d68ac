"""Which parameters of a program are weights, by the path of each in its pytree.

    params['Conv_0']['kernel']      a weight: a part `params`
    model.layers[0].weight          a weight: the name that a layer gives it
    model.pos                       a weight: the argument `model` has layers
    model.bn.mean                   not trainable
    opt[0].nu['head']['bias']       state of the optimizer
    x, batch['image']               data

No field of HLO says what a weight is. --weights=REGEX says it for all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

WEIGHT, FIXED, STATE, DATA = range(4)
OPTIMIZER_STATE: Final = b"_optimizer_state"
COLLECTION: Final = b"params"
STATISTICS: Final = b"batch_stats"
_KEY: Final = re.compile(
    rb"""\[(?:'([^']*)'|"([^"]*)"|(\d+)|<flat\ index\ (\d+)>)\]|\.?([^\[\].]+)""", re.VERBOSE
)
_STATE: Final = frozenset(
    f"{name}{end}".encode()
    for name in ("opt", "optim", "optimizer")
    for end in ("", "state", "states", "_state", "_states")
) | {b"mu", b"nu", b"momentum", b"velocity", b"ema", b"ema_params", b"params_ema", b"trace"}
_SIGNS: Final = re.compile(rb"""[\[\]'".]""")
_WEIGHT: Final = frozenset(names.encode() for names in ["kernel", "bias", "scale", "embedding"])
_AMBIGUOUS: Final = b"weight"  # of a layer, or of an example
# Floats in an argument that has layers, by their last key; all others are weights.
_BESIDE: Final = {b"mean": FIXED, b"var": FIXED, b"cached_key": DATA, b"cached_value": DATA}
# Numbers of XLA's types.
_FLOATS: Final = frozenset([10, 11, 12, 15, 16, 18, 19, 20, 23, 24, 25, 28, 29, 32, 33])
_QUANTIZED: Final = frozenset([2, 6, 21, 22, 26, 27, 30, 31])  # integers of at most 8 bits


class Parameter(NamedTuple):
    """A parameter of a program."""

    own: bytes  # the name of the instruction
    path: bytes  # may be empty
    keys: list[bytes]  # of the path
    argument: tuple[int, tuple[bytes, ...]]  # the module, and the keys of the argument it is in
    is_float: bool
    is_quantized: bool
    is_array: bool  # and no scalar

    @property
    def is_in_layer(self) -> bool:
        """Whether its path has a key between the argument and the last key."""
        return len(self.keys) > len(self.argument[1]) + 1


def parameter(module: int, own: bytes, path: bytes, dtype: int, elements: int) -> Parameter:
    """A parameter with the keys of its path."""
    keys = path_keys(path)
    # The argument is the part before the first name in it: args[0] of args[0]['head']['bias'].
    named = 1
    while named < len(keys) and keys[named].isdigit():
        named += 1
    argument = module, tuple(keys[:named])
    return Parameter(
        own, path, keys, argument, dtype in _FLOATS, dtype in _QUANTIZED, elements != 1
    )


def path_keys(path: bytes) -> list[bytes]:
    """The keys of a path in a pytree; [] where it has none."""
    # nnx has each weight in an object, and ends its path with that attribute. A layer of attention
    # has the same name: ['value'] and .value.kernel stay.
    path = path.removesuffix(b".value").removesuffix(b".raw_value")
    # Most paths are names in brackets, params['layer']['kernel'].
    keys = path.replace(b"']", b"").split(b"['")
    if _SIGNS.search(b"".join(keys)):
        keys = [next(filter(None, groups), b"") for groups in _KEY.findall(path)]
    return keys if all(keys) else [key for key in keys if key]


def kinds(
    parameters: list[Parameter], is_weight: Callable[[bytes], object] | None = None
) -> list[int]:
    """WEIGHT, FIXED, STATE or DATA of each; *is_weight* is what the user says of paths."""
    if is_weight is not None:
        return [WEIGHT if is_weight(each.path or each.own) else _other(each) for each in parameters]
    result = [
        _kind(each) if each.is_float or each.is_quantized else _other(each) for each in parameters
    ]
    pairs = [*zip(parameters, result, strict=True)]
    has_layers = {each.argument for each, kind in pairs if kind == WEIGHT and each.is_in_layer}
    # A collection says itself what is in it.
    has_layers -= {each.argument for each in parameters if COLLECTION in each.keys[:-1]}
    return [
        _BESIDE.get(each.keys[-1], WEIGHT)
        if kind == DATA and each.is_float and each.argument in has_layers
        else kind
        for each, kind in pairs
    ]


def _other(parameter: Parameter) -> int:
    return STATE if not _STATE.isdisjoint(parameter.keys[:-1]) else DATA


def _kind(parameter: Parameter) -> int:
    keys = parameter.keys
    if not _STATE.isdisjoint(keys[:-1]):
        return STATE
    if STATISTICS in keys:
        return FIXED
    if not keys or not (COLLECTION in keys[:-1] or keys[-1] in _WEIGHT or _is_weight(parameter)):
        return DATA
    return WEIGHT


def _is_weight(parameter: Parameter) -> bool:
    """Whether it is called `weight` in a layer, or as an attribute: batch['weight'] is not."""
    is_called_so = parameter.keys[-1] == _AMBIGUOUS
    return is_called_so and (parameter.is_in_layer or parameter.path.endswith(b"." + _AMBIGUOUS))


def guessed(parameters: list[Parameter], kinds: list[int]) -> list[int]:
    """The places of those that are weights only because others of their argument are."""
    return [
        at
        for at, (each, kind) in enumerate(zip(parameters, kinds, strict=True))
        if kind == WEIGHT and COLLECTION not in each.keys[:-1] and _kind(each) == DATA
    ]


def doubtful(parameters: list[Parameter], kinds: list[int], *, is_guess: bool) -> list[int]:
    """The places of those that do not count as weights, but may be some.

    Where no parameter is a weight: all data if there are arrays, but without a path only arrays.
    Where some are, by a guess: arrays of floats in the same arguments.
    """
    data = [(at, parameters[at]) for at, kind in enumerate(kinds) if kind == DATA]
    if WEIGHT not in kinds and FIXED not in kinds:
        has_arrays = any(each.is_array for _, each in data)
        return [at for at, each in data if has_arrays and (each.path or each.is_array)]
    if not is_guess:
        return []
    held = {each.argument for each, kind in zip(parameters, kinds, strict=True) if kind == WEIGHT}
    return [
        at
        for at, each in data
        if (each.is_float or each.is_quantized)
        and each.is_array
        and each.argument in held
        and each.keys[-1] not in _BESIDE
    ]
