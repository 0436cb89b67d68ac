"""What is printed: through any stream that stands at sys.stdout, and only what was asked for."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from profiles import PROFILES
from tfprof.console.stdio import print_notes, print_report
from tfprof.model import Note
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HANDMADE: Final = PROFILES["handmade"]
# A name of two characters beyond ASCII, cut within the second, and a byte that is no UTF-8.
PIECES: Final = ["é".encode() + b"\xe2\x82", b"\xac\n", b"a\xffb\n"]
AS_TEXT: Final = "é€\na\\xffb\n"
ENCODED: Final = {"utf-8": AS_TEXT, "ascii": "\\xe9\\u20ac\na\\xffb\n"}


class Tee:
    """What programs put in the place of sys.stdout to keep a copy; the rest is the stream's own."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.copy = ""

    def write(self, text: str) -> int:
        self.copy += text
        return int(self.stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Shouting(io.TextIOWrapper):
    """A plain stream but for how it writes."""

    def write(self, text: str) -> int:
        return super().write(text.upper())


class Odd(io.StringIO):
    """A stream that tells an encoding which nobody knows."""

    encoding: Any = "no-such-encoding"


def plain(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict", newline="\n")


def written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set sys.stdout or sys.stderr to a stream for the rest of the test."""

    def stand(stream: Any, name: str = "stdout") -> None:
        monkeypatch.setattr(sys, name, stream)

    return stand


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_a_plain_stream_gets_the_bytes_in_their_order(
    at: Callable[..., None], encoding: str
) -> None:
    stream = plain(encoding)
    at(stream)
    print("before")
    print_report(PIECES)
    print("after")
    assert written(stream) == b"before\n" + b"".join(PIECES) + b"after\n"


@pytest.mark.parametrize("encoding", ENCODED)
def test_a_stream_around_another_sees_all_of_it(at: Callable[..., None], encoding: str) -> None:
    """What it cannot encode is escaped."""
    below = plain(encoding)
    tee = Tee(below)
    at(tee)
    print_report(PIECES)
    assert tee.copy == ENCODED[encoding]
    assert written(below) == tee.copy.encode(encoding)


def test_whoever_replaced_write_is_called(at: Callable[..., None]) -> None:
    stream, got = plain("utf-8"), list[str]()
    stream.write = got.append  # type: ignore[method-assign,assignment]
    at(stream)
    print_report(PIECES)
    assert "".join(got) == AS_TEXT
    shouting = Shouting(io.BytesIO(), encoding="utf-8", newline="\n")
    at(shouting)
    print_report([b"abc\n"])
    assert written(shouting) == b"ABC\n"


@pytest.mark.parametrize("encoding", [None, "no-such-encoding", 7])
def test_streams_without_an_encoding(at: Callable[..., None], encoding: Any) -> None:
    stream = Odd()
    stream.encoding = encoding
    at(stream)
    print_report(PIECES)
    assert stream.getvalue() == AS_TEXT


def test_notes_go_through_any_stream(at: Callable[..., None]) -> None:
    notes = [Note("Key é\udcff not found"), Note("two")]
    stream = plain("ascii")
    at(stream, "stderr")
    print_notes(notes)
    assert written(stream) == b"Key \\xe9\\xff not found\ntwo\n"
    text = io.StringIO()
    at(text, "stderr")
    print_notes(notes)
    assert text.getvalue() == "Key é\\xff not found\ntwo\n"


# --- a whole question --------------------------------------------------------------------------


def asked(output: str, cmd: str = "scope") -> Any:
    options = tfprof.ProfileOptionBuilder.time_and_memory()
    inputs = HANDMADE.graph, HANDMADE.runs[0], HANDMADE.op_log
    return tfprof.profile(*inputs, cmd=cmd, options={**options, "output": output})


def test_a_report_goes_through_a_stream_around_another(at: Callable[..., None]) -> None:
    tee = Tee(plain("utf-8"))
    at(tee)
    asked("stdout")
    assert "Model Analysis Report" in tee.copy
    assert tee.copy.encode() == written(tee.stream)


@pytest.mark.parametrize("kind", ["file", "json", "csv", "md", "proto", "none"])
def test_what_goes_elsewhere_is_not_printed(
    kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report"
    asked(kind if kind == "none" else f"{kind}:outfile={path}")
    assert capfd.readouterr().out == ""
    assert path.exists() == (kind != "none")


@pytest.mark.parametrize(
    ("kind", "cmd"),
    [
        *(("stdout", cmd) for cmd in ("scope", "op")),
        *((kind, "scope") for kind in ("none", "file", "json", "timeline", "proto")),
        ("pprof", "code"),
    ],
)
def test_a_question_is_answered_once(
    kind: str, cmd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = []
    report = Loaded.report

    def counted(self: Loaded, view: str, query: Any) -> tfprof.Report:
        answered.append(view)
        return report(self, view, query)

    monkeypatch.setattr(Loaded, "report", counted)
    result = asked(kind if kind in ("stdout", "none") else f"{kind}:outfile={tmp_path / 'r'}", cmd)
    assert result.name == "_TFProfRoot"
    assert answered == [cmd]


def test_a_timeline_of_each_step_is_an_answer_a_step(tmp_path: Path) -> None:
    profiler = tfprof.Profiler(HANDMADE.graph)
    for step, run in enumerate(HANDMADE.runs):
        profiler.add_step(step, run)
    options = tfprof.ProfileOptionBuilder.time_and_memory()
    profiler.profile_graph({**options, "output": f"timeline:outfile={tmp_path / 'line'}"})
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["line_0", "line_1"]
    assert (tmp_path / "line_0").read_bytes() != (tmp_path / "line_1").read_bytes()
