"""One model in every dress: told apart by content, read to the same profile."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import text_format

import tfprof
from case import GraphDef
from ours import wire_of
from profiles import PROFILES
from tf_wheel import piece
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.writers.classic_text import text

if TYPE_CHECKING:
    from pathlib import Path

HANDMADE = PROFILES["handmade"]
MetaGraphDef: Any = piece("tensorflow.core.protobuf.meta_graph_pb2").MetaGraphDef
EVERYTHING = ["bytes", "micros", "params", "float_ops", "op_types", "device", "input_shapes"]


def report(*paths: Path, view: str = "scope") -> bytes:
    graph, run, log = map(str, paths)
    profile = tfprof.load(graph, [run], log).profile
    return b"".join(text(answer(profile, view, Query.of({"select": EVERYTHING}))))


DRESSES = (
    *("binary", "text", "one line", "commented", "meta graph", "meta graph text"),
    *("gzip", "gzip text"),
)


def dressed(data: bytes, dress: str) -> bytes:
    """The wire bytes of a GraphDef in another form."""
    graph = GraphDef.FromString(data)
    meta = MetaGraphDef(graph_def=graph)
    meta.meta_info_def.stripped_op_list.op.add(name="MatMul")
    meta.meta_info_def.tags.append("serve")
    forms = {
        "binary": lambda: data,
        "text": lambda: text_format.MessageToString(graph).encode(),
        "one line": lambda: text_format.MessageToString(graph, as_one_line=True).encode(),
        "commented": lambda: b"# made by hand\n\n" + text_format.MessageToString(graph).encode(),
        "meta graph": lambda: bytes(meta.SerializeToString()),
        "meta graph text": lambda: text_format.MessageToString(meta).encode(),
        "gzip": lambda: gzip.compress(data),
        "gzip text": lambda: gzip.compress(text_format.MessageToString(graph).encode()),
    }
    return forms[dress]()


@pytest.mark.parametrize("name", ["graph.pb", "graph.pbtxt", "graph.meta", "wrongly.named"])
@pytest.mark.parametrize("dress", DRESSES)
def test_graph_in_every_dress_under_every_name(tmp_path: Path, name: str, dress: str) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(wire_of(HANDMADE.graph))
    path = tmp_path / name
    path.write_bytes(dressed(wire_of(HANDMADE.graph), dress))
    expected = report(plain, HANDMADE.runs[0], HANDMADE.op_log)
    assert report(path, HANDMADE.runs[0], HANDMADE.op_log) == expected


@pytest.mark.parametrize("form", ["binary", "text", "gzip"])
def test_runs_and_op_logs_in_every_dress(tmp_path: Path, form: str) -> None:
    run, log = tmp_path / "run", tmp_path / "log"
    for path, source in ((run, HANDMADE.runs[0]), (log, HANDMADE.op_log)):
        data = wire_of(source)
        forms = {"binary": data, "text": source.read_bytes(), "gzip": gzip.compress(data)}
        path.write_bytes(forms[form])
    expected = report(HANDMADE.graph, HANDMADE.runs[0], HANDMADE.op_log, view="code")
    assert report(HANDMADE.graph, run, log, view="code") == expected


def test_runs_are_steps_in_the_order_given() -> None:
    first, second = map(str, HANDMADE.runs)
    forth = tfprof.load(str(HANDMADE.graph), [first, second]).profile
    back = tfprof.load(str(HANDMADE.graph), [second, first]).profile
    assert [step.number for step in forth.steps] == [step.number for step in back.steps] == [0, 1]
    for step in (0, 1):
        there = forth.values("micros", step)[forth.by_name]
        here = back.values("micros", 1 - step)[back.by_name]
        assert (there == here).all()
        assert there.sum() > 0


def test_run_without_step_stats_is_a_note(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"\x1a\x00")  # one empty partition graph and nothing else
    profile = tfprof.load(str(HANDMADE.graph), [str(path)]).profile
    said = [str(note) for note in profile.notes if not note.ours]
    assert said == ["Invalid RunMetadata for step 0"]
    assert profile.steps == ()


def test_profile_is_frozen() -> None:
    profile = tfprof.load(str(HANDMADE.graph)).profile
    with pytest.raises(AttributeError):
        profile.steps = ()  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        profile.nodes.float_ops[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        profile.values("params", None)[0] = 7
