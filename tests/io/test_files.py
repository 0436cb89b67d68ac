"""Files: gzip is unpacked as it is read, and how far reading and writing are is told."""

from __future__ import annotations

import gzip
import pickle
import random
import zlib
from copy import copy
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

import tfprof
from profiles import PROFILES, SAMPLE, content
from tfprof.errors import InputError
from tfprof.foundation.progress_events import Stage, announce, listening
from tfprof.io.find_inputs import detect_file
from tfprof.io.gunzip import GzipError, unpacked
from tfprof.io.open_files import open_source
from tfprof.io.write_files import with_progress, write_file
from tfprof.read.detect import TABLE_MAGIC
from tfprof.tables.formats import FORMATS
from tfprof.tables.limits import raised_limits
from traced_peak import peak_and

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TEXT: Final = random.Random(1).randbytes(300_000) + bytes(100_000)  # noqa: S311 - any bytes will do
HALF: Final = len(TEXT) // 2


def packed(*parts: bytes) -> bytes:
    return b"".join(map(gzip.compress, parts))


WHOLE: Final = {
    "one member": packed(TEXT),
    "two members": packed(TEXT[:HALF], TEXT[HALF:]),
    "many members": packed(*(TEXT[at : at + 5_000] for at in range(0, len(TEXT), 5_000))),
    "an empty member between": packed(TEXT[:HALF], b"", TEXT[HALF:]),
    "zeros behind it": packed(TEXT) + bytes(200_000),
    "zeros between members": packed(TEXT[:HALF]) + bytes(70_000) + packed(TEXT[HALF:]),
}


@pytest.mark.parametrize("form", WHOLE)
def test_what_is_packed_is_unpacked(form: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(WHOLE[form])
    assert open_source(str(path), "a graph").data.tobytes() == TEXT


DAMAGED: Final[dict[str, tuple[Callable[[bytes], bytes], str]]] = {
    "cut in its middle": (lambda data: data[: len(data) // 2], "it is cut off"),
    "cut in its head": (lambda data: data[:5], "it is cut off"),
    "cut in its trailer": (lambda data: data[:-3], "it is cut off"),
    "second member cut": (lambda data: data + data[:-9], "it is cut off"),
    "garbage behind it": (lambda data: data + b"rest", r"what follows byte \d+ is no part of it"),
    "another checksum": (lambda data: data[:-5] + b"\0" + data[-4:], "incorrect data check"),
    "another length": (lambda data: data[:-1] + b"\7", "incorrect length check"),
    "unknown method": (lambda data: data[:2] + b"\1" + data[3:], "unknown compression method"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_what_is_damaged_is_one_sentence(damage: str, tmp_path: Path) -> None:
    spoil, what = DAMAGED[damage]
    path = tmp_path / "file"
    path.write_bytes(spoil(packed(TEXT)))
    with pytest.raises(InputError, match=rf"^{path} is a damaged gzip file: .*{what}.*$") as raised:
        open_source(str(path), "a graph")
    assert "\n" not in str(raised.value)


def test_two_bytes_of_gzip_are_not_enough() -> None:
    with pytest.raises(GzipError, match=r"^is a damaged gzip file: it is cut off$"):
        unpacked(np.frombuffer(b"\x1f\x8b", np.uint8))


def test_only_what_is_unpacked_is_held() -> None:
    """No copy of what is packed, and none of what is unpacked."""
    data = random.Random(2).randbytes(8 << 20)  # noqa: S311 - as above
    squeezed = np.frombuffer(packed(data), np.uint8)
    peak, made = peak_and(lambda: unpacked(squeezed))
    assert made.tobytes() == data
    # A bytearray that grows has an eighth to spare, and a piece is under way.
    assert peak < 1.3 * len(data)


def test_zeros_packed_a_thousandfold_come_in_pieces() -> None:
    """A piece that is read becomes no more than some 64 MB at once."""
    data = zlib.compress(bytes(1 << 20), wbits=31)
    steps: list[int] = []
    with raised_limits(unpack_ratio=1100):
        unpacked(np.frombuffer(data * 200, np.uint8), steps.append)
    assert steps[-1] == len(data) * 200
    assert max(np.diff([0, *steps])) <= 1 << 16


# --- detection unpacks no more than it needs ------------------------------------------------------


NODES: Final = b"".join(
    b'node { name: "%s" op: "NoOp" }\n' % random.Random(number).randbytes(20).hex().encode()  # noqa: S311 - as above
    for number in range(20_000)
)


def test_a_format_is_detected_by_the_first_piece(tmp_path: Path) -> None:
    """What is damaged later is found when it is read."""
    path = tmp_path / "graph.gz"
    path.write_bytes(packed(NODES)[:-9])
    file = detect_file(str(path))
    assert file.file_format is FORMATS["graph_text"]
    with pytest.raises(InputError, match=rf"^{path} is a damaged gzip file: it is cut off$"):
        tfprof.load(graph=file)


def test_what_was_detected_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "graph.gz"
    path.write_bytes(packed(NODES))
    source = detect_file(str(path)).take()
    assert source is not None
    again = pickle.loads(pickle.dumps(source))  # noqa: S301 - made here
    assert again.format is FORMATS["graph_text"]
    for each in (source, copy(source), again):
        assert each.data.tobytes() == NODES


def test_a_file_that_its_first_piece_does_not_tell_is_unpacked(tmp_path: Path) -> None:
    """The magic number of a checkpoint is at its end."""
    path = tmp_path / "file.gz"
    path.write_bytes(packed(TEXT + TABLE_MAGIC))
    assert detect_file(str(path)).file_format is FORMATS["checkpoint"]


def test_what_is_written_to_before_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.gz"
    path.write_bytes(packed(NODES))
    source = detect_file(str(path)).take()
    assert source is not None
    with path.open("ab") as file:
        file.write(packed(NODES))
    with pytest.raises(InputError, match="was changed after it was read"):
        source.data  # noqa: B018 - it is read now


# --- what is told ---------------------------------------------------------------------------------


def test_a_stage_is_a_text_that_knows_how_far_it_is() -> None:
    stage = Stage("reading it", 3, 4)
    assert stage == "reading it"
    assert f"{stage}!" == "reading it!"
    assert (stage.done, stage.total) == (3, 4)


def test_stages_are_told_to_who_listens_last() -> None:
    first: list[str] = []
    second: list[str] = []
    announce(Stage("nobody hears"))
    with listening(first.append):
        with listening(second.append):
            announce(Stage("inside"))
        announce(Stage("outside"))
    announce(Stage("nobody hears"))
    assert (first, second) == (["outside"], ["inside"])


def test_loading_tells_files_and_bytes() -> None:
    """The order of reading: graph, op log, runs; each with what stands in the files before it."""
    sample = PROFILES["resnet"]
    said: list[str] = []
    tfprof.load(sample.graph, list(sample.runs), sample.op_log, progress=said.append)
    read = [stage for stage in said if stage.startswith("reading")]
    assert read == [
        f"reading {sample.graph}",
        f"reading {sample.op_log}",
        f"reading {sample.runs[0]} (1 of 2)",
        f"reading {sample.runs[1]} (2 of 2)",
    ]
    sizes = [len(content(path)) for path in (sample.graph, sample.op_log, *sample.runs)]
    stages = [stage for stage in read if isinstance(stage, Stage)]
    assert [stage.done for stage in stages] == [0, *np.cumsum(sizes)[:-1].tolist()]
    assert {stage.total for stage in stages} == {sum(sizes)}


def test_unpacking_is_told_to_its_end() -> None:
    said: list[str] = []
    path = SAMPLE / "graph.pbtxt.gz"
    tfprof.load(path, progress=said.append)
    steps = [stage for stage in said if stage.startswith("unpacking")]
    assert set(steps) == {f"unpacking {path}"}
    last = steps[-1]
    assert isinstance(last, Stage)
    assert last.done == last.total == path.stat().st_size


def test_writing_is_told_in_bytes(tmp_path: Path) -> None:
    path = tmp_path / "out"
    said: list[str] = []
    with listening(said.append):
        write_file(str(path), (b"x" * size for size in (3, 5)))
    assert path.read_bytes() == b"x" * 8
    assert said == [f"writing {path}"] * 2
    assert [stage.done for stage in said if isinstance(stage, Stage)] == [3, 8]


def test_pieces_are_told_as_they_are_taken() -> None:
    """What is written is not made before it is asked for."""
    made: list[int] = []

    def pieces() -> list[bytes]:
        made.append(1)
        return [b"ab"]

    flow = with_progress("writing it", (piece for _ in range(2) for piece in pieces()))
    assert not made
    assert next(flow) == b"ab"
    assert made == [1]
