"""A body for every call, from the outside in: where its rows begin and what its arguments are.

    graph ── call ──► f ── call ──► g        an instance each; f called twice is two of them

Functions that call themselves have no last instance, so they are refused, and the number of rows
is known before any is made: a chain of functions that each call the next one twice would double it
at every link. So is the number of what rows have, of which a single one may have any number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.errors import InputError
from tfprof.model import BRANCH
from tfprof.read.functions.library import CONTROL, UNKNOWN
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tfprof.columns.strings import I64
    from tfprof.read.functions.calls import Call
    from tfprof.read.functions.library import Body, Pool

NOWHERE: Final = -1
_NAME_BYTES: Final = 64 << 20
_LONGEST_WAY: Final = 5
# So many inputs, outputs, dimensions and attributes a node may have on the average: several times
# what real ones have.
_ITEMS_A_NODE: Final = 40
_MANY: Final = 10**18  # where counting ends
# Operations whose first input is not for the function, but says where or which.
_FIRST_IS_NO_ARGUMENT: Final = (b"RemoteCall",)


class Sources(NamedTuple):
    """What some inputs stand for: a row and slot, or where the row is NOWHERE an input's text."""

    row: I64
    slot: I64
    text: I64

    def take(self, at: I64 | slice) -> Sources:
        """Some of them."""
        return Sources(self.row[at], self.slot[at], self.text[at])


class Instance(NamedTuple):
    """The body of a function for one call."""

    body: Body
    first: int  # its first row
    prefix: bytes  # what names begin with
    arguments: Sources
    call: int  # the row that calls it
    kind: int
    region: int  # of the row that calls it

    def sources(self, source: I64, slot: I64, text: I64) -> Sources:
        """What sources inside of the body stand for; what it is not given stays a text."""
        row, slot, text = np.full(source.size, NOWHERE), slot.copy(), text.copy()
        inside = source >= 0
        row[inside] = source[inside] + self.first
        argument = np.flatnonzero((source < 0) & (source > UNKNOWN))
        given = -1 - source[argument]
        argument, given = (column[given < self.arguments.row.size] for column in (argument, given))
        row[argument] = self.arguments.row[given]
        slot[argument] = self.arguments.slot[given]
        text[argument] = self.arguments.text[given]
        return Sources(row, slot, text)


def instances(pool: Pool) -> list[Instance]:
    """All instances, an outer one before those inside it; the graph itself is the first."""
    _check(pool)
    nothing = np.empty(0, np.int64)
    graph = Instance(
        pool.bodies[0], 0, b"", Sources(nothing, nothing, nothing), NOWHERE, 0, NOWHERE
    )
    made: list[Instance] = []
    waiting = [graph]
    first = name_bytes = 0
    while waiting:
        one = waiting.pop()._replace(first=first)
        first += one.body.rows.size
        name_bytes += one.body.rows.size * len(one.prefix)
        name_bytes += int(pool.columns.name.length[one.body.rows].sum())
        check_texts(name_bytes, first)
        made.append(one)
        waiting += reversed(_inside(pool, one, len(made) - 1))
    return made


def check_texts(size: int, count: int) -> None:
    """Raise InputError where *count* names that functions make come to far too much."""
    if size > max(_NAME_BYTES, count * limit("row_bytes")):
        raise InputError(
            "functions are nested too deeply, or the names in them are too long: "
            f"{beyond('row_bytes')}"
        )


def _inside(pool: Pool, outer: Instance, region: int) -> list[Instance]:
    """The instances that the nodes of another one call."""
    body, found = outer.body, []
    start = np.searchsorted(body.edge_node, np.arange(body.rows.size + 1))
    for place, calls in body.calls:
        edge = np.arange(start[place], start[place + 1])
        edge = edge[body.edge_slot[edge] != CONTROL]
        given = outer.sources(body.edge_source[edge], body.edge_slot[edge], body.edge_text[edge])
        row = int(body.rows[place])
        prefix = outer.prefix + pool.columns.name[row]
        for call in calls:
            skipped = int(call.kind == BRANCH or pool.columns.op[row] in _FIRST_IS_NO_ARGUMENT)
            found.append(
                Instance(
                    pool.bodies[call.function],
                    NOWHERE,
                    prefix + call.scope,
                    given.take(slice(skipped, None)),
                    outer.first + place,
                    call.kind,
                    region,
                )
            )
    return found


def _check(pool: Pool) -> None:
    """Raise InputError where functions call themselves, or become too much."""
    sizes: dict[int, _Size] = {}
    path: dict[int, None] = {}  # in order, and quick to ask
    waiting = [0]
    while waiting:
        body = waiting[-1]
        if body in sizes:
            waiting.pop()
            continue
        called = [call.function for call in _calls(pool, body)]
        if body in path:
            del path[body]
            sizes[body] = _Size.of(pool, body).with_all(sizes[one] for one in called)
            continue
        path[body] = None
        inner = [one for one in called if one not in sizes]
        for one in inner:
            if one in path:
                raise InputError(f"a function of the graph calls itself: {_cycle(pool, path, one)}")
        waiting += inner
    most, graph = limit("function_nodes"), _Size.of(pool, 0)
    for count, of_graph, what, allowed in (
        (sizes[0].rows, graph.rows, "nodes", most),
        (sizes[0].items, graph.items, "inputs, dimensions and attributes", most * _ITEMS_A_NODE),
    ):
        if count - of_graph > allowed:
            more = " or more" if count >= _MANY else ""
            raise InputError(
                f"the functions of the graph have {count:,}{more} {what} with one body for each "
                f"call: {beyond('function_nodes')}"
            )


class _Size(NamedTuple):
    """How much the body of a function is, with the bodies of all that it calls."""

    rows: int
    items: int

    @classmethod
    def of(cls, pool: Pool, body: int) -> _Size:
        """The size of a body alone."""
        one = pool.bodies[body]
        ends = one.returns[0].size + one.effects.size
        return cls(one.rows.size + 1, int(pool.items[one.rows].sum()) + ends)

    def with_all(self, inside: Iterable[_Size]) -> _Size:
        """Together with those of the bodies that are called."""
        rows, items = self
        for one in inside:
            rows, items = rows + one.rows, items + one.items
        return _Size(min(rows, _MANY), min(items, _MANY))


def _cycle(pool: Pool, path: Iterable[int], function: int) -> str:
    """The way from a function to itself, at most as long as a sentence can be."""
    way = list(path)
    way = [*way[way.index(function) :], function]
    names = [pool.bodies[one].name.decode("utf-8", "replace") for one in way]
    return " → ".join(names if len(names) <= _LONGEST_WAY else [*names[:_LONGEST_WAY], "…"])


def _calls(pool: Pool, body: int) -> list[Call]:
    return [call for _, calls in pool.bodies[body].calls for call in calls]
