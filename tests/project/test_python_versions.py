"""Every release of Python that pyproject.toml names: installed there, tfprof passes its tests.

The release that runs this test runs all others, too. The others are found by name, as `python3.12`,
or among those of pyenv. One that this machine does not have is skipped, and the run says so.
"""

from __future__ import annotations

import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import processes
from paths import ROOT, in_rooms
from supported_releases import VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNNING: Final = "{}.{}".format(*sys.version_info)
# Readers, rules, columns, the shell: what needs neither TensorFlow nor much time.
FILES: Final = (
    *("test_shell", "test_tables", "test_tensor_values", "test_matching", "test_units"),
    *("test_functions", "test_saved_model", "test_run_functions", "test_flops_rules"),
    *("test_xplane", "test_xplane_merge", "test_xplane_names", "test_kernels", "test_tree"),
)


def interpreters(version: str) -> Iterator[Path]:
    """Where this release may be."""
    by_name = shutil.which(f"python{version}")
    if by_name:
        yield Path(by_name)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from pyenv.glob(f"versions/{version}.*/bin/python")


run = partial(processes.run, cwd=ROOT, env={"PYTHONPATH": None})


def python_of(version: str) -> Path:
    """An interpreter of this release that works; a name of pyenv's may lead nowhere."""
    for python in interpreters(version):
        says = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])", check=False)
        if says.stdout.strip() == version:
            return python
    pytest.skip(f"Python {version} is not installed")


@pytest.mark.whole
@pytest.mark.parametrize("version", [one for one in VERSIONS if one != RUNNING])
def test_a_release(version: str, tmp_path: Path) -> None:
    run(python_of(version), "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    words = ("pip", "install", "--quiet", "--disable-pip-version-check")
    run(python, "-m", *words, ROOT, "pytest>=8", "hypothesis>=6.100")
    ran = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *in_rooms(FILES))
    assert " passed" in ran.stdout
