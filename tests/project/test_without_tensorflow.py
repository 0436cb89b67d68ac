"""Where TensorFlow is not installed, all that is made from files works: its tests pass there."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

import processes
from paths import ROOT, in_rooms

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Python = Callable[..., CompletedProcess[str]]

# What all of them need takes long to make, so one worker has them all.
pytestmark = pytest.mark.whole

# Those that need no original beside ours: commands and shell, rules, checkpoints, columns, and what
# programs of TensorFlow 2 leave.
FILE_TESTS = (
    *("test_seeds", "test_shell", "test_tables", "test_tensor_values", "test_checkpoint_damage"),
    *("test_flops_rules", "test_flops_table", "test_flops_signatures", "test_matching"),
    *("test_functions", "test_saved_model", "test_run_functions", "test_units"),
    *("test_xplane", "test_xplane_merge", "test_xplane_names"),
)
SCRIPT = """
import importlib.util, tfprof
assert importlib.util.find_spec("tensorflow") is None
resnet = tfprof.load_sample()
report = resnet.op(select=["float_ops", "micros"], order_by="float_ops")
assert report.rows[1].name == "Conv2D" and not report.flops.uncounted
assert report.proto().total_float_ops == report.rows[0].total_float_ops
assert tfprof.Profiler(resnet.inputs[0]).loaded.steps == ()
try:
    with tfprof.ProfileContext("."):
        pass
except tfprof.UsageError as refused:
    print(refused)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Python:
    """A Python with tfprof, what it depends on, and what runs tests; nothing else."""
    home = tmp_path_factory.mktemp("bare")
    processes.python("-m", "venv", home)
    there = home / "bin" / "python"
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    processes.run(there, *pip, ROOT, "pytest", "hypothesis")
    return partial(processes.run, there, cwd=ROOT, env={"PYTHONPATH": None})


def test_reports_and_profilers_of_files(python: Python) -> None:
    assert "TensorFlow" in python("-c", SCRIPT).stdout


def test_the_tests_of_files_pass(python: Python) -> None:
    ran = python("-m", "pytest", "-q", "-p", "no:cacheprovider", *in_rooms(FILE_TESTS))
    assert " passed" in ran.stdout
    assert "skipped" not in ran.stdout
