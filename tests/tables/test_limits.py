"""Limits: each refuses what goes beyond it, names the flag that raises it, and that flag does.

`pytest tests/tables/test_limits.py --update` writes docs/limits.md from the table.
"""

from __future__ import annotations

import gzip
import os
import threading
import zlib
from typing import TYPE_CHECKING, Final

import pytest

import hostile_parts as wire
import paths
import tfprof
from checkpoint_data import FILES, Opener, rewritten
from table_writer import table_of, varint
from tfprof import cli
from tfprof.errors import InputError, OutputError, UsageError
from tfprof.io.open_files import open_source
from tfprof.io.write_files import write_file
from tfprof.read.checkpoint import Checkpoint
from tfprof.tables.formats import FORMATS
from tfprof.tables.limits import LIMITS, Limit, limit, raised_limits

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT: Final = paths.DOCS / "limits.md"
GRAPH: Final = wire.node(b"a", b"Neg")


# --- the table ---------------------------------------------------------------------------------


PAGE: Final = """# Limits

Files are not trusted. The memory and time that a file takes grow with its size, not
with what it declares. Where a small file could still ask for much more, a limit
stops it, with a sentence that names the flag to raise. This page is written from the
table in `src/tfprof/tables/limits.py`.

| flag | limit | what it bounds | beyond it |
|---|---|---|---|
{rows}

## Why each is there

{reasons}

## How to raise one

```sh
tfprof scope graph.pb.gz --limit_unpack_ratio=1000
```

```python
with tfprof.raised_limits(unpack_ratio=1000):
    tfprof.load("graph.pb.gz")
```

In Python a limit holds for what is done inside of the `with`, in that thread; it
can be lowered in the same way, as a service that reads untrusted files should do. A
limit is at least 1; to lift it, set a large number.
"""


def page() -> str:
    """docs/limits.md, as the table tells it."""
    rows = [
        f"| `{one.flag}` | {one.default:,} {one.counts} | {one.help} | {one.consequence} |"
        for one in LIMITS.values()
    ]
    reasons = [f"- **`{one.flag}`**: {one.guards}" for one in LIMITS.values()]
    return PAGE.format(rows="\n".join(rows), reasons="\n".join(reasons))


def test_the_document_is_that_of_the_table(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update"):
        DOCUMENT.write_text(page(), encoding="utf-8")
    assert DOCUMENT.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("one", LIMITS.values(), ids=LIMITS)
def test_a_limit_has_its_flag(one: Limit, capsys: pytest.CaptureFixture[str]) -> None:
    assert LIMITS[one.name] is one
    assert cli.run(["help", "limits"]) == 0
    assert f"{one.flag} " in capsys.readouterr().out
    for wrong in ("0", "-1", "many", str(2**63)):
        assert cli.run(["demo", f"{one.flag}={wrong}"]) == 2
        told = capsys.readouterr().err
        assert one.flag in told
        assert "Traceback" not in told


def test_other_limits_hold_inside_and_in_this_thread() -> None:
    seen = []
    default = LIMITS["notes"].default
    with raised_limits(notes=7):
        with raised_limits(pprof_frames=8):
            assert (limit("notes"), limit("pprof_frames")) == (7, 8)
        thread = threading.Thread(target=lambda: seen.append(limit("notes")))
        thread.start()
        thread.join()
        assert (limit("notes"), limit("pprof_frames")) == (7, LIMITS["pprof_frames"].default)
    assert seen == [default]
    assert limit("notes") == default


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"note": 3}, "unknown limit 'note'; did you mean 'notes'? (limits: unpack_ratio, "),
        ({"notes": 0}, "notes takes a whole number from 1 to 9223372036854775807, not 0"),
        ({"notes": 1.5}, "notes takes a whole number from 1 to 9223372036854775807, not 1.5"),
    ],
)
def test_no_such_limit(wrong: dict[str, int], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal, tfprof.raised_limits(**wrong):
        pass
    assert str(refusal.value).startswith(sentence)


# --- each of them ------------------------------------------------------------------------------


def refused(line: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> str:
    """What stderr says when the command of these words ends with *code*."""
    assert cli.run(line) == code
    told = capsys.readouterr().err
    assert told.count("tfprof: ") == 1
    return told


def given(folder: Path, **files: bytes) -> list[str]:
    """The flags of files with these bytes: graph=…, run_meta=…."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [f"--{name}_path={folder / name}" for name in files]


def test_a_gzip_bomb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bomb = tmp_path / "graph.pb.gz"
    # A field that nobody knows, of a hundred million zeros, and then a graph.
    bomb.write_bytes(gzip.compress(b"\xfa\x01\x80\xc2\xd7\x2f" + bytes(100_000_000) + GRAPH))
    line = ["scope", f"--graph_path={bomb}", "--select=micros"]
    told = refused(line, 3, capsys)
    assert told.startswith(f"tfprof: {bomb} unpacks to far more than a profile does: ")
    assert told.endswith(
        "at most 200 times its packed size (--limit_unpack_ratio raises this limit)\n"
    )
    assert cli.run([*line, "--limit_unpack_ratio=2000"]) == 0
    assert "\n  a (0us/0us, " in capsys.readouterr().out


def test_a_text_of_zeros_is_no_bomb(tmp_path: Path) -> None:
    """70 MB of text that is packed three hundredfold and more; a bomb is packed a thousandfold."""
    zeros = r"\000" * 2_000
    tensor = f'attr {{ key: "value" value {{ tensor {{ tensor_content: "{zeros}" }} }} }}'
    packer = zlib.compressobj(6, wbits=31)
    packed, size = b"", 0
    while size < 70_000_000:
        node = f'node {{ name: "bias_{size}" op: "Const" {tensor} }}\n'.encode()
        packed += packer.compress(node)
        size += len(node)
    path = tmp_path / "graph.pbtxt.gz"
    path.write_bytes(packed + packer.flush())
    assert size > 300 * path.stat().st_size
    source = open_source(str(path), "a graph")
    assert source.data.size == size
    assert source.format is FORMATS["graph_text"]
    with raised_limits(unpack_ratio=100), pytest.raises(InputError, match="at most 100 times"):
        open_source(str(path), "a graph")


def test_members_of_a_gzip_file_are_counted_together(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb"
    bomb.write_bytes(gzip.compress(bytes(1 << 20)) * 70)
    with pytest.raises(InputError, match=r"unpacks to far more .*: 6\d,\d{3},\d{3} bytes by byte"):
        open_source(str(bomb), "a graph")


def test_a_device_without_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["scope", "--graph_path=/dev/zero", "--limit_piped_bytes=3000000"]
    told = refused(line, 3, capsys)
    assert told == (
        "tfprof: /dev/zero is not a regular file and is too long; tfprof accepts at most 3,000,000 "
        "bytes (--limit_piped_bytes raises this limit)\n"
    )


def test_a_pipe_up_to_its_limit(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def read_piped(most: int) -> bytes:
        writer = threading.Thread(target=pipe.write_bytes, args=[GRAPH])
        writer.start()
        try:
            with raised_limits(piped_bytes=most):
                return open_source(str(pipe), "a graph", is_named=True).data.tobytes()
        finally:
            writer.join()

    assert read_piped(len(GRAPH)) == GRAPH
    with pytest.raises(InputError, match=r"is too long; tfprof accepts at most 9 bytes"):
        read_piped(len(GRAPH) - 1)


def test_many_notes_of_one_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stats = (wire.part(2, wire.part(1, b"n%d" % each)) for each in range(1_000))
    ran = wire.run(wire.device(wire.CPU, *stats))
    line = ["scope", *given(tmp_path, graph=GRAPH, run_meta=ran)]

    def told(*further: str) -> list[str]:
        assert cli.run([*line, *further]) == 0
        lines = capsys.readouterr().err.splitlines()
        return [one for one in lines if "coverage" not in one and "another graph" not in one]

    assert told() == [
        *(f"n{number} has no start time, skipping" for number in range(100)),
        "… 1,000 such stats in all (--limit_notes shows more)",
    ]
    assert len(told("--limit_notes=1000")) == 1_000
    assert len(told("--limit_notes=1")) == 2


def test_names_of_too_many_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = wire.node(b"/" * 1_000_000, b"Neg")
    line = ["scope", *given(tmp_path, graph=names), "--max_depth=2"]
    assert refused(line, 3, capsys) == (
        "tfprof: the 1 names of the graph have 1,000,001 parts; tfprof accepts at most 100 parts "
        "per name (--limit_name_parts raises this limit)\n"
    )
    assert cli.run([*line, "--limit_name_parts=2000000"]) == 0
    assert cli.run(["graph", *line[1:]]) == 0


def test_steps_of_a_saved_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = wire.saved_node(0, b"a") + wire.part(3, bytes(range(12)))
    line = ["scope", *given(tmp_path, profile=saved)]
    assert refused([*line, "--limit_steps=11"], 3, capsys) == (
        f"tfprof: {tmp_path / 'profile'} has 12 steps; tfprof accepts at most 11 steps "
        "(--limit_steps raises this limit)\n"
    )
    assert cli.run([*line, "--limit_steps=12"]) == 0


def test_texts_that_many_rows_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stats = (wire.stat(b"n%d" % each, 1, 1) for each in range(100))
    ran = wire.run(wire.device(b"/device:CPU:0" + b"x" * 1_000_000, *stats))
    line = ["op", *given(tmp_path, run_meta=ran), "--select=micros"]
    path = tmp_path / "run_meta"
    assert refused(line, 3, capsys) == (
        f"tfprof: {path}: the devices of 100 rows would take 100,001,300 bytes; tfprof "
        "accepts at most 1,000 bytes per row (--limit_row_bytes raises this limit)\n"
    )
    assert cli.run([*line, "--limit_row_bytes=1000013"]) == 0


def test_paths_of_many_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames = (wire.frame(1, line, 7, -3) for line in range(100))
    log = wire.text(1, b"l" * 1_000_000) + wire.entry(b"a", *frames)
    line = ["code", *given(tmp_path, graph=GRAPH, op_log=log)]
    told = refused(line, 3, capsys)
    assert "graph, " in told
    assert "log: the call stacks of 100 rows would take 100,000,000 bytes; tfprof accepts" in told


def test_shapes_of_many_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = wire.node(b"a", b"Neg", wire.output_shapes(wire.shape(*[1] * 50_000)))
    graph += wire.node(b"b", b"Neg", inputs=[b"a"] * 1_000)
    line = ["scope", *given(tmp_path, graph=graph), "--select=input_shapes"]
    sentence = "the input shapes of 1,000 rows would take 150,000,000 bytes"
    assert sentence in refused(line, 3, capsys)
    with pytest.raises(InputError, match=f"^what was given: {sentence}"):
        tfprof.load(graph)


def test_arrows_of_a_timeline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = wire.node(b"a", b"Neg") + wire.node(b"b", b"Neg", inputs=[b"a"] * 30)
    ran = wire.run(
        wire.device(b"/job:a/replica:0/task:0/device:CPU:0", wire.stat(b"a", 9, 1)),
        wire.device(
            b"/job:a/replica:0/task:1/device:CPU:0",
            *(wire.stat(b"b", 9 + at, 1) for at in range(20)),
        ),
    )
    timeline = f"--output=timeline:outfile={tmp_path / 'timeline'}"
    line = ["graph", *given(tmp_path, graph=graph, run_meta=ran), timeline]
    assert cli.run([*line, "--limit_arrows=600"]) == 0
    capsys.readouterr()
    told = refused([*line, "--limit_arrows=599"], 2, capsys).splitlines()[-1]
    assert told == (
        "tfprof: the timeline would have 600 arrows between devices; tfprof accepts at most 599 "
        "arrows (--limit_arrows raises this limit)"
    )


def test_a_report_that_is_too_long(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "report"
    path.write_text("the old one")
    output = f"--output=file:outfile={path}"
    line = ["scope", *given(tmp_path, graph=GRAPH), output, "--era=original"]
    told = refused([*line, "--limit_output_bytes=500"], 4, capsys)
    assert told == (
        f"tfprof: {path} is too large: a result may have at most 500 bytes "
        "(--limit_output_bytes raises this limit)\n"
    )
    assert path.read_text() == "the old one"
    assert len([*tmp_path.iterdir()]) == 2
    assert cli.run([*line, "--limit_output_bytes=100000"]) == 0
    assert path.stat().st_size > 500


def test_the_limit_is_one_of_bytes_to_the_last(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with raised_limits(output_bytes=5):
        write_file(str(path), [b"abc", b"de"])
        with pytest.raises(OutputError, match="is too large"):
            write_file(str(path), [b"abc", b"def"])
    assert path.read_bytes() == b"abcde"


def test_standard_output_is_bounded_too(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.run(["demo", "--limit_output_bytes=10"]) == 4
    printed = capfdbinary.readouterr()
    assert len(printed.out) <= 10
    assert b"tfprof: standard output is too large: " in printed.err


# --- tables of checkpoints ---------------------------------------------------------------------


def opened(index: bytes) -> Checkpoint:
    return Checkpoint.open("one", Opener({**FILES, "one.index": index}))


def repetitive(count: int) -> bytes:
    """An index of *count* long names: one takes eight bytes beside what the one before it has."""
    long = b"n" * 50_000
    entries = [
        varint(0) + varint(0) + varint(2) + b"\x08\x01",
        varint(0) + varint(len(long)) + varint(0) + long,
        *(varint(len(long)) + varint(5) + varint(0) + b"%05d" % at for at in range(count - 1)),
    ]
    restarts = bytes(4) + (1).to_bytes(4, "little")
    return table_of([(b"o", b"".join(entries) + restarts)])


def test_names_that_repeat_each_other() -> None:
    assert len(opened(repetitive(100)).names()) == 100
    index = repetitive(500)
    assert len(index) < 100_000
    with pytest.raises(InputError) as refusal:
        opened(index)
    told = str(refusal.value)
    assert told.startswith("one.index is damaged: the block at byte 0 cannot be read: names far")
    assert "--limit_unpack_ratio raises this limit" in told
    with raised_limits(unpack_ratio=10_000):
        assert len(opened(index).names()) == 500


def test_names_that_repeat_each_other_block_by_block() -> None:
    long = b"n" * 50_000
    names = varint(0) + varint(len(long)) + varint(0) + long
    names += b"".join(varint(len(long)) + varint(1) + varint(0) + b"%c" % at for at in range(100))
    block_of_names = names + bytes(4) + (1).to_bytes(4, "little")
    # Each block is within the limit; of all of them only a part is.
    index = table_of([(b"o%05d" % at, block_of_names) for at in range(30)])
    with raised_limits(unpack_ratio=1), pytest.raises(InputError, match="names far longer than"):
        opened(index)


def test_blocks_that_overlap() -> None:
    header = varint(0) + varint(0) + varint(2) + b"\x08\x01" + bytes(4) + (1).to_bytes(4, "little")
    blocks = [(b"a", header), (b"b", header)]
    assert opened(table_of(blocks)).names() is not None
    again = table_of(blocks, change=lambda index: [index[0], (b"b", index[0][1])])
    with pytest.raises(InputError, match=r"the block at byte 0 overlaps the one at byte 0$"):
        opened(again)
    backwards = table_of(blocks, change=lambda index: [(b"a", index[1][1]), (b"b", index[0][1])])
    with pytest.raises(InputError, match=r"the block at byte 0 overlaps the one at byte 18$"):
        opened(backwards)


# --- tensors that share bytes ------------------------------------------------------------------


def test_two_tensors_in_the_same_place() -> None:
    def change(key: bytes, value: bytes) -> bytes:
        return entries[b"layer/bias"] if key == b"layer/kernel" else value

    entries: dict[bytes, bytes] = {}
    rewritten("one.index", change=entries.setdefault)
    checkpoint = opened(rewritten("one.index", change=change))
    told = (
        r"^one\.index is damaged: it gives tensor 'layer/bias' and tensor 'layer/kernel' the same "
        r"bytes$"
    )
    with pytest.raises(InputError, match=told):
        checkpoint.tensor(b"wide")
