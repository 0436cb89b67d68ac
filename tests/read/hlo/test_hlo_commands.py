"""diff, check, page and fleet on programs of XLA and on traces of JAX."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any, Final

import pytest

import hlo_figures as figures
import tfprof as library
from hlo_recorded import DATA, by_type, contracted, elements, facts, loaded, path
from page_profiles import check

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

TRACE: Final = DATA / "flax_linen.xplane.pb.gz"


def test_weights_are_no_values_besides_variables(tfprof: Command) -> None:
    assert tfprof("scope", str(path("plain", "txt"))) == 0
    assert "/948 params" in tfprof.out
    assert "not variables" not in tfprof.err


def test_diff_of_two_forms_of_a_program(tfprof: Command) -> None:
    assert tfprof("diff", str(path("flax_linen")), str(path("flax_linen", "txt"))) == 0
    assert tfprof.out.startswith("No differences")


def test_diff_of_two_programs(tfprof: Command) -> None:
    """XLA removes a product that rematerialization computes again."""
    words = (str(path("remat", "before.pb")), str(path("remat")), "--view=op", "--format=json")
    assert tfprof("diff", *words) == 0
    rows = {row["name"]: row for row in json.loads(tfprof.out)["rows"]}
    assert rows["dot"]["base_float_ops"] == figures.total(figures.BEFORE["remat"])
    assert rows["dot"]["new_float_ops"] == figures.total(figures.CONTRACTIONS["remat"])


def test_diff_of_traces(tfprof: Command) -> None:
    assert tfprof("diff", str(TRACE), str(TRACE)) == 0
    assert tfprof.out.startswith("No differences")
    assert f"{elements(facts()['flax_linen'].params) / 1000:.2f}k" in tfprof.out


def test_diff_of_one_device_and_all(tfprof: Command) -> None:
    one, every = loaded("grid"), library.load(path("grid"), devices="all")
    assert contracted(every) == 4 * contracted(one)
    files = (str(path("grid", "before.pb")), str(path("grid")))
    assert tfprof("diff", *files, "--devices=all", "--select=params") == 0
    params = elements(facts()["grid"].params) + elements(facts()["grid"].optimizer)
    assert tfprof.out.startswith(f"params {params} (unchanged)")


@pytest.mark.parametrize("file", [path("flax_linen"), path("flax_linen", "txt"), TRACE])
def test_check(file: Path, tfprof: Command, tmp_path: Path) -> None:
    budget = tmp_path / "budget.toml"
    params = elements(facts()["flax_linen"].params)
    # A dense layer of 512 to 32 with a bias.
    layer = 512 * 32 + 32
    of_model = f'[model]\nparams = "== {params}"\n'
    budget.write_text(f'{of_model}[layer."Net/proj"]\nparams = "<= {layer}"\n')
    assert tfprof("check", str(budget), str(file)) == 0
    budget.write_text(f'[layer."Net/proj"]\nparams = "< {layer}"\n')
    assert tfprof("check", str(budget), str(file)) == 1
    assert f"params < {layer}" in tfprof.out


def test_page(tmp_path: Path) -> None:
    """What JavaScript decodes is what Python has: a program, one of all devices, and a trace."""
    files: list[dict[str, Any]] = [
        {"graph": path("flax_linen")},
        {"graph": path("grid"), "devices": "all"},
        {"trace": DATA / "sharded.xplane.pb.gz"},
    ]
    profiles = [library.load(**each).profile for each in files]
    _, every, _ = check(profiles, tmp_path)
    total = sum(map(int, every["numbers"]["float_ops null true"]))
    assert total == by_type(library.load(**files[1]))["_TFProfRoot"].total_float_ops


def test_a_program_that_is_not_read(tfprof: Command, tmp_path: Path) -> None:
    """A SavedModel of jax2tf holds bytecode: the line on what is counted says what to give."""
    graph = tmp_path / "graph.pbtxt"
    graph.write_text('node { name: "call" op: "XlaCallModule" }')
    assert tfprof("op", str(graph), "--select=float_ops") == 0
    said = "1 XlaCallModule (calls a function); for the program in XlaCallModule, give the HLO"
    assert said in tfprof.err


def test_a_fleet_of_traces(tfprof: Command, tmp_path: Path) -> None:
    """Two workers that ran one program: a trace holds it, so no graph is needed."""
    for worker in ("w0", "w1"):
        (tmp_path / "logs" / worker).mkdir(parents=True)
        shutil.copy(TRACE, tmp_path / "logs" / worker / "host.xplane.pb.gz")
    assert tfprof("fleet", str(tmp_path / "logs"), "-o", str(tmp_path / "fleet")) == 0
    assert "2 workers, 3 steps (6 worker steps), 1 graph" in tfprof.out
    assert "no graph" not in tfprof.err
    fleet = library.fleet(tmp_path / "fleet")
    rows = by_type(fleet)
    products = rows["dot"].own_float_ops + rows["convolution"].own_float_ops
    assert products == figures.total(figures.CONTRACTIONS["flax_linen"])
    said = facts()["flax_linen"]
    assert rows["_TFProfRoot"].total_params == elements(said.params) + elements(said.optimizer)
