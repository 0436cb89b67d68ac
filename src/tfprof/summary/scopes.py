"""The name scope that each node stands in, as a tree, with calls of functions folded away.

    net/conv/Conv2D                                        net > conv
    StatefulPartitionedCall_1/net/conv/Conv2D              net > conv
    net/lstm/while/body/net/lstm/while/MatMul              net > lstm > while

The body of a function is named anew below its call. What it repeats of the way there is one way,
and the names that TensorFlow makes up for calls are none that anybody gave to a layer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.model import CALLED, Profile
from tfprof.tables.limits import beyond, limit

if TYPE_CHECKING:
    from collections.abc import Mapping


_MADE_UP: Final = re.compile(rb"(?:Stateful)?PartitionedCall(?:_\d+)?")
_FEW_PARTS: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class Scopes:
    """Scopes, each behind the one around it; the first is around everything."""

    part: list[bytes]  # the last part of its name
    parent: list[int]
    of_node: I64

    def __len__(self) -> int:
        return len(self.part)

    def name(self, scope: int) -> bytes:
        """All parts of the name."""
        parts = []
        while scope > 0:
            parts.append(self.part[scope])
            scope = self.parent[scope]
        return b"/".join(reversed(parts))


def scopes(profile: Profile) -> Scopes:
    """The scopes of all nodes; raises InputError where names have far too many parts."""
    names = profile.nodes.name
    _check(names)
    number, first = _around(names).intern()
    part, parent = [b""], [-1]
    known: dict[tuple[int, bytes], int] = {}
    calls = _calls(profile)
    place = np.zeros(first.size, np.int64)
    for at, text in enumerate(_around(names.take(first))):
        here = 0
        for one in folded(text, calls):
            inside = known.get((here, one))
            if inside is None:
                inside = known[here, one] = len(part)
                part.append(one)
                parent.append(here)
            here = inside
        place[at] = here
    return Scopes(part, parent, place[number])


def folded(scope: bytes, calls: Mapping[bytes, bool]) -> list[bytes]:
    """The parts of a scope that name layers; *calls* says of each call if its bodies have a name.

    A call of a function has one body, right below it; a loop or a choice has several, each below a
    part that says which.
    """
    parts = scope.split(b"/") if scope else []
    kept: list[bytes] = []
    at = until = 0
    while at < len(parts):
        kept.append(parts[at])
        until += len(parts[at]) + (at > 0)
        at += 1
        if _MADE_UP.fullmatch(kept[-1]):
            kept.pop()
        if scope[:until] not in calls:
            continue
        skipped = 1 if calls[scope[:until]] else 0
        skipped += _repeated(kept, parts[at + skipped :])
        until += sum(1 + len(part) for part in parts[at : at + skipped])
        at += skipped
    return kept


def _repeated(way: list[bytes], further: list[bytes]) -> int:
    """How many parts of what follows are the end of the way so far once more."""
    for length in range(min(len(way), len(further)), 0, -1):
        if way[-length:] == further[:length]:
            return length
    return 0


def _around(names: Strings) -> Strings:
    """Each name up to its last slash; nothing where it has none."""
    row, offset = names.positions(b"/")
    length = np.zeros(len(names), np.int64)
    length[row] = offset  # of a row's slashes the last is written last
    return Strings(names.blob, names.start, length)


def _calls(profile: Profile) -> dict[bytes, bool]:
    """The names of the nodes that call a function, and whether their bodies have names."""
    regions = profile.regions
    return dict(
        zip(
            profile.nodes.name.take(regions.call),
            (regions.kind != CALLED).tolist(),
            strict=True,
        )
    )


def _check(names: Strings) -> None:
    parts = len(names) + int(np.count_nonzero(names.blob == ord("/")))
    if parts > max(_FEW_PARTS, len(names) * limit("name_parts")):
        raise InputError(
            f"the {len(names):,} names of the graph have {parts:,} parts; accepted are "
            f"{beyond('name_parts')}"
        )
