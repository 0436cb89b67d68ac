"""The shells that tests complete words in: found or installed from Debian, never done without."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def shell(name: str) -> str:
    """The path of the shell called *name*; raises RuntimeError where it cannot be had."""
    found = shutil.which(name)
    if found is not None:
        return found
    # Tests run side by side; the package manager does not.
    with (Path(tempfile.gettempdir()) / "tfprof-shells.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return shutil.which(name) or _installed(name)


def _installed(name: str) -> str:
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    for words in (["update"], ["install", "-y", "--no-install-recommends", name]):
        command = [*rights, "apt-get", *words]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError as problem:
            raise RuntimeError(_refusal(name, str(problem))) from None
        except subprocess.CalledProcessError as problem:
            raise RuntimeError(_refusal(name, f"{' '.join(command)}: {problem.stderr}")) from None
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(_refusal(name, "apt-get installed it, but not on PATH"))
    return found


def _refusal(name: str, why: str) -> str:
    return f"these tests need {name} on PATH, and it could not be installed: {why}"
