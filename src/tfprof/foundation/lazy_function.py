"""lazy("tfprof.read.op_log:columns"): a function that is imported when it is first called.

Rows of tables hold such functions, so that a table costs nothing to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Lazy:
    """A function named by its dotted path."""

    __slots__ = ("_function", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._function: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the function has it
        """Call the function."""
        return self.function(*arguments, **named)

    def __repr__(self) -> str:
        """As it is written."""
        return f"lazy({self.path!r})"

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        if self._function is None:
            module, _, name = self.path.partition(":")
            self._function = getattr(import_module(module), name)
        assert self._function is not None
        return self._function


def lazy(path: str) -> Lazy:
    """The function at *path*, as in "package.module:function"."""
    return Lazy(path)
