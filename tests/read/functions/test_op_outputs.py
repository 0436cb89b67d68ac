"""The table of named outputs is what TensorFlow itself says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read.functions.calls import op_outputs

if TYPE_CHECKING:
    from forked import Forked

PROGRAM = """
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session as session
listed = op_def_pb2.OpList.FromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
for op in listed.op:
    if len(op.output_arg) > 1:
        lists = [bool(one.number_attr or one.type_list_attr) for one in op.output_arg]
        print(op.name, *("*" * many + one.name for many, one in zip(lists, op.output_arg)))
"""


def test_every_operation_with_several_outputs_is_there_with_their_names(
    tensorflow: Forked,
) -> None:
    ran = tensorflow(PROGRAM)
    there = {op: names for op, *names in map(bytes.split, ran.out.splitlines())}
    assert len(there) > 300
    assert there == op_outputs()
