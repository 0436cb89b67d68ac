"""The shapes of a node's inputs and outputs, where each of them is from, and its variables.

    declared in the graph ─► recorded by a run ─► inferred ─► inferred with --dim batch=8

The first stage that knows all dimensions of a shape is where it is from. A node computes with
variables that it reads directly, or through nodes that pass them on:

    MatMul ◄ Cast ◄ ReadVariableOp ◄ VarHandleOp kernel 784x64

Where a graph has no variables, such as a frozen one, constants of more than one element stand for
them: a guess, as in a summary.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.ops.classes import of_class
from tfprof.ops.dtypes import RESOURCE
from tfprof.ops.inferred_shapes import with_inferred_shapes
from tfprof.ops.output_dtypes import output_dtypes
from tfprof.ops.shape import MOST_DIMENSIONS
from tfprof.ops.symbols import symbols, with_recorded_shapes
from tfprof.read.merge import data_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Profile
    from tfprof.ops.shape import Shape
    from tfprof.ops.table import Which

UNKNOWN: Final = "unknown"
_SOME: Final = 3  # sizes for dimensions that are open, to see whether they are all that is missing
_MOST_SIZES: Final = 3


class Tensor(NamedTuple):
    """An input or output of a node."""

    name: str  # "input 0"
    shape: Shape | None  # -1: an open dimension; None: unknown rank
    origin: str
    source: str  # the node that an input comes from

    @property
    def is_known(self) -> bool:
        """Whether all dimensions are known."""
        return _is_whole(self.shape)


class Tensors:
    """The shapes of a profile at all stages."""

    def __init__(self, profile: Profile, dims: Mapping[str, int], which: Which) -> None:
        recorded = with_recorded_shapes(profile, {})
        self._stages = [("declared in the graph", profile), ("recorded by a run", recorded)]
        if which == "all":
            self._stages.append(("inferred", with_inferred_shapes(recorded)))
            if dims:
                sizes = ",".join(f"{name}={size}" for name, size in dims.items())
                given = with_inferred_shapes(with_recorded_shapes(profile, dims), dims)
                self._stages.append((f"inferred with --dim {sizes}", given))
        self.final = self._stages[-1][1]
        self._declares = of_class(profile, "graph input", "reference variable")
        self._names = profile.nodes.name
        self._dims = dims
        self._recorded = recorded
        self._tried: Profile | None = None

    def inputs(self, node: int) -> list[Tensor]:
        """The data inputs of a node."""
        tensors = []
        for number, (source, slot) in enumerate(data_inputs(self.final.edges, node)):
            shape, origin = self._of(source, slot) if source >= 0 else (None, UNKNOWN)
            name = self._names[source].decode("utf-8", "surrogateescape") if source >= 0 else ""
            source_name = f"{name}:{slot}" if slot else name
            tensors.append(Tensor(f"input {number}", shape, origin, source_name))
        return tensors

    def outputs(self, node: int) -> list[Tensor]:
        """The outputs of a node, as many as are known."""
        start = self.final.outputs.start
        count = max(int(start[node + 1] - start[node]), int(self._declares[node]))
        shapes = [self._of(node, slot) for slot in range(count)]
        return [Tensor(f"output {slot}", *shape, "") for slot, shape in enumerate(shapes)]

    def remedy(self, tensors: list[Tensor], node: int) -> str:
        """The option that would settle the shapes that are not known."""
        unbound = [row.name for row in symbols(self._recorded) if row.name not in self._dims]
        if unbound:
            if self._tried is None:
                sizes = {**self._dims, **dict.fromkeys(unbound, _SOME)}
                self._tried = with_inferred_shapes(self._recorded, sizes)
            inputs = data_inputs(self.final.edges, node)
            places = [*inputs, *((node, at) for at in range(len(tensors)))]
            pairs = zip(places, tensors, strict=False)
            wanted = [place for place, tensor in pairs if not tensor.is_known]
            if all(_is_whole(_shape(self._tried, *place)) for place in wanted):
                return f"--dim {','.join(f'{name}=N' for name in unbound[:_MOST_SIZES])}"
        return "--run_meta_path: a run records the shapes it has"

    def _of(self, node: int, slot: int) -> tuple[Shape | None, str]:
        shape = None
        for origin, stage in self._stages:
            shape = _shape(stage, node, slot)
            if shape is None and self._declares[node] and not slot:
                shape = tuple(stage.nodes.shape[node]) or None
            if _is_whole(shape):
                return shape, origin
        return shape, UNKNOWN if shape is None else "known in part"


def _shape(profile: Profile, node: int, slot: int) -> Shape | None:
    outputs = profile.outputs
    if node < 0 or slot >= int(outputs.start[node + 1] - outputs.start[node]):
        return None
    return tuple(outputs.shape[int(outputs.start[node]) + slot]) or None


def _is_whole(shape: Shape | None) -> bool:
    return shape is not None and min(shape) >= 0


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
