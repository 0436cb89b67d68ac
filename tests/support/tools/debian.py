"""Programs that tests drive and that Debian has: found, or installed, never done without."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Tests run side by side; the package manager does not.
_LOCK: Final = Path(tempfile.gettempdir()) / f"tfprof-tests-{os.geteuid()}.lock"
_INSTALL: Final = ("install", "-y", "--no-install-recommends")
_SIZE: Final = re.compile(r"(?m)^'\S+' \S+ (\d+)")


def found_or_installed(what: str, found: Callable[[], T | None], packages: tuple[str, ...]) -> T:
    """What *found* finds, once one of *packages* is installed; raises RuntimeError."""
    if (here := found()) is not None:
        return here
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = "" if found() is not None else _apt("update")
        for package in packages:
            if (here := found()) is not None:
                return here
            size = sum(map(int, _SIZE.findall(_apt(*_INSTALL, "--print-uris", package)))) / 1e6
            sys.stderr.write(f"Debian's package {package}: {size:.0f} MB to download\n")
            said += _apt(*_INSTALL, package)
        if (here := found()) is not None:
            return here
    raise RuntimeError(f"these tests need {what}, and it could not be installed:\n{said}")


def _apt(*words: str) -> str:
    """What apt-get says."""
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    command = [*rights, "apt-get", *words]
    try:
        ran = subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as missing:
        return f"{' '.join(command)}: {missing}\n"
    return f"{' '.join(command)}:\n{ran.stdout}{ran.stderr}"
