"""Bytes → columns → Profile, one file or folder per format; loading.py is where they meet.

The names below are imported when they are used: the cache reads columns alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.read.add_files import with_shape_source
    from tfprof.read.loading import (
        add_run,
        add_trace,
        load,
        load_files,
        read_graph,
        read_op_log,
        read_run,
        read_saved,
    )
    from tfprof.read.source import Source

__all__ = [
    "Source",
    "add_run",
    "add_trace",
    "load",
    "load_files",
    "read_graph",
    "read_op_log",
    "read_run",
    "read_saved",
    "with_shape_source",
]
_HOME = {"Source": "source", "with_shape_source": "add_files"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in __all__:
        raise AttributeError(f"module 'tfprof.read' has no attribute {name!r}")
    return getattr(import_module(f"tfprof.read.{_HOME.get(name, 'loading')}"), name)
