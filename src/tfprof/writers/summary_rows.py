"""The columns of a summary: their names, and the cells of a row in full or as people read them.

Columns that say nothing are left out: trainable parameters where a file does not tell which are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tfprof.writers.summary_numbers import (
    UNKNOWN,
    plain_formula,
    short,
    short_formula,
    short_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.summary import Formula, Numbers, Summary


class Column(NamedTuple):
    """A column: its name, its heading, and a cell for the eye and one with all digits."""

    name: str
    heading: str
    value: Callable[[Numbers], int | Formula | None]
    short: Callable[[Numbers], str]


def columns(summary: Summary) -> list[Column]:
    """The columns that this summary has something to say in."""
    names = short_names(summary.symbols)

    def whole(name: str, heading: str, value: Callable[[Numbers], int | None]) -> Column:
        return Column(name, heading, value, lambda of: exact_number(value(of)))

    def cost(name: str, heading: str, value: Callable[[Numbers], Formula | None]) -> Column:
        return Column(name, heading, value, lambda of: short_formula(value(of), names))

    parameters = [
        whole("trainable", "Trainable", lambda of: of.trainable),
        whole("non_trainable", "Fixed", fixed),
    ]
    return [
        whole("parameters", "Parameters", lambda of: of.parameters),
        *(parameters if summary.tells_trainable else []),
        cost("float_ops", "Float ops", lambda of: of.float_ops),
        cost("multiply_adds", "Mult-adds", lambda of: of.multiply_adds),
        Column(
            "parameter_bytes",
            "Param. B",
            lambda of: of.parameter_bytes,
            lambda of: UNKNOWN if of.parameter_bytes is None else short(of.parameter_bytes),
        ),
        cost("activation_bytes", "Activ. B", lambda of: of.activation_bytes),
    ]


def fixed(of: Numbers) -> int | None:
    """The parameters that are not trainable."""
    if of.parameters is None or of.trainable is None:
        return None
    return of.parameters - of.trainable


def exact_number(value: int | None) -> str:
    """All digits, or that it is not known."""
    return UNKNOWN if value is None else f"{value:,}"


def plain(value: int | Formula | None) -> Any:  # noqa: ANN401 - a number, a text or nothing
    """A cell as data: a whole number, a formula as text, None where it is not known."""
    if value is None or isinstance(value, int):
        return value
    constant = value.constant
    return plain_formula(value) if constant is None else constant
