"""Files of another kind than was asked for, text that is none, and packed files."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING, Final

import forged
from checkpoint_data import FILES
from event_records import event_file
from hostile import Row
from hostile_parts import GRAPH, LOG, META_GRAPH, PROFILE, RUN, part

if TYPE_CHECKING:
    from collections.abc import Iterator

GRAPH_TEXT: Final = b'node {\n  name: "w"\n  op: "VariableV2"\n}\n'
META_TEXT: Final = b'graph_def {\n  node {\n    name: "w"\n    op: "NoOp"\n  }\n}\n'
RUN_TEXT: Final = b'step_stats {\n  dev_stats {\n    device: "/cpu:0"\n  }\n}\n'
LOG_TEXT: Final = b'log_entries {\n  name: "w"\n  float_ops: 7\n}\n'

KINDS: Final[dict[str, tuple[bytes, str]]] = {
    "a graph": (GRAPH, "graph"),
    "a graph in text": (GRAPH_TEXT, "graph"),
    "a meta graph": (META_GRAPH, "graph"),
    "an event file": (event_file(part(4, GRAPH)), "graph"),
    "a meta graph in text": (META_TEXT, "graph"),
    "a run": (RUN, "run"),
    "a run in text": (RUN_TEXT, "run"),
    "a log": (LOG, "log"),
    "a log in text": (LOG_TEXT, "log"),
    "a saved profile": (PROFILE, "profile"),
    "a converted profile": (forged.small_file(), "profile"),
    "a checkpoint": (FILES["first_dtypes"], "checkpoint"),
    "an index": (FILES["one.index"], "checkpoint"),
    "a report": (b"node name | # parameters\n_TFProfRoot (--/451 params)\n", ""),
    "JSON": (b'{"node": [{"name": "w"}]}', ""),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100), ""),
    "a program": (b"\x7fELF\x02\x01\x01" + bytes(200), ""),
    "a zip": (b"PK\x03\x04" + bytes(100), ""),
    "text in UTF-16": (GRAPH_TEXT.decode().encode("utf-16"), "graph"),
    "text with a mark of its order": (b"\xef\xbb\xbf" + GRAPH_TEXT, "graph"),
}


def _pairs() -> Iterator[Row]:
    """Every kind, given as every other."""
    for given in ("graph", "run", "log", "profile", "checkpoint"):
        for name, (data, kind) in KINDS.items():
            if kind == given:
                continue
            files = {given: data}
            if given in {"run", "log", "checkpoint"}:
                files["graph"] = GRAPH
            yield Row(
                f"{name} as {given}", files, refused=given, blames=f"/{given}", commands=_ASKED
            )
        yield Row(f"nothing as {given}",
                  {given: b"", **({} if given in {"graph", "profile"} else {"graph": GRAPH})},
                  refused="empty" if given != "checkpoint" else "cut off or not a checkpoint",
                  blames=f"/{given}", commands=_ASKED)  # fmt: skip


# What tells of files says what each is, and that is right.
_ASKED: Final = ("scope", "advise")


def _packed() -> Iterator[Row]:
    """Packed files."""
    zeros = bytes(1 << 20)

    def hundred() -> bytes:
        bomb = zlib.compressobj(9, wbits=31)
        return b"".join([*(bomb.compress(zeros) for _ in range(100)), bomb.flush()])

    yield Row("packed: 100 MB of zeros", {"graph": hundred}, refused="unpacks to far more")
    yield Row("packed: 1,000 members of zeros", {"graph": gzip.compress(zeros, mtime=0) * 100},
              refused="unpacks to far more")  # fmt: skip
    yield Row("packed: twice", {"graph": _packed_by(_packed_by(GRAPH))}, refused="graph")
    yield Row("packed: as it should be", {"graph": _packed_by(GRAPH)}, shows=b"  w (")
    yield Row("packed: 100,000 empty members", {"graph": _packed_by(b"") * 100_000},
              refused="is empty", commands=("scope",))  # fmt: skip
    whole = _packed_by(GRAPH)
    for name, data in {
        "the beginning alone": whole[:2],
        "a header alone": whole[:10],
        "cut off": whole[:-1],
        "a bad checksum": whole[:-8] + bytes(8),
        "a method that is none": whole[:2] + b"\xff" + whole[3:],
        "a name without end": b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 1_000_000,
        "followed by something": whole + b"something",
    }.items():
        yield Row(f"packed: {name}", {"graph": data}, refused="damaged gzip file")


def _foreign() -> Iterator[Row]:
    """Files of other kinds, damaged or endless."""
    for name, data in {
        "a safetensors header of 2^63 bytes": b"\xff" * 7 + b'\x7f{"',
        "a safetensors header without end": (1 << 19).to_bytes(8, "little") + b'{"' * (1 << 18),
        "blanks and a brace": b" " * 1_000_000 + b"{",
        "a comment without end in HTML": b"<!--" * 250_000,
        "JSON of a million brackets": b"[" * 1_000_000,
        "a zip archive of noise": b"PK\x03\x04" + b"/data.pk" * 100_000,
        "the beginning of a tar archive": b"a" * 257 + b"ustar",
        "a pickle that would run code": b"\x80\x03cos\nsystem\nq\0X\x04\0\0\0true\x85R.",
        "a million replaced bytes": b"\x08\x01\x12" + b"\xef\xbf\xbd" * 333_333,
        "UTF-16 with half a character": "node {".encode("utf-16") * 100_000 + b"\xd8",
        "UTF-16 of zeros": b"\xff\xfe" + bytes(1_000_000),
    }.items():
        yield Row(
            f"other: {name}", {"graph": data}, refused="graph is ", commands=("scope", "info")
        )


def _packed_by(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


ROWS: Final = [*_pairs(), *_packed(), *_foreign()]
