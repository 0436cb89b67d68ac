"""Functions named by dotted path, so that a table can hold them without importing their modules."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def load_function(path: str) -> Callable[..., Any]:
    """Import the function at *path*, as in "tfprof.writers.csv_table:csv_table"."""
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
