"""What the command makes: every output type, checkpoints, saved profiles and advice."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from ours import files_loaded
from profiles import DATA, PROFILES, SAMPLE
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

HANDMADE = PROFILES["handmade"]
CHECKPOINT = DATA / "checkpoints" / "golden"


def test_stdout_is_the_default_and_file_holds_the_same(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    assert tfprof("scope", *HANDMADE.flags()) == 0
    printed = tfprof.out
    assert tfprof("scope", *HANDMADE.flags(), "--output=stdout") == 0
    assert tfprof.out == printed
    assert tfprof("scope", *HANDMADE.flags(), f"--output=file:outfile={path}") == 0
    assert tfprof.out == ""
    assert path.read_text() == printed
    assert f"tfprof: wrote {path}\n" in tfprof.err


def test_none_answers_and_makes_nothing(tfprof: Command) -> None:
    assert tfprof("scope", *HANDMADE.flags(), "--output=none") == 0
    assert tfprof.out == ""
    assert tfprof("scope", *HANDMADE.flags(), "--output=none", "--step=9") == 2


def test_replaced_file_keeps_its_permissions_and_link(tfprof: Command, tmp_path: Path) -> None:
    path, link = tmp_path / "out.txt", tmp_path / "link"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    assert tfprof("scope", *HANDMADE.flags(), f"--output=file:outfile={link}") == 0
    assert link.is_symlink()
    assert path.read_text() == link.read_text() != "before"
    assert path.stat().st_mode & 0o777 == 0o640


def test_graph_timeline_is_a_file_a_step(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert tfprof("graph", *HANDMADE.flags(), f"--output=timeline:outfile={path}") == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["trace.json_0", "trace.json_1"]
    recorded = (DATA / "handmade" / "graph_timeline.OUTFILE_0.json").read_text()
    assert (tmp_path / "trace.json_0").read_text() == recorded
    assert tfprof.out.count("Timeline file is written to ") == 2


def test_scope_timeline_is_the_average(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    words = [*HANDMADE.flags(), "--era=original", f"--output=timeline:outfile={path}"]
    assert tfprof("scope", *words) == 0
    recorded = json.loads((DATA / "handmade" / "scope_timeline.OUTFILE_-1.json").read_text())
    assert json.loads((tmp_path / "trace.json_-1").read_text()) == recorded


def test_op_view_has_no_timeline(tfprof: Command, tmp_path: Path) -> None:
    ran = tfprof("op", *HANDMADE.flags(), f"--output=timeline:outfile={tmp_path / 'x'}")
    assert ran == 2
    assert "op view doesn't support timeline yet" in tfprof.err
    assert not list(tmp_path.iterdir())


def test_pprof_of_any_view(tfprof: Command, tmp_path: Path) -> None:
    for view in ("scope", "graph", "op", "code"):
        path = tmp_path / f"{view}.pb.gz"
        words = ["--select=micros,bytes", f"--output=pprof:outfile={path}"]
        assert tfprof(view, *HANDMADE.flags(), *words) == 0
        assert tfprof.out == f"\nRun pprof -png --nodecount=100 --sample_index=1 <{path}>\n"
        assert b"microseconds" in gzip.decompress(path.read_bytes())


def test_proto_is_the_result_message(tfprof: Command, tmp_path: Path) -> None:
    kinds = {"scope": "GraphNodeProto", "op": "MultiGraphNodeProto"}
    for view, name in kinds.items():
        path = tmp_path / view
        assert tfprof(view, *HANDMADE.flags(), f"--output=proto:outfile={path}") == 0
        made = message(f"tensorflow.tfprof.{name}").FromString(path.read_bytes())
        report = answer(files_loaded(HANDMADE), view, Query())
        assert made.name == "_TFProfRoot"  # type: ignore[attr-defined]
        assert made.total_exec_micros == report.total("micros")[0]  # type: ignore[attr-defined]


def test_saved_profile_gives_the_same_reports(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "profile"
    assert tfprof("save", *HANDMADE.flags(), f"--output=file:outfile={path}") == 0
    for view in ("scope", "graph", "op", "code"):
        words = ["--select=micros,bytes,params,float_ops,device,op_types,occurrence,input_shapes"]
        assert tfprof(view, *HANDMADE.flags(), *words) == 0
        printed, coverage = tfprof.out, tfprof.err.splitlines()[-1]
        assert tfprof(view, f"--profile_path={path}", *words) == 0
        assert tfprof.out == printed
        assert tfprof.err.splitlines()[-1] == coverage


def test_save_needs_a_file(tfprof: Command) -> None:
    assert tfprof("save", *HANDMADE.flags()) == 2
    assert "--output=file:outfile=PATH" in tfprof.err


def test_profile_stands_alone(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "profile"
    assert tfprof("save", *HANDMADE.flags(), f"--output=file:outfile={path}") == 0
    assert tfprof("scope", f"--profile_path={path}", f"--graph_path={HANDMADE.graph}") == 2
    assert "--profile_path is set, do not set --graph_path or --run_meta_path" in tfprof.err
    assert tfprof("scope", f"--profile_path={HANDMADE.graph}") == 3
    assert "GraphDef" in tfprof.err


def test_recorded_checkpoint_commands(tfprof: Command) -> None:
    """The original's shell; what it cannot show, we show (Q30)."""
    recorded = (CHECKPOINT / "stdout.txt").read_text().split("tfprof> ")[1:]
    files = [f"--graph_path={CHECKPOINT / 'graph.pb'}", f"--checkpoint_path={CHECKPOINT / 'ck'}"]
    shown_by_us = {"h": "[true false ],\n", "m": "[2.50 ],\n", "u8": "[1 2 ],\n"}
    notes = ""
    for answered in recorded:
        line, expected = answered.split("\n", 1)
        assert tfprof(*line.split(), *files, "--era=original") == 0
        notes += tfprof.err
        assert _without(tfprof.out, shown_by_us) == _graph_doc(line, expected)
    assert notes == "Key s not found in checkpoint\nKey b/read not found in checkpoint\n"


def _graph_doc(line: str, expected: str) -> str:
    if not line.startswith("graph"):
        return expected
    ours = "graph: The nodes in the model graph are organized by their operation input and output."
    lines = expected.split("\n")
    lines[2] = ours
    return "\n".join(lines)


def _without(report: str, values: dict[str, str]) -> str:
    """The report less the values of tensors whose types the original does not print."""
    for name, value in values.items():
        head, found, rest = report.partition(f"\n  {name} (")
        if found:
            line, _, after = rest.partition("\n")
            assert after.startswith(value)
            report = f"{head}{found}{line}\n{after.removeprefix(value)}"
    return report


def test_checkpoint_variables_are_a_type_also_with_a_saved_profile(
    tfprof: Command, tmp_path: Path
) -> None:
    sample, path = PROFILES["resnet"], tmp_path / "profile"
    checkpoint = f"--checkpoint_path={SAMPLE / 'model.ckpt'}"
    words = ["--account_type_regexes=_checkpoint_variables", "--select=params", "--max_depth=1"]
    assert tfprof("scope", f"--graph_path={sample.graph}", checkpoint, *words) == 0
    assert tfprof.out.endswith("_TFProfRoot (--/930.58k params)\n")
    assert tfprof("save", f"--graph_path={sample.graph}", f"--output=file:outfile={path}") == 0
    assert tfprof("scope", f"--profile_path={path}", checkpoint, *words) == 0
    assert tfprof.out.endswith("_TFProfRoot (--/930.58k params)\n")


def test_missing_checkpoint(tfprof: Command, tmp_path: Path) -> None:
    words = ["scope", f"--graph_path={HANDMADE.graph}", f"--checkpoint_path={tmp_path / 'no'}"]
    assert tfprof(*words) == 3
    assert f"there is no checkpoint {tmp_path / 'no'}" in tfprof.err


def test_advice(tfprof: Command, tmp_path: Path) -> None:
    assert tfprof("advise", *HANDMADE.flags()) == 0
    sections = tfprof.out.split("\n\n")
    recorded = (DATA / "handmade" / "advise.stdout.txt").read_text().split("\n\n")
    assert sorted(s.strip() for s in sections) == sorted(s.strip() for s in recorded)
    path = tmp_path / "advice"
    printed = tfprof.out
    assert tfprof("advise", *HANDMADE.flags(), f"--output=file:outfile={path}") == 0
    assert path.read_text() == printed
    assert tfprof("advise", *HANDMADE.flags(), f"--output=pprof:outfile={path}") == 2
