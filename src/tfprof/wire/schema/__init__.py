"""The messages that tfprof reads and writes, defined by our own minimal .proto files.

    graph.proto  run_metadata.proto  op_log.proto  types.proto ─┐
    profile.proto   a saved profile                             ├─protoc─► schema.binpb ─► message()
    result.proto    a report                                   ─┘

After changing a .proto file, run: python -m tfprof.wire.schema.build

The messages have TensorFlow's names but are in a descriptor pool of their own, so TensorFlow can be
imported before, after or never. Our messages are not instances of TensorFlow's classes of the same
name: pass serialized bytes between them.
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
    """The descriptor pool with our messages only."""
    # Imported on first use: most inputs are read without protobuf.
    from google.protobuf import descriptor_pb2, descriptor_pool  # noqa: PLC0415

    own_pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(
        Path(__file__).with_name("schema.binpb").read_bytes()
    )
    for file in files.file:
        own_pool.AddSerializedFile(file.SerializeToString())
    return own_pool


@cache
def message(name: str) -> type[Message]:
    """The class of the message *name*, such as "tensorflow.GraphDef"; raises KeyError."""
    from google.protobuf import message_factory  # noqa: PLC0415

    with _lock:
        return message_factory.GetMessageClass(pool().FindMessageTypeByName(name))


@cache
def names_of(enum: str) -> frozenset[bytes]:
    """The names of the values of *enum*, such as "tensorflow.DataType"."""
    return frozenset(name.encode() for name in pool().FindEnumTypeByName(enum).values_by_name)


# Without it, two threads could create two pools with incompatible classes.
_lock = Lock()
