"""Go's own pprof, asked what it makes of a file.

It is taken from PATH or from where Debian's package of Go keeps it; where there is none, the
package is installed. A machine where that fails cannot run these tests, and is told so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tools.debian import found_or_installed

# Debian's package; the tool in it is an ordinary program and needs nothing else of Go.
_INSTALLED: Final = "go-*/pkg/tool/linux_*/pprof"
_LIBRARIES: Final = Path("/usr/lib")
_PACKAGES: Final = ("golang-1.19-go", "golang-go")


def run(file: Path, *flags: str) -> str:
    """What `pprof FLAGS FILE` prints."""
    environment = {**os.environ, "HOME": str(file.parent), "PPROF_TMPDIR": str(file.parent)}
    ran = subprocess.run(
        [*command(), *flags, str(file)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"pprof refuses {file.name}:\n{ran.stderr}"
    return ran.stdout


class Line(NamedTuple):
    """A function as `pprof -top` tells it."""

    own: int
    cumulative: int
    name: str


class Top(NamedTuple):
    """What `pprof -top` prints, the heaviest first."""

    total: int
    lines: list[Line]


def top(file: Path, *flags: str, unit: str = "") -> Top:
    """All functions in whole numbers of *unit*, but for those with nothing at all."""
    everything = ("-nodecount=0", "-nodefraction=0", "-edgefraction=0")
    text = run(file, "-top", *everything, *([f"-unit={unit}"] if unit else []), *flags)
    (total,) = re.findall(rf"% of (\d+){unit} total", text)
    number = rf"(\d+)(?:{unit})?"
    found = re.findall(rf"(?m)^ *{number} +\S+% +\S+% +{number} +\S+%  (.*)$", text)
    lines = (Line(int(own), int(cumulative), name) for own, cumulative, name in found)
    return Top(int(total), [line for line in lines if line.cumulative])


@cache
def command() -> list[str]:
    """The words that start pprof, installed if need be; raises RuntimeError."""
    return found_or_installed(_found, "Go's pprof, or go,", *_PACKAGES)


def _found() -> list[str] | None:
    if tool := shutil.which("pprof"):
        return [tool]
    for tool_of_go in sorted(_LIBRARIES.glob(_INSTALLED)):
        return [str(tool_of_go)]
    if go := shutil.which("go"):
        return [go, "tool", "pprof"]
    return None
