"""Finds where a graph holds the body of each function that a program called.

    __inference_step_12                 below its call                by its full name
    __inference_step_40, in a graph     below the call of `step`      by its Python name, if the
    of another process                                                body has such nodes
    a graph that is one function's      the top of the graph          if it fits this function best
    any other function                  nowhere: it is not in the graph

A trace records the full name of a function, but neither its number nor the names of its nodes are
unique: two functions may both have a node `MatMul`. So a function whose name the graph does not
have must fit: the graph has nearly all of its nodes, with the same types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.model import CALLED

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.model import Profile

# A call that the runtime inlined is the first part of a name: `PartitionedCall_1/net/MatMul`.
FIRST_CALL = re.compile(rb"(?:Stateful)?PartitionedCall(?:_\d+)?/")
# TensorFlow appends a number to the name of a Python function, and two to that of its gradient.
# Numbers before that are part of the program's own name.
_FUNCTION = re.compile(
    rb"__(?:inference|forward)_(?:__backward_(?P<gradient>.+)_\d+|(?P<plain>.+))_\d+"
)
_NOT_IN_XLA_NAMES = re.compile(rb"[^A-Za-z0-9_]")
ARGUMENT, RESULT = b"_Arg", b"_Retval"
# TensorFlow marks the arguments of a function in its graph with this attribute.
_MARK = b"\x0a\x14_user_specified_name"
# The share of a function's nodes that the graph must have: optimizers rename and add a few.
_LEAST_SHARE = 0.75
_MOST_CALLS = 64

Bodies = Mapping[bytes, bytes]  # function → prefix of its nodes without the slash; b"": the top


class RunNodes(NamedTuple):
    """Distinct nodes that ran: one row per name and function."""

    name: Sequence[bytes]  # as in the graph
    op: Sequence[bytes]  # b"" if unknown
    function: Sequence[bytes]  # that the program called; b"" if unknown
    is_added: Sequence[bool]  # by the runtime


def bodies(profile: Profile, calls: Calls, nodes: RunNodes) -> Bodies:
    """Where the graph holds each of the functions that it has."""
    rows: dict[bytes, list[int]] = {}
    for row, function in enumerate(nodes.function):
        if function:
            rows.setdefault(function, []).append(row)
    body = {function: call for function in rows if (call := calls.exact(function))}
    fit = _Fit(profile, nodes)
    taken = set(body.values())
    for function in rows.keys() - body.keys():
        call = calls.by_python_name(function)
        # If the call's own function ran as well, this one is another of the same name.
        if call and call not in taken and fit.count(call + b"/", rows[function]) >= 0:
            body[function] = call
    rest = {function: rows[function] for function in rows.keys() - body.keys()}
    if rest and (arguments := _marked_arguments(profile)):
        body |= dict.fromkeys(fit.best(rest, arguments), b"")
    return body


def inner_bodies(
    profile: Profile, calls: Calls, nodes: RunNodes, body: Bodies
) -> dict[tuple[bytes, bytes], bytes]:
    """The call in the graph of the same layers in a function that the graph does not have.

    By (function, first part of the names). A trace does not name functions that were inlined, and
    Keras builds a model into other functions under the same scopes: `net_1/dense_1/MatMul`. These
    nodes must have a scope and fit exactly one call, whose own function is not in the trace.
    """
    rows: dict[tuple[bytes, bytes], list[int]] = {}
    names = list(nodes.name)
    for row, function in enumerate(nodes.function):
        if function and function not in body:
            part = first_call(names[row])
            rows.setdefault((function, part), []).append(row)
            names[row] = names[row][len(part) :]
    fit = _Fit(profile, nodes._replace(name=names))
    found = {}
    for (function, part), of_part in rows.items():
        if not part and any(b"/" not in names[row] for row in fit.own(of_part)):
            continue
        # A graph has one call per traced function.
        tried = [*calls.name, *calls.nested][:_MOST_CALLS]
        free = [call for call in tried if call not in body.values()]
        good = [call for call in free if fit.count(call + b"/", of_part) > 0]
        if len(good) == 1:
            found[function, part] = good[0]
    return found


def first_call(name: bytes) -> bytes:
    """The inlined call that a name begins with, with its slash; b"" if there is none."""
    match = FIRST_CALL.match(name)
    return match[0] if match else b""


class _Fit:
    """How well functions fit a part of the graph."""

    def __init__(self, profile: Profile, nodes: RunNodes) -> None:
        self._known, self._nodes = profile.nodes.name, nodes
        self._op, self._types = profile.nodes.op, profile.types

    def own(self, rows: Sequence[int]) -> list[int]:
        """Those of *rows* that are nodes of the function, not added and no arguments or results."""
        nodes = self._nodes
        return [
            row
            for row in rows
            if not nodes.is_added[row]
            and nodes.op[row] not in (ARGUMENT, RESULT)
            and nodes.name[row] != nodes.function[row]
        ]

    def count(self, prefix: bytes, rows: Sequence[int]) -> int:
        """How many of these nodes the graph has below *prefix*; -1 if not nearly all."""
        nodes, own = self._nodes, self.own(rows)
        found = self._known.find(Strings.of(prefix + nodes.name[row] for row in own))
        # Optimizers and XLA have types that graphs do not have: these prove nothing.
        op = self._types.find(Strings.of(nodes.op[row] for row in own))
        same = (op < 0) | (np.append(self._op, -1)[found] == op)
        fits = int(np.count_nonzero((found >= 0) & same))
        return fits if fits >= _LEAST_SHARE * len(own) else -1

    def best(self, rows: Mapping[bytes, Sequence[int]], arguments: int) -> list[bytes]:
        """The function whose graph this is, and other traces of the same Python function."""
        score = {
            function: self.count(b"", of_function)
            for function, of_function in rows.items()
            if self._passes(of_function, arguments)
        }
        most = max(score.values(), default=0)
        best = [function for function, fits in score.items() if fits == most > 0]
        # If several Python functions fit equally well, it is unknown which one it is.
        return best if len({python_name(function) or function for function in best}) == 1 else []

    def _passes(self, rows: Sequence[int], arguments: int) -> bool:
        """Whether the function has as many arguments as the graph, as far as the trace shows."""
        names = {self._nodes.name[row] for row in rows if self._nodes.op[row] == ARGUMENT}
        # The arguments of functions that it calls are below the calls.
        return sum(b"/" not in name for name in names) in (0, arguments)


def _marked_arguments(profile: Profile) -> int:
    """The number of arguments if *profile* is the graph of a function, else 0."""
    kind = int(profile.types.find(Strings.of([b"Placeholder"]))[0])
    if kind < 0 or not profile.attribute_sources:
        return 0
    is_input = (profile.nodes.op == kind) & (profile.regions.of_nodes(len(profile)) < 0)
    node, entry = profile.attributes
    entries = zip(node[is_input[node]].tolist(), entry.take(is_input[node]), strict=True)
    return len({owner for owner, text in entries if text.startswith(_MARK)})


class Calls(NamedTuple):
    """The nodes that call a function."""

    name: list[bytes]  # those outside functions
    nested: list[bytes]  # those inside functions
    of_function: dict[bytes, bytes]  # the first call of each, or its only one in another function
    # The only call of a Python function, b"" if it has several: each trace has another number.
    of_python: dict[bytes, bytes]

    @classmethod
    def of(cls, profile: Profile) -> Calls:
        """The calls of *profile*."""
        regions = profile.regions
        callers = profile.nodes.name.take(regions.call).tolist()
        inside = regions.of_nodes(len(profile))[regions.call]
        top: I64 = np.flatnonzero(inside < 0)
        names = [callers[region] for region in top.tolist()]
        functions = regions.function.tolist() if len(regions.function) else []
        called: dict[bytes, bytes] = {}
        for region in top[: len(functions)].tolist():
            called.setdefault(_xla_name(functions[region]), callers[region])
        nested = np.flatnonzero((inside >= 0) & (regions.kind == CALLED))
        once = _only_calls(map(_xla_name, functions), callers)
        return cls(
            list(dict.fromkeys(names)),
            list(dict.fromkeys(callers[region] for region in nested.tolist())),
            {**{function: call for function, call in once.items() if call}, **called},
            _only_calls(map(python_name, functions), callers),
        )

    def exact(self, function: bytes) -> bytes:
        """The call of the function with this full name; b"" if there is none."""
        return self.of_function.get(_xla_name(function), b"")

    def by_python_name(self, function: bytes) -> bytes:
        """The only call of the Python function, or the call named like it; b"" if unknown."""
        name = python_name(function)
        return self.of_python.get(name, name if name in self.name else b"")

    def call(self, function: bytes) -> bytes:
        """The call of this function by any of its names; b"" if there is none."""
        return self.exact(function) or self.by_python_name(function)


def _only_calls(functions: Iterable[bytes], calls: list[bytes]) -> dict[bytes, bytes]:
    """The only call of each function; b"" if it has several."""
    calls_of: dict[bytes, set[bytes]] = {}
    for function, call in zip(functions, calls, strict=False):
        if function:
            calls_of.setdefault(function, set()).add(call)
    return {function: min(at) if len(at) == 1 else b"" for function, at in calls_of.items()}


def python_name(function: bytes) -> bytes:
    """The name that a capture gives this function; b"" if its name has another form."""
    match = _FUNCTION.fullmatch(function)
    if match is None:
        return b""
    return match["plain"] if match["gradient"] is None else match["gradient"] + b"_backward"


def _xla_name(function: bytes) -> bytes:
    """The name of a function as XLA writes it."""
    return _NOT_IN_XLA_NAMES.sub(b"_", function)
