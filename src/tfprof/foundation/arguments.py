"""What callers of the Python API give, checked: it comes back in one form, or is refused.

    path("log_dir", Path("logs"))          "logs"
    whole_number("step", np.int64(3))      3
    steps("trace_steps", range(3))         [0, 1, 2]
    truth(np.True_)                        True
    options_of(ProfileOptionBuilder())     the dictionary that it builds

A refusal is a UsageError that says what was given and what is accepted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from operator import index
from reprlib import Repr
from typing import Any, Final, Protocol, TypeAlias

from tfprof.errors import UsageError

INT64_MAX: Final = 2**63 - 1

_SHORT: Final = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


class Builder(Protocol):
    """Whatever builds a dictionary of options: ours, or TensorFlow's own ProfileOptionBuilder."""

    def build(self) -> dict[str, Any]:
        """The options as they are now."""


Options: TypeAlias = Mapping[str, Any] | Builder


def shown(given: object) -> str:
    """What was given, on one line and never long."""
    return " ".join(_SHORT.repr(given).split())


def path(name: str, given: object) -> str:
    """The path *given* for argument *name*."""
    if isinstance(given, (str, os.PathLike)):
        text = os.fspath(given)
        if isinstance(text, str):
            return text
    raise UsageError(f"{name} takes a text or a pathlib.Path, not {shown(given)}")


def whole_number(name: str, given: object, least: int = -INT64_MAX - 1) -> int:
    """The number *given* for argument *name*: from *least* on, and of 64 bits."""
    number = _index(given)
    if number is None or not least <= number <= INT64_MAX:
        raise UsageError(
            f"{name} takes a whole number from {least} to {INT64_MAX}, not {shown(given)}"
        )
    return number


def steps(name: str, given: object) -> list[int]:
    """The steps *given* for argument *name*, in a list or whatever else can be gone through."""
    if not isinstance(given, Iterable):
        raise UsageError(f"{name} takes a list of whole numbers, not {shown(given)}")
    listed = list(given)
    numbers = [number for number in map(_index, listed) if number is not None]
    if len(numbers) < len(listed):
        wrong = next(one for one in listed if _index(one) is None)
        raise UsageError(f"{name} takes a list of whole numbers, not one with {shown(wrong)} in it")
    return numbers


def truth(given: Any) -> bool | None:  # noqa: ANN401 - anything
    """True or False for what is a truth value, NumPy's and 0 and 1 included; None for the rest."""
    if isinstance(given, bool):
        return given
    # NumPy is not imported for this; its truth values are neither a bool nor a number.
    if getattr(getattr(given, "dtype", None), "kind", None) == "b" and given.shape == ():
        return bool(given)
    number = _index(given)
    return bool(number) if number in (0, 1) else None


def options_of(given: object) -> dict[str, Any]:
    """The options *given* as a dictionary, or as a builder that was not built."""
    if isinstance(given, Mapping):
        return dict(given)
    build = getattr(given, "build", None)
    if callable(build) and not isinstance(given, type):
        built = build()
        if isinstance(built, Mapping):
            return dict(built)
    raise UsageError(
        f"options takes a dictionary, as ProfileOptionBuilder().build() gives, not {shown(given)}"
    )


def _index(given: Any) -> int | None:  # noqa: ANN401 - anything
    """The number that *given* is; None for what is no whole number, and for True and False."""
    try:
        return None if isinstance(given, bool) else index(given)
    except TypeError:
        return None
