"""Kernels: the hot loops, in C where tfprof was built with a compiler, else in NumPy.

    @kernel
    def equal(blob, start, other, …): …            the NumPy code: the reference and the fallback

    equal(…)               calls compiled.equal, if there is a compiled core
    KERNELS["equal"]       both, for tests

A compiled kernel returns None where it leaves the input to the reference, such as damaged
messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from tfprof.kernels.core import CORE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

F = TypeVar("F", bound="Callable[..., Any]")

_compiled: ModuleType | None = None
if CORE == "compiled":
    from tfprof.kernels import compiled as _compiled


class Kernel:
    """One kernel: the NumPy code, and the compiled function of the same name if there is one."""

    def __init__(self, reference: Callable[..., Any], compiled: Callable[..., Any] | None) -> None:
        self.reference, self.compiled = reference, compiled

    def __call__(self, *arguments: Any) -> Any:  # noqa: ANN401 - those of the reference
        """What the compiled function returns; where it leaves the input, the reference."""
        result = None if self.compiled is None else self.compiled(*arguments)
        return self.reference(*arguments) if result is None else result


KERNELS: dict[str, Kernel] = {}


def kernel(reference: F) -> F:
    """*reference*, or the compiled function of its name."""
    name = reference.__name__
    row = KERNELS[name] = Kernel(reference, getattr(_compiled, name, None))
    return reference if row.compiled is None else cast("F", row)
