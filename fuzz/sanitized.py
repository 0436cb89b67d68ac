"""The compiled core under AddressSanitizer and UBSan, which end the process at the first fault.

    _core.c ──cc -fsanitize=…──► _core.so ──► the same command again, sanitizers loaded first

A fault is a read or write outside of an array, an integer overflow, a misaligned or null pointer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE: Final = Path(__file__).parent.parent / "src" / "tfprof" / "kernels" / "_core.c"
FAULT: Final = 99
"""The exit code of a process in which a sanitizer found something."""

_CORE = "TFPROF_SANITIZED_CORE"
_NAME = "tfprof.kernels._core"
_FLAGS = (
    *("-g", "-O1", "-fno-omit-frame-pointer", "-fno-strict-aliasing", "-fPIC", "-c"),
    *("-Wall", "-Wextra", "-Werror"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)


@contextmanager
def environment(source: Path = SOURCE) -> Iterator[dict[str, str]]:
    """The variables of a process that runs with the core built of *source*."""
    import atheris  # noqa: PLC0415 - slow to import

    compiler = os.environ.get("CC", "gcc")
    with TemporaryDirectory() as folder:
        core = Path(folder) / "_core.so"
        part, headers = core.with_suffix(".o"), sysconfig.get_paths()["include"]
        compile_it = [compiler, *_FLAGS, "-I", headers, "-o", str(part), str(source)]
        link_it = [compiler, "-shared", "-o", str(core), str(part)]  # to no sanitizer of its own
        for words in (compile_it, link_it):
            subprocess.run(words, check=True)  # noqa: S603 - our own source
        yield {
            **os.environ,
            _CORE: str(core),
            # One library has the sanitizers and libFuzzer: two would not know of each other.
            "LD_PRELOAD": str(Path(atheris.path()) / "asan_with_fuzzer.so"),
            # Python itself never frees some of its objects; test_kernels.py looks for our leaks.
            "ASAN_OPTIONS": f"detect_leaks=0:exitcode={FAULT}:malloc_context_size=0",
            "UBSAN_OPTIONS": f"print_stacktrace=1:exitcode={FAULT}",
        }


def again(source: Path = SOURCE) -> int:
    """Run this command again with the sanitized core; its exit code."""
    with environment(source) as variables:
        words = [sys.executable, *sys.orig_argv[1:]]
        return subprocess.run(words, check=False, env=variables).returncode  # noqa: S603


def is_loaded() -> bool:
    """Whether this process runs with the sanitized core."""
    return _CORE in os.environ


def load() -> None:
    """Make the sanitized core the one that tfprof imports, if this process shall have it."""
    if not is_loaded():
        return
    assert "tfprof.kernels.table" not in sys.modules, "another core is in use"
    path = os.environ[_CORE]
    spec = spec_from_file_location(_NAME, path, loader=ExtensionFileLoader(_NAME, path))
    assert spec is not None
    assert spec.loader is not None
    sys.modules[_NAME] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[_NAME])
