"""One body per call, from the outside in: where its rows begin and what its arguments are.

    graph ── call ──► f ── call ──► g        one instance each; f called twice has two

A function that calls itself would never end, so it is an error. The number of rows is checked
before any is created: in a chain of functions that each call the next one twice it doubles with
every link. So is the number of inputs, dimensions and attributes, since one row may have many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.model import BRANCH
from tfprof.read.functions.library import CONTROL, UNKNOWN, Body, Pool
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.columns.strings import I64
    from tfprof.read.functions.calls import Call

NOWHERE: Final = -1
_NAME_BYTES: Final = 64 << 20
_LONGEST_CYCLE: Final = 5
# Inputs, outputs, dimensions and attributes that a node may have on average: several times as many
# as in real graphs.
_ITEMS_PER_NODE: Final = 40
_MANY: Final = 10**18  # counting stops here
# Operations whose first input is not an argument of the function but, for example, a device.
_FIRST_IS_NO_ARGUMENT: Final = (b"RemoteCall",)


class Sources(NamedTuple):
    """The sources of inputs: a row and slot or, if the row is NOWHERE, the input's text."""

    row: I64
    slot: I64
    text: I64

    def take(self, at: I64 | slice) -> Sources:
        """The sources at these positions."""
        return Sources(self.row[at], self.slot[at], self.text[at])


class Instance(NamedTuple):
    """The body of a function for one call."""

    body: Body
    first: int  # its first row
    prefix: bytes  # of the names of its nodes
    arguments: Sources
    call: int  # the row that calls it
    kind: int
    region: int  # of the row that calls it

    def sources(self, source: I64, slot: I64, text: I64) -> Sources:
        """The sources of inputs inside the body; a missing argument stays a text."""
        row, slot, text = np.full(source.size, NOWHERE), slot.copy(), text.copy()
        inside = source >= 0
        row[inside] = source[inside] + self.first
        argument = np.flatnonzero((source < 0) & (source > UNKNOWN))
        index = -1 - source[argument]
        argument, index = (column[index < self.arguments.row.size] for column in (argument, index))
        row[argument] = self.arguments.row[index]
        slot[argument] = self.arguments.slot[index]
        text[argument] = self.arguments.text[index]
        return Sources(row, slot, text)


def call_instances(pool: Pool) -> list[Instance]:
    """All instances, each before those inside it; the first is the graph itself."""
    _check(pool)
    nothing = np.empty(0, np.int64)
    graph = Instance(
        pool.bodies[0], 0, b"", Sources(nothing, nothing, nothing), NOWHERE, 0, NOWHERE
    )
    result: list[Instance] = []
    waiting = [graph]
    first = name_bytes = 0
    while waiting:
        instance = waiting.pop()._replace(first=first)
        first += instance.body.rows.size
        name_bytes += instance.body.rows.size * len(instance.prefix)
        name_bytes += int(pool.columns.name.length[instance.body.rows].sum())
        check_texts(name_bytes, first)
        result.append(instance)
        waiting += reversed(_inside(pool, instance, len(result) - 1))
    return result


def check_texts(size: int, count: int) -> None:
    """Raise InputError if *count* names in functions have too many bytes, *size*, in all."""
    if size > max(_NAME_BYTES, count * limit("row_bytes")):
        raise InputError(
            "functions are nested too deeply, or the names in them are too long; tfprof accepts "
            f"{beyond('row_bytes')}"
        )


def _inside(pool: Pool, outer: Instance, region: int) -> list[Instance]:
    """The instances that the nodes of *outer* call."""
    body, inner = outer.body, []
    start = np.searchsorted(body.edge_node, np.arange(body.rows.size + 1))
    for node, calls in body.calls:
        edge = np.arange(start[node], start[node + 1])
        edge = edge[body.edge_slot[edge] != CONTROL]
        inputs = outer.sources(body.edge_source[edge], body.edge_slot[edge], body.edge_text[edge])
        row = int(body.rows[node])
        prefix = outer.prefix + pool.columns.name[row]
        for call in calls:
            skipped = int(call.kind == BRANCH or pool.columns.op[row] in _FIRST_IS_NO_ARGUMENT)
            inner.append(
                Instance(
                    pool.bodies[call.function],
                    NOWHERE,
                    prefix + call.scope,
                    inputs.take(slice(skipped, None)),
                    outer.first + node,
                    call.kind,
                    region,
                )
            )
    return inner


def _check(pool: Pool) -> None:
    """Raise InputError if a function calls itself or the expanded functions are too large."""
    sizes: dict[int, tuple[int, int]] = {}  # including the bodies that each calls
    path: dict[int, None] = {}  # an ordered set
    waiting = [0]
    while waiting:
        body = waiting[-1]
        if body in sizes:
            waiting.pop()
            continue
        called = [call.function for call in _calls(pool, body)]
        if body in path:
            del path[body]
            parts = zip(_size(pool, body), *(sizes[function] for function in called), strict=True)
            rows, items = (min(sum(part), _MANY) for part in parts)
            sizes[body] = rows, items
            continue
        path[body] = None
        inner = [function for function in called if function not in sizes]
        for function in inner:
            if function in path:
                cycle = _cycle(pool, path, function)
                raise InputError(f"a function of the graph calls itself: {cycle}")
        waiting += inner
    titles = {"nodes": 1, "inputs, dimensions and attributes": _ITEMS_PER_NODE}
    for count, of_graph, title in zip(sizes[0], _size(pool, 0), titles, strict=True):
        if count - of_graph > limit("function_nodes") * titles[title]:
            more = " or more" if count >= _MANY else ""
            raise InputError(
                f"the functions of the graph have {count:,}{more} {title}, counting a body once "
                f"per call; tfprof accepts {beyond('function_nodes')}"
            )


def _size(pool: Pool, body: int) -> tuple[int, int]:
    """(rows, items) of a function's body alone."""
    function = pool.bodies[body]
    ends = function.returns[0].size + function.effects.size
    return function.rows.size + 1, int(pool.items[function.rows].sum()) + ends


def _cycle(pool: Pool, path: Iterable[int], function: int) -> str:
    """The calls from a function to itself, shortened."""
    callers = list(path)
    cycle = [*callers[callers.index(function) :], function]
    names = [pool.bodies[body].name.decode("utf-8", "replace") for body in cycle]
    return " → ".join(names if len(names) <= _LONGEST_CYCLE else [*names[:_LONGEST_CYCLE], "…"])


def _calls(pool: Pool, body: int) -> list[Call]:
    return [call for _, calls in pool.bodies[body].calls for call in calls]
