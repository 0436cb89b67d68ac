"""`tfprof diff`: two sides on the command line and in the shell, and what it prints."""

from __future__ import annotations

import csv
import io
import json
import shutil
from typing import TYPE_CHECKING, Final

import pytest

import tfprof as package
from profiles import DATA
from tfprof.cli.completion import slot
from tfprof.foundation.units import change, count, micros, signed
from tfprof.shell.prompt import Shell
from tfprof.tables.command_options import BASE
from tfprof.tables.commands import COMMANDS
from tfprof.writers.table_text import table_text

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

PAIRS: Final = DATA / "pairs"
FOLDERS: Final = (str(PAIRS / "mlp"), str(PAIRS / "mlp_wide"))
MLP, WIDE = (f"{folder}/graph.pb.gz" for folder in FOLDERS)
CNN, SHORT = str(PAIRS / "cnn"), str(PAIRS / "cnn_short")


def test_differences_as_people_read_them() -> None:
    assert [signed(n, count) for n in (0, 12, -12, 1500, -1500)] == [
        "0", "+12", "-12", "+1.50k", "-1.50k",
    ]  # fmt: skip
    assert signed(-2500, micros) == "-2.50ms"
    ratios = {1.0: "0.0%", 1.102: "+10.2%", 0.0: "-100.0%", 0.5: "-50.0%", 12.34: "×12.3"}
    assert {ratio: change(ratio) for ratio in ratios} == ratios
    assert (change(1.0001), change(0.9999)) == ("+<0.1%", "-<0.1%")


# --- sides ---------------------------------------------------------------------------------------

STATIC: Final = "--select=params,float_ops"


def test_folders_files_and_base_name_the_same_sides(tfprof: Command, tmp_path: Path) -> None:
    files: dict[str, list[str]] = {}
    for folder in FOLDERS:
        to = tmp_path / folder[-4:].strip("/")
        to.mkdir()
        names = ("graph.pb.gz", "tfprof_log.gz")
        files[str(to)] = [str(shutil.copy(f"{folder}/{name}", to)) for name in names]
    base, new = files
    assert tfprof("diff", base, new, STATIC) == 0
    printed = tfprof.out
    assert printed.startswith("params 4.66k → 6.64k (+42.6%), float_ops ")
    assert tfprof("diff", new, f"--base={base}", STATIC) == 0
    assert tfprof.out == printed
    assert tfprof("diff", *files[new], f"--base={','.join(files[base])}", STATIC) == 0
    assert tfprof.out == printed
    converted = str(tmp_path / "mlp.tfprof")
    assert tfprof("convert", base, "-o", converted) == 0
    assert tfprof("diff", converted, new, STATIC) == 0
    assert tfprof.out == printed


@pytest.mark.parametrize("words", [(), (MLP,), (MLP, MLP, MLP), (f"--base={MLP}",)])
def test_a_missing_side_is_one_sentence(tfprof: Command, words: tuple[str, ...]) -> None:
    assert tfprof("diff", *words) == 2
    assert tfprof.out == ""
    assert tfprof.err == (
        "tfprof: diff needs two sides, as in: tfprof diff BASE NEW; "
        "if a side has several files: tfprof diff NEW_FILES --base=FILE,FILE\n"
    )


def test_a_side_that_cannot_be_used_is_one_sentence(tfprof: Command, tmp_path: Path) -> None:
    fleet = str(DATA / "fleet_v1")
    for words in ((MLP, fleet), (fleet, MLP), (MLP, f"--base={fleet}")):
        assert tfprof("diff", *words) == 2
        assert tfprof.err.startswith("tfprof: diff takes no fleet; these do: summary, scope,")
    assert tfprof("diff", MLP, "nowhere") == 3
    assert tfprof.err.startswith("tfprof: nowhere does not exist; expected a graph")
    for name in ("mlp", "mlp_wide"):
        shutil.copy(PAIRS / name / "graph.pb.gz", tmp_path / f"{name}.gz")
    assert tfprof("diff", MLP, str(tmp_path)) == 2
    assert tfprof.err.endswith(" are each a graph: name the one to use\n")  # there is no flag


def test_options_are_those_of_the_view(tfprof: Command) -> None:
    assert tfprof("diff", MLP, WIDE, "--view=summary", "--max_depth=2") == 2
    assert tfprof.err.startswith("tfprof: summary takes no --max_depth")
    assert tfprof("diff", MLP, WIDE, "--view=op", "--frames=fold") == 2
    assert tfprof.err.startswith("tfprof: op takes no --frames")
    assert tfprof("diff", MLP, WIDE, "--view=scoop") == 2
    assert "did you mean 'scope'?" in tfprof.err
    assert tfprof("diff", MLP, WIDE, "--min_params=x") == 2


def test_loading_notes_name_the_side_unless_both_have_them(tfprof: Command) -> None:
    assert tfprof("diff", CNN, SHORT) == 0
    assert tfprof.err.splitlines() == [
        "signature serve runs the same as serving_default and is left out",
        "base: 55 nodes of the graph that no output needs are left out",
        "new: 39 nodes of the graph that no output needs are left out",
    ]


def test_the_shell_compares_its_files_with_a_base(
    capfd: pytest.CaptureFixture[str], tfprof: Command
) -> None:
    assert tfprof("diff", MLP, WIDE, "--max_depth=2", "--select=params") == 0
    shell = Shell(package.load(WIDE), {"max_depth": 2, "select": ("params",)})
    assert shell.run(f"diff -base {MLP}")
    assert capfd.readouterr().out == tfprof.out
    assert shell.run(f"diff {MLP} {WIDE}")
    assert capfd.readouterr().out == tfprof.out
    assert shell.run(f"diff -base {MLP} -view summary")  # which takes none of these options
    assert capfd.readouterr().out.startswith("parameters 1,994 → 2,986")
    assert shell.run(f"diff -base {MLP} -view summary -max_depth 3 -min_params 1")
    assert "summary takes no --min_params" in capfd.readouterr().err
    assert shell.run("diff")
    assert capfd.readouterr().err.endswith(", in the shell also: diff -base FILE\n")


def test_base_completes_files() -> None:
    assert slot(BASE).shape == "files"
    views = ("scope", "graph", "op", "code", "summary")
    assert slot(COMMANDS["diff"].options["view"]).words == views


# --- outputs -------------------------------------------------------------------------------------


def test_every_output_holds_the_same_rows(tfprof: Command) -> None:
    line = ("diff", CNN, SHORT, "--select=params")
    assert tfprof(*line, "--format=json") == 0
    rows = json.loads(tfprof.out)["rows"]
    params = {row["name"]: row["difference_params"] for row in rows}
    assert (params["_TFProfRoot"], params["second"]) == (314 - 898, -584)
    assert tfprof(*line, "--format=csv") == 0
    table = list(csv.DictReader(io.StringIO(tfprof.out, newline="")))
    assert [(row["name"], int(row["difference_params"])) for row in table] == list(params.items())
    assert tfprof(*line) == 0
    assert "-   second  " in tfprof.out
    assert tfprof(*line, "--format=html") == 0
    assert tfprof.out.count("<tr>") == 1 + len(rows)
    assert ">-584<" in tfprof.out
    assert tfprof(*line, "--format=md") == 0
    assert "| &emsp;- second | 584 | 0 | -584 | -100.0% |" in tfprof.out.splitlines()


def test_markdown_has_a_headline_and_folds_behind_twenty_rows(tfprof: Command) -> None:
    assert tfprof("diff", MLP, WIDE, STATIC, "--format=md") == 0
    above, folded = tfprof.out.split("<details>")
    lines = above.splitlines()
    assert lines[0].startswith("**params 4.66k → 6.64k (+42.6%), float\\_ops ")
    assert sum(line.startswith("| ") for line in lines) == 2 + 20
    more = sum(line.startswith("| ") for line in folded.splitlines()) - 2
    assert f"<summary>{more} more rows</summary>" in folded
    assert tfprof("diff", MLP, WIDE, STATIC, "--format=json") == 0
    assert len(json.loads(tfprof.out)["rows"]) == 20 + more


@pytest.mark.parametrize("view", ["scope", "summary"])
def test_text_fits_the_screen(view: str) -> None:
    base, new = map(package.load, FOLDERS)
    table = base.diff(new, view).table()
    for width in (60, 80, 120):
        text = b"".join(table_text(table, width)).decode()
        assert max(map(len, text.splitlines())) <= width
        assert "→" in text.splitlines()[0]


@pytest.mark.parametrize("view", COMMANDS["diff"].options["view"].choices)
def test_the_same_files_have_no_differences(tfprof: Command, view: str) -> None:
    assert tfprof("diff", *FOLDERS[:1] * 2, f"--view={view}") == 0
    assert tfprof.out.startswith("No differences")
    assert tfprof("diff", *FOLDERS[:1] * 2, f"--view={view}", "--format=md") == 0
    assert tfprof.out.startswith("**No differences")


def test_a_sentence_is_printed_once(tfprof: Command) -> None:
    """Below the rows, or as a note where an output has no room for sentences."""
    matched = "nodes matched: 25 by name; 10 only in base\n"
    assert tfprof("diff", CNN, SHORT, "--select=params") == 0
    assert (tfprof.out + tfprof.err).count(matched) == 1
    assert matched in tfprof.out
    assert tfprof("diff", CNN, SHORT, "--select=params", "--format=csv") == 0
    assert matched in tfprof.err
