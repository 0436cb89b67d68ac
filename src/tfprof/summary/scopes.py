"""The name scope of each node, as a tree, without the names of function calls.

    net/conv/Conv2D                                        net > conv
    StatefulPartitionedCall_1/net/conv/Conv2D              net > conv
    net/lstm/while/body/net/lstm/while/MatMul              net > lstm > while
    Model/while.3/body/attn/dot.7                          Model > attn
    Model/proj/fusion.1/b0/add.3                           Model > proj

TensorFlow names the body of a function below its call. Scopes that the body repeats count once, and
names that TensorFlow or XLA invents for calls are not layers. All that XLA fused counts in the
scope of the fusion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.model import CALLED, Profile
from tfprof.ops.classes import of_class
from tfprof.summary.keras_names import Scopes, ScopeTree, with_keras_names
from tfprof.summary.model_nodes import is_checkpoint
from tfprof.views.scope_view import check_parts

if TYPE_CHECKING:
    from collections.abc import Mapping


_DEEP: Final = 16  # parts of a scope; the names above a deeper one would take much memory
_INVENTED: Final = re.compile(rb"(?:Stateful)?PartitionedCall(?:_\d+)?")


class Call(NamedTuple):
    """How the names below a call go on."""

    has_bodies: bool  # several, each below a name of its own
    is_invented: bool = False  # its name is none of a layer
    is_fusion: bool = False  # all below it belongs to the scope around it


def scopes(profile: Profile, *, renamed: bool = True) -> Scopes:
    """The scopes of all nodes, with the names of Keras if *renamed*; raises InputError."""
    names, regions = profile.nodes.name, profile.regions
    check_parts(names)
    columns = (
        regions.kind != CALLED,
        of_class(profile, "call of XLA")[regions.call],
        of_class(profile, "fusion")[regions.call],
    )
    kinds = map(Call, *(column.tolist() for column in columns))
    places = ScopePlaces(dict(zip(names.take(regions.call), kinds, strict=True)))
    # Each variable of a checkpoint is a scope of its own.
    written = names if is_checkpoint(profile) else names.around()
    number, first = written.intern()
    place = np.array([places.place(text) for text in written.take(first)], np.int64)
    found = Scopes(places.tree.part, places.tree.parent, place[number])
    return with_keras_names(found, profile) if renamed else found


class ScopePlaces:
    """The tree of scopes, and the place of each scope in it."""

    def __init__(self, calls: Mapping[bytes, Call]) -> None:
        self.tree = ScopeTree()
        self._calls, self._lengths = calls, frozenset(map(len, calls))
        self._known: dict[bytes, int | None] = {b"": 0}

    def place(self, text: bytes) -> int:
        """The place of a scope, which is added if it is new."""
        is_plain = text.count(b"/") < _DEEP and not text.startswith(b"/")
        here = self._outside_calls(text) if is_plain else None
        if here is None:
            here = 0
            for part in folded(text, self._calls, self._lengths):
                here = self.tree.add(here, part)
        return here

    def _outside_calls(self, text: bytes) -> int | None:
        """The place of a scope that is no call and in none, else None; adds the scopes above it."""
        if text not in self._known:
            above, _, part = text.rpartition(b"/")
            here = self._outside_calls(above)
            if text in self._calls:
                here = None
            elif here is not None and not _INVENTED.fullmatch(part):
                here = self.tree.add(here, part)
            self._known[text] = here
        return self._known[text]


def folded(scope: bytes, calls: Mapping[bytes, Call], lengths: frozenset[int]) -> list[bytes]:
    """The parts of a scope that name layers; *calls* are those of the graph by their names.

    *lengths* are those of the names of calls: a long scope is not compared at every slash.
    """
    # A function call has one body, right below it; a loop or a conditional has several, each below
    # a name of its own.
    parts = scope.split(b"/") if scope else []
    path: list[bytes] = []
    at = until = 0
    while at < len(parts):
        is_layer = not _INVENTED.fullmatch(parts[at])
        if is_layer:
            path.append(parts[at])
        until += len(parts[at]) + (at > 0)
        at += 1
        if until not in lengths or scope[:until] not in calls:
            continue
        call = calls[scope[:until]]
        if call.is_invented and is_layer:
            path.pop()
        if call.is_fusion:
            break
        skipped = int(call.has_bodies)
        # Parts that repeat the end of the path.
        after = parts[at + skipped :]
        most = min(len(path), len(after))
        skipped += next((n for n in range(most, 0, -1) if path[-n:] == after[:n]), 0)
        until += sum(1 + len(part) for part in parts[at : at + skipped])
        at += skipped
    return path
