"""Small parts of real files of TensorFlow 2: functions, SavedModels, traces; a Keras archive."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from pathlib import Path
from typing import Any, Final

import h5py
import numpy as np
from google.protobuf import text_format

from chunked_models import cpb
from event_records import event_file, scalar, stored, tagged
from fuzz.archives import CONFIG, archive, hdf5_file
from fuzz.parts import joined
from hostile_parts import part
from tf_wheel import piece
from tfprof.read.riegeli import records

SavedModel: Final[Any] = piece("tensorflow.core.protobuf.saved_model_pb2").SavedModel
GraphDef: Final[Any] = piece("tensorflow.core.framework.graph_pb2").GraphDef
RunMetadata: Final[Any] = piece("tensorflow.core.protobuf.config_pb2").RunMetadata
DebugInfo: Final[Any] = piece("tensorflow.core.framework.graph_debug_info_pb2").GraphDebugInfo
_TF2: Final = Path(__file__).parent.parent / "tests" / "data" / "tf2"
_XPLANE: Final = _TF2.with_name("xplane")
_HLO: Final = _TF2.with_name("hlo")
_STATS: Final = 10


def seeds() -> dict[str, list[bytes]]:
    """The inputs of the targets that read such files."""
    graphs = [_read(_TF2 / f"{name}.pb.gz") for name in ("chosen", "nested", "jitted", "conv")]
    model, small = _saved_model(("chosen", "cond_")), _saved_model(("nested", "product_132"))
    traces = [
        [_read(_XPLANE / name / "trace.xplane.pb.gz"), *_graph_of(name)]
        for name in ("eager", "compiled_inside", "kept")
    ]
    return {
        "functions": graphs,
        "saved_model": [model, small],
        "saved_model_text": [_text(small)],
        "chunked": [_chunked(model), joined(_records(small))],
        "archived": [_archived(small)],
        "debug_info": [joined([small, _debug(("nested", "product_132"))])],
        "function_run": [joined(_session())],
        "trace": [*map(joined, traces), joined([traces[1][0]])],
        "keras": [_keras()],
        "events": [_events(*graphs[1:3])],
        "hdf5": [_described(), hdf5_file(b'{"texts": {}, "layers": {"d": {"k": [2]}}}')],
        "hlo": [_read(_HLO / f"{name}.pb.gz") for name in ("branches.before", "runtime_loop.hlo")],
        "hlo_text": [_read(_HLO / f"{name}.txt.gz") for name in ("sharded", "runtime_loop")],
        "tflite": [(_TF2 / f"{name}.tflite").read_bytes() for name in ("control", "state")],
    }


def _read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def _graph_of(name: str) -> list[bytes]:
    graph = _XPLANE / name / "graph.pb.gz"
    return [_read(graph)] if graph.exists() else []


def _saved_model(names: tuple[str, ...]) -> bytes:
    """The SavedModel with the functions of these names, their signatures and variables alone."""
    model = SavedModel.FromString((_TF2 / "module" / "saved_model.pb").read_bytes())
    (meta,) = model.meta_graphs
    meta.meta_info_def.ClearField("stripped_op_list")
    for field in ("saver_def", "object_graph_def"):
        meta.ClearField(field)
    graph = meta.graph_def
    kept = [one for one in graph.library.function if _is_one(one.signature.name, names)]
    there = {one.signature.name for one in kept}
    nodes = [
        one for one in graph.node if not one.attr["f"].func.name or one.attr["f"].func.name in there
    ]
    for node in (*nodes, *(node for one in kept for node in one.node_def)):
        node.ClearField("experimental_debug_info")
    _set(graph.library.function, kept)
    _set(graph.node, nodes)
    for name in [one for one in meta.signature_def if one not in names]:
        del meta.signature_def[name]
    return bytes(model.SerializeToString(deterministic=True))


def _is_one(function: str, names: tuple[str, ...]) -> bool:
    return any(name in function for name in names)


def _set(field: Any, kept: list[Any]) -> None:
    copies = [type(one).FromString(one.SerializeToString()) for one in kept]
    del field[:]
    field.extend(copies)


def _debug(names: tuple[str, ...]) -> bytes:
    """Where the nodes of these functions were made, by the last frames."""
    whole = DebugInfo.FromString(
        (_TF2 / "module" / "debug" / "saved_model_debug_info.pb").read_bytes()
    )
    made = DebugInfo(files=whole.files)
    for key, number in whole.name_to_trace_id.items():
        if _is_one(key.partition("@")[2], names):
            made.name_to_trace_id[key] = number
            frames = whole.traces_by_id[number].frame_id[-3:]
            made.traces_by_id[number].frame_id[:] = frames
            for frame in frames:
                made.frames_by_id[frame].CopyFrom(whole.frames_by_id[frame])
    return bytes(made.SerializeToString(deterministic=True))


def _session() -> list[bytes]:
    """A graph with functions and the first stats of its run."""
    graph = GraphDef.FromString((_TF2 / "session" / "graph.pb").read_bytes())
    for node in (*graph.node, *(node for one in graph.library.function for node in one.node_def)):
        node.ClearField("experimental_debug_info")
        for key in (
            "_output_shapes",
            "_class",
            "_num_original_outputs",
            "_read_only_resource_inputs",
        ):
            node.attr.pop(key, None)
    for one in graph.library.function:
        for field in ("attr", "arg_attr", "resource_arg_unique_id"):
            one.ClearField(field)
    run = RunMetadata.FromString((_TF2 / "session" / "run_meta.pb").read_bytes())
    for device in run.step_stats.dev_stats:
        del device.node_stats[_STATS:]
        for stat in device.node_stats:
            stat.ClearField("memory")
            stat.ClearField("output")
    short = RunMetadata(step_stats=run.step_stats)
    renamed = [
        node
        for one in run.partition_graphs
        for node in one.node
        if node.experimental_debug_info.original_node_names
    ]
    for node in renamed[:4]:
        node.ClearField("attr")
    short.partition_graphs.add().node.extend(renamed[:4])
    return [bytes(one.SerializeToString(deterministic=True)) for one in (graph, short)]


def _text(model: bytes) -> bytes:
    """A SavedModel as text, with a second graph of other tags."""
    made = SavedModel.FromString(model)
    made.meta_graphs.add().meta_info_def.tags[:] = ["serve", "gpu"]
    made.meta_graphs[1].graph_def.node.add(name="a", op="NoOp")
    graph = made.meta_graphs[0].graph_def
    for function in graph.library.function:
        function.ClearField("arg_attr")
    for node in (*graph.node, *(node for one in graph.library.function for node in one.node_def)):
        node.attr.pop("_output_shapes", None)
    return text_format.MessageToString(made, as_one_line=True).encode()


def _chunked(model: bytes) -> bytes:
    return cpb(SavedModel.FromString(model), 300)


def _records(model: bytes) -> list[bytes]:
    """The records of a chunked SavedModel."""
    data = np.frombuffer(_chunked(model), np.uint8)
    return [bytes(record.data) for record in records(data, "it")]


def _archived(model: bytes) -> bytes:
    """A SavedModel in a .tar.gz with what belongs beside it."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as opened:
        debug = _debug(("nested", "product_132"))
        files = {"m/saved_model.pb": model, "m/debug/saved_model_debug_info.pb": debug}
        for name, data in {**files, "m/weights": bytes(999)}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            opened.addfile(info, io.BytesIO(data))
    return gzip.compress(made.getvalue(), mtime=0)


def _described() -> bytes:
    """A model in a model, as Keras 2 keeps it in HDF5."""

    def layer(kind: str, name: str, *takes: list[Any], **config: Any) -> dict[str, Any]:
        config = {"name": name, "trainable": True, **config}
        return {"class_name": kind, "config": config, "name": name, "inbound_nodes": [[*takes]]}

    first = layer("Dense", "a", units=4, batch_input_shape=[None, 8])
    inside = [first, layer("BatchNormalization", "b", axis=[1])]
    layers = [
        layer("InputLayer", "x", batch_input_shape=[None, 8]),
        {**layer("Sequential", "in", ["x", 0, 0, {}]), "config": inside},
        layer("Reshape", "r", ["in", 1, 0, {}], target_shape=[2, -1]),
        layer("LSTM", "l", ["r", 0, 0, {}], units=2),
        layer("TFOpLambda", "o", ["l", 0, 0, {"y": 2.0}], function="math.multiply"),
    ]
    ends = {"input_layers": [["x", 0, 0]], "output_layers": [["o", 0, 0]]}
    config = {"class_name": "Model", "config": {"name": "net", "layers": layers, **ends}}
    stored = {"a/kernel:0": [8, 4], "a/bias:0": [4], "b/gamma:0": [4], "b/beta:0": [4]}
    stored |= {"b/moving_mean:0": [4], "b/moving_variance:0": [4]}
    cell = {"l/kernel:0": [2, 8], "l/recurrent_kernel:0": [2, 8], "l/bias:0": [8]}
    texts = {"model_config": config, "keras_version": "2.2.4"}
    return json.dumps({"texts": texts, "layers": {"in": stored, "l": cell}}).encode()


def _keras() -> bytes:
    """A model of a few layers, as Keras keeps it."""

    def layer(kind: str, name: str, **config: Any) -> dict[str, Any]:
        return {
            "module": "keras.layers",
            "class_name": kind,
            "config": {"name": name, **config},
            "build_config": {"input_shape": [None, 6]},
        }

    inside = {
        "class_name": "Sequential",
        "config": {
            "name": "in",
            "layers": [layer("Dense", "a", units=4), layer("BatchNormalization", "b")],
        },
    }
    layers = [
        layer("Dense", "head", units=3),
        inside,
        layer("LSTM", "l", units=2),
        layer("Bidirectional", "t", layer=layer("GRU", "g", units=2)),
    ]
    config = {"class_name": "Sequential", "config": {"name": "net", "layers": layers}}
    made = io.BytesIO()
    with h5py.File(made, "w") as weights:
        for place, shape in {
            "layers/dense/vars/0": (6, 3),
            "layers/dense/vars/1": (3,),
            "layers/lstm/cell/vars/0": (6, 8),
        }.items():
            weights[place] = np.zeros(shape, np.float32)
    files = {CONFIG: json.dumps(config).encode(), "model.weights.h5": made.getvalue()}
    return archive(files)


def _events(graph: bytes, traced: bytes) -> bytes:
    """A graph, a run, a model, a trace and a scalar."""
    _, run = _session()
    model = {
        "class_name": "Sequential",
        "config": {"name": "m", "layers": [{"class_name": "Dense", "config": {"name": "a"}}]},
    }
    return event_file(
        part(9, part(2, graph)),
        tagged(b"first", run, 3),
        stored(b"graph_run_metadata_graph", b"trace", part(4, part(2, traced))),
        stored(b"graph_keras_model", b"keras", json.dumps(model).encode()),
        scalar(7),
    )
