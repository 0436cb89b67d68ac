"""need(): a package of an extra, imported when something needs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from tfprof.errors import UsageError

# What needs each package, and the extra that installs it.
_EXTRAS: Final = {
    "pyarrow": ("a fleet", "fleet"),
    "fsspec": ("a URL", "fleet"),
    "dask": ("--scheduler", "fleet"),
    "distributed": ("--scheduler", "fleet"),
    "duckdb": ("sql()", "sql"),
}


def need(module: str) -> Any:  # noqa: ANN401 - a module
    """The *module*, such as "pyarrow.parquet"; raises UsageError where it is not installed."""
    package = module.partition(".")[0]
    what, extra = _EXTRAS[package]
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(f"{what} needs {package}: pip install 'tfprof[{extra}]'") from None
