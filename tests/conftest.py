"""What tests share: their options, the C++ original, TensorFlow, and a model in a session."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, core, settings

import model_files
import sampling
from cached import Asking
from forked import Forked
from oracle import Oracle
from tfprof.kernels.core import CORE
from tfprof.kernels.table import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

    from page_browser import Chromium, Pages
    from profiled_sessions import Model

# Before any test imports TensorFlow: what it logs would stand among what is compared.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# The cache is for its own tests alone; children inherit this.
os.environ["TFPROF_CACHE"] = "off"
# So are pagers, colours and sizes of terminals, whatever whoever runs the tests likes.
for name in ("TFPROF_PAGER", "PAGER", "LESS", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
    os.environ.pop(name, None)


# A machine that is busy with other things is no fault of a test.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


_FEW_FILES: Final = 40  # who runs more files than these wants a sample of slow tests
_PAGES: Final = 24  # tests of the page in Chromium, in a sample


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the goldens in tests/cases")
    parser.addoption("--whole", action="store_true", help="try every case, not a sample")
    parser.addoption("--seed", type=int, help="choose the samples and random cases of that run")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "whole: takes long; runs with --whole only")
    if config.option.seed is None:
        config.option.seed = sampling.seed_of_commit()  # xdist hands it on to its workers
    sampling.start(whole=config.option.whole, seed=config.option.seed)
    if core.global_force_seed is None:
        core.global_force_seed = sampling.seed()  # type: ignore[assignment]


@pytest.fixture(scope="module", params=["compiled", "NumPy"])
def kernels(request: pytest.FixtureRequest) -> Iterator[str]:
    """The core that a test runs with: each test of a kernel runs with both."""
    if request.param == "compiled" and CORE != "compiled":
        pytest.skip("tfprof was built without a compiler")  # test_build.py says whether it may be
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "NumPy":
            for kernel in KERNELS.values():
                patch.setattr(kernel, "compiled", None)
        yield request.param


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Units of work_units.py, for `--dist loadfile`."""
    if config.getoption("dist") != "loadfile":
        return None
    return import_module("work_units").WorkUnits(config, log)


def pytest_report_header() -> str:
    if sampling.is_whole():
        return f"cases: all; random ones of seed {sampling.seed()}"
    return f"cases: a sample of seed {sampling.seed()}; --whole tries all"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"The same cases again: pytest {sampling.again()} …")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if sampling.is_whole():
        return
    left_out = {item for item in items if item.get_closest_marker("whole")}
    if len({item.path for item in items}) > _FEW_FILES:
        pages = [item for item in items if _draws_a_page(item) and item not in left_out]
        left_out |= {*pages} - {*sampling.sampled(pages, _PAGES, "tests in Chromium")}
    if left_out:
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]


def _draws_a_page(item: pytest.Item) -> bool:
    """Whether a test of the page needs Chromium; one takes a second or more."""
    return item.path.name.startswith("test_page_") and "chromium" in getattr(
        item, "fixturenames", ()
    )


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    with Oracle() as one:
        yield one


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Chromium, Pages]]:
    """Chromium, and the pages it opens; it starts with the first test that needs it."""
    module = import_module("page_browser")
    one = module.Chromium()
    yield one, module.Pages(one.browser, tmp_path_factory.mktemp("pages"))
    one.close()


@pytest.fixture
def browser(chromium: tuple[Chromium, Pages]) -> Iterator[Browser]:
    with chromium[0].in_use() as one:
        yield one


@pytest.fixture
def open_page(chromium: tuple[Chromium, Pages]) -> Iterator[Pages]:
    """Opens pages of profiles; fails if one of them had a problem."""
    one, pages = chromium
    with one.in_use():
        yield pages
        problems = pages.close()
    assert problems == []


@pytest.fixture(scope="session")
def tensorflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forked]:
    """Runs scripts that need TensorFlow, in children of one process that has imported it."""
    with Forked(tmp_path_factory.mktemp("tensorflow"), "tensorflow") as run:
        yield run


@pytest.fixture(scope="session")
def keras_fit(tensorflow: Forked, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the example for Keras prints, and the folder that it writes."""
    folder = tmp_path_factory.mktemp("keras_fit")
    out = tensorflow.script(Path(__file__).parents[1] / "examples" / "keras_fit.py", str(folder))
    return out.decode(), folder


@pytest.fixture(scope="session")
def model_folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The folder with the files of these models; TensorFlow starts only if they must be built."""

    @cache
    def folder(name: str) -> Path:
        return model_files.files(
            name, tmp_path_factory.mktemp(name), lambda: request.getfixturevalue("tensorflow")
        )

    return folder


@pytest.fixture
def asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Asking:
    return Asking(tmp_path / "cache", monkeypatch, capfdbinary)


@pytest.fixture
def no_source_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Op logs without the text of lines, as TensorFlow 2 writes them."""
    monkeypatch.setattr("tfprof.capture.call_stacks.source_line", lambda *_: "")


@pytest.fixture(scope="module")
def kept_model() -> Iterator[Model]:
    """A small model and its session; TensorFlow is imported when a test first needs it."""
    model = import_module("profiled_sessions").Model()
    yield model
    model.session.close()


@pytest.fixture
def model(kept_model: Model) -> Iterator[Model]:
    """The model; and whatever a test does, sessions are afterwards as they were."""
    with import_module("profiled_sessions").sessions_unchanged():
        yield kept_model
