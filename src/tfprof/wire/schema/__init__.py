"""The messages tfprof reads and writes, described by our own minimal .proto files.

    graph.proto  run_metadata.proto  op_log.proto  types.proto ─┐
    profile.proto   a saved profile                             ├─protoc─► schema.binpb ─► message()
    result.proto    a report                                   ─┘

After a change of a .proto file: python -m tfprof.wire.schema.build

The set is loaded into a pool of its own. The names are TensorFlow's, but the process-wide pool
never hears of them, so TensorFlow may be imported before, after or never. A class made here and
TensorFlow's of the same name are strangers: hand bytes from one to the other.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message


@cache
def pool() -> DescriptorPool:
    """Our messages' descriptors, apart from everyone else's."""
    # Imported when first needed: most inputs are read without protobuf.
    from google.protobuf import descriptor_pb2, descriptor_pool  # noqa: PLC0415

    ours = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(
        Path(__file__).with_name("schema.binpb").read_bytes()
    )
    for file in files.file:
        ours.AddSerializedFile(file.SerializeToString())
    return ours


@cache
def message(name: str) -> type[Message]:
    """The class of the message *name*, such as "tensorflow.GraphDef"; KeyError if not ours."""
    from google.protobuf import message_factory  # noqa: PLC0415

    with _making:
        return message_factory.GetMessageClass(pool().FindMessageTypeByName(name))


# Two threads at once would make two pools, whose classes are strangers, too.
_making = Lock()
