"""Expands computations: one node per instruction, with those that it calls below it.

    entry   while.3 ◄ tuple.1        Model/while.3
    body    dot.7 ◄ parameter(0)     Model/while.3/body/attn/dot.7 ◄ tuple.1

A tuple that is made for a call is passed in its parts: a loop reads the values that it starts with,
and who reads element k of its parameter reads the k-th of them.

All calls of one depth are expanded together, from the outside in, so that the work per computation
is a few steps of NumPy over all of them. Parameters of computations are no nodes: who reads one
reads what the caller passes. The scope of a caller is left out of the names below it.

    fusion, call, async-start   runs the computation once
    while                       body, condition
    conditional                 one of its branches; operand k + 1 is the argument of branch k

The computations that reductions, sorts and scatters apply to single elements are not expanded.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import unique
from tfprof.errors import InputError
from tfprof.model import BRANCH, CALLED, LOOP_BODY, LOOP_CONDITION, Regions
from tfprof.read.columns import runs
from tfprof.read.functions import check_texts, unique_names
from tfprof.read.hlo.modules import PARAMETER, Modules
from tfprof.tables.limits import beyond, limit

_LOOP: Final = ((LOOP_BODY, b"/body/"), (LOOP_CONDITION, b"/cond/"))
_CALL: Final = ((CALLED, b"/"),)
# By opcode: the kind of each computation that it calls, and its scope; None: branches.
CALLERS: Final = {
    b"fusion": _CALL,
    b"call": _CALL,
    b"async-start": _CALL,
    b"while": _LOOP,
    b"conditional": None,
}
_ELEMENT, _TUPLE = b"get-tuple-element", b"tuple"
_ALL_INPUTS: Final = 1 << 40
_LARGE: Final = 10**12  # instructions; sums of these do not overflow


class Nodes(NamedTuple):
    """The nodes of an expanded program."""

    row: I64  # the instruction of each
    name: Strings
    input_node: I64  # ascending
    source: I64
    slot: I64
    regions: Regions


class _Calls(NamedTuple):
    """The calls of computations that become regions, by instruction."""

    row: I64
    computation: I64
    kind: I64
    scope: Strings
    skipped: I64  # operands that are no arguments of this computation
    most: I64  # how many arguments it has at most


class _Level(NamedTuple):
    """Bodies of calls of one depth: one row per body."""

    computation: I64
    call: I64  # the calling node, -1: none
    kind: I64
    prefix: Strings  # of the names of its nodes
    around: Strings  # the scope of the caller, left out of these
    argument_start: I64
    argument: I64  # a node
    argument_slot: I64
    whole: I64  # the tuple whose elements the arguments are; -1: they are none
    shift: I64  # from the place of an instruction among those that are nodes to its node


def region_calls(modules: Modules) -> _Calls:
    """All calls whose computations are expanded."""
    callers = [CALLERS.get(opcode, ()) for opcode in modules.kinds]
    is_branch = np.array([kinds is None for kinds in callers], np.bool_)
    expands = np.array([0 if kinds is None else len(kinds) for kinds in callers], np.int64)
    of_call, number = modules.kind[modules.calls_of], _places(modules.calls_of)
    wanted = (modules.called >= 0) & (is_branch[of_call] | (number < expands[of_call]))
    at = np.flatnonzero(wanted)
    of_call, number = of_call[at], number[at]
    branch = is_branch[of_call]
    # The rows of this table: those of each opcode in turn, then branches.
    table = [row for kinds in callers for row in kinds or ()]
    first = np.cumsum(expands) - expands
    place = np.where(branch, len(table) + number, first[of_call] + number)
    table += [
        (BRANCH, b"/branch%d/" % each) for each in range(int(number[branch].max(initial=-1)) + 1)
    ]
    return _Calls(
        modules.calls_of[at],
        modules.called[at],
        np.array([kind for kind, _ in table], np.int64)[place],
        Strings.of(scope for _, scope in table).take(place),
        np.where(branch, 1 + number, 0),
        np.where(branch, 1, _ALL_INPUTS),
    )


def _places(owner: I64) -> I64:
    """The place of each row among those of its *owner*, which is ascending."""
    is_first = np.append(True, owner[1:] != owner[:-1])[: owner.size]
    first: I64 = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    return np.arange(owner.size) - first


def expanded(modules: Modules, name: Strings, scope_length: I64) -> Nodes:
    """The nodes of all modules; *name* has the scope, of this length, and the instruction's name.

    Raises InputError if a computation calls itself or there are too many nodes.
    """
    calls = region_calls(modules)
    check_calls(modules, calls)
    return _Expansion(modules, name, scope_length, calls).run()


class _Expansion:
    """The expansion of all modules, level by level."""

    def __init__(self, modules: Modules, name: Strings, scope_length: I64, calls: _Calls) -> None:
        self._modules, self._calls = modules, calls
        self._name, self._scope = name, Strings(name.blob, name.start, scope_length)
        inner = ~modules.is_entry[modules.instruction.message]
        self._kept = ~(inner & modules.opcodes(PARAMETER))
        self._is_element = modules.opcodes(_ELEMENT)
        self._rows = np.flatnonzero(self._kept)
        self._before = np.append(0, np.cumsum(self._kept))  # kept rows before each row
        self._operands = _starts(modules.operand_of, self._kept.size)
        self._call_start = _starts(calls.row, self._kept.size)
        self._passed = self._passed_tuples()
        self._returned = self._if_tuple(modules.root)
        self._nodes, self._regions, self._name_bytes = 0, 0, 0
        # Pieces of the result, one per level.
        self._of_node: list[tuple[I64, I64]] = []  # (instruction, region) of each node
        self._names: list[Strings] = []
        self._inputs: list[tuple[I64, I64, I64, I64]] = []  # (node, group, source, slot)
        self._of_region: list[tuple[I64, I64, I64]] = []  # (computation, call, kind)
        self._prefixes: list[I64] = []

    def run(self) -> Nodes:
        """The nodes."""
        entry = self._modules.entry[self._modules.entry >= 0]
        empty, none = np.empty(0, np.int64), np.full(entry.size, -1, np.int64)
        blank = Strings.of([b""] * entry.size)
        start = np.zeros(entry.size + 1, np.int64)
        level = _Level(entry, none, none, blank, blank, start, empty, empty, none, none)
        while not self._names or level.computation.size:
            level = self._expand(level)
        row, region = (np.concatenate(column) for column in zip(*self._of_node, strict=True))
        node, group, source, slot = map(np.concatenate, zip(*self._inputs, strict=True))
        order = np.flatnonzero(source >= 0)
        order = order[np.argsort(node[order] * 2 + group[order], kind="stable")]
        name = unique_names(Strings.concat(self._names), region + 1)  # also of the entry
        return Nodes(row, name, node[order], source[order], slot[order], self._all_regions(region))

    def _all_regions(self, of_node: I64) -> Regions:
        entries = int(self._of_region[0][0].size)
        columns = (
            np.concatenate(column)[entries:] for column in zip(*self._of_region, strict=True)
        )
        computation, call, kind = columns
        # The first "regions" are the entries, which are the graph itself.
        of_node = np.maximum(of_node - entries, -1)
        # A tuple returns its elements. The last entry is for all others: one value each.
        counts = np.append(np.diff(self._operands), 1)
        returns = counts[self._returned]
        prefix = np.concatenate(self._prefixes)[entries:]
        function = self._modules.computation_name.take(computation).compact()
        return Regions(of_node, call, kind, returns[computation], function, prefix)

    def _expand(self, level: _Level) -> _Level:
        modules, first = self._modules, self._modules.first
        begin, end = (self._before[first[level.computation + more]] for more in (0, 1))
        body, kept = runs(begin, end - begin)
        row, node = self._rows[kept], self._nodes + np.arange(kept.size)
        # What to add to the place of an instruction among those kept to get its node.
        level = level._replace(shift=self._nodes + np.cumsum(end - begin) - end)
        name = self._named(level, body, row)
        owner, edge = self._operands_of(np.where(self._passed[row] >= 0, self._passed[row], row))
        element = np.where(self._is_element[row[owner]], modules.index[row[owner]], -1)
        source, slot = self._resolved(level, body[owner], modules.operand[edge], element)
        self._add_returns(level)
        self._inputs.append((node[owner], np.ones_like(owner), source, slot))
        self._of_node.append((row, self._regions + body))
        self._of_region.append((level.computation, level.call, level.kind))
        self._names.append(name)
        self._prefixes.append(level.prefix.length)
        caller, inner = self._inner(row, node, name, (owner, source, slot))
        whole, _ = self._resolved(level, body[caller], self._passed[row[caller]])
        self._nodes += row.size
        self._regions += level.call.size
        return inner._replace(whole=whole)

    def _operands_of(self, row: I64) -> tuple[I64, I64]:
        """(place in *row*, operand) of all operands of these instructions."""
        return runs(self._operands[row], self._operands[row + 1] - self._operands[row])

    def _passed_tuples(self) -> I64:
        """The tuple that each call of a computation gets as its only operand; -1: none."""
        single = np.flatnonzero(np.diff(self._operands) == 1)
        single = single[np.diff(self._call_start)[single] > 0]
        operand = self._modules.operand[self._operands[single]]
        result = np.full(self._kept.size, -1, np.int64)
        result[single] = self._if_tuple(operand)
        return result

    def _if_tuple(self, row: I64) -> I64:
        """These instructions; -1 for those that are no tuples."""
        is_tuple = np.append(self._modules.opcodes(_TUPLE), False)
        return np.where(is_tuple[row], row, -1)

    def _add_returns(self, level: _Level) -> None:
        """Add what bodies return to the inputs of their callers."""
        called = np.flatnonzero(level.call >= 0)
        returned = self._returned[level.computation[called]]
        whole = called[returned < 0]
        parts = called[returned >= 0]
        owner, edge = self._operands_of(returned[returned >= 0])
        body = np.append(whole, parts[owner])
        root = np.append(self._modules.root[level.computation[whole]], self._modules.operand[edge])
        order = np.argsort(body, kind="stable")
        source, slot = self._resolved(level, body[order], root[order])
        self._inputs.append((level.call[body[order]], np.zeros_like(body), source, slot))

    def _named(self, level: _Level, body: I64, row: I64) -> Strings:
        """The names of these instructions in their bodies, without the scope of the caller."""
        name, around = self._name.take(row), level.around.take(body)
        fits = name.length > around.length
        head = Strings(name.blob, name.start, np.where(fits, around.length, 0))
        rows = np.arange(row.size)
        skipped = np.where(fits & head.same(rows, around, rows), around.length, 0)
        name = Strings(name.blob, name.start + skipped, name.length - skipped)
        prefix = level.prefix.take(body)
        self._name_bytes += int(prefix.length.sum() + name.length.sum())
        check_texts(self._name_bytes, self._nodes + row.size)
        return Strings.beside([prefix, name])

    def _resolved(
        self, level: _Level, body: I64, row: I64, element: I64 | None = None
    ) -> tuple[I64, I64]:
        """(node, output) of instructions in their bodies; of a parameter, what is passed for it.

        *element* is the element of it that is read; -1: all of it.
        """
        element = np.full(row.size, -1, np.int64) if element is None else element
        node = np.where(row >= 0, level.shift[body] + self._before[row], -1)
        slot = np.maximum(element, 0)
        passed = np.flatnonzero((row >= 0) & ~self._kept[row])
        body, element, number = body[passed], element[passed], self._modules.number[row[passed]]
        of_tuple = level.whole[body] >= 0
        number = np.where(of_tuple & (element >= 0), element, number)
        begin, end = level.argument_start[body], level.argument_start[body + 1]
        fits = (number >= 0) & (number < end - begin) & (~of_tuple | (element >= 0))
        at = np.where(fits, begin + number, -1)
        outer = np.append(level.argument_slot, 0)[at]
        node[passed] = np.where(fits, np.append(level.argument, -1)[at], level.whole[body])
        slot[passed] = np.where(~of_tuple & (element >= 0), element, outer)
        return node, slot

    def _inner(
        self, row: I64, node: I64, name: Strings, inputs: tuple[I64, I64, I64]
    ) -> tuple[I64, _Level]:
        """(place in *row* of the caller, the bodies) of all calls of these nodes."""
        owner, source, slot = inputs
        calls = self._calls
        caller, call = runs(
            self._call_start[row], self._call_start[row + 1] - self._call_start[row]
        )
        begin = np.searchsorted(owner, caller) + calls.skipped[call]
        end = np.searchsorted(owner, caller, "right")
        count = np.minimum(np.maximum(end - begin, 0), calls.most[call])
        _, argument = runs(begin, count)
        none = np.full(caller.size, -1, np.int64)
        return caller, _Level(
            calls.computation[call],
            node[caller],
            calls.kind[call],
            Strings.beside([name.take(caller), calls.scope.take(call)]),
            self._scope.take(row[caller]),
            np.append(0, np.cumsum(count)),
            source[argument],
            slot[argument],
            whole=none,
            shift=none,
        )


def check_calls(modules: Modules, calls: _Calls) -> None:
    """Raise InputError if a computation calls itself, or if there are too many instructions."""
    most = limit("function_nodes")
    size, is_known = _sizes(modules, calls)
    entry = modules.entry[modules.entry >= 0]
    if not is_known[entry].all():
        raise InputError("a computation of the program calls itself")
    large = entry[size[entry] - np.diff(modules.first)[entry] > most]
    if large.size:
        count = int(size[large[0]])
        raise InputError(
            f"the computations of the program have {'over ' if count >= _LARGE else ''}{count:,} "
            "instructions, counting a computation once per call; tfprof accepts "
            f"{beyond('function_nodes')}"
        )


def _sizes(modules: Modules, calls: _Calls) -> tuple[I64, Bool]:
    """(instructions of each computation with all that it calls, whether these are finite).

    From the innermost computations out: each is known when all that it calls are.
    """
    size = np.diff(modules.first)
    caller = modules.instruction.message[calls.row]
    waits_for = np.bincount(caller, minlength=size.size)
    order = np.argsort(calls.computation, kind="stable")
    start = _starts(calls.computation, size.size)
    ready = np.flatnonzero(waits_for == 0)
    while ready.size:
        inner, call = runs(start[ready], start[ready + 1] - start[ready])
        outer = caller[order[call]]
        np.add.at(size, outer, size[ready[inner]])
        np.subtract.at(waits_for, outer, 1)
        ready = unique(outer[waits_for[outer] == 0])
        size[ready] = np.minimum(size[ready], _LARGE)
    return size, waits_for == 0


def _starts(owner: I64, count: int) -> I64:
    """Where the rows of each of *count* owners begin if they are in order, and where they end."""
    return np.append(0, np.cumsum(np.bincount(owner, minlength=count)))
