"""What the wheel and the source distribution hold, and what their metadata says."""

from __future__ import annotations

import hashlib
import sys
import tarfile
import zipfile
from email import message_from_bytes
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

import processes
from paths import ROOT
from supported_releases import VERSIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

if TYPE_CHECKING:
    from email.message import Message
    from pathlib import Path

PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# SHA-256 of https://www.apache.org/licenses/LICENSE-2.0.txt
APACHE: Final = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"


class Built(NamedTuple):
    """A source distribution and the wheel that is built from it."""

    sdist: Path
    wheel: Path


def run(*words: str | Path, cwd: Path) -> str:
    return processes.run(*words, cwd=cwd, env={"PYTHONPATH": None}).stdout


def environment(home: Path) -> Path:
    """The Python of a new environment."""
    run(sys.executable, "-m", "venv", home, cwd=home.parent)
    return home / "bin" / "python"


def files_in(folder: Path) -> set[str]:
    found = folder.rglob("*")
    return {str(one.relative_to(folder)) for one in found if one.is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Built as a packager builds them: the sources first, the wheel from nothing but these."""
    home = tmp_path_factory.mktemp("build")
    python = environment(home / "venv")
    run(python, "-m", "pip", "install", "--quiet", "hatchling>=1.26", cwd=home)
    run(python, "-m", "hatchling", "build", "-t", "sdist", "-d", home, cwd=ROOT)
    (sdist,) = home.glob("*.tar.gz")
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", home, sdist, cwd=home)
    (wheel,) = home.glob("*.whl")
    return Built(sdist, wheel)


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def test_the_licence_is_the_one_that_is_named() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert PROJECT["license-files"] == ["LICENSE"]
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE
    assert "Apache License 2.0" in (ROOT / "README.md").read_text()


def test_the_classifiers_claim_what_is_tested() -> None:
    """The Pythons of test_python_versions.py, on Linux."""
    claimed = [one.split(" :: ")[-1] for one in PROJECT["classifiers"] if "Python :: 3." in one]
    assert claimed == list(VERSIONS)
    assert PROJECT["requires-python"] == f">={VERSIONS[0]}"
    systems = [one for one in PROJECT["classifiers"] if one.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]


@pytest.mark.whole
def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    package = {name for name in names if name.startswith("tfprof/")}
    ours = {f"tfprof/{name}" for name in files_in(ROOT / "src" / "tfprof")}
    assert package == {name for name in ours if "__pycache__" not in name}
    assert {"tfprof/py.typed", "tfprof/sample/graph.pbtxt.gz"} < package
    about = {name.split("/", 1)[1] for name in names - package}
    assert about == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


@pytest.mark.whole
def test_the_wheel_says_what_it_is_and_needs(built: Built) -> None:
    about = metadata(built.wheel)
    assert about["License-Expression"] == "Apache-2.0"
    needed = {one.split(">")[0] for one in about.get_all("Requires-Dist", []) if ";" not in one}
    assert needed == {"google-re2", "numpy", "prompt-toolkit", "protobuf"}
    assert not any(one.startswith("tensorflow") for one in needed)


@pytest.mark.whole
def test_the_sources_hold_every_file_of_the_project(built: Built) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("only git knows which files are the project's")
    with tarfile.open(built.sdist) as archive:
        names = {one.name.split("/", 1)[1] for one in archive.getmembers() if one.isfile()}
    words = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    ours = set(run(*words, cwd=ROOT).split("\0")) - {""}
    assert ours - names == {".ci/run"}
    assert names - ours == {"PKG-INFO"}


@pytest.mark.whole
def test_the_wheel_works_in_a_new_environment(built: Built, tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    run(python, "-m", "pip", "install", "--quiet", built.wheel, cwd=tmp_path)
    script = python.with_name("tfprof")
    assert run(script, "--version", cwd=tmp_path).startswith("tfprof ")
    home = run(python, "-c", "import tfprof; print(tfprof.__path__[0])", cwd=tmp_path).strip()
    assert home.startswith(str(tmp_path))
    head, command, golden = (ROOT / "tests/data/cases/scope_params.txt").read_text().split("\n", 2)
    assert head == "# profile: resnet"
    words = command.removeprefix("# run: ").split()
    assert run(script, *words, f"{home}/sample", "--order_by=name", cwd=tmp_path) == golden
    # pytest finds the plugin by its entry point.
    run(python, "-m", "pip", "install", "--quiet", "pytest>=8", cwd=tmp_path)
    within = f'tfprof_check("{home}/sample", params="<= 464154")'
    (tmp_path / "test_size.py").write_text(f"def test_size(tfprof_check): {within}\n")
    assert "1 passed" in run(python, "-m", "pytest", "-q", "-W", "error", cwd=tmp_path)
