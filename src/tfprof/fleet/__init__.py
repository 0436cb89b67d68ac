"""The runs of many workers as one dataset of Parquet, and what can be asked of it.

The package itself is callable: `tfprof.fleet("fleet/")` returns a `results.fleet.Fleet`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os


class _Room(ModuleType):
    """A module that can be called: this one."""

    def __call__(self, path: str | os.PathLike[str]) -> Any:  # noqa: ANN401 - of a room behind it
        """As `api.open_fleet`."""
        from tfprof.foundation.dotted import load_function  # noqa: PLC0415 - NumPy loads if needed

        return load_function("tfprof.api:open_fleet")(path)


sys.modules[__name__].__class__ = _Room
