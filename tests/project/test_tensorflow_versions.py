"""Captures, ProfileContexts and the classic calls with several releases of TensorFlow.

Each release has an environment of its own, made from the project's own files: the newest one, one
in between, and the oldest that works with NumPy 1.26, which tfprof needs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest

import processes
from paths import ROOT, in_rooms
from supported_releases import RELEASES

# What an environment needs takes long to install, so one worker has them all.
pytestmark = pytest.mark.whole

TOOLS: Final = ("pytest>=8", "hypothesis>=6.100")  # conftest.py imports both
FILES: Final = (
    *("test_capture", "test_capture_keras", "test_capture_saved_model", "test_live_functions"),
    *("test_profile_context", "test_profile_context_left", "test_profile_context_threads"),
    *("test_classic_release", "test_tensorflow_internals"),
)


def run(*words: str | Path) -> str:
    """The output of a command in the project's folder."""
    return processes.run(
        *words, cwd=ROOT, env={"PYTHONPATH": None, "TF_CPP_MIN_LOG_LEVEL": "3"}
    ).stdout


def python_with(release: str) -> str:
    """The Python of an environment that has this release; an earlier one is used again."""
    home = ROOT / f".venv-tf-{release}"
    python = str(home / "bin" / "python")
    mark = home / ".installed"
    files = (ROOT / "pyproject.toml", Path(__file__))
    if not mark.exists() or mark.stat().st_mtime < max(one.stat().st_mtime for one in files):
        run(sys.executable, "-m", "venv", str(home))
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, "-e", str(ROOT), f"tensorflow-cpu=={release}.*", *TOOLS)
        mark.touch()
    return python


@pytest.mark.parametrize("release", RELEASES)
def test_a_release(release: str) -> None:
    python = python_with(release)
    version = run(python, "-c", "import tensorflow; print(tensorflow.__version__)")
    assert version.startswith(f"{release}.")
    # Warnings of old releases about new versions of what they use are not ours.
    words = ("-q", "-p", "no:cacheprovider", "-o", "filterwarnings=", *in_rooms(FILES))
    assert " passed" in run(python, "-m", "pytest", *words)
