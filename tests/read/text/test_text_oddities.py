"""Texts as editors, shells and `cat` leave them, under any name: read by content."""

from __future__ import annotations

import gzip
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import pytest
from google.protobuf import text_format

import tfprof as api
from case import GraphDef, OpLogProto, RunMetadata
from profiles import PROFILES
from sweeps import MetaGraphDef
from tfprof.errors import InputError
from tfprof.io.find_inputs import detect_file

if TYPE_CHECKING:
    from collections.abc import Callable

HANDMADE: Final = PROFILES["handmade"]
MARK: Final = b"\xef\xbb\xbf"


def meta_graph() -> bytes:
    graph = text_format.Parse(HANDMADE.graph.read_bytes(), GraphDef())
    return text_format.MessageToString(
        MetaGraphDef(meta_info_def={"tags": ["train"]}, graph_def=graph)
    ).encode()


# The message, its text, and the parameter of load() that takes it.
TEXTS: Final = {
    "graph": (GraphDef, HANDMADE.graph.read_bytes(), "graph"),
    "meta graph": (MetaGraphDef, meta_graph(), "graph"),
    "run": (RunMetadata, HANDMADE.runs[0].read_bytes(), "run_meta"),
    "op log": (OpLogProto, HANDMADE.op_log.read_bytes(), "op_log"),
}


def joined(text: bytes, between: bytes = b"") -> bytes:
    """Two files one after the other: cut before the last field at the top, where there are two."""
    at = text.rfind(b"\n", 0, text.rstrip().rfind(b"\n" + text.split(b" ", 1)[0] + b" ")) + 1
    return text[:at] + between + text[at:]


ODDITIES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "CR": lambda text: text.replace(b"\n", b"\r"),
    "a mark": lambda text: MARK + text,
    "a mark and CRLF": lambda text: MARK + text.replace(b"\n", b"\r\n"),
    "comments before": lambda text: b"# proto-message: Any {\r\n\n  # more: {\n" + text,
    "comments behind": lambda text: text.replace(b" {\n", b" { # } \n") + b"# end",
    "comments between": lambda text: text.replace(b"\n", b"\n# a: 5 {\n\n"),
    "joined": partial(joined, between=b"# the second file\n\n"),
    "joined, each with a mark": lambda text: MARK + joined(text, MARK),
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "UTF-16 of PowerShell": lambda text: text.decode().replace("\n", "\r\n").encode("utf-16"),
    "UTF-16, big end first": lambda text: (MARK + text).decode().encode("utf-16-be"),
    "joined UTF-16": lambda text: joined(text, MARK).decode().encode("utf-16"),
    "packed, with a mark": lambda text: gzip.compress(MARK + text),
    "packed UTF-16": lambda text: gzip.compress(text.decode().encode("utf-16")),
}  # fmt: skip


def shown(kind: str, path: Path) -> str:
    """All of a profile that the file at *path* is a part of."""
    parameter = TEXTS[kind][2]
    graph = {} if parameter == "graph" else {"graph": HANDMADE.graph}
    profile = api.load(**graph, **{parameter: path})  # type: ignore[arg-type]
    columns = ["params", "float_ops", "micros", "op_types", "device"]
    return str(profile.scope(select=columns, max_depth=99))


@cache
def expected(kind: str) -> str:
    """The same of the text as protobuf prints it."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "plain")
        path.write_bytes(TEXTS[kind][1])
        return shown(kind, path)


@pytest.mark.parametrize("oddity", ODDITIES)
@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_is_read(kind: str, oddity: str, tmp_path: Path) -> None:
    _, text, parameter = TEXTS[kind]
    odd = tmp_path / "odd.pb"
    odd.write_bytes(ODDITIES[oddity](text))
    assert odd.read_bytes() != text
    assert shown(kind, odd) == expected(kind)
    assert detect_file(str(odd)).file_format.input.parameter == parameter


@pytest.mark.parametrize("kind", TEXTS)
def test_a_name_says_nothing(kind: str, tmp_path: Path) -> None:
    """Text under the names of binary files, and the other way round."""
    message, text, _ = TEXTS[kind]
    binary = text_format.Parse(text, message()).SerializeToString()
    for name, content in {
        "file.pb": text, "model.keras": text, "saved_model.pb": gzip.compress(text),
        "file.pbtxt": binary, "model.onnx": binary, "host.trace.json.gz": gzip.compress(binary),
    }.items():  # fmt: skip
        (tmp_path / name).write_bytes(content)
        assert shown(kind, tmp_path / name) == expected(kind)


def test_lines_of_a_mistake_are_those_of_an_editor(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    text = "# a comment\r\nnode {\r\n  name: 5x\r\n}\r\n"
    for data in (text.encode(), MARK + text.encode(), text.encode("utf-16")):
        path.write_bytes(data)
        with pytest.raises(InputError, match=rf"^{path}:3:9: "):
            api.load(path)


def test_half_a_character_of_utf_16(tmp_path: Path) -> None:
    path = tmp_path / "graph.pbtxt"
    path.write_bytes(HANDMADE.graph.read_text().encode("utf-16") + b"}")
    with pytest.raises(InputError, match=f"^{path} is "):
        api.load(path)
