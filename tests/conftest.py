"""What tests share: their options, the C++ original, TensorFlow, and a model in a session."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, core, settings

import model_files
import paths
import sampling
from cached import Asking
from command import Command
from forked import Forked
from memory_peak import MemoryPeak
from oracle import Oracle
from tfprof.kernels.core import CORE
from tfprof.kernels.table import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from page_browser import Chromium, Pages
    from profiled_sessions import Model

# Before any test imports TensorFlow: what it logs would stand among what is compared.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
# The cache is for its own tests alone; children inherit this.
os.environ["TFPROF_CACHE"] = "off"
# So are pagers, colours and sizes of terminals, whatever whoever runs the tests likes.
for name in ("TFPROF_PAGER", "PAGER", "LESS", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
    os.environ.pop(name, None)


# A machine that is busy with other things is no fault of a test.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


_FEW_FILES: Final = 40  # who runs more files than these wants a sample of slow tests
_SHARE_OF_PAGES: Final = 0.15  # of the tests of the page in Chromium, every day
_OF_COMMIT: Final = "commit"
_PEAK: Final = pytest.StashKey[MemoryPeak]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the goldens in data/cases")
    parser.addoption("--whole", action="store_true", help="try every case, not a sample")
    parser.addoption(
        "--slice",
        metavar=f"1…{sampling.SLICES}",
        help=f"of what is left out every day, one slice; `{_OF_COMMIT}`: the commit chooses it",
    )
    parser.addoption("--seed", type=int, help="choose the samples and random cases of that run")


def pytest_configure(config: pytest.Config) -> None:
    option = config.option
    if option.seed is None:
        option.seed = sampling.seed_of_commit()  # xdist hands it on to its workers
    sampling.start(option.seed, _part(option))
    if core.global_force_seed is None:
        core.global_force_seed = sampling.seed()  # type: ignore[assignment]
    if not hasattr(config, "workerinput") and MemoryPeak.is_known_here():
        config.stash[_PEAK] = MemoryPeak()


def _part(option: Any) -> int:
    """The cases that the command line asks for; raises UsageError."""
    if option.slice is None:
        return sampling.WHOLE if option.whole else sampling.EVERY_DAY
    if option.slice == _OF_COMMIT:
        return 1 + option.seed % sampling.SLICES  # type: ignore[no-any-return]
    if option.slice in map(str, range(1, sampling.SLICES + 1)):
        return int(option.slice)
    raise pytest.UsageError(f"--slice takes 1 to {sampling.SLICES}, or {_OF_COMMIT}")


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
    seed, part, _ = sampling.run()
    if part == sampling.WHOLE:
        return f"cases: all; random ones of seed {seed}"
    if part == sampling.EVERY_DAY:
        return f"cases: those of every day, samples of seed {seed}; --slice tries others"
    again = f"make test-slice SLICE={part} ARGS=--seed={seed}"
    return f"cases: slice {part} of {sampling.SLICES} of what is left out every day; again: {again}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if terminalreporter.stats.get("failed"):
        terminalreporter.write_line(f"The same cases again: pytest {sampling.again()} …")
    if _PEAK in config.stash:
        terminalreporter.write_line(config.stash[_PEAK].end())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part = sampling.run().part
    if part == sampling.WHOLE:
        return
    few = len({item.path for item in items}) <= _FEW_FILES
    for item in items:
        if _draws_cases(item) and not any(map(item.get_closest_marker, ("sampled", "whole"))):
            raise pytest.UsageError(f"{item.nodeid} draws its cases: mark it sampled")
    left_out = {item for item in items if not _is_tried(item, part, with_pages=few)}
    if left_out:
        config.hook.pytest_deselected(items=[*left_out])
        items[:] = [item for item in items if item not in left_out]


def _is_tried(item: pytest.Item, part: int, *, with_pages: bool) -> bool:
    is_whole, is_sampled = map(item.get_closest_marker, ("whole", "sampled"))
    rare = _draws_a_page(item) and sampling.rng(item.nodeid).random() >= _SHARE_OF_PAGES
    if part == sampling.EVERY_DAY:
        return not is_whole and (with_pages or not rare)
    # Of some tests, every case is in the sample.
    if item.get_closest_marker("skip") or sampling.slice_of(item.nodeid) != part:
        return False
    return bool(is_whole or is_sampled or rare)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with sampling.during(is_marked=any(map(item.get_closest_marker, ("sampled", "whole")))):
        return (yield)


def _draws_cases(item: pytest.Item) -> bool:
    values = (value for mark in item.iter_markers("parametrize") for value in mark.args[1:2])
    return any(isinstance(value, sampling.Drawn) for value in values)


def _draws_a_page(item: pytest.Item) -> bool:
    """Whether a test of the page needs Chromium, and has no sample of its own."""
    return (
        item.path.name.startswith("test_page_")
        and "chromium" in getattr(item, "fixturenames", ())
        and not any(map(item.get_closest_marker, ("sampled", "whole")))
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
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forked]:
    """Runs commands in children of one process that has imported tfprof."""
    with Forked(tmp_path_factory.mktemp("printed")) as run:
        yield run


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs commands in this process."""
    return Command(capfd)


@pytest.fixture
def tfprof(capfd: pytest.CaptureFixture[str]) -> Command:
    """The same, where a test reads like a line of the shell."""
    return Command(capfd)


@pytest.fixture(scope="session")
def keras_fit(tensorflow: Forked, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the example for Keras prints, and the folder that it writes."""
    folder = tmp_path_factory.mktemp("keras_fit")
    out = tensorflow.script(paths.ROOT / "examples" / "keras_fit.py", str(folder))
    return out.decode(), folder


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder with the files of these models."""

    @cache
    def folder(name: str) -> Path:
        return model_files.unpacked(name, tmp_path_factory.mktemp(name))

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
