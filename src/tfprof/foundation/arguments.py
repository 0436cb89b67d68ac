"""Checks of arguments to the Python API; each returns the argument in one form.

    path("log_dir", Path("logs"))          "logs"
    whole_number("step", np.int64(3))      3
    steps("trace_steps", range(3))         [0, 1, 2]
    truth(np.True_)                        True
    magnitude("peak_flops", "312T")        312e12
    options_of(ProfileOptionBuilder())     the dictionary that it builds

An invalid argument raises a UsageError that shows it and says what is accepted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from math import inf
from operator import index
from reprlib import Repr
from typing import Any, Final, Protocol, TypeAlias

from tfprof.errors import UsageError

INT64_MAX: Final = 2**63 - 1

_MAGNITUDE: Final = re.compile(
    r"([0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[+-]?[0-9]{1,3})?)([kmgtpe]?)", re.IGNORECASE
)
_SHORT: Final = Repr()
_SHORT.maxstring = _SHORT.maxother = 80
_LONGEST: Final = 200


class Builder(Protocol):
    """Builds a dictionary of options: our ProfileOptionBuilder or TensorFlow's."""

    def build(self) -> dict[str, Any]:
        """The current options."""


Options: TypeAlias = Mapping[str, Any] | Builder


def shown(value: object) -> str:
    """A short repr of *value* on one line."""
    try:
        text = " ".join(_SHORT.repr(value).split())
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of thousands of digits"


def path(name: str, value: object) -> str:
    """The argument *name* as a path."""
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, str):
            return text
    raise UsageError(f"{name} takes a string or a pathlib.Path, not {shown(value)}")


def expand_home(text: str) -> str:
    """The path *text* with the home folder for a ~ at its beginning, as a shell expands it."""
    return os.path.expanduser(text) if text.startswith("~") else text  # noqa: PTH111 - keeps ./


def whole_number(name: str, value: object, least: int = -INT64_MAX - 1) -> int:
    """The argument *name* as an int64 of at least *least*."""
    number = _index(value)
    if number is None or not least <= number <= INT64_MAX:
        raise UsageError(
            f"{name} takes a whole number from {least} to {INT64_MAX}, not {shown(value)}"
        )
    return number


def steps(name: str, value: object) -> list[int]:
    """The argument *name*, any iterable of step numbers, as a list."""
    if not isinstance(value, Iterable):
        raise UsageError(f"{name} takes a list of whole numbers, not {shown(value)}")
    items = list(value)
    numbers = [number for number in map(_index, items) if number is not None]
    if len(numbers) < len(items):
        wrong = next(item for item in items if _index(item) is None)
        raise UsageError(f"{name} takes a list of whole numbers, not one with {shown(wrong)} in it")
    return numbers


def truth(value: Any) -> bool | None:  # noqa: ANN401 - anything
    """A bool, NumPy bool, 0 or 1 as a bool; None for anything else."""
    if isinstance(value, bool):
        return value
    # Without importing NumPy, whose bools are neither bool nor int.
    if getattr(getattr(value, "dtype", None), "kind", None) == "b" and value.shape == ():
        return bool(value)
    number = _index(value)
    return bool(number) if number in (0, 1) else None


def magnitude(name: str, value: object) -> float:
    """The argument *name*, a positive number that may end with k, M, G, T, P or E."""
    match = _MAGNITUDE.fullmatch(str(value)) if not isinstance(value, bool) else None
    if match:
        number = float(match[1]) * 1000.0 ** " kmgtpe".index(match[2].lower() or " ")
        if 0 < number < inf:
            return number
    raise UsageError(f"{name} takes a positive number, such as 312T or 1.5e12, not {shown(value)}")


def options_of(value: object) -> dict[str, Any]:
    """The options of a dictionary or of an option builder."""
    if isinstance(value, Mapping):
        return dict(value)
    build = getattr(value, "build", None)
    if callable(build) and not isinstance(value, type):
        built = build()
        if isinstance(built, Mapping):
            return dict(built)
    raise UsageError(
        f"options takes a dictionary, such as ProfileOptionBuilder().build(), not {shown(value)}"
    )


def _index(value: Any) -> int | None:  # noqa: ANN401 - anything
    """*value* as an int; None for a bool and for anything that is not an integer."""
    try:
        return None if isinstance(value, bool) else index(value)
    except TypeError:
        return None
