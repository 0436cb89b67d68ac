"""Needed: what a rule waits for, and how it waits for many things at once.

[op.value(0), op.value(1), …]         the rule restarts for each value that is not inferred yet
for_each(op.value, range(op.inputs))  it restarts once for all of them
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")


class Needed(Exception):  # noqa: N818 - not an error: a rule waits for it
    """What has to be inferred first, the last of it before the others: (kind, node) of each."""

    def __init__(self, keys: list[tuple[int, int]]) -> None:
        super().__init__()
        self.keys = keys


def for_each(rule: Callable[[int], T], numbers: Iterable[int]) -> list[T]:
    """What *rule* says of each number; raises Needed for what any of them waits for."""
    results: list[T] = []
    missing: list[tuple[int, int]] = []
    for number in numbers:
        try:
            results.append(rule(number))
        except Needed as needed:  # noqa: PERF203 - the others are tried all the same
            missing += needed.keys
    if missing:
        raise Needed([*dict.fromkeys(missing)][::-1])
    return results
