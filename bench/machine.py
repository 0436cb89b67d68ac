"""Where and with what the numbers were measured, in a few lines."""

from __future__ import annotations

import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("tfprof", "numpy", "protobuf", "google-re2", "tensorflow-cpu")


def described() -> str:
    """The machine, the versions, the date and how busy it is."""
    processor = f"{_field('/proc/cpuinfo', 'model name') or platform.processor()}"
    kilobytes = _field("/proc/meminfo", "MemTotal").split()
    memory = f"{int(kilobytes[0]) / 1e6:.0f} GB" if kilobytes else "memory unknown"
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    versions = ", ".join(f"{name} {_version(name)}" for name in _PACKAGES)
    return (
        f"- {processor}, {os.cpu_count()} cores, {memory}, {platform.system()}\n"
        f"- Python {platform.python_version()}, {versions}\n"
        f"- {time.strftime('%Y-%m-%d', time.gmtime())}, load average {load} at the end\n"
    )


def _field(file: str, name: str) -> str:
    """The first value called *name* in a file of `name: value` lines; empty where there is none."""
    path = Path(file)
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
