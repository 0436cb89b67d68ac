"""Names of the runtime → names of the graph with its functions in place.

    net/while/body/_7/net/while/MatMul      net/while/body/net/while/MatMul
    net/while/merge/_12                     net/while          what a loop is made of when it runs
    net/cond/switch_pred/_3                 net/cond           likewise a choice
    net/while/net/x_switch/_16              net/while          … whatever it is called by
    Func/net/call/input/_2                  net/call           what hands arguments over
    x__cf__3    ConstantFolding/x-folded-0  x                  what an optimizer made of a node
    _arg_x_0_0  _retval_x_0_0               x                  what is fed and fetched

The runtime makes a body part of what calls it, numbers what it adds and keeps all other names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, places
from tfprof.model import CALLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.model import Profile

_PART = rb"(?:body|cond|then|else|branch\d+)"
_BODY = re.compile(rb"(/%b)/_\d+(?=/)" % _PART)
_BODY_OF = re.compile(rb"(.+?)/%b/_\d+/" % _PART)
_NUMBERED = re.compile(rb"(.+)/_\d+")
# What the runtime adds to a loop or a choice, each with a number behind it.
_ADDED = re.compile(
    rb"(.+?)/(?:enter|merge|exit|next_iteration|LoopCond|loop_body_control|switch_pred|"
    rb"pivot_\w+|branch_index|branch_executed|output|input|input_control_node|"
    rb"output_control_node|lowered_\w+)/_\d+"
)
_HANDED = re.compile(
    rb"Func/(.+?)(?:/%b/_\d+)?/(?:input|output|input_control_node|output_control_node)/_\d+" % _PART
)
_FED = re.compile(rb"_(?:arg|retval)_(.+)_\d+_\d+")
_FOLDED = re.compile(rb"ConstantFolding(?:Ctrl)?/(.+?)(?:-[a-z]+-\d+)?")
_COPIED = re.compile(rb"(.+)__cf__\d+")
_CALL = re.compile(rb"(?:Stateful)?PartitionedCall(?:_\d+)?/")
# What TensorFlow makes of a Python function has a number behind it, its gradient has two.
_FUNCTION = re.compile(
    rb"__(?:inference|forward)_(?:__backward_(?P<gradient>.+)_\d+|(?P<plain>.+))_\d+"
)
_NOT_OF_XLA = re.compile(rb"[^A-Za-z0-9_]")
# Names are tried below so many calls; a graph has one for each function that was traced.
_MOST_CALLS = 64
# So many bodies and parts of a name are looked at in search of what it was added to.
_MOST_PARTS = 64


def canonical(names: Strings) -> Strings:
    """The names that the nodes have in the graph, as far as the names tell it."""
    ids, first = names.intern()
    texts = names.take(first).tolist()
    calls = _calls(texts)
    return Strings.of(_canonical(text, calls) for text in texts).take(ids)


def without_numbers(names: Strings) -> Strings:
    """The names without the numbers of bodies: `while/body/_7/x` is `while/body/x`."""
    ids, first = names.intern()
    return Strings.of(_BODY.sub(rb"\1", text) for text in names.take(first)).take(ids)


def node_of(profile: Profile, names: Strings, functions: Strings | None = None) -> I64:
    """The node that each name is of, -1 where the graph has none.

    A trace names nodes from the function on that the program called; the graph may have a call of
    that function, and then its nodes are below. *functions* are what was called, where it is known.
    """
    ids, first = names.intern()
    if functions is not None:
        function, of_function = functions.intern()
        pair = ids * max(of_function.size, 1) + function
        first, ids = first_rows(pair)[1], places(pair)[1]
    texts = names.take(first).tolist()
    called = [b""] * len(texts) if functions is None else functions.take(first).tolist()
    return _found(profile, texts, called)[ids]


def _found(profile: Profile, texts: list[bytes], called: list[bytes]) -> I64:
    """The node of each name, called for a function; the first way to read it that fits counts."""
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
        return (rows[one] for one in np.flatnonzero(row < 0).tolist())

    # Where the function is known, nothing else of the same name may be taken for the node.
    attempt([b"%b/%b" % pair for pair in zip(own, plain, strict=True)])
    attempt(list(remaining(texts)))
    attempt(list(remaining(plain)))
    _attempt_below(known, row, plain, called, calls)
    # The graph may have a function that the program called inside of another one.
    inner = [_CALL.sub(b"", name, count=1) for name in plain]
    attempt(list(remaining(inner)))
    _attempt_below(known, row, inner, called, calls)
    # A function as a whole, and what is numbered and so was added to something that is there.
    attempt(list(remaining([calls.call(text) for text in texts])))
    _attempt_outer(known, row, texts, plain, [*own, *calls.name[:_MOST_CALLS]])
    return row


def _attempt_below(
    known: Strings, row: I64, plain: list[bytes], called: list[bytes], calls: _Calls
) -> None:
    """Put the names that are left below a call that has such a node.

    If the graph calls the function, no other call counts. If the function is unknown, or the calls
    are inside of others, and several have the node, none of them counts.
    """
    for nested, prefixes in enumerate((calls.name, calls.nested)):
        left = [one for one in np.flatnonzero(row < 0).tolist() if not calls.call(called[one])]
        names = [plain[one] for one in left]
        first = np.full(len(left), -1, np.int64)
        fits = np.zeros(len(left), np.int64)
        for call in prefixes[:_MOST_CALLS] if names else ():
            below = known.find(Strings.of(b"%b/%b" % (call, name) for name in names))
            first = np.where(first < 0, below, first)
            fits += below >= 0
        any_fits = np.array([bool(called[one]) and not nested for one in left], np.bool_)
        row[left] = np.where(any_fits | (fits == 1), first, -1)


def _attempt_outer(
    known: Strings, row: I64, texts: list[bytes], plain: list[bytes], before: list[bytes]
) -> None:
    """Put what the runtime added to a node on the innermost one that its name begins with."""
    left = [one for one in np.flatnonzero(row < 0).tolist() if is_added(texts[one])]
    prefixes = [prefix for prefix in dict.fromkeys(before) if prefix] if left else []
    waiting = {one: plain[one] for one in left}
    for _ in range(_MOST_PARTS):
        if not waiting:
            break
        for prefix in (b"", *prefixes):
            some = [one for one in waiting if row[one] < 0]
            texts_of = [prefix + b"/" + waiting[one] if prefix else waiting[one] for one in some]
            row[some] = known.find(Strings.of(texts_of))
        waiting = {
            one: name.rpartition(b"/")[0]
            for one, name in waiting.items()
            if row[one] < 0 and b"/" in name
        }


def is_added(name: bytes) -> bool:
    """Whether the runtime made what has this name, from or for another node."""
    made = (_NUMBERED, _COPIED, _FED)
    return name.startswith((b"Func/", b"ConstantFolding")) or any(
        pattern.fullmatch(name) for pattern in made
    )


class _Calls(NamedTuple):
    """The nodes that call a function."""

    name: list[bytes]  # those outside of functions
    nested: list[bytes]  # those inside of functions
    of_function: dict[bytes, bytes]  # the first call of each, or the only nested one
    # The only call of a Python function: each trace of it gets another number.
    of_python: dict[bytes, bytes]

    @classmethod
    def of(cls, profile: Profile) -> _Calls:
        """Those of *profile*."""
        regions = profile.regions
        every = profile.nodes.name.take(regions.call).tolist()
        inside = np.append(regions.of_node, -1)[np.minimum(regions.call, regions.of_node.size)]
        top = np.flatnonzero(inside < 0)
        names = [every[one] for one in top.tolist()]
        functions = regions.function.tolist() if len(regions.function) else []
        called: dict[bytes, bytes] = {}
        for one in top[: len(functions)].tolist():
            called.setdefault(_plain(functions[one]), every[one])
        nested = np.flatnonzero((inside >= 0) & (regions.kind == CALLED))
        return cls(
            list(dict.fromkeys(names)),
            list(dict.fromkeys(every[one] for one in nested.tolist())),
            {**_called_once(map(_plain, functions), every), **called},
            _called_once(map(_python_name, functions), every),
        )

    def call(self, function: bytes) -> bytes:
        """The call of this function, by what it calls or else by its own name; or nothing."""
        if (call := self.of_function.get(_plain(function))) is not None:
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
    """What a capture calls this function; nothing where it is called in another way."""
    found = _FUNCTION.fullmatch(function)
    if found is None:
        return b""
    return found["plain"] if found["gradient"] is None else found["gradient"] + b"_backward"


def _plain(function: bytes) -> bytes:
    """The name of a function in letters that XLA leaves as they are."""
    return _NOT_OF_XLA.sub(b"_", function)


def _calls(texts: Iterable[bytes]) -> set[bytes]:
    """The loops and choices that these names show, in names of the runtime."""
    calls: set[bytes] = set()
    for text in texts:
        calls.update(text[: one.end(1)] for one in _prefixes(text))
    return calls


def _prefixes(text: bytes) -> Iterator[re.Match[bytes]]:
    """What stands before each body, and before what was added to a loop or choice."""
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
        found = pattern.fullmatch(text)
        if found is not None:
            text = found[1]
    handed = _HANDED.fullmatch(text)
    if handed is not None:
        return _BODY.sub(rb"\1", handed[1])
    if _NUMBERED.fullmatch(text) is not None:
        text = _outer(text, calls)
    return _BODY.sub(rb"\1", text)


def _outer(text: bytes, calls: set[bytes]) -> bytes:
    """The innermost loop or choice that a name which the runtime numbered begins with."""
    name = text
    for _ in range(_MOST_PARTS):
        name = name.rpartition(b"/")[0]
        if name in calls:
            return name
    return text
