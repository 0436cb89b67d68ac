"""UNSUPPORTED: one row per kind of file that tfprof names but does not read.

    model.onnx is an ONNX model; tfprof reads TensorFlow and Keras: give the model that …
    └─ name ─┘    └── title ──┘  └─────────────────────── advice ────────────────────────┘

Looked at only where no row of FORMATS fits. Content decides; the name of a file counts where its
content could be anything, or where it is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.errors import UnsupportedError
from tfprof.read.detect import PLANES, ZIP_MAGIC, Message, Start
from tfprof.wire.decode import BYTES, VARINT, buffer_view

if TYPE_CHECKING:
    from tfprof.columns.strings import U8

Detect = Callable[[Start], bool]
_PEEK = 1 << 16


class Kind(NamedTuple):
    """A row of UNSUPPORTED."""

    title: str  # as a sentence says it: "a …"
    advice: str  # what to do instead
    detect: Detect  # by content
    names: str = r"(?!)"  # a pattern: file names that decide where the content does not


def unsupported(name: str, data: U8, *, damaged: bool = False) -> UnsupportedError | None:
    """What to say of a file whose content fits no format; None where no row fits either.

    Of a *damaged* file of a format, only whether it was converted as text.
    """
    start, kinds = Start(buffer_view(data), 0, data.size), (_MANGLED,) if damaged else UNSUPPORTED
    by_content = (kind for kind in kinds if data.size and kind.detect(start))
    by_name = (kind for kind in kinds if re.search(kind.names, name))
    kind = next(by_content, None) or next(by_name, None)
    return UnsupportedError(name, kind.title, kind.advice) if kind else None


# --- how files begin ------------------------------------------------------------------------------


def _begins(pattern: bytes) -> Detect:
    """Whether a file begins with this pattern."""
    return lambda start: re.match(pattern, start.data[:_PEEK], re.DOTALL) is not None


def _holds(begins: bytes, *words: bytes) -> Detect:
    """Whether a file begins with this pattern and has one of these words near either end."""
    fits = _begins(begins)

    def holds(start: Start) -> bool:
        ends = bytes(start.data[:_PEEK]) + bytes(start.data[-_PEEK:])
        return any(word in ends for word in words)

    return lambda start: fits(start) and holds(start)


def _is_mangled(start: Start) -> bool:
    """Whether bytes were replaced by U+FFFD; a text has no control characters beside them."""
    beginning = bytes(start.data[: 1 << 12])
    return beginning.count(b"\xef\xbf\xbd") > 3 and re.search(rb"[\0-\x08]", beginning) is not None  # noqa: PLR2004 - one may be meant


def _is_safetensors(start: Start) -> bool:
    size = int.from_bytes(start.data[:8], "little")
    return 0 < size <= len(start.data) - 8 and bytes(start.data[8:10]) in (b'{"', b"{}")


def _is_records(start: Start) -> bool:
    """Whether the length of the first TFRecord has its checksum."""
    from tfprof.wire.crc32c import crc32c, masked  # noqa: PLC0415 - few files need it

    length, checksum = np.frombuffer(start.data[:8], np.uint8), start.data[8:12]
    return len(checksum) == 4 and masked(crc32c(length)) == int.from_bytes(checksum, "little")  # noqa: PLR2004 - bytes of a checksum


_ONNX = {**dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25), BYTES), 1: VARINT, 5: VARINT}


def _is_onnx(start: Start) -> bool:
    """ModelProto: a version (1), a graph with nodes or a name (7), and what it imports (8)."""
    graph = start.first(7)
    is_graph = graph.first(1).is_text(4) or graph.is_text(2)
    return start.consists_of(_ONNX) and start.has(1) and start.has(8) and is_graph


def _is_analysis(start: Start) -> bool:
    """Tables of operations, or a message of TensorFlow's profiler inside."""
    record = start.first(4).first(1)
    is_table = record.is_text(2) and record.is_text(3) and record.is_text(4)
    is_stats = start.first(1).first(10).is_text(6)
    beginning = bytes(start.data[:_PEEK])
    return is_table or is_stats or b"type.googleapis.com/tensorflow.profiler." in beginning


def _is_trace_viewer(start: Start) -> bool:
    """Trace: a map from numbers to devices, which have a name and their number."""
    device: Message = start.first(1).first(2)
    return device.bytes_of(1).startswith(PLANES) and (2, VARINT) in device.wire_types


# --- the table ------------------------------------------------------------------------------------

_JSON = rb'\s*[\[{]\s*["\[\]{}\d-]'
_OURS = "tfprof reads TensorFlow and Keras: give the model"
_HLO = "give its HLO: compiled.as_text(), or a dump by XLA_FLAGS=--xla_dump_to=FOLDER"
_TRACE = "it was computed from a trace: give the .xplane.pb beside it"
_MANGLED = Kind(
    "a binary file that was converted as text (bytes became U+FFFD)",
    "they are lost: copy the original again, in binary mode",
    _is_mangled,
)

# In this order a file is tried; the first row that fits says what it is.
# fmt: off
UNSUPPORTED: tuple[Kind, ...] = (
    Kind("a Git LFS pointer, not the file itself", "run: git lfs pull",
         _begins(rb"version https://(?:git-lfs|hawser)\.github\.com/spec/")),
    Kind("a git-annex pointer, not the file itself", "run: git annex get",
         _begins(rb"\S*/annex/objects/")),
    Kind("a web page (HTML), not the file itself", "download the file again, from its raw address",
         _begins(rb"(?i)\s*(?:<!--.{0,999}?-->\s*)?<(?:!doctype\s+html|html)\b")),
    Kind("an XML file", "if it is the error of a download, open it to see what is wrong",
         _begins(rb"\s*<\?xml\b")),
    # Text of TensorFlow's tools.
    Kind("a timeline (Chrome trace)", "open it in ui.perfetto.dev; tfprof reads the trace that it "
         "was made from: a .xplane.pb or a RunMetadata",
         _holds(_JSON, b'"traceEvents"'), r"\.trace\.json(\.gz)?$"),
    Kind("an analysis by TensorBoard", _TRACE,
         _holds(_JSON, b'"memoryProfilePerAllocator"', b'"podStats', b'"byCategory"', b'"cols"',
                b'"hloModule"')),
    Kind("a TensorFlow.js model", f"{_OURS} that it was converted from",
         _holds(_JSON, b'"modelTopology"', b'"weightsManifest"')),
    Kind("a Keras configuration without weights (model.to_json)",
         "give the .h5 with its weights, or save the whole model as .keras",
         _holds(rb"\s*(?:\{|[a-z_]+:)", b'"class_name"', b"\nclass_name:")),
    Kind("a Jupyter notebook", "save the model in it and give that file",
         _holds(_JSON, b'"nbformat"')),
    Kind("a JSON file", f"{_OURS} or the trace itself", _begins(_JSON)),
    Kind("a label map (names of classes)", f"{_OURS} itself", _begins(rb"\s*item\s*:?\s*\{")),
    Kind("a training configuration of the Object Detection API", f"{_OURS} itself",
         _holds(rb"\s*model\s*\{", b"train_config", b"eval_config")),
    Kind("a program of MLIR as text (StableHLO)", _HLO,
         _begins(rb"\s*(?:module\s*(?:@|\{|attributes\b)|#loc)")),
    # The second is what jax.export writes around it: a flatbuffer, longer with more arguments.
    Kind("a program of MLIR in bytecode (StableHLO)", _HLO,
         _begins(rb"ML\xefR|.\0\0\0.*?ML\xefR.{1,2}StableHLO")),
    # Messages.
    Kind("a sign that there was no program of XLA", "give the .xplane.pb beside it",
         _begins(rb"(?!)"), r"NO_MODULE\.hlo_proto\.pb$"),
    Kind("a timeline of TensorBoard's trace viewer", _TRACE, _is_trace_viewer),
    Kind("an ONNX model", f"{_OURS} that it was exported from", _is_onnx, r"\.onnx$"),
    # Models and arrays of others.
    Kind("a PyTorch file", "tfprof reads TensorFlow and Keras only",
         _holds(rb"PK\x03\x04|\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19\.",
                b"/data.pkl", b"\x9cF\xf9 j\xa8P\x19")),
    Kind("a file of NumPy arrays (.npz)", f"{_OURS} they belong to", _holds(ZIP_MAGIC, b".npy")),
    Kind("a NumPy array (.npy)", f"{_OURS} that it belongs to", _begins(rb"\x93NUMPY")),
    Kind("a safetensors file: weights without a model", f"{_OURS} that has them", _is_safetensors),
    Kind("a joblib file: pickled Python objects", f"{_OURS} itself",
         _holds(rb"\x80[\x02-\x05]", b"joblib"), r"\.joblib$"),
    Kind("a pickle: Python objects, which only running code can read", f"{_OURS} itself",
         _begins(rb"\x80[\x02-\x05]|c[a-z_]+(?:\.\w+)*\n\w+\n|\([dl]p?\d*\n")),
    Kind("a file of TFRecords: data, not a model", f"{_OURS} that it is for", _is_records),
    Kind("an analysis by TensorBoard", _TRACE, _is_analysis,
         r"\.(?:tensorflow_stats|overview_page|input_pipeline|kernel_stats|op_stats\w*|"
         r"tf_data_bottleneck_analysis|tracetable|memory_profile\.json\.gz)(?:\.pb)?$|"
         r"\bcache_version\.txt$"),
    # Files of any use.
    Kind("an image or a PDF", f"{_OURS} itself",
         _begins(rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF....WEBP|II\*\0|MM\0\*|%PDF-")),
    Kind("a table of data (Parquet, Arrow, Avro or SQLite)", f"{_OURS} itself",
         _begins(rb"PAR1|ARROW1|Obj\x01|SQLite format 3\0")),
    Kind("a zip archive without a SavedModel", "unpack it and give the model in it",
         _begins(rb"PK(?:\x03\x04|\x05\x06)")),
    Kind("a packed file (xz, bzip2, zstd, lz4, 7z or rar)", "unpack it; tfprof unpacks only gzip",
         _begins(rb"\xfd7zXZ\0|BZh[1-9]|\x28\xb5\x2f\xfd|\x04\x22\x4d\x18|7z\xbc\xaf|Rar!\x1a")),
    Kind("a text in UTF-16", "save it as UTF-8", _begins(rb"(?:[\t\r\n -~]\0){8}")),
    _MANGLED,
    Kind("the values of a checkpoint without its .index file", "put that file beside it",
         lambda _: False, r"\.data-\d{5}-of-\d{5}$"),
)
# fmt: on
