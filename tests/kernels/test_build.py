"""The compiled core is built where a compiler and Python's headers are; elsewhere NumPy does.

here             cc and Python.h     the wheel is of this platform, tfprof uses the compiled core
no compiler      an empty PATH  ┐
CC is wrong      no such file   ├    the wheel is of any platform, tfprof uses NumPy,
no headers       no Python.h    │    prints the same and passes the tests of the kernels
switched off     TFPROF_BUILD   ┘
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

import processes
from paths import ROOT
from sampling import sampled
from tfprof.kernels.core import CORE, DESCRIPTION

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS: Final = ("src", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore")
HEADERS: Final = Path(sysconfig.get_paths()["include"], "Python.h")
COMPILER: Final = next(filter(shutil.which, ("gcc", "cc", "clang")), None)
WITHOUT: Final = ("no compiler", "CC is wrong", "no headers", "switched off")
WITHOUT_HEADERS: Final = """
import os, sys
words = sys.argv[1:]
at = words.index("-I")
os.execvp(words[0], words[:at] + words[at + 2 :])
"""


class Build(NamedTuple):
    """A wheel, and the folder that it is installed to."""

    wheel: Path
    home: Path
    said: str

    def run(self, *words: str, **variables: str) -> str:
        """What a command with the installed tfprof prints."""
        return self.python("-m", "tfprof", *words, **variables)

    def python(self, *words: str, **variables: str) -> str:
        env = {"TFPROF_CORE": None, "PYTHONPATH": str(self.home), **variables}
        return processes.python(*words, cwd=ROOT, env=env).stdout


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Build]]:
    """A wheel of each environment, from a copy of the project."""
    folder = tmp_path_factory.mktemp("build")
    project = folder / "project"
    for part in PARTS:
        if (ROOT / part).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.so")
            shutil.copytree(ROOT / part, project / part, ignore=ignored)
        elif (ROOT / part).exists():
            project.mkdir(exist_ok=True)
            shutil.copy(ROOT / part, project / part)
    empty = folder / "empty"
    empty.mkdir()
    script = folder / "without_headers.py"
    script.write_text(WITHOUT_HEADERS)
    variables = {
        "here": {},
        "no compiler": {"PATH": str(empty)},
        "CC is wrong": {"CC": str(empty / "cc")},
        "no headers": {"CC": shlex.join([sys.executable, str(script), COMPILER or "cc"])},
        "switched off": {"TFPROF_BUILD": "numpy"},
    }
    yield {name: build(project, folder / name, differing) for name, differing in variables.items()}
    shutil.rmtree(folder)


def build(project: Path, folder: Path, variables: dict[str, str]) -> Build:
    """Build the wheel in this environment and unpack it."""
    words = ("-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    ran = processes.python(*words, cwd=project, env={"CC": None, "TFPROF_BUILD": None, **variables})
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "home")
    return Build(wheel, folder / "home", ran.stdout + ran.stderr)


def cores(home: Path) -> list[str]:
    """The names of the compiled cores in a folder."""
    return [file.name for file in (home / "tfprof" / "kernels").iterdir() if file.suffix == ".so"]


can_compile = pytest.mark.skipif(
    COMPILER is None or not HEADERS.exists(), reason="no compiler or no Python.h on this machine"
)


@can_compile
def test_tests_run_with_the_compiled_core() -> None:
    """All other tests would pass with NumPy alone."""
    if os.environ.get("TFPROF_CORE") != "numpy":
        assert (CORE, DESCRIPTION) == ("compiled", "compiled core")
        assert importlib.util.find_spec("tfprof.kernels._core") is not None


@can_compile
def test_a_wheel_with_the_compiled_core(builds: dict[str, Build]) -> None:
    made = builds["here"]
    if sys.version_info >= (3, 11):  # its interface serves later releases, too
        assert "-cp311-abi3-" in made.wheel.name
        assert cores(made.home) == ["_core.abi3.so"]
    else:
        assert "-cp310-cp310-" in made.wheel.name
        assert cores(made.home) == [f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"]
    assert "without" not in made.said
    assert made.run("--version").endswith(", compiled core\n")
    assert made.run("--version", TFPROF_CORE="numpy").endswith(", NumPy core (TFPROF_CORE=numpy)\n")


@pytest.mark.parametrize("name", WITHOUT)
def test_a_wheel_without_it(builds: dict[str, Build], name: str) -> None:
    made = builds[name]
    assert made.wheel.name.endswith("-py3-none-any.whl")
    assert not cores(made.home)
    reason = {"no headers": "Python.h", "switched off": "TFPROF_BUILD=numpy"}.get(
        name, "No such file"
    )
    assert "tfprof is built without its compiled core: " in made.said
    assert reason in made.said
    assert made.run("--version").endswith(", NumPy core (built without a compiler)\n")


@pytest.mark.sampled
@can_compile
@pytest.mark.parametrize("command", sampled(["scope", "graph", "op", "code"], 2, "of both cores"))
def test_both_print_the_same(builds: dict[str, Build], command: str) -> None:
    words = ("demo", command, "--select=params,micros,bytes", "--account_type_regexes=.*")
    here = builds["here"].run(*words)
    assert len(here) > 1_000
    assert builds["no compiler"].run(*words) == here
    assert builds["here"].run(*words, TFPROF_CORE="numpy") == here


def test_without_a_compiler_the_tests_of_the_kernels_pass(builds: dict[str, Build]) -> None:
    files = ("tests/kernels/test_kernels.py", "tests/columns/test_tree.py")
    said = builds["no compiler"].python("-m", "pytest", "-q", "-p", "no:cacheprovider", *files)
    assert " passed" in said
    assert "built without a compiler" in said


@can_compile
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("interface", ["-DPy_LIMITED_API=0x030B0000", "-DWHOLE"])
def test_the_source_compiles_without_a_warning(
    compiler: str, interface: str, tmp_path: Path
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    words = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wno-sign-conversion"]
    source = ROOT / "src" / "tfprof" / "kernels" / "_core.c"
    where = ("-I", HEADERS.parent, "-o", tmp_path / "core.o", source)
    processes.run(compiler, *words, "-Werror", interface, "-fPIC", "-c", *where)


@pytest.mark.whole
def test_pip_installs_without_a_compiler(tmp_path: Path) -> None:
    """As users do it, in a new environment whose PATH leads nowhere."""
    processes.python("-m", "venv", tmp_path / "venv")
    project = tmp_path / "project"
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "src", project / "src", ignore=ignored)
    for part in PARTS[1:]:
        shutil.copy(ROOT / part, project / part)
    python = tmp_path / "venv" / "bin" / "python"
    env = {"CC": None, "PYTHONPATH": None, "PATH": str(tmp_path)}
    for words in (("pip", "install", "--quiet", project), ("tfprof", "demo")):
        processes.run(python, "-m", *words, cwd=tmp_path, env=env)
    said = processes.run(python, "-m", "tfprof", "--version", cwd=tmp_path, env=env).stdout
    assert said.endswith(", NumPy core (built without a compiler)\n")
