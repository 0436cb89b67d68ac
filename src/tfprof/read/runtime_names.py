"""Maps names of the runtime to names of the graph with its functions expanded.

    net/while/body/_7/net/while/MatMul      net/while/body/net/while/MatMul
    net/while/merge/_12                     net/while          a part of a lowered loop
    net/cond/switch_pred/_3                 net/cond           a part of a lowered conditional
    net/while/net/x_switch/_16              net/while          … with any other name
    Func/net/call/input/_2                  net/call           passes arguments
    x__cf__3    ConstantFolding/x-folded-0  x                  created from a node by an optimizer
    _arg_x_0_0  _retval_x_0_0               x                  fed or fetched

The runtime inlines a body into its caller, numbers what it adds and keeps all other names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import first_rows, unique_inverse
from tfprof.model import CALLED, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PART = rb"(?:body|cond|then|else|branch\d+)"
_BODY = re.compile(rb"(/%b)/_\d+(?=/)" % _PART)
_BODY_OF = re.compile(rb"(.+?)/%b/_\d+/" % _PART)
_NUMBERED = re.compile(rb"(.+)/_\d+")
# What the runtime adds to a loop or a conditional, each followed by a number.
_ADDED = re.compile(
    rb"(.+?)/(?:enter|merge|exit|next_iteration|LoopCond|loop_body_control|switch_pred|"
    rb"pivot_\w+|branch_index|branch_executed|output|input|input_control_node|"
    rb"output_control_node|lowered_\w+)/_\d+"
)
_ARGUMENT = re.compile(
    rb"Func/(.+?)(?:/%b/_\d+)?/(?:input|output|input_control_node|output_control_node)/_\d+" % _PART
)
_FED = re.compile(rb"_(?:arg|retval)_(.+)_\d+_\d+")
_FOLDED = re.compile(rb"ConstantFolding(?:Ctrl)?/(.+?)(?:-[a-z]+-\d+)?")
_COPIED = re.compile(rb"(.+)__cf__\d+")
_CALL = re.compile(rb"(?:Stateful)?PartitionedCall(?:_\d+)?/")
# TensorFlow appends a number to the name of a Python function, and two to that of its gradient.
_FUNCTION = re.compile(
    rb"__(?:inference|forward)_(?:__backward_(?P<gradient>.+)_\d+|(?P<plain>.+))_\d+"
)
_NOT_IN_XLA_NAMES = re.compile(rb"[^A-Za-z0-9_]")
# Names are tried below at most so many calls; a graph has one call per traced function.
_MOST_CALLS = 64
# At most so many bodies and parts of a name are tried to find the node it was added to.
_MOST_PARTS = 64


def canonical(names: Strings) -> Strings:
    """The names of the nodes in the graph, as far as the names alone show."""
    ids, first = names.intern()
    texts = names.take(first).tolist()
    calls = _calls(texts)
    return Strings.of(_canonical(text, calls) for text in texts).take(ids)


def without_numbers(names: Strings) -> Strings:
    """The names without the numbers of bodies: `while/body/_7/x` is `while/body/x`."""
    ids, first = names.intern()
    return Strings.of(_BODY.sub(rb"\1", text) for text in names.take(first)).take(ids)


def node_of(profile: Profile, names: Strings, functions: Strings | None = None) -> I64:
    """The node of each name, or -1; *functions* are the functions that the program called."""
    # A trace names nodes relative to that function. If the graph calls it, its nodes are below the
    # call.
    ids, first = names.intern()
    if functions is not None:
        function, of_function = functions.intern()
        pair = ids * max(of_function.size, 1) + function
        first, ids = first_rows(pair)[1], unique_inverse(pair)[1]
    texts = names.take(first).tolist()
    called = [b""] * len(texts) if functions is None else functions.take(first).tolist()
    return _matched(profile, texts, called)[ids]


def _matched(profile: Profile, texts: list[bytes], called: list[bytes]) -> I64:
    """The node of each name in the function *called*; the first interpretation that fits wins."""
    known = profile.nodes.name
    calls = _Calls.of(profile)
    lowered = _calls(texts)
    plain = [_canonical(text, lowered) for text in texts]
    own = [calls.call(function) for function in called]
    row = np.full(len(texts), -1, np.int64)

    def attempt(candidates: Iterable[bytes]) -> None:
        left = np.flatnonzero(row < 0)
        if left.size:
            row[left] = known.find(Strings.of(candidates))

    def remaining(rows: list[bytes]) -> Iterator[bytes]:
        return (rows[index] for index in np.flatnonzero(row < 0).tolist())

    # First below the call of a known function, so that no other node of the same name matches.
    attempt([b"%b/%b" % pair for pair in zip(own, plain, strict=True)])
    attempt(list(remaining(texts)))
    attempt(list(remaining(plain)))
    _attempt_below(known, row, plain, called, calls)
    # The graph may have a function that the program called inside of another one.
    inner = [_CALL.sub(b"", name, count=1) for name in plain]
    attempt(list(remaining(inner)))
    _attempt_below(known, row, inner, called, calls)
    # A whole function, then numbered names, which were added to some node.
    attempt(list(remaining([calls.call(text) for text in texts])))
    _attempt_outer(known, row, texts, plain, [*own, *calls.name[:_MOST_CALLS]])
    return row


def _attempt_below(
    known: Strings, row: I64, plain: list[bytes], called: list[bytes], calls: _Calls
) -> None:
    """Match the remaining names below a call that has such a node."""
    # If the graph calls the function, no other call is tried. If several calls have the node, and
    # they are inside functions or the function is unknown, the name stays unmatched.
    for nested, prefixes in enumerate((calls.name, calls.nested)):
        left = [
            index for index in np.flatnonzero(row < 0).tolist() if not calls.call(called[index])
        ]
        names = [plain[index] for index in left]
        node = np.full(len(left), -1, np.int64)
        fits = np.zeros(len(left), np.int64)
        for call in prefixes[:_MOST_CALLS] if names else ():
            below = known.find(Strings.of(b"%b/%b" % (call, name) for name in names))
            node = np.where(node < 0, below, node)
            fits += below >= 0
        decided = np.array([bool(called[index]) and not nested for index in left], np.bool_)
        row[left] = np.where(decided | (fits == 1), node, -1)


def _attempt_outer(
    known: Strings, row: I64, texts: list[bytes], plain: list[bytes], before: list[bytes]
) -> None:
    """Match what the runtime added to the innermost node that its name begins with."""
    left = [index for index in np.flatnonzero(row < 0).tolist() if is_added(texts[index])]
    prefixes = [prefix for prefix in dict.fromkeys(before) if prefix] if left else []
    waiting = {index: plain[index] for index in left}
    for _ in range(_MOST_PARTS):
        if not waiting:
            break
        for prefix in (b"", *prefixes):
            rows = [index for index in waiting if row[index] < 0]
            names = [prefix + b"/" + waiting[at] if prefix else waiting[at] for at in rows]
            row[rows] = known.find(Strings.of(names))
        waiting = {
            index: name.rpartition(b"/")[0]
            for index, name in waiting.items()
            if row[index] < 0 and b"/" in name
        }


def is_added(name: bytes) -> bool:
    """Whether the runtime created the node with this name, from or for another node."""
    return name.startswith((b"Func/", b"ConstantFolding")) or any(
        pattern.fullmatch(name) for pattern in (_NUMBERED, _COPIED, _FED)
    )


class _Calls(NamedTuple):
    """The nodes that call a function."""

    name: list[bytes]  # those outside functions
    nested: list[bytes]  # those inside functions
    of_function: dict[bytes, bytes]  # the first call of each, or its only one in another function
    # The only call of a Python function: each trace of it gets another number.
    of_python: dict[bytes, bytes]

    @classmethod
    def of(cls, profile: Profile) -> _Calls:
        """The calls of *profile*."""
        regions = profile.regions
        callers = profile.nodes.name.take(regions.call).tolist()
        inside = np.append(regions.of_node, -1)[np.minimum(regions.call, regions.of_node.size)]
        top = np.flatnonzero(inside < 0)
        names = [callers[region] for region in top.tolist()]
        functions = regions.function.tolist() if len(regions.function) else []
        called: dict[bytes, bytes] = {}
        for region in top[: len(functions)].tolist():
            called.setdefault(_xla_name(functions[region]), callers[region])
        nested = np.flatnonzero((inside >= 0) & (regions.kind == CALLED))
        return cls(
            list(dict.fromkeys(names)),
            list(dict.fromkeys(callers[region] for region in nested.tolist())),
            {**_called_once(map(_xla_name, functions), callers), **called},
            _called_once(map(_python_name, functions), callers),
        )

    def call(self, function: bytes) -> bytes:
        """The call of this function, or the call named like it; b"" if there is none."""
        if (call := self.of_function.get(_xla_name(function))) is not None:
            return call
        name = _python_name(function)
        return name if name in self.name else self.of_python.get(name, b"")


def _called_once(functions: Iterable[bytes], calls: list[bytes]) -> dict[bytes, bytes]:
    """The call of each function that has exactly one."""
    calls_of: dict[bytes, set[bytes]] = {}
    for function, call in zip(functions, calls, strict=False):
        if function:
            calls_of.setdefault(function, set()).add(call)
    return {function: next(iter(at)) for function, at in calls_of.items() if len(at) == 1}


def _python_name(function: bytes) -> bytes:
    """The name that a capture gives this function; b"" if its name has another form."""
    match = _FUNCTION.fullmatch(function)
    if match is None:
        return b""
    return match["plain"] if match["gradient"] is None else match["gradient"] + b"_backward"


def _xla_name(function: bytes) -> bytes:
    """The name of a function as XLA writes it."""
    return _NOT_IN_XLA_NAMES.sub(b"_", function)


def _calls(texts: Iterable[bytes]) -> set[bytes]:
    """The loops and conditionals that appear in these runtime names."""
    calls: set[bytes] = set()
    for text in texts:
        calls.update(text[: prefix.end(1)] for prefix in _prefixes(text))
    return calls


def _prefixes(text: bytes) -> Iterator[re.Match[bytes]]:
    """The prefix before each body, and before what was added to a loop or conditional."""
    at = 0
    for _ in range(_MOST_PARTS):
        body = _BODY_OF.match(text, at)
        if body is None:
            break
        yield body
        at = body.end()
    added = _ADDED.fullmatch(text, at)
    if added is not None:
        yield added


def _canonical(text: bytes, calls: set[bytes]) -> bytes:
    for pattern in (_FOLDED, _FED, _COPIED):
        match = pattern.fullmatch(text)
        if match is not None:
            text = match[1]
    argument = _ARGUMENT.fullmatch(text)
    if argument is not None:
        return _BODY.sub(rb"\1", argument[1])
    if _NUMBERED.fullmatch(text) is not None:
        text = _outer(text, calls)
    return _BODY.sub(rb"\1", text)


def _outer(text: bytes, calls: set[bytes]) -> bytes:
    """The innermost loop or conditional that a numbered name begins with; else the name."""
    name = text
    for _ in range(_MOST_PARTS):
        name = name.rpartition(b"/")[0]
        if name in calls:
            return name
    return text


def local_names(profile: Profile) -> Strings:
    """The name of each node in its function, then "@" and the function's name, if any."""
    name, regions = profile.nodes.name, profile.regions
    of_node = np.full(len(profile), -1, np.int64)
    of_node[: regions.of_node.size] = regions.of_node
    function = Strings.concat([regions.function, Strings.of([b""])]).take(of_node)
    prefix = np.append(regions.prefix, 0)[of_node]
    local = Strings(name.blob, name.start + prefix, name.length - prefix)
    at = Strings.of([b"@"]).take(np.zeros(len(profile), np.int64))
    return Strings.beside([local, at, function])
