"""TensorFlow takes seconds to import: only a feature that needs it imports it, through here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfprof.capture.tensorflow_internals import NEWEST, OLDEST, missing
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from tfprof.capture.tensorflow_internals import Part


def require_tensorflow(feature: str, *parts: Part) -> Any:  # noqa: ANN401 - a module without types
    """The module, which has all internals of *parts*; raises UsageError that names the *feature*.

    Call it before the user's program runs, so that an unknown release fails before and not after.
    """
    try:
        tensorflow = import_module("tensorflow")
    except ModuleNotFoundError as problem:
        if problem.name != "tensorflow":
            raise
        raise UsageError(f"{feature} needs TensorFlow, which is not installed") from None
    if (name := missing(*parts)) is not None:
        raise UsageError(
            f"{feature} needs {name}, which TensorFlow {tensorflow.__version__} does not have: "
            f"tfprof works with TensorFlow {OLDEST} to {NEWEST}"
        )
    return tensorflow
