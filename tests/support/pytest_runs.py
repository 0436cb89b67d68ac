"""A real pytest that loads the plugin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import tfprof


# Two dense layers that train: 20 numbers → encoder/hidden of 64 units → head/logits of 10.
# Parameters: 20 x 64 weights and 64 biases, 64 x 10 weights and 10 biases: 1,344 + 650 = 1,994.
class Ran(NamedTuple):
    """What a run of pytest printed, and the message of each test that failed."""

    code: int
    out: str
    failed: dict[str, str]


def run_pytest(folder: Path, *words: str) -> Ran:
    """Run the tests in *folder*. Whether tfprof's entry point is installed makes no difference."""
    junit = folder / "ran.xml"
    source = str(Path(tfprof.__file__).parents[1])
    paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    plugins = ("-p", "tfprof.pytest_plugin", "-p", "no:cacheprovider")
    strict = ("-W", "error", "--strict-config", f"--junitxml={junit}")
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join(paths)}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, *strict, *words, str(folder)],
        cwd=folder, env={**os.environ, **alone}, capture_output=True, check=False, text=True,
    )  # fmt: skip
    cases = ET.parse(junit).getroot().iter("testcase") if junit.exists() else ()  # noqa: S314
    problems = {
        case.get("name", ""): [*case.iter("failure"), *case.iter("error")] for case in cases
    }
    failed = {name: each[0].get("message", "") for name, each in problems.items() if each}
    return Ran(ran.returncode, ran.stdout + ran.stderr, failed)
