"""The variables that a node computes with: read directly, or through nodes that pass them on.

MatMul ◄ Cast ◄ ReadVariableOp ◄ VarHandleOp kernel 784x64

Where a graph has no variables, such as a frozen one, constants of more than one element stand for
them: a guess, as in a summary.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.ops.classes import of_class
from tfprof.ops.dtypes import RESOURCE
from tfprof.ops.output_dtypes import output_dtypes
from tfprof.ops.shape import MOST_DIMENSIONS
from tfprof.read.merge import data_inputs

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.ops.shape import Shape

_MOST_PASSED: Final = 256  # nodes between a node and its variables
_LARGEST: Final = 2**63 - 1
_PASSING: Final = ("variable read", "identity", "cast", "alias")


class Variable(NamedTuple):
    """A variable, or a constant of a frozen graph."""

    name: str
    shape: Shape | None
    elements: int | None


class Variables:
    """The variables of a graph whose shapes are inferred."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._reads = of_class(profile, "variable read")
        self._passes = of_class(profile, *_PASSING)
        captured = of_class(profile, "placeholder")
        if captured.any():
            captured &= output_dtypes(profile) == RESOURCE
        self._declares = of_class(profile, "variable handle", "reference variable")
        self._holds = self._declares | captured
        self._guesses = not self._holds.any()
        if self._guesses:
            self._holds = of_class(profile, "constant")

    def of(self, node: int) -> list[Variable]:
        """The variables of a node, in the order of its inputs."""
        found: dict[int, Variable] = {}
        ahead = [(node, node)]  # (a node, the node whose output is the variable's value)
        seen = {node}
        while ahead and len(seen) <= _MOST_PASSED:
            here, value = ahead.pop()
            if self._holds[here]:
                if here != node or not self._guesses:
                    found.setdefault(here, self._variable(here, value))
            elif here == node or self._passes[here]:
                sources = [source for source, _ in data_inputs(self._profile.edges, here)]
                new = [source for source in sources if source >= 0 and source not in seen]
                seen.update(new)
                value = here if self._reads[here] else value
                ahead += [(source, value if self._reads[here] else source) for source in new[::-1]]
        guessed = [one for one in found.values() if one.elements is None or one.elements > 1]
        return guessed if self._guesses else list(found.values())

    def _variable(self, holder: int, value: int) -> Variable:
        """The variable; where it does not declare its shape, that of what is read from it."""
        name = self._profile.nodes.name[holder].decode("utf-8", "surrogateescape")
        shape = tuple(self._profile.nodes.shape[holder]) if self._declares[holder] else ()
        outputs = self._profile.outputs
        if not shape and outputs.start[value] < outputs.start[value + 1]:
            shape = tuple(outputs.shape[int(outputs.start[value])])
        is_known = 0 < len(shape) <= MOST_DIMENSIONS and min(shape) >= 0
        return Variable(name, shape or None, min(prod(shape), _LARGEST) if is_known else None)
