"""TARGETS: name → how the bytes of an input are read, and what changes them.

A target gives its input to one reader and holds what comes back to the laws. It returns where all
is as it should be: the input is read, or it is refused with a TfprofError.
"""

from __future__ import annotations

import gzip
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from fuzz import agreement, archives, mutate, sealed, tf2_targets
from fuzz.laws import Pick, hold, source
from fuzz.parts import parted
from fuzz.wire_tree import varint
from tfprof.cli import info
from tfprof.errors import TfprofError
from tfprof.io.checkpoint_state import latest_checkpoint
from tfprof.io.find_inputs import choose_inputs
from tfprof.io.open_files import open_source
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import add_run, load, read_graph, read_op_log
from tfprof.read.checkpoint import Checkpoint, sorted_table
from tfprof.read.checkpoint.object_graph import tracked_tensors
from tfprof.read.checkpoint.variables import variables_profile
from tfprof.read.detect import detect
from tfprof.read.op_log import with_op_log
from tfprof.read.unsupported import unsupported
from tfprof.wire.decode import WireError
from tfprof.wire.schema import message
from tfprof.writers.info import info_text
from tfprof.writers.tensor_values import proto_values, value_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import U8
    from tfprof.model import Profile

_BASE: Final = Path(__file__).parent.parent / "tests" / "data" / "handmade"
_STEPS: Final = (0, 1, -1, 2**63 - 1)
_MOST_RUNS = 3


class Target(NamedTuple):
    """A row of the table."""

    name: str
    check: Callable[[bytes, Pick], None]  # raises what it must not
    mutate: Callable[[bytes, mutate.Dice], bytes]

    def run(self, data: bytes, *, everything: bool = False) -> None:
        """Give *data* to the reader, and hold the result to a few laws or to every one."""
        with suppress(TfprofError):
            self.check(data, Pick(data, everything=everything))


# --- files that make a profile -----------------------------------------------------------------


def _graph(data: bytes, pick: Pick) -> None:
    agreement.graph(data)
    hold(load(source(data)), pick)


def _meta_graph(data: bytes, pick: Pick) -> None:
    hold(load(source(data)), pick)


def _graph_text(data: bytes, pick: Pick) -> None:
    agreement.graph_text(data)
    hold(load(source(data)), pick)


def _run(data: bytes, pick: Pick) -> None:
    agreement.run(data)
    hold(add_run(_base(), pick.one(_STEPS), source(data)), pick)


def _op_log(data: bytes, pick: Pick) -> None:
    agreement.log(data)
    hold(with_op_log(_base(), read_op_log(source(data))), pick)


def _saved(data: bytes, pick: Pick) -> None:
    hold(load(saved=source(data)), pick)


def _whole(data: bytes, pick: Pick) -> None:
    """A graph, an op log and runs."""
    graph, log, *runs = [*parted(data), b"", b""]
    given = [source(run) for run in runs[:_MOST_RUNS] if run]
    hold(load(source(graph), given, source(log) if log else None), pick)


@cache
def _base() -> Profile:
    """The profile that runs and op logs are added to."""
    return load(source((_BASE / "graph.pbtxt").read_bytes()))


# --- shapes and formulas -----------------------------------------------------------------------


def _flops(data: bytes, pick: Pick) -> None:
    profile = load(source(data))
    for which in pick(("all", "tensorflow")):
        _, counts = with_float_ops(profile, which)  # type: ignore[arg-type]  # both are among FLOPS
        assert counts.counted <= counts.ops


def _run_shapes(data: bytes, pick: Pick) -> None:
    """A graph with open shapes and a run that tells them."""
    graph, *runs = [*parted(data), b""]
    profile = load(source(graph), [source(run) for run in runs[:_MOST_RUNS] if run])
    shaped = profile.with_run_shapes
    assert len(shaped) == len(profile)
    assert shaped.outputs.start[-1] == len(shaped.outputs.shape)
    _, counts = with_float_ops(profile, pick.one(("all", "tensorflow")))
    assert str(counts)


# --- checkpoints -------------------------------------------------------------------------------


def _bundle(data: bytes, _: Pick) -> None:
    """An index and its pieces."""
    index, *pieces = [*parted(data), b""]
    count = max(len(pieces) - 1, 1)
    files = {f"it.data-{n:05d}-of-{count:05d}": piece for n, piece in enumerate(pieces)}
    _tensors("it", {"it.index": index, **files})


def _tables(data: bytes, _: Pick) -> None:
    """Tables of the first format, in pieces or one."""
    parts = parted(data)
    count = len(parts)
    if count == 1:
        _tensors("it", {"it": parts[0]})
    files = {f"it-{n:05d}-of-{count:05d}": part for n, part in enumerate(parts)}
    _tensors(f"it-?????-of-{count:05d}", files)


def _tensors(prefix: str, files: dict[str, bytes]) -> None:
    """Read every tensor, and show it as reports do."""

    def opened(name: str) -> U8:
        if name not in files:
            raise FileNotFoundError(name)
        return np.frombuffer(files[name], np.uint8)

    checkpoint = Checkpoint.open(prefix, opened)
    profile, renamed = variables_profile(checkpoint)
    assert all(map(renamed.has, profile.nodes.name))
    for name in checkpoint.names():
        with suppress(TfprofError):
            tensor = checkpoint.tensor(name)
            assert value_text(tensor)
            field, values = proto_values(tensor)
            made: Any = message("tensorflow.tfprof.TFProfTensorProto")(dtype=tensor.dtype)
            getattr(made, field).extend(values)


def _objects(data: bytes, _: Pick) -> None:
    """An object graph: every path is one of its objects."""
    with suppress(WireError):
        for tensor in tracked_tensors(np.frombuffer(data, np.uint8)):
            assert tensor.key in data


def _checkpoint_state(data: bytes, _: Pick) -> None:
    """The text file `checkpoint`; beside it is one checkpoint."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "ckpt-1.index").touch()
        detect(memoryview(data))
        assert latest_checkpoint(str(Path(folder) / "checkpoint"), data)


def _snappy(data: bytes, _: Pick) -> None:
    with suppress(WireError):
        made = sorted_table.unpacked(np.frombuffer(data, np.uint8))
        assert made.size < 64 * len(data), "a copy takes two bytes and makes at most 64"


# --- files on a disk ---------------------------------------------------------------------------


def _gzip(data: bytes, pick: Pick) -> None:
    """A packed graph, opened as a file is."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "it"
        file.write_bytes(data)
        opened = open_source(str(file), "a graph")
        if data[:2] == b"\x1f\x8b":
            assert gzip.decompress(data) == opened.data.tobytes()
        columns = read_graph(opened)
    if pick.one((True, False)):
        assert len(columns.op) == len(columns.name)


def _sniff(data: bytes, _: Pick) -> None:
    row = detect(memoryview(data))
    assert row is None or row.title


def _foreign(data: bytes, _: Pick) -> None:
    """What tfprof names but does not read."""
    problem = unsupported("it", source(data).data)
    assert problem is None or str(problem).startswith("it is a")


def _folder(data: bytes, _: Pick) -> None:
    """A folder of files, told by their content."""
    with TemporaryDirectory() as folder:
        for number, part in enumerate(parted(data)[: len(_FILES)]):
            (Path(folder) / _FILES[number]).write_bytes(part)
        report, problems = info.info([folder])
        assert problems or b"".join(info_text(report))
        assert not report.inputs or list(report.pieces("json"))
        choose_inputs([folder], {})


_FILES: Final = (
    "model.index",
    "model.data-00000-of-00001",
    "graph",
    "run_1",
    "run_02",
    "log-00000-of-00001",
)


def _snappy_block(data: bytes, dice: mutate.Dice) -> bytes:
    """A block changed blindly, that promises as many bytes as it has."""
    changed = mutate.blind(data, dice)
    head = next((n for n, byte in enumerate(changed) if byte < 128), -1) + 1
    with suppress(WireError):
        return changed if dice.rng.randrange(3) == 0 else _promising(changed[head:])
    return changed


def _promising(elements: bytes) -> bytes:
    """A block of these elements with the right length, if there is one that the reader takes."""
    longest = varint(1 << 20) + elements
    try:
        sorted_table.unpacked(np.frombuffer(longest, np.uint8))
    except WireError as problem:
        made = str(problem).partition(" bytes")[0]
        if made.isdigit():
            return varint(int(made)) + elements
        raise
    return longest


TARGETS: Final = {
    target.name: target
    for target in (
        Target("graph", _graph, mutate.wire),
        Target("meta_graph", _meta_graph, mutate.wire),
        Target("graph_text", _graph_text, mutate.text),
        Target("meta_graph_text", _meta_graph, mutate.text),
        Target("run", _run, mutate.wire),
        Target("run_text", _run, mutate.text),
        Target("op_log", _op_log, mutate.wire),
        Target("op_log_text", _op_log, mutate.text),
        Target("text", agreement.any_text, mutate.text),
        Target("saved", _saved, mutate.wire),
        Target("converted", _saved, sealed.converted),
        Target("whole", _whole, mutate.wire),
        Target("run_shapes", _run_shapes, mutate.wire),
        Target("flops", _flops, mutate.wire),
        Target("bundle", _bundle, sealed.bundle),
        Target("tables", _tables, sealed.tables),
        Target("snappy", _snappy, _snappy_block),
        Target("objects", _objects, mutate.wire),
        Target("checkpoint_state", _checkpoint_state, mutate.text),
        Target("gzip", _gzip, sealed.gzipped(mutate.text)),
        Target("sniff", _sniff, mutate.wire),
        Target("foreign", _foreign, mutate.blind),
        Target("folder", _folder, mutate.wire),
        Target("functions", tf2_targets.functions, mutate.wire),
        Target("saved_model", tf2_targets.saved_model, mutate.wire),
        Target("saved_model_text", tf2_targets.saved_model, mutate.text),
        Target("chunked", tf2_targets.chunked, mutate.wire),
        Target("archived", tf2_targets.archived, sealed.gzipped(mutate.blind)),
        Target("debug_info", tf2_targets.debug_info, mutate.wire),
        Target("function_run", tf2_targets.function_run, mutate.wire),
        Target("trace", tf2_targets.trace, mutate.wire),
        Target("keras", tf2_targets.keras, archives.keras),
        Target("events", tf2_targets.events, sealed.events),
        Target("hdf5", tf2_targets.hdf5, archives.hdf5),
        Target("tflite", tf2_targets.saved_model, mutate.words),
        Target("hlo", tf2_targets.program, mutate.wire),
        Target("hlo_text", tf2_targets.program, mutate.text),
    )
}
