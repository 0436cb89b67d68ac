"""A failing case made small: take things away for as long as it still fails.

Options go back to their open values first, then whole steps go, then whatever the three kinds of
messages hold, from long runs of nodes down to single numbers. Every accepted change makes the
case smaller, so it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, MutableSequence
from dataclasses import replace
from typing import Any

from google.protobuf.message import Message

from case import Case, GraphDef, OpLogProto, RunMetadata, survivable
from oracle import UNRESTRICTED


def shrink(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest case found that still fails; only cases the original survives are tried."""
    if not fails(case):
        message = "the case to shrink does not fail"
        raise ValueError(message)

    def accepted(candidate: Case) -> bool:
        return survivable(candidate) and fails(candidate)

    while True:
        smaller = _one_round(case, accepted)
        if smaller == case:
            return case
        case = smaller


def _one_round(case: Case, accepted: Callable[[Case], bool]) -> Case:
    for option, open_value in UNRESTRICTED.items():
        if option == "output":  # what a test is about, and no part of the case
            continue
        for value in _simpler(case.options.get(option, open_value), open_value):
            candidate = replace(case, options={**case.options, option: value})
            if accepted(candidate):
                case = candidate
                break
    for index in reversed(range(len(case.steps))):
        candidate = replace(case, steps=case.steps[:index] + case.steps[index + 1 :])
        if accepted(candidate):
            case = candidate
    case = _without(case, GraphDef, case.graph, lambda c, b: replace(c, graph=b), accepted)
    case = _without(case, OpLogProto, case.op_log, lambda c, b: replace(c, op_log=b), accepted)
    for index, (number, run) in enumerate(case.steps):

        def put(c: Case, b: bytes, index: int = index, number: int = number) -> Case:
            return replace(c, steps=(*c.steps[:index], (number, b), *c.steps[index + 1 :]))

        case = _without(case, RunMetadata, run, put, accepted)
    return case


def _simpler(value: Any, open_value: Any) -> Iterator[Any]:
    """Values to try instead, the simplest first."""
    if value == open_value:
        return
    yield open_value
    if isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]


def _without(
    case: Case,
    kind: Any,
    binary: bytes,
    put: Callable[[Case, bytes], Case],
    accepted: Callable[[Case], bool],
) -> Case:
    """The case with one of its messages reduced."""
    message = kind.FromString(binary)

    def still() -> bool:
        return accepted(put(case, message.SerializeToString(deterministic=True)))

    _reduce(message, still)
    return put(case, message.SerializeToString(deterministic=True))


def _reduce(message: Message, still: Callable[[], bool]) -> None:
    """Clear in place what can go while `still` says that the whole fails."""
    for descriptor, _ in message.ListFields():
        name = descriptor.name
        if _try(message, still, lambda name=name: message.ClearField(name)):  # type: ignore[misc]
            continue
        value = getattr(message, name)
        if isinstance(value, Message):
            _reduce(value, still)
        elif isinstance(value, MutableMapping):
            _reduce_map(message, name, still)
        elif isinstance(value, MutableSequence):
            _reduce_list(message, name, still)


def _reduce_map(message: Message, name: str, still: Callable[[], bool]) -> None:
    for key in sorted(getattr(message, name)):
        _try(message, still, lambda key=key: getattr(message, name).pop(key))  # type: ignore[misc]
    for key in sorted(getattr(message, name)):
        value = getattr(message, name)[key]
        if isinstance(value, Message):
            _reduce(value, still)


def _reduce_list(message: Message, name: str, still: Callable[[], bool]) -> None:
    def drop(begin: int, end: int) -> None:
        del getattr(message, name)[begin:end]

    size = len(getattr(message, name))
    while size:
        begin = 0
        while begin < len(getattr(message, name)):
            dropped = _try(message, still, lambda b=begin, s=size: drop(b, b + s))  # type: ignore[misc]
            begin += 0 if dropped else size
        size //= 2
    for element in getattr(message, name):
        if isinstance(element, Message):
            _reduce(element, still)


def _try(message: Message, still: Callable[[], bool], change: Callable[[], object]) -> bool:
    """Make the change; undo it if the whole no longer fails."""
    before = type(message)()
    before.CopyFrom(message)
    change()
    if still():
        return True
    message.CopyFrom(before)
    return False
