"""What is asked of both programs: one row a question, with the views it is asked of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Option = int | str | tuple[str, ...]

EVERYTHING = 1_000_000  # deeper than any graph here

COLD: Mapping[str, Option] = {
    "max_depth": 10,
    "min_micros": 100,
    "order_by": "micros",
    "select": ("micros", "bytes"),
}

VIEWS = ("scope", "graph", "op", "code")


class Case(NamedTuple):
    """A question: what is set beside select and order_by, which are those of COLD."""

    name: str
    views: tuple[str, ...]
    options: Mapping[str, Option]

    @property
    def asked(self) -> dict[str, Option]:
        """All options of the question."""
        return {"order_by": COLD["order_by"], "select": COLD["select"], **self.options}


QUERIES = (
    Case("everything", VIEWS, {"max_depth": EVERYTHING}),
    Case("depth 5", VIEWS, {"max_depth": 5}),
    Case("min_micros 1000", VIEWS, {"max_depth": EVERYTHING, "min_micros": 1000}),
    Case(
        "regexes",
        VIEWS,
        {
            "max_depth": EVERYTHING,
            "account_type_regexes": (".*gpu:0", "_trainable_variables", "Conv2D.*"),
            "show_name_regexes": (".*conv.*", ".*unit_[01].*", ".*[Gg]rad.*"),
            "hide_name_regexes": (".*control_dependency.*", ".*Initializer.*"),
        },
    ),
)


def flags(options: Mapping[str, Option]) -> list[str]:
    """The options as command-line flags."""
    return [
        f"--{name}={','.join(value) if isinstance(value, tuple) else value}"
        for name, value in options.items()
    ]
