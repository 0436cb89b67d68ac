"""Builds the compiled core, if it can: without a compiler or Python's headers, tfprof uses NumPy.

    src/tfprof/kernels/_core.c  ──►  src/tfprof/kernels/_core.abi3.so

TFPROF_BUILD=numpy leaves it out.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Python's limited interface has buffers since 3.11; free-threaded Python has no such interface.
_LIMITED = sys.version_info >= (3, 11) and not sysconfig.get_config_var("Py_GIL_DISABLED")


class CompiledCore(BuildHookInterface[Any]):
    """Compiles the C source and adds it to the wheel; beside itself for an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel or an editable install is built."""
        source = Path(self.root, "src", "tfprof", "kernels", "_core.c")
        suffix = ".abi3.so" if _LIMITED else sysconfig.get_config_var("EXT_SUFFIX")
        editable = version == "editable"
        self._folder = TemporaryDirectory()  # until the wheel is written
        target = (source.parent if editable else Path(self._folder.name)) / f"_core{suffix}"
        problem = compile_core(source, target)
        if problem:
            target.unlink(missing_ok=True)  # one of an older source
            self.app.display_warning(f"tfprof is built without its compiled core: {problem}")
            return
        if not editable:
            build_data["force_include"][str(target)] = f"tfprof/kernels/{target.name}"
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        if _LIMITED:
            build_data["tag"] = f"cp311-abi3-{platform}"
        else:
            build_data["infer_tag"] = True


def compile_core(source: Path, target: Path) -> str:
    """Compile *source* to *target*; returns why not, or nothing."""
    if os.environ.get("TFPROF_BUILD", "").lower() == "numpy":
        return "TFPROF_BUILD=numpy"
    # The compiler that Python was built with need not be on this machine.
    own = os.environ.get("CC")
    compilers = [own] if own else [sysconfig.get_config_var("CC") or "cc", "cc", "gcc", "clang"]
    problems = []
    for compiler in dict.fromkeys(compilers):
        problem = _compile(compiler, source, target)
        if not problem:
            return ""
        problems.append(problem)
    return problems[0]


def _compile(compiler: str, source: Path, target: Path) -> str:
    limited = ["-DPy_LIMITED_API=0x030B0000"] if _LIMITED else []
    apple = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    fresh = target.with_name(f"{target.name}.{os.getpid()}")
    command = [
        *shlex.split(compiler),
        *("-O2", "-fPIC", "-shared", "-fno-strict-aliasing"),
        *limited,
        *apple,
        *("-I", sysconfig.get_paths()["include"], "-o", str(fresh), str(source)),
    ]
    try:
        ended = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    except OSError as error:
        return str(error)
    if ended.returncode:
        fresh.unlink(missing_ok=True)
        lines = ended.stderr.decode(errors="replace").splitlines()
        return next((line for line in lines if "error" in line), f"{compiler} failed")
    fresh.replace(target)  # a process that uses the old file keeps it
    return ""
