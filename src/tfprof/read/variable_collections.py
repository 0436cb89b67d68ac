"""Collections of variables in a MetaGraphDef; a GraphDef has none.

MetaGraphDef ─ 4 collection* ─┬─ 1 key = "trainable_variables", "model_variables"
                              └─ 2 value ─ 2 bytes_list ─ 1 VariableDef* ─ 1 variable_name "w:0"

A variable in a collection gets an extra type: `_` and the name of the collection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.columns.strings import U8, Strings
from tfprof.read.merge import with_extra_type
from tfprof.wire.decode import BYTES, scan, whole

if TYPE_CHECKING:
    from tfprof.model import Profile

TYPE: Final = b"_trainable_variables"
# The weights of a model, which are all of its parameters; a capture lists them.
MODEL: Final = b"_model_variables"
# The variables that a checkpoint has values for.
CHECKPOINT: Final = b"_checkpoint_variables"


def trainable(meta: U8) -> Strings:
    """The names of the nodes that are trainable variables; raises WireError."""
    return listed(meta, TYPE)


def listed(meta: U8, kind: bytes) -> Strings:
    """The names of the nodes that are variables of a collection; raises WireError."""
    wanted = Strings.of([kind.removeprefix(b"_")])
    collection = scan(meta, *whole(meta), {4: BYTES})[4]
    count = collection.start.size
    part = scan(meta, collection.start, collection.end, {1: BYTES, 2: BYTES})
    key = Strings(meta, *part[1].last_slice(count))
    start, length = (column[wanted.find(key) == 0] for column in part[2].last_slice(count))
    lists = scan(meta, start, start + length, {2: BYTES})[2]
    variable = scan(meta, lists.start, lists.end, {1: BYTES})[1]
    name = scan(meta, variable.start, variable.end, {1: BYTES})[1]
    return Strings.of(tensor.partition(b":")[0] for tensor in name.strings(meta))


def with_listed(profile: Profile, names: Strings, kind: bytes) -> Profile:
    """*profile* with the extra type *kind* on the nodes of these names, if there are any."""
    is_node = profile.nodes.name.find(names) >= 0
    return with_extra_type(profile, names, kind) if is_node.any() else profile
