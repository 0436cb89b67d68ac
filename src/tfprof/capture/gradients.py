"""Call stacks of gradients: those of the operations that they are the gradients of.

A gradient is created where a tape is asked for it, which says nothing about the model. Its name
contains the operation:

    gradient_tape/net/dense/MatMul/MatMul_1   of net/dense/MatMul
    gradient_tape/net/Rsqrt/RsqrtGrad         of net/Rsqrt
    gradients/MatMul_grad/MatMul              of MatMul, in the gradient of a whole function
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tfprof.capture.stacks import Stack
from tfprof.capture.traced import python_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_GRADIENT: Final = re.compile(r"gradient_tape/(?P<of>.+)|gradients/(?P<whole>.+)_grad(?:/.*)?")
_NUMBER: Final = re.compile(rb"_(\d+)$")


Stacks = dict[str, Stack]  # by node


def with_gradients(by_function: Mapping[bytes, Stacks]) -> dict[bytes, Stacks]:
    """The stacks of each function, with gradients changed to the stacks of their operations."""
    unambiguous = _unambiguous(by_function)
    return {name: _of_function(name, by_function, unambiguous) for name in by_function}


def _unambiguous(by_function: Mapping[bytes, Stacks]) -> Stacks:
    """The stacks of non-gradient nodes that are the same in all functions with such a node."""
    stacks_of: dict[str, set[Stack]] = {}
    for stacks in by_function.values():
        for node, stack in stacks.items():
            stacks_of.setdefault(node, set()).add(stack)
    return {
        node: next(iter(stacks))
        for node, stacks in stacks_of.items()
        if len(stacks) == 1 and not _GRADIENT.match(node)
    }


def _of_function(name: bytes, by_function: Mapping[bytes, Stacks], unambiguous: Stacks) -> Stacks:
    stacks = by_function[name]
    gradients = {node: match for node in stacks if (match := _GRADIENT.fullmatch(node))}
    if not gradients:
        return stacks
    forward = _forward(name, by_function)
    if forward is None:
        own = {node: stack for node, stack in stacks.items() if not _GRADIENT.match(node)}
        forward = {**unambiguous, **own}
    scopes = _scopes(forward)
    result = dict(stacks)
    for node, match in gradients.items():
        whole = match["whole"]
        stack = _stack_of(whole or match["of"], forward, scopes, exact=whole is not None)
        result[node] = stack or stacks[node]
    return result


def _forward(name: bytes, by_function: Mapping[bytes, Stacks]) -> Stacks | None:
    """The stacks of the function whose gradient the function *name* is, if it is one.

    If a function was traced several times, the nearest number counts: TensorFlow makes a function
    and its gradient one after the other.
    """
    python = python_name(name)
    same = [one for one in by_function if one != name and f"{python_name(one)}_backward" == python]
    if not same:
        return None
    return by_function[min(same, key=lambda one: abs(_number(one) - _number(name)))]


def _number(name: bytes) -> int:
    match = _NUMBER.search(name)
    return int(match[1]) if match else 0


def _scopes(forward: Stacks) -> dict[str, Stack | None]:
    """The stack that all nodes of a scope share; None where they differ."""
    scopes: dict[str, Stack | None] = {}
    for node, stack in forward.items():
        scope = node.rpartition("/")[0]
        while scope:
            scopes[scope] = stack if scopes.get(scope, stack) == stack else None
            scope = scope.rpartition("/")[0]
    return scopes


def _stack_of(
    of: str, forward: Stacks, scopes: Mapping[str, Stack | None], *, exact: bool
) -> Stack | None:
    """The stack of the operation that a gradient belongs to.

    That is the node it stands below, the node `Rsqrt` for a `RsqrtGrad`, or any node of its scope
    if all of them share one line. A node of the same name may be another one by chance.
    """
    if exact and of in forward:
        return forward[of]
    if (stack := forward.get(of.removesuffix("Grad"))) and of.endswith("Grad"):
        return stack
    scope = of.rpartition("/")[0]
    while scope:
        if stack := forward.get(scope) or scopes.get(scope):
            return stack
        scope = scope.rpartition("/")[0]
    return None
