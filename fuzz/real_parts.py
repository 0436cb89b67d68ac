"""Small parts of the real files that tests have, for each target what it reads.

A few nodes of a graph, the stats and the log entries of these nodes and the texts that those name;
and, so that every formula is reached, an operation of each kind that float operations are counted
of.
"""

from __future__ import annotations

import gzip
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import text_format

from case import GraphDef, OpLogProto, RunMetadata
from checkpoint_data import FILES, mapped, rewritten
from foreign_files import FOREIGN
from fuzz import tf2_parts
from fuzz.laws import source
from fuzz.parts import joined
from op_shapes import WANTS
from ours import wire_of
from profiles import DATA, PROFILES, ProfileFiles
from table_writer import snappy, table
from tf_wheel import piece
from tfprof.ops.table import rules
from tfprof.read import load
from tfprof.read.checkpoint import Checkpoint
from tfprof.writers.columnar import columnar
from tfprof.writers.saved import saved

if TYPE_CHECKING:
    from collections.abc import Iterator

MetaGraphDef: Final[Any] = piece("tensorflow.core.protobuf.meta_graph_pb2").MetaGraphDef
_LONGEST: Final = 4000
_OPS_A_GRAPH: Final = 24
_VARIABLES: Final = "trainable_variables"
# What formulas ask for, with a value that they can do something with.
_ATTRIBUTES: Final[dict[str, Any]] = {
    **{name: [1, 2, 2, 1] for name in ("strides", "ksize", "dilations")},
    **dict.fromkeys(("transpose_a", "adj_x", "transpose_b"), True),
    "data_format": b"NHWC",
    "padding": b"SAME",
    "equation": b"ab,bc->ac",
    "rnn_mode": b"lstm",
}


def seeds() -> dict[str, list[bytes]]:
    """The inputs of every target."""
    cut = [one for name, begin in _PLACES for one in [_cut(PROFILES[name], begin)]]
    graphs, logs, runs = ([case[part] for case in cut] for part in range(3))
    counted = list(_counted())
    profiles = [
        load(*(source(_bytes(graph)), [source(_bytes(run))], source(_bytes(log))))
        for graph, log, run in cut
    ]
    metas = [_meta(graph) for graph in graphs]
    binary = {
        "graph": graphs,
        "meta_graph": metas,
        "run": runs,
        "op_log": logs,
        "flops": [*graphs, *counted],
    }
    made = {
        **{name: [*map(_bytes, messages)] for name, messages in binary.items()},
        "graph_text": [*map(_text, graphs)],
        "meta_graph_text": [*map(_text, metas)],
        "run_text": [*map(_text, runs)],
        "op_log_text": [*map(_text, logs)],
        "text": [_text(one) for case in cut for one in case],
        "saved": [b"".join(saved(profile)) for profile in profiles],
        "converted": [b"".join(columnar(profile)) for profile in profiles],
        "whole": [joined([*map(_bytes, (graph, log, run, run))]) for graph, log, run in cut],
        "run_shapes": [joined([_bytes(_open(graph)), _bytes(run)]) for graph, _, run in cut],
        "gzip": [gzip.compress(_text(graph), mtime=0) for graph in graphs],
        **_checkpoints(),
        **tf2_parts.seeds(),
    }
    made["sniff"] = [
        made[name][0] for name in made if name not in ("whole", "run_shapes", "snappy")
    ]
    made["foreign"] = [data for data, _ in FOREIGN.values() if 0 < len(data) <= _LONGEST]
    made["folder"] = [
        joined([FILES["grid.index"], FILES["grid.data-00000-of-00001"], _bytes(graph), _bytes(run)])
        for graph, _, run in cut[:2]
    ] + [joined([b"", b"", made["saved"][0]]), joined([b"", b"", made["gzip"][0], made["run"][1]])]
    return made


_PLACES: Final = (("handmade", 0), ("resnet", 0), ("resnet", 400), ("seq2seq", 1000))


def _cut(files: ProfileFiles, begin: int) -> tuple[Any, Any, Any]:
    """A graph of few nodes, and the op log and the run of these."""
    graph = GraphDef.FromString(wire_of(files.graph))
    log = OpLogProto.FromString(wire_of(files.op_log))
    run = RunMetadata.FromString(wire_of(files.runs[0]))
    small, few, short = GraphDef(), OpLogProto(), RunMetadata()
    for node in graph.node[begin:]:
        small.node.add().CopyFrom(node)
        small.node[-1].attr.pop("value", None)
        if small.ByteSize() > _LONGEST // 3:
            break
    names = {node.name for node in small.node}
    for entry in islice((one for one in log.log_entries if one.name in names), 3):
        few.log_entries.add().CopyFrom(entry)
        del few.log_entries[-1].code_def.traces[:-4]
    for entry in few.log_entries:
        for trace in entry.code_def.traces:
            for number in (trace.file_id, trace.function_id, trace.line_id):
                few.id_to_string[number] = log.id_to_string[number]
    for device in run.step_stats.dev_stats:
        stats = [one for one in device.node_stats if one.node_name.split(":")[0] in names]
        if stats:
            short.step_stats.dev_stats.add(device=device.device, node_stats=stats[:4])
    return small, few, short


def _meta(graph: Any) -> Any:
    """The graph with its variables listed as trainable, as an export lists them."""
    made = MetaGraphDef(graph_def=graph)
    made.meta_info_def.tags.append("train")
    variable = b"\x0a\x07w/w:0\x00\x00"
    made.collection_def[_VARIABLES].bytes_list.value.append(variable)
    for node in graph.node[:2]:
        name = f"{node.name}:0".encode()
        made.collection_def[_VARIABLES].bytes_list.value.append(b"\x0a" + bytes([len(name)]) + name)
    return made


def _open(graph: Any) -> Any:
    """The graph with the first dimension of every listed shape left open."""
    made = GraphDef()
    made.CopyFrom(graph)
    for node in made.node:
        for shape in node.attr["_output_shapes"].list.shape:
            if shape.dim:
                shape.dim[0].size = -1
    return made


def _counted() -> Iterator[Any]:
    """Graphs with an operation of each kind that there is a rule for."""
    ops = sorted(rules("all"))
    for first in range(0, len(ops), _OPS_A_GRAPH):
        graph = GraphDef()
        for op in ops[first : first + _OPS_A_GRAPH]:
            _add(graph, op)
        yield graph


def _add(graph: Any, op: str) -> None:
    """Add an operation of this type, with inputs of shapes that it takes."""
    row = max((name for name in WANTS if op.startswith(name)), key=len, default="")
    wanted = WANTS.get(row, [(4, 6), (4, 6)])
    inputs = [shape if isinstance(shape, tuple) else (3,) for shape in wanted]
    names = ["x".join(map(str, dims)) or "1" for dims in inputs]
    for name, dims in zip(names, inputs, strict=True):
        if all(node.name != name for node in graph.node):
            _shape(graph.node.add(name=name, op="Placeholder"), dims)
    node = graph.node.add(name=f"o{len(graph.node)}", op=op, input=names)
    _shape(node, inputs[0] if inputs else (4, 6))
    for name in rules("all")[op].attributes or ():
        value = _ATTRIBUTES.get(name, 2)
        if isinstance(value, list):
            node.attr[name].list.i.extend(value)
        elif isinstance(value, bytes):
            node.attr[name].s = value
        elif isinstance(value, bool):
            node.attr[name].b = value
        else:
            node.attr[name].i = value


def _shape(node: Any, dims: tuple[int, ...]) -> None:
    shape = node.attr["_output_shapes"].list.shape.add()
    for dim in dims:
        shape.dim.add(size=dim)


def _checkpoints() -> dict[str, list[bytes]]:
    """Checkpoints of both formats, and packed blocks."""
    bundles = ("grid", "objects", "several", "odd", "dtypes")
    first = FILES["first_sharded-00000-of-00002"][:1500]
    few = table([(b"", b"\x0a\x00"), (b"a", b"\x12\x00")], snappy)
    return {
        "bundle": [
            joined(
                [
                    FILES[f"{name}.index"],
                    *(FILES[file] for file in sorted(FILES) if file.startswith(f"{name}.data-")),
                ]
            )
            for name in bundles
        ],
        "tables": [
            joined([FILES["first_dtypes"]]),
            joined([rewritten("first_dtypes", snappy)]),
            joined([few, FILES["first_dtypes"]]),
        ],
        "objects": [_object_graph(name) for name in ("tf_keras_legacy", "keras3", "tf_keras")],
        "checkpoint_state": [
            file.read_bytes() for file in sorted((DATA / "variables").glob("*/checkpoint"))[:2]
        ],
        "snappy": [snappy(first), snappy(b"abcd" * 40), snappy(b""), snappy(FILES["odd.index"])],
    }


def _object_graph(name: str) -> bytes:
    """The object graph of a checkpoint."""
    prefix = str(DATA / "variables" / name / "ckpt-1")
    checkpoint = Checkpoint.open(prefix, mapped)
    (data,) = checkpoint.tensor(b"_CHECKPOINTABLE_OBJECT_GRAPH").values
    return bytes(data)


def _bytes(message: Any) -> bytes:
    return bytes(message.SerializeToString(deterministic=True))


def _text(message: Any) -> bytes:
    return bytes(text_format.MessageToString(message).encode())
