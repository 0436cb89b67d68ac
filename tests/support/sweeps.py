"""Samples to be damaged: every input file of the repository, in every form it can be given.

    resnet, seq2seq    traced steps of real models: gzip files, and what is in them
    handmade           a model that one can read: text, and the same in wire format
    tiny               two nodes of the ResNet, in every format: few enough bytes for each bit
    saved, converted   what tfprof writes of them
    tf2                functions, a SavedModel and a trace of TensorFlow 2

A sample also tells where its structure stands: tags, lengths, ends of messages, quotes, headers.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
from google.protobuf import text_format

import sampling
from case import GraphDef, OpLogProto, RunMetadata
from chunked_models import cpb
from event_records import ends, event_file, scalar, tagged
from forged import HEAD
from hostile_hdf5 import hdf5
from hostile_parts import part
from profiles import DATA, PROFILES, content
from sampling import sampled
from tf_wheel import piece
from tfprof.errors import InputError
from tfprof.read import Source, add_run, load, read_op_log
from tfprof.read.op_log import with_op_log
from tfprof.read.text import to_wire
from tfprof.writers.columnar import columnar
from tfprof.writers.saved import saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tfprof.model import Profile

T = TypeVar("T")

NAME: Final = "folder/the file"
MetaGraphDef: Final[Any] = piece("tensorflow.core.protobuf.meta_graph_pb2").MetaGraphDef
SavedModel: Final[Any] = piece("tensorflow.core.protobuf.saved_model_pb2").SavedModel
VariableDef: Final[Any] = piece("tensorflow.core.framework.variable_pb2").VariableDef


class Sample(NamedTuple):
    """A file's bytes, how they become a profile, and where their structure stands."""

    data: bytes
    read: Callable[[Source], Profile]
    places: Callable[[bytes], list[int]]

    def spread(self, count: int) -> Iterator[Damage]:
        """Damaged at *count* places, those of the structure first."""
        return spread(self.data, self.places(self.data), count)


def source(data: bytes) -> Source:
    """A file in memory."""
    return Source(NAME, np.frombuffer(data, np.uint8))


def or_refusal(make: Callable[[], T]) -> T | str:
    """What *make* makes, or the sentence in which an input is refused."""
    try:
        return make()
    except InputError as refusal:
        return str(refusal)


def is_sentence(said: str, name: str) -> bool:
    """Whether *said* is one line that begins with *name*, and says more."""
    return said.startswith(name) and len(said) > len(name) and "\n" not in said


class Damage(NamedTuple):
    """What was done to a file, and the file then."""

    what: str
    data: bytes


def cut(data: bytes, end: int) -> Damage:
    return Damage(f"cut off at byte {end}", data[:end])


def flipped(data: bytes, at: int, bit: int) -> Damage:
    wrong = bytearray(data)
    wrong[at] ^= 1 << bit
    return Damage(f"bit {bit} of byte {at} flipped", bytes(wrong))


_A_BYTE: Final = 9


def everywhere(data: bytes) -> range:
    """Numbers of all damages: cut off at every byte, and each bit flipped."""
    return range(_A_BYTE * len(data))


def damaged(data: bytes, number: int) -> Damage:
    """The damage of this number."""
    at, what = divmod(number, _A_BYTE)
    return flipped(data, at, what - 1) if what else cut(data, at)


def some(data: bytes, numbers: Sequence[int], count: int, name: str) -> Iterator[Damage]:
    """The damages of these numbers; in a sample *count* of them."""
    return (damaged(data, number) for number in sampled(numbers, count, name))


def spread(data: bytes, marks: Sequence[int], count: int) -> Iterator[Damage]:
    """Cut off and a bit flipped at *count* places: half of them *marks*, others even or random."""
    rng = sampling.rng(f"{count} of {len(data)}")
    chosen = dict.fromkeys([0, len(data) - 1, marks[0], marks[-1]])
    chosen.update(dict.fromkeys(rng.sample(marks, min(count // 2, len(marks)))))
    chosen.update(dict.fromkeys(range(0, len(data), 1 + len(data) // max(count // 4, 1))))
    while len(chosen) < min(count, len(data)):
        chosen[rng.randrange(len(data))] = None
    for at in list(chosen)[:count]:
        yield cut(data, at)
        yield flipped(data, at, rng.randrange(8))


# --- where the structure stands ------------------------------------------------------------------


def wire_places(data: bytes) -> list[int]:
    """Tags and lengths of messages of the first four levels, and where they end.

    Of many that stand beside one another some hundred are opened.
    """
    found: list[int] = []
    open_messages = [(0, len(data), 0)]
    while open_messages:
        fields = _fields(data, *open_messages.pop())
        found += [place for one in fields for place in (one[0], one[1] - 1, one[2] - 1)]
        some = fields[:: 1 + len(fields) // 200]
        open_messages += [(start, end, level + 1) for _, start, end, level in some if level < 3]
    return sorted({place for place in found if place < len(data)})


def _fields(data: bytes, at: int, end: int, level: int) -> list[tuple[int, int, int, int]]:
    """(tag, value, its end, level) of the fields with a length in a message; none if it is none."""
    found = []
    while at < end:
        begin = at
        tag, at = _varint(data, at)
        number, at = (
            _varint(data, at) if tag & 7 in (0, 2) else (0, at + {1: 8, 5: 4}.get(tag & 7, 0))
        )
        if tag & 7 not in (0, 1, 2, 5) or not tag >> 3:
            return []
        if tag & 7 == 2:
            found.append((begin, at, at + number, level))
            at += number
    return found if at == end else []


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(data):
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            break
    return number, at


def text_places(data: bytes) -> list[int]:
    """What separates: braces, colons, quotes, ends of lines."""
    return [found.start() for found in re.finditer(rb"[{}:\"\n]", data)]


def gzip_places(data: bytes) -> list[int]:
    """The header, and behind what is packed its checksum and its length."""
    return [*range(16), *range(len(data) - 12, len(data))]


def event_places(data: bytes) -> list[int]:
    """The heads and the checksums of records."""
    begins = [0, *ends(data)[:-1]]
    heads = [at + byte for at in begins for byte in range(12)]
    return sorted([*heads, *(end - byte for end in ends(data) for byte in range(1, 5))])


def converted_places(data: bytes) -> list[int]:
    """The head, the ends of the lines of the index, and where columns begin and end."""
    *_, size = HEAD.unpack(data[: HEAD.size])
    index = data[HEAD.size : HEAD.size + size]
    found = [*range(HEAD.size), *(HEAD.size + at for at, one in enumerate(index) if one in b" \n")]
    at = HEAD.size + size
    for line in index.decode().splitlines():
        _, kind, _, rows, _ = line.split(" ")
        at += -at % 8
        found += [at, at := at + int(rows) * int(kind[-1])]
    return [place for place in found if place < len(data)]


def hdf5_places(data: bytes) -> list[int]:
    """The superblock, and where groups, heaps and tables of names begin."""
    marks = [found.start() for found in re.finditer(rb"TREE|HEAP|SNOD|GCOL", data)]
    return [*range(96), *(at + more for at in marks for more in (0, 4, 8, 16, 24))]


# --- the samples ---------------------------------------------------------------------------------


class Inputs(NamedTuple):
    """The messages of one profile."""

    graph: Any
    run: Any
    log: Any


@cache
def whole(name: str) -> Inputs:
    """The messages of the files of a profile."""
    files = PROFILES[name]
    paths = {GraphDef: files.graph, RunMetadata: files.runs[0], OpLogProto: files.op_log}
    return Inputs(*(kind.FromString(_wire(path, kind)) for kind, path in paths.items()))


def _wire(path: Path, kind: Any) -> bytes:
    """A file's message in wire format: made by the quickest reader, for it is only a beginning."""
    if ".pbtxt" in path.suffixes:
        return to_wire(content(path), kind.DESCRIPTOR.full_name, str(path))
    return content(path)


def first(names: set[str]) -> Inputs:
    """Of the ResNet, the nodes of these *names* alone, with what the run and the log tell."""
    graph, run, log = whole("resnet")
    found = Inputs(GraphDef(versions=graph.versions), RunMetadata(), OpLogProto())
    found.graph.node.extend(node for node in graph.node if node.name in names)
    for device in run.step_stats.dev_stats:
        stats = found.run.step_stats.dev_stats.add(device=device.device).node_stats
        stats.extend(stat for stat in device.node_stats if stat.node_name in names)
    for entry in log.log_entries:
        if entry.name in names:
            kept = found.log.log_entries.add()
            kept.CopyFrom(entry)
            del kept.code_def.traces[2:]
            for trace in kept.code_def.traces:
                for number in (trace.file_id, trace.function_id, trace.line_id):
                    found.log.id_to_string[number] = log.id_to_string[number]
    return found


@cache
def tiny() -> Inputs:
    """A variable and the convolution with it."""
    return first({"init/init_conv/DW", "init/init_conv/Conv2D"})


@cache
def one_node() -> Inputs:
    """The variable alone: texts are long."""
    return first({"init/init_conv/DW"})


def binary(message: Any) -> bytes:
    return bytes(message.SerializeToString(deterministic=True))


def printed(message: Any) -> bytes:
    return bytes(text_format.MessageToString(message).encode())


def meta_graph(graph: Any) -> Any:
    """A MetaGraphDef of this graph, all of whose variables are trainable."""
    meta = MetaGraphDef(graph_def=graph)
    meta.meta_info_def.tensorflow_version = "2.21.0"
    variables = meta.collection_def["trainable_variables"].bytes_list.value
    for node in graph.node:
        if node.op == "VariableV2":
            variables.append(binary(VariableDef(variable_name=f"{node.name}:0")))
    return meta


def messages(inputs: Inputs) -> dict[str, tuple[Any, Callable[[Source], Profile]]]:
    """Each message of a profile, and how its file is read when the others are whole."""
    graph = load(source(binary(inputs.graph)))
    return {
        "graph": (inputs.graph, load),
        "meta_graph": (meta_graph(inputs.graph), load),
        "run": (inputs.run, lambda run: add_run(graph, 0, run)),
        "log": (inputs.log, lambda log: with_op_log(graph, read_op_log(log))),
    }


def in_wire_format(inputs: Inputs) -> dict[str, Sample]:
    every = messages(inputs).items()
    return {name: Sample(binary(made), read, wire_places) for name, (made, read) in every}


def in_text(inputs: Inputs) -> dict[str, Sample]:
    every = messages(inputs).items()
    return {name: Sample(printed(made), read, text_places) for name, (made, read) in every}


def written(inputs: Inputs) -> dict[str, Sample]:
    """What tfprof writes of a profile, which may have no op log."""
    graph, run = (source(binary(message)) for message in inputs[:2])
    profile = load(graph, [run], inputs.log and source(binary(inputs.log)))
    return {
        "saved": Sample(b"".join(saved(profile)), read_profile, wire_places),
        "converted": Sample(b"".join(columnar(profile)), read_profile, converted_places),
    }


def read_profile(file: Source) -> Profile:
    return load(saved=file)


def of_tensorflow_2() -> dict[str, Sample]:
    """Small files that TensorFlow 2 wrote."""
    folder = DATA / "tf2"
    functions = content(folder / "nested.pb.gz")
    trace = content(DATA / "xplane" / "compiled_inside" / "trace.xplane.pb.gz")
    run = tagged(b"run", binary(tiny().run), 3)
    events = event_file(part(4, functions), scalar(1), run, scalar(2))
    lite = (folder / "control.tflite").read_bytes()
    model = (folder / "module" / "saved_model.pb").read_bytes()
    return {
        "lite": Sample(lite, load, lambda data: [*range(0, len(data), 4)]),
        "functions": Sample(functions, load, wire_places),
        "program": Sample(content(DATA / "hlo" / "mapped.hlo.pb.gz"), load, wire_places),
        "program in text": Sample(content(DATA / "hlo" / "mapped.txt.gz"), load, text_places),
        "saved model": Sample(model, load, wire_places),
        "chunked saved model": Sample(
            cpb(SavedModel.FromString(model), 2_000),
            load,
            lambda data: [*range(64, 128), *range(0, len(data), 997)],
        ),
        "saved model in text": Sample(
            printed(SavedModel(meta_graphs=[meta_graph(tiny().graph)])), load, text_places
        ),
        "trace": Sample(trace, lambda file: load(traces=[file]), wire_places),
        "events": Sample(events, load, event_places),
        "hdf5": Sample(hdf5(), load, hdf5_places),
        "profile with functions": Sample(
            b"".join(saved(load(source(functions)))), read_profile, wire_places
        ),
    }


def packed(name: str) -> dict[str, tuple[bytes, Sample]]:
    """The gzip files of a profile, each with what is in it."""
    files = PROFILES[name]
    read = {one: how for one, (_, how) in messages(whole(name)).items()}
    found = {"graph": (files.graph, text_places), "log": (files.op_log, wire_places)}
    found |= {f"run_{number}": (run, wire_places) for number, run in enumerate(files.runs)}
    return {
        one: (path.read_bytes(), Sample(content(path), read[one.split("_")[0]], places))
        for one, (path, places) in found.items()
    }
