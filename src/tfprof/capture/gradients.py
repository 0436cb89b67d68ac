"""The lines of gradients: those of what they are the gradient of.

A gradient is made where a tape is asked for it, which tells nothing of the model. Its name says
what it belongs to:

    gradient_tape/net/dense/MatMul/MatMul_1   to net/dense/MatMul
    gradient_tape/net/Rsqrt/RsqrtGrad         to net/Rsqrt
    gradients/MatMul_grad/MatMul              to MatMul, in the gradient of a whole function
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


def with_gradients(known: Mapping[bytes, Stacks]) -> dict[bytes, Stacks]:
    """The stacks of each function, where gradients have those of what they belong to."""
    agreed = _agreed(known)
    return {name: _of_function(name, known, agreed) for name in known}


def _agreed(known: Mapping[bytes, Stacks]) -> Stacks:
    """The stacks of nodes that are no gradients, where all functions with such a node agree."""
    found: dict[str, set[Stack]] = {}
    for stacks in known.values():
        for node, stack in stacks.items():
            found.setdefault(node, set()).add(stack)
    one = {node: next(iter(stacks)) for node, stacks in found.items() if len(stacks) == 1}
    return {node: stack for node, stack in one.items() if not _GRADIENT.match(node)}


def _of_function(name: bytes, known: Mapping[bytes, Stacks], agreed: Stacks) -> Stacks:
    stacks = known[name]
    gradients = {node: found for node in stacks if (found := _GRADIENT.fullmatch(node))}
    if not gradients:
        return stacks
    forward = _forward(name, known)
    if forward is None:
        own = {node: stack for node, stack in stacks.items() if not _GRADIENT.match(node)}
        forward = {**agreed, **own}
    scopes = _scopes(forward)
    result = dict(stacks)
    for node, found in gradients.items():
        whole = found["whole"]
        stack = _stack_of(whole or found["of"], forward, scopes, exact=whole is not None)
        result[node] = stack or stacks[node]
    return result


def _forward(name: bytes, known: Mapping[bytes, Stacks]) -> Stacks | None:
    """The stacks of the function whose gradient the function *name* is, if it is one.

    A function may be traced several times; the two that belong together are made one after the
    other, and are numbered so.
    """
    python = python_name(name)
    same = [one for one in known if one != name and f"{python_name(one)}_backward" == python]
    if not same:
        return None
    return known[min(same, key=lambda one: abs(_number(one) - _number(name)))]


def _number(name: bytes) -> int:
    found = _NUMBER.search(name)
    return int(found[1]) if found else 0


def _scopes(forward: Stacks) -> dict[str, Stack | None]:
    """The stack that all nodes of a scope have; None where they differ."""
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
    """The stack of what a gradient belongs to.

    That is the node it stands below, the node `Rsqrt` for a `RsqrtGrad`, or any node of its scope
    where all of them are of one line. A node of its own name may be another by chance.
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
