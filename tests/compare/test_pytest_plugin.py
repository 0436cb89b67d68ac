"""The pytest plugin, as a real pytest loads it: budgets in tests, and failures to read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import paths
import tfprof
from pytest_runs import Ran, run_pytest

if TYPE_CHECKING:
    from forked import Forked


MODEL: Final = paths.DATA / "pairs" / "mlp"

TESTS: Final = """
import pathlib
import pytest
import tfprof

FOLDER = pathlib.Path(MODEL_FOLDER)
GRAPH, LOG = FOLDER / "graph.pb.gz", FOLDER / "tfprof_log.gz"


@pytest.fixture(scope="module")
def model():
    return tfprof.load(GRAPH, op_log=LOG)


def test_within(tfprof_check, model):
    report = tfprof_check(model, params="<= 1994")
    assert report.ok


def test_files(tfprof_check):
    tfprof_check([GRAPH, str(LOG)], params="== 1_994")


def test_a_folder(tfprof_check):
    tfprof_check(FOLDER, {"op": {"BiasAdd": {"occurrence": "== 2"}}}, params="<= 2K", micros="> 0")


def test_too_large(tfprof_check, model):
    tfprof_check(model, params="<= 1.9k")


def test_a_scope_too_large(tfprof_check, model):
    tfprof_check(model, {"scope": {"encoder/hidden": {"params": "< 1344"}}}, params="<= 1M")


def test_a_typo(tfprof_check, model):
    tfprof_check(model, parms="<= 1M")


def test_nothing(tfprof_check, model):
    tfprof_check(model)


def test_no_such_file(tfprof_check):
    tfprof_check("no_such_model.keras", params="<= 1M")


def test_no_model(tfprof_check):
    tfprof_check(3, params="<= 1M")


def test_file_within(tfprof_budget, model):
    assert tfprof_budget.check(model).ok


def test_file_broken(tfprof_budget, model):
    path = tfprof_budget.path.with_name("strict.toml")
    tfprof_budget._replace(path=path).check(model)


def test_file_missing(tfprof_budget, model):
    path = tfprof_budget.path.with_name("missing.toml")
    tfprof_budget._replace(path=path).check(model)
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("project")
    tests = TESTS.replace("MODEL_FOLDER", repr(str(MODEL)))
    (folder / "test_model.py").write_text(tests, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\ntfprof_budget = budgets/model.toml\n")
    (folder / "budgets").mkdir()
    (folder / "budgets" / "model.toml").write_text('[model]\nparams = "<= 1994"\n')
    (folder / "budgets" / "strict.toml").write_text('[model]\nparams = "< 1994"\n')
    return run_pytest(folder)


# What the messages of tests that fail say.
FAILED: Final = {
    "test_too_large": ("params", "1,994", "1.9k"),
    "test_a_scope_too_large": ("encoder/hidden", "params", "1,344", "tfprof summary "),
    "test_a_typo": ("'parms'", "did you mean 'params'?"),
    "test_nothing": ("no bounds",),
    "test_no_such_file": ("no_such_model.keras",),
    "test_no_model": ("graph takes", "not int"),
    "test_file_broken": ("params", "1,994", "strict.toml"),
    "test_file_missing": ("missing.toml", "tfprof_budget"),
}


def test_bounds_that_are_kept_pass(ran: Ran) -> None:
    assert ran.code == 1, ran.out
    assert ran.failed.keys() == FAILED.keys()


@pytest.mark.parametrize("test", FAILED)
def test_a_failure_says_what_is_wrong(ran: Ran, test: str) -> None:
    for word in FAILED[test]:
        assert word in ran.failed[test]


def test_a_failure_shows_the_line_of_the_test_and_nothing_of_tfprof(ran: Ran) -> None:
    assert '>       tfprof_check(model, params="<= 1.9k")' in ran.out.replace("\n    \n", "\n")
    assert "pytest_plugin.py" not in ran.out
    assert "Traceback" not in ran.out


def test_the_budget_file_is_looked_for_in_the_root_directory(tmp_path: Path) -> None:
    """Also where pytest was started elsewhere; fixtures and the option explain themselves."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "below").mkdir()
    text = "def test(tfprof_budget): tfprof_budget.check('x')\n"
    (tmp_path / "below" / "test_model.py").write_text(text)
    ran = run_pytest(tmp_path, "below")
    assert str(tmp_path / "budget.toml") in ran.failed["test"]


def test_the_plugin_imports_nothing_of_tfprof() -> None:
    """It is loaded for everybody who has tfprof."""
    program = (
        "import pytest, sys; before = {*sys.modules}; import tfprof.pytest_plugin; "
        "print(*sorted({*sys.modules} - before))"
    )
    out = subprocess.check_output(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(tfprof.__file__).parents[1])},
        text=True,
    )
    assert out.split() == ["tfprof", "tfprof.pytest_plugin"]


LIVE: Final = """
import os, pytest

os.chdir(FOLDER)
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

TESTS = '''
import keras, tensorflow as tf

def model(*shape):
    return keras.Sequential([keras.Input(shape), keras.layers.Dense(3)])

def test_keras(tfprof_check):  # 4 x 3 weights and 3 biases; 3 x 4 products of 2 operations each
    tfprof_check(model(4), params="== 15", float_ops="== 54", dims={"batch": 2})
    tfprof_check(model(4), params="== 15", float_ops="== 27")

def test_open(tfprof_check):
    tfprof_check(model(None, 4), float_ops="<= 1G")

def test_function(tfprof_check):
    @tf.function(input_signature=[tf.TensorSpec([5, 4])])
    def product(x):
        return tf.matmul(x, tf.ones([4, 3]))
    tfprof_check(product, float_ops="<= 119")
'''
with open("test_live.py", "w") as file:
    file.write(TESTS)
pytest.main(["-p", "tfprof.pytest_plugin", "-p", "no:cacheprovider", "--tb=short", "."])
"""


@pytest.mark.whole
def test_live_models(tensorflow: Forked, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(f"FOLDER = {str(tmp_path)!r}\n{LIVE}", encoding="utf-8")
    out = tensorflow.script(script).decode()
    assert "2 failed, 1 passed" in out
    assert "float_ops" in out
    assert "120 is above the bound" in out  # 5 x 3 products of 4 numbers, 2 operations each
    assert "cannot be shown" in out
    assert "--dim" in out
