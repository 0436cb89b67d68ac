"""Fuzzing: what is kept goes through its target, each target runs a while, and faults are found."""

from __future__ import annotations

import re
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

import pytest

from fuzz import wire_tree
from fuzz.mutate import Dice
from fuzz.parts import joined, parted
from fuzz.targets import TARGETS
from paths import ROOT
from sampling import amount, sampled, seed

if TYPE_CHECKING:
    from pathlib import Path

CORPUS, FINDINGS = ROOT / "fuzz" / "corpus", ROOT / "fuzz" / "findings"
KEPT = sorted(file for folder in (CORPUS, FINDINGS) for file in folder.glob("*/*"))
# Inputs per target in a whole run: as many as some seconds allow. A sample tries few.
RUNS = {
    450: ["graph", "run", "saved", "whole", "op_log", "run_shapes", "folder"],
    300: [
        "functions", "saved_model", "debug_info", "function_run", "trace", "keras", "chunked",
        "events", "hdf5", "tflite", "hlo", "hlo_text",
    ],
    600: [
        "meta_graph", "meta_graph_text", "graph_text", "run_text", "op_log_text", "flops",
        "saved_model_text", "archived",
    ],
    3000: [
        "text", "converted", "bundle", "tables", "snappy", "gzip", "sniff", "foreign", "objects",
        "checkpoint_state",
    ],
}  # fmt: skip


# --- what is kept ------------------------------------------------------------------------------


def test_every_target_has_a_corpus_of_small_files() -> None:
    files = [file for file in KEPT if CORPUS in file.parents]
    assert {file.parent.name for file in files} == set(TARGETS)
    assert {file.parent.name for file in KEPT} == set(TARGETS)
    assert max(file.stat().st_size for file in files) <= 8192
    assert sum(file.stat().st_size for file in files) < 500_000


@pytest.mark.parametrize("name", TARGETS)
def test_kept_inputs_are_read_or_refused(name: str) -> None:
    files = [file for file in KEPT if file.parent.name == name]
    for file in files:
        found = FINDINGS in file.parents
        # A part of the laws holds of each; all of them hold of a real file and of what was found.
        TARGETS[name].run(file.read_bytes(), everything=found or file.name == "real-00")
    assert any(file.name == "real-00" for file in files)


# --- a while of fuzzing --------------------------------------------------------------------------


def fuzzed(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fuzz.run", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


def clean(ran: subprocess.CompletedProcess[str]) -> list[tuple[str, int, int]]:
    """(name, executions, places) of each target without findings."""
    line = r"^(\w+) +([0-9,]+) executions +([0-9,]+) places.* no findings$"
    found = re.findall(line, ran.stdout, re.MULTILINE)
    return [(name, *(int(n.replace(",", "")) for n in numbers)) for name, *numbers in found]


def test_every_target_is_fuzzed() -> None:
    assert sorted(name for names in RUNS.values() for name in names) == sorted(TARGETS)


@pytest.mark.sampled
@pytest.mark.parametrize("whole", sampled([*RUNS], 1, "fuzzing", again=True))
def test_so_many_inputs_find_nothing(whole: int, tmp_path: Path) -> None:
    runs = amount(whole, whole // 20)
    names = sampled(RUNS[whole], 1, "fuzzed")
    ran = fuzzed(*names, f"--runs={runs}", f"--seed={seed()}", "--findings", tmp_path)
    assert ran.returncode == 0, ran.stdout
    told = clean(ran)
    assert [name for name, _, _ in told] == names
    for name, executions, places in told:
        assert executions >= runs, name
        assert places > 30, name
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.whole
def test_a_target_runs_with_a_sanitized_core(tmp_path: Path) -> None:
    ran = fuzzed("run", "--sanitize", "--runs=100", f"--seed={seed()}", "--findings", tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    ((name, _, places),) = clean(ran)
    assert name == "run"
    assert places > 30


BROKEN = """
import sys
from pathlib import Path
import numpy as np
from fuzz import mutate, run
from fuzz.laws import source
from fuzz.targets import Target
from tfprof.read import load

def believes_sizes(data, pick):
    np.ones(int(load(source(data)).outputs.shape.dim.max(initial=0)), np.uint8)

result = run.fuzz(Target("graph", believes_sizes, mutate.wire), 3000, 1, Path(sys.argv[1]))
assert not result.is_clean
assert 0 < result.executions < 3000
assert "MemoryError" in result.said, result.said
"""


@pytest.mark.whole
def test_a_fault_that_is_put_there_is_found(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", BROKEN, tmp_path], check=True, cwd=ROOT)
    (found,) = tmp_path.iterdir()
    # The product reads what made that reader ask for more memory than there is.
    TARGETS["graph"].run(found.read_bytes(), everything=True)
    ran = fuzzed("graph", "--replay", found)
    assert (ran.returncode, ran.stdout) == (0, f"{found}: nothing found\n")


STOPPED = """
import sys
from pathlib import Path
from fuzz import run
from fuzz.targets import Target

def gives_up(data, dice):
    raise ValueError("no more mutants")

result = run.fuzz(Target("graph", lambda *given: None, gives_up), 3000, 1, Path(sys.argv[1]))
assert not result.findings
assert not result.is_clean
assert "no more mutants" in result.said, result.said
"""


@pytest.mark.whole
def test_a_target_that_stops_before_the_end_is_not_clean(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", STOPPED, tmp_path], check=True, cwd=ROOT)


# --- its parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["graph", "run", "op_log", "saved"])
def test_messages_are_taken_apart_and_put_together(name: str) -> None:
    for file in (CORPUS / name).glob("real-*"):
        data = file.read_bytes()
        tree = wire_tree.parse(data)
        assert tree
        assert len(wire_tree.flat(tree)) > 20
        assert wire_tree.serialised(tree) == data


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampled([*TARGETS], 4, "mutants"))
def test_mutants_are_others_and_the_same_each_time(name: str) -> None:
    inputs = [file.read_bytes() for file in sorted((CORPUS / name).glob("real-*"))]

    def mutant(number: int) -> bytes:
        rng = Random(number)  # noqa: S311 - repeatable, not secret
        return TARGETS[name].mutate(inputs[0], Dice(rng, inputs))

    first, second = ([*map(mutant, range(50))] for _ in range(2))
    assert first == second
    assert len(set(first) - {inputs[0]}) > 25


def test_a_converted_profile_whose_index_is_damaged_has_mutants() -> None:
    data = (CORPUS / "converted" / "real-00").read_bytes()
    for at in range(24, 200):  # of the first lines of the index
        for byte in b"-1 \n":
            damaged = data[:at] + bytes([byte]) + data[at:]
            rng = Random(at)  # noqa: S311 - repeatable, not secret
            assert TARGETS["converted"].mutate(damaged, Dice(rng, [data]))


def test_several_files_are_one_input() -> None:
    files = [b"", b"a" * 300, b"\x0a"]
    assert parted(joined(files)) == files
    assert parted(joined(files)[:-1])[:2] == files[:2]
    assert parted(b"\x0a\xff") == parted(b"x") == []
