"""Our own messages: built from what is committed, and strangers to TensorFlow's namesakes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorSet

from case import GraphDef, OpLogProto, RunMetadata
from sampling import sampled
from tfprof.wire import schema
from tfprof.wire.schema import build

if TYPE_CHECKING:
    from pathlib import Path

THEIRS = (GraphDef, RunMetadata, OpLogProto)


def test_the_committed_set_is_what_the_proto_files_say(tmp_path: Path) -> None:
    build.build(tmp_path / "rebuilt.binpb")
    rebuilt = FileDescriptorSet.FromString((tmp_path / "rebuilt.binpb").read_bytes())
    assert rebuilt == FileDescriptorSet.FromString(build.SET.read_bytes())
    assert {file.name for file in rebuilt.file} == {
        source.name for source in build.FOLDER.glob("*.proto")
    }


def described(descriptor: Any, only: Any) -> dict[str, tuple[int, int, int, str]]:
    """Number, type, label and message type by name, of the fields that *only* has too."""
    message = DescriptorProto()
    descriptor.CopyToProto(message)
    found: dict[str, tuple[int, int, int, str]] = {}
    for field, said in zip(descriptor.fields, message.field, strict=True):
        if wanted := only.fields_by_name.get(field.name):
            found[field.full_name] = said.number, said.type, said.label, said.type_name
            if field.message_type:
                found |= described(field.message_type, wanted.message_type)
    return found


@pytest.mark.parametrize("theirs", THEIRS, ids=lambda theirs: theirs.DESCRIPTOR.name)
def test_every_field_is_as_in_tensorflow(theirs: Any) -> None:
    ours: Any = schema.message(theirs.DESCRIPTOR.full_name).DESCRIPTOR
    assert described(ours, ours) == described(theirs.DESCRIPTOR, ours)


def test_a_message_that_is_not_ours_is_refused() -> None:
    with pytest.raises(KeyError):
        schema.message("tensorflow.NoSuchMessage")


USE_OURS = """
from tfprof.wire import schema
ours = schema.message("tensorflow.GraphDef")()
ours.node.add(name="a")
"""
USE_THEIRS = """
import tensorflow as tf
with tf.Graph().as_default() as graph:
    tf.constant(1, name="a")
theirs = graph.as_graph_def()
"""
COMPARE = """
assert type(ours) is not type(theirs)
assert type(ours).FromString(theirs.SerializeToString()).node[0].name == "a"
assert type(theirs).FromString(ours.SerializeToString()).node[0].name == "a"
"""


BOTH_ORDERS = (USE_OURS + USE_THEIRS, USE_THEIRS + USE_OURS)


@pytest.mark.parametrize("program", sampled(BOTH_ORDERS, 1, "orders"))
def test_tensorflow_may_come_before_or_after(program: str) -> None:
    subprocess.run([sys.executable, "-c", program + COMPARE], check=True)
