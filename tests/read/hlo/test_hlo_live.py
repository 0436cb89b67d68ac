"""JAX compiles the programs of hlo_models.py anew: what was recorded still holds.

With another release of XLA, fusions and names may differ; parameters and float operations do not.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

import hlo_figures as figures
import hlo_oracle
import paths
import tfprof
from hlo_recorded import FORMS, content, contracted, elements, facts, loaded, path
from xplane_oracle import instruction_runs

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.whole,
    pytest.mark.xdist_group("jax"),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="JAX needs Python 3.11"),
]
OPEN: Final = "runtime_loop"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the files of all programs."""
    folder = tmp_path_factory.mktemp("jax")
    script = paths.MAKE / "hlo_programs.py"
    ran = subprocess.run(
        [sys.executable, str(script), str(folder)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return folder


def test_the_programs_are_those_recorded(compiled: Path) -> None:
    for name, recorded in facts().items():
        live = facts(compiled)[name]
        assert (live.params, live.optimizer, live.inputs) == recorded[:3]


@pytest.mark.parametrize("name", sorted(figures.CONTRACTIONS))
def test_a_second_reader_finds_the_figures(name: str, compiled: Path) -> None:
    found = hlo_oracle.contractions(content(name, folder=compiled), unknown=figures.TURNS)
    assert found == figures.total(figures.CONTRACTIONS[name])


@pytest.mark.parametrize("name", sorted({*figures.CONTRACTIONS} - {OPEN}))
def test_float_operations_are_the_figures(name: str, compiled: Path) -> None:
    for form in FORMS:
        found = contracted(loaded(name, form, compiled))
        assert found == figures.total(figures.CONTRACTIONS[name]), form


@pytest.mark.parametrize("name", ["flax_linen", "flax_nnx", "plain", "scanned", "sharded"])
def test_parameters_are_those_of_the_pytree(name: str, compiled: Path) -> None:
    for form in FORMS:
        total = loaded(name, form, compiled).summary().total["parameters"]
        assert total == elements(facts(compiled)[name].params), form


@pytest.mark.parametrize("name", ["flax_linen", OPEN, "sharded"])
def test_times_are_the_sums_of_events(name: str, compiled: Path) -> None:
    program = tfprof.load(trace=path(name, "xplane.pb", compiled))
    runs = instruction_runs(content(name, "xplane.pb", compiled))
    assert program.steps == (*sorted({run.step for run in runs if run.step is not None}),)
    for step in program.steps:
        took = sum(run.own for run in runs if run.step == step) / 10**6
        root = program.op(select=["micros"], step=step).rows[0]
        assert root.total_micros == pytest.approx(took, abs=1)
