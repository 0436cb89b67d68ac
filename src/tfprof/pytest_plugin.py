"""The pytest plugin: budgets of models in tests.

    def test_size(tfprof_check):
        tfprof_check(build_model(), params="<= 25.6M", float_ops="<= 4.1G", dims={"batch": 1})

    def test_budget(tfprof_budget):
        tfprof_budget.check("exported_model")

pytest imports this module in every environment that has tfprof, so it imports the rest of tfprof
only when a test checks something.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tfprof.results.check_report import CheckReport
    from tfprof.results.loaded import Loaded

_OPTION = "tfprof_budget"


class Check(NamedTuple):
    """The fixture tfprof_check: call it with a model and its bounds.

    *model* is a live model or function, what `tfprof.load` returned, or the path of a file or
    folder, or a list of paths. The bounds are those of the table [model] of a budget file; *tables*
    has the others, as in {"scope": {"conv1.*": {"params": "<= 9k"}}}. *dims* gives sizes to open
    dimensions, as in {"batch": 1}; *steps* selects steps, as in "2-".
    """

    def __call__(
        self,
        model: Any,  # noqa: ANN401 - any of the forms
        tables: Mapping[str, Any] | None = None,
        *,
        dims: Mapping[str, int] | None = None,
        steps: str = "",
        **bounds: object,
    ) -> CheckReport:
        """The report, if the model keeps all bounds; else the test fails with its text."""
        __tracebackhide__ = True
        budget = dict(tables or {})
        if bounds:
            budget["model"] = {**budget.get("model", {}), **bounds}
        return _check(model, budget, dims, steps)


class Budget(NamedTuple):
    """The fixture tfprof_budget: the project's budget file."""

    path: Path

    def check(
        self,
        model: Any,  # noqa: ANN401 - as in Check
        *,
        dims: Mapping[str, int] | None = None,
        steps: str = "",
    ) -> CheckReport:
        """The report, if the model keeps every budget of the file; else the test fails."""
        __tracebackhide__ = True
        if not self.path.is_file():
            how = f"write it, or name another by {_OPTION} in pytest's configuration"
            pytest.fail(f"there is no budget file {self.path}: {how}")
        return _check(model, self.path, dims, steps)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The name of the budget file, in pytest.ini, pyproject.toml and so on."""
    text = "the budget file of the fixture tfprof_budget, from the root directory"
    parser.addini(_OPTION, text, default="budget.toml")


@pytest.fixture(scope="session")
def tfprof_check() -> Check:
    """Call it with a model and bounds: the test fails unless the model keeps them."""
    return Check()


@pytest.fixture(scope="session")
def tfprof_budget(pytestconfig: pytest.Config) -> Budget:
    """Call its method check with a model: the test fails unless the model keeps the budget file."""
    return Budget(pytestconfig.rootpath / str(pytestconfig.getini(_OPTION)))


def _check(
    model: Any,  # noqa: ANN401 - as in Check
    budget: Mapping[str, Any] | Path,
    dims: Mapping[str, int] | None,
    steps: str,
) -> CheckReport:
    from tfprof.errors import TfprofError  # noqa: PLC0415 - for tests that check something

    __tracebackhide__ = True
    try:
        report = _load(model).check(budget, dims=dims, steps=steps)
    except TfprofError as error:
        problem = str(error)
    else:
        if report.ok:
            return report
        problem = report.text()
    pytest.fail(problem)


def _load(model: Any) -> Loaded:  # noqa: ANN401 - as in Check
    from tfprof.api import load  # noqa: PLC0415 - as in _check
    from tfprof.io.find_inputs import choose_inputs  # noqa: PLC0415
    from tfprof.results.loaded import Loaded  # noqa: PLC0415
    from tfprof.tables.formats import load_arguments  # noqa: PLC0415

    if isinstance(model, Loaded):
        return model
    paths = model if isinstance(model, (list, tuple)) else [model]
    if paths and all(isinstance(path, (str, os.PathLike)) for path in paths):
        words = [os.fspath(path) for path in paths]
        return load(**load_arguments(choose_inputs(words, {})))
    return load(model)
