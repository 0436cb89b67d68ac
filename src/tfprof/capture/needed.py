"""TensorFlow, which takes seconds to import: only who begins something that needs it pays."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tfprof.errors import UsageError


def tensorflow(needed_by: str) -> Any:  # noqa: ANN401 - a module without types
    """The module; raises UsageError where it is not installed, saying what it is *needed_by*."""
    try:
        return import_module("tensorflow")
    except ModuleNotFoundError as problem:
        if problem.name != "tensorflow":
            raise
        raise UsageError(f"{needed_by} needs TensorFlow, which is not installed") from None
