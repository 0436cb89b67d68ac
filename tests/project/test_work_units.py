"""Tests that share something run in one worker."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from paths import ROOT, TESTS
from work_units import SPREAD, UNITS, unit_of


def test_files_are_units() -> None:
    assert unit_of("tests/columns/test_tree.py::test_a") == unit_of(
        "tests/columns/test_tree.py::TestB::test_b[x::]"
    )
    assert unit_of("tests/columns/test_tree.py::test_a") != unit_of(
        "tests/wire/test_wire.py::test_a"
    )
    assert unit_of("tests/project/test_readme.py::test_a") == unit_of(
        "tests/project/test_examples.py::test_b"
    )
    assert unit_of("tests/project/test_readme.py::test_a") != unit_of(
        "tests/ops/test_op_shapes.py::test_a"
    )
    assert unit_of("tests/hostile/test_hostile.py::test_a[x]") != unit_of(
        "tests/hostile/test_hostile.py::test_a[y]"
    )


def test_the_files_exist() -> None:
    for name in (*SPREAD, *(name for names in UNITS.values() for name in names)):
        assert len([*TESTS.rglob(name)]) == 1


def test_workers_get_units(tmp_path: Path) -> None:
    """The installed pytest-xdist asks us: the tests of a file, or of UNITS, run in one worker."""
    content = "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test_it(n): pass\n"
    files = ("test_readme.py", "test_examples.py", "test_one.py", "test_two.py", "test_fuzz.py")
    for name in files:
        (tmp_path / name).write_text(content)
    command = [sys.executable, "-m", "pytest", "-v", "-n2", "--dist=loadfile", "--seed=1"]
    command += [
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        "-c",
        str(ROOT / "pyproject.toml"),
    ]
    ran = subprocess.run(
        [*command, "--rootdir", tmp_path, *(tmp_path / name for name in files)],
        cwd=TESTS, capture_output=True, text=True, check=True,
    )  # fmt: skip
    workers = defaultdict(set)
    for line in ran.stdout.splitlines():
        if line.startswith("[gw"):
            workers[Path(line.split()[-1].split("::")[0]).name].add(line[:5])
    assert {*workers} == {*files}
    assert workers["test_readme.py"] == workers["test_examples.py"]
    assert all(len(workers[name]) == 1 for name in files[:-1])
    assert {worker for of in workers.values() for worker in of} == {"[gw0]", "[gw1]"}
