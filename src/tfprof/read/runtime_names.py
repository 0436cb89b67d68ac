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
from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import intern_rows
from tfprof.read import called_functions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfprof.model import Profile

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
# Names are tried below at most so many calls; a graph has one call per traced function.
_MOST_CALLS = 64
# At most so many bodies and parts of a name are tried to find the node it was added to.
_MOST_PARTS = 64


def canonical(names: Strings) -> Strings:
    """The names of the nodes in the graph, as far as the names alone show."""
    calls = _calls(names.distinct())
    return names.mapped(lambda name: _canonical(name, calls))


def without_numbers(names: Strings) -> Strings:
    """The names without the numbers of bodies: `while/body/_7/x` is `while/body/x`."""
    return names.mapped(lambda name: _BODY.sub(rb"\1", name))


def node_of(profile: Profile, names: Strings, *of_graph: Strings) -> I64:
    """The node of each name, or -1; *of_graph*: called function and operation type, if known.

    A trace names nodes relative to the function that the program called. They are matched where the
    graph holds its body, and nowhere else: nodes of other functions may have the same names.
    """
    columns = (names, *of_graph)
    ids, first = intern_rows(*columns)
    texts, *known = (column.take(first).tolist() for column in columns)
    called, types = (*known, *[[b""] * first.size] * (2 - len(known)))
    return _matched(profile, texts, called, types)[ids]


def _matched(profile: Profile, texts: list[bytes], called: list[bytes], types: list[bytes]) -> I64:
    """The node of each name in the function *called*; the first interpretation that fits wins."""
    known = profile.nodes.name
    calls = called_functions.Calls.of(profile)
    lowered = _calls(texts)
    plain = [_canonical(text, lowered) for text in texts]
    row = np.full(len(texts), -1, np.int64)
    if len(profile.regions) and not len(profile.regions.function):
        called = [b""] * len(texts)  # without names, any call may be that of the function
    nodes = called_functions.RunNodes(plain, types, called, [is_added(text) for text in texts])
    body = called_functions.bodies(profile, calls, nodes) if any(called) else {}
    prefix = [body.get(function, None if function else b"") for function in called]
    inner_body = called_functions.inner_bodies(profile, calls, nodes, body) if any(called) else {}
    for index, (name, function) in enumerate(zip(plain, called, strict=True)):
        part = called_functions.first_call(name) if inner_body else b""
        if (function, part) in inner_body:
            prefix[index] = inner_body[function, part]
            plain[index] = name[len(part) :]

    def attempt(candidates: Sequence[bytes], allowed: Sequence[bool]) -> None:
        left = [at for at in np.flatnonzero(row < 0).tolist() if allowed[at]]
        row[left] = known.find(Strings.of(candidates[at] for at in left))

    is_called = [bool(call) for call in prefix]
    at_top = [call == b"" for call in prefix]
    below = [b"%b/%b" % (call or b"", name) for call, name in zip(prefix, plain, strict=True)]
    attempt(below, is_called)
    attempt(texts, at_top)
    attempt(plain, at_top)
    _attempt_below(known, row, plain, at_top, calls)
    # If the function is unknown, the graph may be that of one that it called.
    is_unknown = [not function for function in called]
    inner = [called_functions.FIRST_CALL.sub(b"", name, count=1) for name in plain]
    attempt(inner, is_unknown)
    _attempt_below(known, row, inner, is_unknown, calls)
    # A whole function, then numbered names, which were added to some node.
    attempt([calls.call(text) for text in texts], [True] * len(texts))
    _attempt_outer(known, row, texts, plain, prefix)
    return row


def _attempt_below(
    known: Strings, row: I64, plain: list[bytes], allowed: list[bool], calls: called_functions.Calls
) -> None:
    """Match the remaining names below the only call that has such a node."""
    for prefixes in (calls.name, calls.nested):
        left = [index for index in np.flatnonzero(row < 0).tolist() if allowed[index]]
        names = [plain[index] for index in left]
        node = np.full(len(left), -1, np.int64)
        fits = np.zeros(len(left), np.int64)
        for call in prefixes[:_MOST_CALLS] if names else ():
            below = known.find(Strings.of(b"%b/%b" % (call, name) for name in names))
            node = np.where(node < 0, below, node)
            fits += below >= 0
        row[left] = np.where(fits == 1, node, -1)


def _attempt_outer(
    known: Strings, row: I64, texts: list[bytes], plain: list[bytes], prefix: list[bytes | None]
) -> None:
    """Match what the runtime added to the innermost node that its name begins with."""
    waiting = {
        index: plain[index] if not call else call + b"/" + plain[index]
        for index in np.flatnonzero(row < 0).tolist()
        if (call := prefix[index]) is not None and is_added(texts[index])
    }
    for _ in range(_MOST_PARTS):
        if not waiting:
            break
        rows = list(waiting)
        row[rows] = known.find(Strings.of(waiting.values()))
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
    of_node = regions.of_nodes(len(profile))
    function = Strings.of([*(b"@" + each for each in regions.function), b"@"]).take(of_node)
    prefix = np.append(regions.prefix, 0)[of_node]
    local = Strings(name.blob, name.start + prefix, name.length - prefix)
    return Strings.beside([local, function])
