"""FORMATS: one row per input format. INPUTS: one row per input of a profile.

                 detect            read                 add
    file's bytes ──────► Format ──────────► columns ──────────► Profile
                            └─ describe ──► what `tfprof info` prints

A row holds its functions, so load(), the flags, files without flags, folders, `info`, completion
and the errors "expected …" are derived from it. To add a format, add a row and one file in `read/`.
The functions are imported when they are called: this module is imported by `tfprof --help`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tfprof.foundation.dotted import load_function
from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.tables.options import Option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Function = Callable[..., Any]


@dataclass(frozen=True)
class Input(Option):
    """A row of INPUTS: a flag, and what it stands for. A list takes several files."""

    is_path: bool = True
    parameter: str = ""  # of load()
    title: str = ""  # as a sentence says it: "a …"
    turn: int = 0  # inputs are added to a profile in this order
    in_profile: bool = True  # a saved profile stands for it
    by_prefix: bool = False  # it is several files, named by what their names begin with
    if_empty: str = ""  # what to do where its file is empty
    fallback: str = ""  # the format whose reader says what is wrong with a damaged file
    # (file names, path): beside a graph of such a name, the input is the file at this path.
    beside: tuple[tuple[str, ...], str] | None = None

    @property
    def is_many(self) -> bool:
        """Whether it takes several files."""
        return self.kind == "list"


# fmt: off
GRAPH = Input(
    "graph_path", "text", "",
    "the graph: GraphDef, MetaGraphDef, SavedModel, .keras, .h5, .tflite, HLO or event file",
    parameter="graph", title="a graph", turn=1, fallback="graph",
)
# The files that a SavedModel may be.
SAVED_MODEL_NAMES = ("saved_model.pb", "saved_model.pbtxt", "saved_model.cpb")
# Call stacks of the functions of a SavedModel; no flag names them.
DEBUG_INFO = Input(
    "", "text", "", "", title="a GraphDebugInfo", turn=2, fallback="debug_info",
    beside=(SAVED_MODEL_NAMES, "debug/saved_model_debug_info.pb"),
)
# The layers of a SavedModel of tf_keras; no flag names them.
KERAS_METADATA = Input(
    "", "text", "", "", title="the metadata of Keras", turn=2, fallback="keras_metadata",
    beside=(SAVED_MODEL_NAMES, "keras_metadata.pb"),
)
# Says that a SavedModel is a module of TF-Hub for TensorFlow 1; nothing else in it is used.
HUB_MODULE = Input(
    "", "text", "", "", title="a module of TF-Hub",
    beside=(SAVED_MODEL_NAMES, "tfhub_module.pb"),
)
# What a capture could not record; no flag names it either.
NOTES = Input(
    "", "text", "", "", title="the notes of a capture", turn=7, fallback="notes",
    beside=((), "tfprof_notes.txt"),
)
OP_LOG = Input(
    "op_log_path", "text", "", "the op log: types, float operations and call stacks of nodes",
    parameter="op_log", title="an op log", turn=3, fallback="op_log",
)
RUN = Input(
    "run_meta_path", "list", (),
    "the runs: RunMetadata files, comma-separated; they are steps 0, 1, 2 …",
    parameter="run_meta", title="a RunMetadata", turn=4, fallback="run",
)
TRACE = Input(
    "trace_path", "list", (),
    "the traces: XPlane files of TensorFlow 2 (*.xplane.pb), comma-separated",
    parameter="trace", title="a trace", turn=5, fallback="trace",
    if_empty="TensorFlow writes an empty file if a trace exceeds 2 GB: trace fewer steps",
)
CHECKPOINT = Input(
    "checkpoint_path", "text", "",
    "the checkpoint: tensor values; its variables get the type _checkpoint_variables",
    parameter="checkpoint", title="a checkpoint", turn=6, in_profile=False, by_prefix=True,
)
PROFILE = Input(
    "profile_path", "text", "", "a saved or converted profile, instead of graph, runs and op log",
    parameter="profile", title="a saved profile", in_profile=False, fallback="profile",
)
# fmt: on

INPUTS: dict[str, Input] = {
    row.name: row for row in (GRAPH, RUN, TRACE, OP_LOG, CHECKPOINT, PROFILE)
}

# No files: they say which part of a graph to read.
SIGNATURE = Option(
    "signature", "text", "", "the signature of a SavedModel or .tflite file; default: all of them"
)
TAG = Option(
    "tag",
    "text",
    "",
    "the tags of the graph in a SavedModel, comma-separated; default: serve, or the only graph",
)
FUNCTIONS = Option(
    "functions", "text", "on", "off: skip the graph's function library, as the original does",
    ("on", "off"),
)  # fmt: skip
WEIGHTS = Option(
    "weights", "text", "",
    "a regex for the parameters of a program of XLA that are weights, as in params.*",
)  # fmt: skip
DEVICES = Option(
    "devices", "text", "one",
    "all: float operations and weights of a program of XLA are those of all its devices",
    ("one", "all"),
)  # fmt: skip
# Those that are texts, and what a file without such a part lacks.
TEXT_PARTS = {
    SIGNATURE: "signatures", TAG: "tags", WEIGHTS: "parameters of a program",
    DEVICES: "devices of a program",
}  # fmt: skip
GRAPH_PARTS: dict[str, Option] = {row.name: row for row in (*TEXT_PARTS, FUNCTIONS)}

# What files give, and the sentence for `info` where no file gives it.
GIVES: dict[str, str] = {
    "nodes": "no graph: every view needs one",
    "model": "",  # a graph with the layers of a model
    "run": "no run: times, memory and run counts will be 0",
    "float_ops": "no float operations: rules count those of a graph, an op log has its own",
    "stacks": "no call stacks: code view needs an op log with them",
    "values": "no checkpoint: tensor_value has nothing to show",
    "fleet": "",  # the runs of many workers
}


@dataclass(frozen=True)
class Format:
    """A row of FORMATS: one format of one input.

    detect(start: detect.Start) -> bool                     by content
    read(source) -> columns                                 raises InputError
    read(source, signature=…, tag=…, functions=False)       likewise, where it has these parts
    add(profile, columns, source, step) -> Profile
    describe(source) -> describe.Description                for `tfprof info`

    A checkpoint is several files: its `read` and `describe` take the open Checkpoint.
    """

    name: str
    title: str  # as a sentence says it: "a …"
    input: Input
    gives: tuple[str, ...]  # of GIVES, at most
    detect: Function | None  # None: known by its place, not by its content
    read: Function
    add: Function
    describe: Function
    message: str = ""  # of a form that is converted first, such as text: the message that it is
    parts: tuple[str, ...] = ()  # of GRAPH_PARTS
    joins: bool = False  # the files of one folder are one input
    converter: str = "tfprof.read.text:TextSource"  # to wire format, of a form with a message


def _row(  # noqa: PLR0913, PLR0917 - one parameter per column
    name: str,
    title: str,
    row: Input,
    gives: tuple[str, ...],
    read: str,
    add: str,
    describe: str,
    message: str = "",
    parts: tuple[Option, ...] = (),
    *,
    joins: bool = False,
) -> Format:
    """A row whose functions are where those of our own formats are, imported when called."""
    paths = (f"detect:is_{name}", read, f"add_files:{add}", f"describe:{describe}")
    detects, reads, adds, describes = (partial(_call, f"tfprof.read.{path}") for path in paths)
    message = f"tensorflow.{message}" if message else ""
    functions, names = (detects, reads, adds, describes), tuple(part.name for part in parts)
    return Format(name, title, row, gives, *functions, message, names, joins)


def _call(path: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as the function has it
    return load_function(path)(*arguments, **options)


_NODES, _MODEL, _RUN = ("nodes",), ("nodes", "model"), ("run",)
_LOG, _PROGRAM = ("float_ops", "stacks"), ("nodes", "model", "stacks")
_ALL = ("nodes", "run", "float_ops", "stacks")

# In this order a file is tried; the first row that fits says what it is. A trace is tried before a
# ProfileProto, because a plane of a trace may begin with the same fields.
# fmt: off
FORMATS: dict[str, Format] = {
    row.name: row
    for row in (
        _row("graph_text", "a GraphDef in text format", GRAPH, _NODES,
             "read_files:read_graph_text", "add_graph", "describe_graph", "GraphDef",
             parts=(FUNCTIONS,)),
        _row("meta_graph_text", "a MetaGraphDef in text format", GRAPH, _NODES,
             "read_files:read_meta_graph", "add_graph", "describe_graph", "MetaGraphDef",
             parts=(SIGNATURE, FUNCTIONS)),
        _row("saved_model_text", "a SavedModel in text format", GRAPH, _MODEL,
             "read_files:read_saved_model", "add_graph", "describe_saved_model", "SavedModel",
             parts=(SIGNATURE, TAG, FUNCTIONS)),
        _row("run_text", "a RunMetadata in text format", RUN, _RUN,
             "read_files:read_run", "add_run", "describe_run", "RunMetadata"),
        _row("op_log_text", "an op log in text format", OP_LOG, _LOG,
             "read_files:read_op_log", "add_op_log", "describe_op_log", "tfprof.OpLogProto"),
        _row("checkpoint", "a checkpoint", CHECKPOINT, ("nodes", "values"),
             "read_files:read_checkpoint", "add_checkpoint", "describe_checkpoint"),
        _row("checkpoint_state", "a checkpoint, named by a checkpoint file", CHECKPOINT,
             ("nodes", "values"), "read_files:read_checkpoint", "add_checkpoint",
             "describe_checkpoint"),
        _row("graph", "a GraphDef", GRAPH, _NODES,
             "read_files:read_graph_def", "add_graph", "describe_graph", parts=(FUNCTIONS,)),
        _row("meta_graph", "a MetaGraphDef", GRAPH, _NODES,
             "read_files:read_meta_graph", "add_graph", "describe_graph",
             parts=(SIGNATURE, FUNCTIONS)),
        _row("saved_model", "a SavedModel", GRAPH, _MODEL,
             "read_files:read_saved_model", "add_graph", "describe_saved_model",
             parts=(SIGNATURE, TAG, FUNCTIONS)),
        replace(_row("saved_model_chunked", "a chunked SavedModel", GRAPH, _MODEL,
                     "read_files:read_saved_model", "add_graph", "describe_saved_model",
                     "SavedModel", parts=(SIGNATURE, TAG, FUNCTIONS)),
                converter="tfprof.read.chunked:ChunkedSource"),
        _row("keras", "a Keras archive", GRAPH, _MODEL,
             "keras.archive:read_keras", "take_profile", "describe_keras"),
        _row("events", "an event file of TensorBoard", GRAPH, ("nodes", "model", "run"),
             "events:read_events", "add_events", "describe_events", parts=(FUNCTIONS,),
             joins=True),
        _row("hdf5", "a Keras HDF5 file", GRAPH, _MODEL,
             "keras.hdf5:read_hdf5", "take_profile", "describe_hdf5"),
        _row("tflite", "a TensorFlow Lite model", GRAPH, _MODEL,
             "tflite:read_tflite", "add_graph", "describe_tflite", parts=(SIGNATURE,)),
        replace(_row("hlo_text", "a program of XLA in text format (HLO)", GRAPH, _PROGRAM,
                     "hlo:read_hlo", "add_hlo", "describe_hlo", "HloProto",
                     parts=(WEIGHTS, DEVICES)),
                converter="tfprof.read.hlo.text:HloTextSource"),
        _row("hlo", "a program of XLA (HloProto)", GRAPH, _PROGRAM,
             "hlo:read_hlo", "add_hlo", "describe_hlo", parts=(WEIGHTS, DEVICES)),
        _row("trace", "a trace (XSpace)", TRACE, ("nodes", "run", "stacks"),
             "xplane:read_trace", "add_trace", "describe_trace", parts=(WEIGHTS, DEVICES)),
        _row("profile", "a saved profile (ProfileProto)", PROFILE, _ALL,
             "read_files:read_profile", "take_profile", "describe_profile"),
        _row("converted", "a converted profile (tfprof convert)", PROFILE, _ALL,
             "columnar:profile", "take_profile", "describe_profile"),
        _row("op_log", "an op log (OpLogProto)", OP_LOG, _LOG,
             "read_files:read_op_log", "add_op_log", "describe_op_log"),
        _row("run", "a RunMetadata", RUN, _RUN,
             "read_files:read_run", "add_run", "describe_run"),
        replace(_row("debug_info", "a GraphDebugInfo", DEBUG_INFO, ("stacks",),
                     "debug_info:read_stacks", "add_debug_info", "describe_nothing"), detect=None),
        replace(_row("keras_metadata", "a keras_metadata.pb of tf_keras", KERAS_METADATA, (),
                     "keras_layers:read_layers", "add_layers", "describe_nothing"), detect=None),
        replace(_row("notes", "a list of notes", NOTES, (),
                     "capture_notes:read_notes", "add_notes", "describe_nothing"), detect=None),
    )
}
# fmt: on


def expected_formats(row: Input) -> str:
    """The formats of an input as a phrase for messages, without other forms of one message."""
    return one_of(form.title for form in FORMATS.values() if form.input is row and not form.message)


def expected_inputs() -> str:
    """All inputs, as a sentence lists them."""
    return one_of(row.title for row in INPUTS.values())


def one_of(titles: Iterable[str]) -> str:
    """As in "a graph, a trace or a checkpoint"."""
    *first, last = titles
    return f"{', '.join(first)} or {last}" if first else last


def load_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of load() that the flags set; flags without a value are ignored."""
    return {row.parameter: options[name] for name, row in INPUTS.items() if options.get(name)}


def sample_files() -> dict[str, Any]:
    """The flags that name the bundled sample's files: two steps of training a ResNet."""
    from importlib.resources import files  # noqa: PLC0415 - only the sample pays for it

    folder = files("tfprof") / "sample"
    return {
        GRAPH.name: str(folder / "graph.pbtxt.gz"),
        RUN.name: (str(folder / "run_meta_0.gz"), str(folder / "run_meta_1.gz")),
        OP_LOG.name: str(folder / "tfprof_log.gz"),
    }
