"""Programs that tests need and Debian has: found on PATH or installed, never done without."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def found_or_installed(find: Callable[[], T | None], what: str, *packages: str) -> T:
    """What *find* finds, after the first of *packages* that helps; raises RuntimeError."""
    if (found := find()) is not None:
        return found
    # Tests run side by side; the package manager does not.
    with (Path(tempfile.gettempdir()) / "tfprof-tests-install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (found := find()) is not None:
            return found
        said = _apt("update")
        for package in packages:
            said += _apt("install", "-y", "--no-install-recommends", package)
            if (found := find()) is not None:
                return found
    raise RuntimeError(f"these tests need {what} on PATH, and it could not be installed: {said}")


def _apt(*words: str) -> str:
    """Run apt-get; what it said."""
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    command = [*rights, "apt-get", *words]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        ran = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    except FileNotFoundError as missing:
        return f"{' '.join(command)}: {missing}\n"
    return f"{' '.join(command)}:\n{ran.stdout}{ran.stderr}"
