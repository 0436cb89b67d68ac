"""tfprof says where a TensorFlow model's parameters, float operations, time and memory go."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfprof.answered import Answer as Answer
    from tfprof.api import ask as ask
    from tfprof.api import load as load
    from tfprof.api import to_text as to_text
    from tfprof.errors import InputError as InputError
    from tfprof.errors import OutputError as OutputError
    from tfprof.errors import TfprofError as TfprofError
    from tfprof.errors import UsageError as UsageError
    from tfprof.model import Profile as Profile
    from tfprof.query import Query as Query

__version__ = "0.1.0"

_HOME = {
    "load": "tfprof.api",
    "ask": "tfprof.api",
    "to_text": "tfprof.api",
    **dict.fromkeys(("TfprofError", "UsageError", "InputError", "OutputError"), "tfprof.errors"),
    "Answer": "tfprof.answered",
    "Profile": "tfprof.model",
    "Query": "tfprof.query",
}

__all__ = [
    "Answer",
    "InputError",
    "OutputError",
    "Profile",
    "Query",
    "TfprofError",
    "UsageError",
    "__version__",
    "ask",
    "load",
    "to_text",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'tfprof' has no attribute {name!r}")
