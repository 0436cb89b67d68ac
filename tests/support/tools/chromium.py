"""The browser that tests drive: Debian's Chromium, found or installed, never done without."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
"""What keeps it from looking for a screen or for the rest of the internet."""


def chromium() -> str:
    """The path of a Chromium; raises RuntimeError where there is none and none can be had."""
    found = _found()
    if found is not None:
        return found
    # Tests run side by side; the package manager does not.
    with (Path(tempfile.gettempdir()) / "tfprof-chromium.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _found() or _installed()


def _found() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def _installed() -> str:
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    for words in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        command = [*rights, "apt-get", *words]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError as problem:
            raise RuntimeError(_refusal(str(problem))) from None
        except subprocess.CalledProcessError as problem:
            raise RuntimeError(_refusal(f"{' '.join(command)}: {problem.stderr}")) from None
    found = _found()
    if found is None:
        raise RuntimeError(_refusal("apt-get installed it, but not on PATH"))
    return found


def _refusal(why: str) -> str:
    return f"these tests need Chromium on PATH, and it could not be installed: {why}"
