"""Files of kinds that tfprof names but does not read, as their own writers or documents make them.

    FOREIGN   name of the file → (its content, what the sentence on it says)

The bytes are those of the formats' documents: magic numbers, headers, and the first fields of
messages. What Python itself writes (zip, tar, pickle, JSON, NumPy) is written by it.
"""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
from typing import Final

import numpy as np

from hostile_parts import number, part


def zipped(**members: bytes) -> bytes:
    """A zip archive; __ in a name stands for a slash."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return out.getvalue()


def tarred(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def arrays(*, several: bool) -> bytes:
    out = io.BytesIO()
    if several:
        np.savez(out, kernel=np.zeros((3, 3)), bias=np.zeros(3))
    else:
        np.save(out, np.zeros(3))
    return out.getvalue()


def onnx() -> bytes:
    """ModelProto { ir_version producer_name opset_import { version } graph { node name } }."""
    node = part(1, part(1, b"x"), part(2, b"y"), part(3, b"relu"), part(4, b"Relu"))
    head = number(1, 8) + part(2, b"pytorch") + part(3, b"2.4.0")
    graph, opset = part(7, node, part(2, b"main_graph")), part(8, part(1, b""), number(2, 17))
    return head + graph + opset


def safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(8)


def mangled(data: bytes) -> bytes:
    """As an editor, or open(…, errors="replace"), leaves a binary file."""
    return data.decode("utf-8", "replace").encode()


def exported(arguments: int) -> bytes:
    """How a file of jax.export begins: a flatbuffer, with 18 bytes per argument, then MLIR."""
    table = "3c000000380060005e00580054005000 4c00480000004000 3c003800340030002c002800260020000000"
    head = bytes.fromhex(table).ljust(238, b"\x04") + b"\x02" * 18 * arguments
    return head + b"ML\xefR\rStableHLO_v1.15.0\0\x01\x1d\x05\x01"


LFS: Final = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
LAYERS: Final = {"layers": [{"class_name": "Dense", "config": {"units": 3}}]}
TO_JSON: Final = json.dumps({"class_name": "Sequential", "config": LAYERS}).encode()
TIMELINE: Final = b'{"displayTimeUnit":"ns","traceEvents":[{"ph":"X","pid":1,"ts":0,"dur":1}]}'
OLD_TORCH: Final = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
PNG: Final = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(17)
JOBLIB: Final = b"\x80\x03cjoblib.numpy_pickle\nNumpyArrayWrapper\nq\0)\x81q\1."
TFJS: Final = b'{"format": "layers-model", "modelTopology": {"class_name": "Model"}}'
LABELS: Final = b"item {\n  id: 1\n  name: 'person'\n}\n"
PIPELINE: Final = b"model {\n  ssd { num_classes: 90 }\n}\ntrain_config { batch_size: 24 }\n"

FOREIGN: Final[dict[str, tuple[bytes, str]]] = {
    "model.h5": (LFS, "a Git LFS pointer, not the file itself; run: git lfs pull"),
    "saved_model.pb": (b"/annex/objects/SHA256E-s12--ab.pb\n", "run: git annex get"),
    "model.pb": (b"\n<!DOCTYPE html>\n<html lang=en>404", "a web page (HTML), not the file itself"),
    "frozen.pb": (b"<HTML><head>", "a web page (HTML)"),
    "denied.pb": (b"<?xml version='1.0'?><Error><Code>AccessDenied", "an XML file"),
    "host.trace.json": (TIMELINE, "a timeline (Chrome trace); open it in ui.perfetto.dev"),
    "host.trace.json.gz": (gzip.compress(TIMELINE), "a timeline (Chrome trace)"),
    "host.memory_profile.json.gz": (
        gzip.compress(b'{"memoryProfilePerAllocator":{}}'), "give the .xplane.pb beside it",
    ),
    "model.json": (TFJS, "a TensorFlow.js model"),
    "config.json": (TO_JSON, "a Keras configuration without weights (model.to_json)"),
    "config.yaml": (
        b"backend: tensorflow\nclass_name: Sequential\nconfig:\n", "a Keras configuration",
    ),
    "train.ipynb": (b'{"cells": [], "nbformat": 4}', "a Jupyter notebook"),
    "any.json": (b'[\n  {"a": 1}\n]', "a JSON file"),
    "label_map.pbtxt": (LABELS, "a label map"),
    "pipeline.config": (PIPELINE, "a training configuration of the Object Detection API"),
    "module.mlir": (b"module @jit_f attributes {} {\n}", "a program of MLIR as text (StableHLO)"),
    "module.mlirbc": (
        b"ML\xefR\rStableHLO_v1.15.0\0", "in bytecode (StableHLO); give its HLO",
    ),
    "exported.bin": (exported(1), "in bytecode (StableHLO); give its HLO"),
    "exported_large.bin": (exported(1000), "in bytecode (StableHLO); give its HLO"),
    "model.onnx": (onnx(), "an ONNX model; tfprof reads TensorFlow and Keras: give the model"),
    "model.pt": (zipped(archive__version=b"3", **{"archive/data.pkl": b""}), "a PyTorch file"),
    "model.pth": (OLD_TORCH, "a PyTorch file"),
    "weights.npz": (arrays(several=True), "a file of NumPy arrays (.npz)"),
    "weights.npy": (arrays(several=False), "a NumPy array (.npy)"),
    "model.safetensors": (safetensors(), "a safetensors file: weights without a model"),
    "model.joblib": (JOBLIB, "a joblib file"),
    "model.pkl": (pickle.dumps({"w": [1, 2]}), "a pickle"),
    "old.pkl": (pickle.dumps({"w": [1, 2]}, protocol=0), "a pickle"),
    "third.pkl": (pickle.dumps(np.float32(1), protocol=2), "a pickle"),
    "image.jpg": (b"\xff\xd8\xff\xe0\0\x10JFIF", "an image or a PDF"),
    "graph.png": (PNG, "an image or a PDF"),
    "paper.pdf": (b"%PDF-1.5\n", "an image or a PDF"),
    "data.parquet": (b"PAR1" + bytes(30) + b"PAR1", "a table of data (Parquet"),
    "profile.sqlite": (b"SQLite format 3\0" + bytes(84), "a table of data (Parquet"),
    "data.tar": (tarred("a.txt", b"text"), "a tar archive"),
    "data.tar.gz": (gzip.compress(tarred("a.txt", b"text")), "a tar archive"),
    "notes.zip": (zipped(a=b"text"), "a zip archive without a SavedModel; unpack it"),
    "graph.pb.xz": (b"\xfd7zXZ\0\0\4", "a packed file (xz"),
    "graph.pb.bz2": (b"BZh91AY&SY", "a packed file (xz"),
    "graph.pb.zst": (b"\x28\xb5\x2f\xfd\4", "a packed file (xz"),
    "utf16.txt": ("node {}".encode("utf-16-le") + b"\n\0", "a text in UTF-16; save it as UTF-8"),
    "host.kernel_stats.pb": (b"", "an analysis by TensorBoard; it was computed from a trace"),
    "NO_MODULE.hlo_proto.pb": (b"", "a sign that there was no program of XLA"),
    "model.ckpt-7.data-00000-of-00001": (b"\0\0\x80\x3f", "without its .index file"),
}  # fmt: skip
