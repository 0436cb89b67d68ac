"""tfprof says where a TensorFlow model's parameters, float operations, time and memory go."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.api import ask as ask
    from tfprof.api import load as load
    from tfprof.model import Profile as Profile
    from tfprof.query import Query as Query
    from tfprof.report import Report as Report

__version__ = "0.1.0"

_HOME = {
    "load": "tfprof.api",
    "ask": "tfprof.api",
    "Report": "tfprof.report",
    "Profile": "tfprof.model",
    "Query": "tfprof.query",
}

__all__ = ["Profile", "Query", "Report", "__version__", "ask", "load"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'tfprof' has no attribute {name!r}")
