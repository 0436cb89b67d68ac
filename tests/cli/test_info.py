"""info: what files are, what is in them, what is missing, and a command that runs as it stands."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from typing import TYPE_CHECKING

import pytest

from ours import files_loaded
from profiles import DATA, PROFILES, SAMPLE
from tfprof.foundation.units import first_few, plural
from tfprof.results.info_report import FileFacts, InfoReport
from tfprof.tables.formats import FORMATS
from tfprof.writers.info import fact_lines, info_text

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command
    from tfprof.read.describe import Value

HANDMADE = PROFILES["handmade"]


def test_the_sample(tfprof: Command) -> None:
    assert tfprof("info", str(SAMPLE)) == 0
    assert tfprof.out.replace(str(SAMPLE), "sample") == (
        "sample/graph.pbtxt.gz: a GraphDef in text format\n"
        "  5,174 nodes of 57 op types\n"
        "  253 variables with 930,581 parameters\n"
        "sample/model.ckpt: a checkpoint\n"
        "  158 variables with 466,427 parameters\n"
        "  float 252, int64 1\n"
        "  95 variables of optimizers with 464,154 values (1,856,616 bytes)\n"
        "sample/run_meta_0.gz: a RunMetadata\n"
        "  3,847 executions in 1 step\n"
        "  1 device: /job:localhost/replica:0/task:0/device:CPU:0\n"
        "sample/run_meta_1.gz: a RunMetadata\n"
        "  3,847 executions in 1 step\n"
        "  1 device: /job:localhost/replica:0/task:0/device:CPU:0\n"
        "sample/tfprof_log.gz: an op log (OpLogProto)\n"
        "  entries of 5,174 nodes\n"
        "  call stacks of 5,174 nodes, float operations of 1,417 nodes\n"
        "  1 type: _trainable_variables\n"
        "\n"
        "not recognised: README.md\n"
        "\n"
        "next\n"
        "  tfprof scope sample/graph.pbtxt.gz sample/model.ckpt sample/run_meta_0.gz "
        "sample/run_meta_1.gz sample/tfprof_log.gz --select=micros --order_by=micros "
        "--max_depth=3\n"
    )


@pytest.mark.parametrize(
    ("files", "missing", "begins"),
    [
        ([HANDMADE.graph], ["no run", "no call stacks", "no checkpoint"], "tfprof scope"),
        ([HANDMADE.runs[0]], ["no graph: what ran", "no float operations", "no call stacks",
                              "no checkpoint"], "tfprof scope"),
        ([HANDMADE.op_log], ["no graph: every view", "no run", "no checkpoint"], ""),
        ([DATA / "checkpoints" / "one"], ["no graph: a checkpoint", "no run",
                                          "no float operations", "no call stacks"],
         "tfprof summary"),
        ([HANDMADE.graph, HANDMADE.op_log, HANDMADE.runs[0]], ["no checkpoint"], "tfprof scope"),
    ],
)  # fmt: skip
def test_what_is_missing_and_what_to_try(
    tfprof: Command, files: list[Path], missing: list[str], begins: str
) -> None:
    assert tfprof("info", *map(str, files)) == 0
    blocks = dict(block.split("\n", 1) for block in tfprof.out.split("\n\n")[1:])
    lines = blocks["missing"].rstrip("\n").split("\n")
    assert all(line.startswith(f"  {what}") for line, what in zip(lines, missing, strict=True))
    assert ("next" in blocks) == bool(begins)
    if begins:
        command = blocks["next"].strip()
        assert command.startswith(begins)
        assert tfprof(*shlex.split(command)[1:]) == 0
        assert ("Total " if "summary" in begins else "_TFProfRoot") in tfprof.out


def test_a_saved_profile_tells_all_that_is_in_it(tfprof: Command, tmp_path: Path) -> None:
    path = tmp_path / "a profile"
    assert tfprof("save", *HANDMADE.flags(), f"--output=file:outfile={path}") == 0
    assert tfprof("info", str(path)) == 0
    profile = files_loaded(HANDMADE)
    types = len(set(profile.nodes.op.tolist()))
    assert "a saved profile (ProfileProto)\n" in tfprof.out
    assert f"  {len(profile)} nodes of {types} op types\n" in tfprof.out
    assert "executions in 2 steps" in tfprof.out
    assert "call stacks of 6 nodes, float operations of 4 nodes" in tfprof.out
    assert f"next\n  tfprof scope '{path}' --select=micros" in tfprof.out


def test_the_command_takes_one_of_each_and_says_so(tfprof: Command, tmp_path: Path) -> None:
    for name in ("b.pbtxt", "a.pbtxt"):
        shutil.copy(HANDMADE.graph, tmp_path / name)
    assert tfprof("info", str(tmp_path)) == 0
    assert "2 files for --graph_path: name the one to use; below is the first\n" in tfprof.out
    command = tfprof.out.split("next\n")[1]
    assert f"{tmp_path}/a.pbtxt" in command
    assert f"{tmp_path}/b.pbtxt" not in command
    assert tfprof(*shlex.split(command)[1:]) == 0


def test_a_graph_without_variables_has_its_operations_counted(
    tfprof: Command, tmp_path: Path
) -> None:
    path = tmp_path / "graph"
    path.write_text('node { name: "a" op: "NoOp" }\nnode { name: "b" op: "NoOp" }\n')
    assert tfprof("info", str(path)) == 0
    assert "  2 nodes of 1 op type\n" in tfprof.out
    command = tfprof.out.split("next\n")[1]
    assert tfprof(*shlex.split(command)[1:]) == 0
    assert "0|2" in tfprof.out


def test_each_problem_is_a_line_and_the_rest_is_told(tfprof: Command, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes((DATA / "checkpoints" / "golden" / "graph.pb").read_bytes()[:-3])
    words = [str(SAMPLE / "README.md"), str(tmp_path / "nothing"), str(damaged)]
    assert tfprof("info", *words, str(HANDMADE.graph)) == 3  # one of them is missing
    assert tfprof.out.startswith(f"{HANDMADE.graph}: a GraphDef")
    lines = tfprof.err.splitlines()
    assert [line.split()[1] for line in lines] == words
    assert tfprof("info", *words) == 3
    assert tfprof.out == ""
    assert tfprof.err.splitlines() == lines


def test_a_folder_of_nothing_known_and_no_file_at_all(tfprof: Command, tmp_path: Path) -> None:
    assert tfprof("info", str(tmp_path)) == 3
    assert f"{tmp_path} is a folder with no file that tfprof reads" in tfprof.err
    assert tfprof("info") == 2
    assert "tfprof info ." in tfprof.err


def test_files_may_be_named_by_options_too(tfprof: Command) -> None:
    assert tfprof("info", *HANDMADE.flags()) == 0
    flagged = tfprof.out
    assert tfprof("info", str(HANDMADE.graph), *map(str, HANDMADE.runs), str(HANDMADE.op_log)) == 0
    assert tfprof.out == flagged


def test_text_of_facts() -> None:
    log = FileFacts("-l", FORMATS["op_log"], {"entries": 2}, {"stacks"})
    graph = FileFacts("-g", FORMATS["graph"], {"nodes": 1, "op_types": 1}, {"nodes"})
    log_text, graph_text = (b"".join(info_text(InfoReport([file]))) for file in (log, graph))
    assert log_text.startswith(b"-l: an op log (OpLogProto)\n  entries of 2 nodes\n")
    assert b"next" not in log_text
    line = b"tfprof op ./-g --select=occurrence --order_by=occurrence\n"
    assert graph_text.endswith(b"next\n  " + line)
    assert (plural(1, "node"), plural(2000, "node")) == ("1 node", "2,000 nodes")
    assert first_few("abcdefghij", 8) == "a, b, c, d, e, f, g, h and 2 more"


def test_a_fact_of_no_template_is_a_line_of_its_own() -> None:
    said: dict[str, tuple[Value, str]] = {
        "nodes": (2, "2 nodes"),
        "layers": (1, "1 layer"),
        "kernels": (["a", "b"], "2 kernels: a, b"),
        "hosts": ([], "no host"),
        "sizes": ({"x": 1000}, "x 1,000"),
        "note": ("as it is", "as it is"),
    }
    facts = {name: value for name, (value, _) in said.items()}
    assert fact_lines(facts) == [line for _, line in said.values()]


def test_facts_as_data(tfprof: Command, tmp_path: Path) -> None:
    (tmp_path / "graph").write_text(
        'node { name: "w" op: "VariableV2" attr { key: "shape" value { shape {'
        ' dim { size: 3 } dim { size: 4 } } } } }\nnode { name: "b" op: "NoOp" }\n'
    )
    (tmp_path / "README").write_text("no profile")
    assert tfprof("info", str(tmp_path), "--format=json") == 0
    document = json.loads(tfprof.out)
    row = {"file": f"{tmp_path}/graph", "format": "a GraphDef in text format", "names": []}
    counts = {"nodes": 2, "op_types": 2, "variables": 1, "parameters": 12}
    assert document["rows"] == [{**row, "fact": name, "count": n} for name, n in counts.items()]
    assert document["schema"] == "tfprof.info/1"
    assert document["not_recognised"] == ["README"]
    assert document["several"] == []
    missing = [line.split(":")[0] for line in document["missing"]]
    assert missing == ["no run", "no call stacks", "no checkpoint"]
    (command,) = document["next"]
    assert tfprof(*shlex.split(command)[1:]) == 0
    assert tfprof("info", str(tmp_path), "--format=csv") == 0
    assert list(csv.reader(tfprof.out.splitlines()))[:2] == [
        ["file", "format", "fact", "count", "names"],
        [f"{tmp_path}/graph", "a GraphDef in text format", "nodes", "2", ""],
    ]
    assert tfprof("info", str(tmp_path), "--format=md") == 0
    assert "| parameters |" in tfprof.out


def test_names_of_facts_as_data(tfprof: Command) -> None:
    assert tfprof("info", str(SAMPLE), "--format=json") == 0
    facts = {(row["file"], row["fact"]): row for row in json.loads(tfprof.out)["rows"]}
    dtypes = facts[f"{SAMPLE}/model.ckpt", "dtypes"]
    assert (dtypes["count"], dtypes["names"]) == (253, ["float 252", "int64 1"])
    devices = facts[f"{SAMPLE}/run_meta_0.gz", "devices"]
    assert devices["names"] == ["/job:localhost/replica:0/task:0/device:CPU:0"]


def test_text_may_go_to_a_file_but_not_over_an_input(tfprof: Command, tmp_path: Path) -> None:
    graph = str(shutil.copy(HANDMADE.graph, tmp_path / "graph"))
    assert tfprof("info", graph) == 0
    text = tfprof.out
    assert tfprof("info", graph, f"--output=file:outfile={tmp_path / 'info.txt'}") == 0
    assert (tmp_path / "info.txt").read_text() == text
    assert tfprof("info", graph, f"--output=csv:outfile={graph}") == 4
    assert "is an input of this result and is not overwritten" in tfprof.err
    assert tfprof("info", graph, "--output=pprof:outfile=x") == 2
    assert "info has no output pprof" in tfprof.err
