"""What is asked of both programs: one row a question, with the views it is asked of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

Option = int | str | tuple[str, ...]

EVERYTHING = 1_000_000  # deeper than any graph here
VIEWS = ("scope", "graph", "op", "code")

_SHOWN: Mapping[str, Option] = {"order_by": "micros", "select": ("micros", "bytes")}
_REGEXES: Mapping[str, Option] = {
    "account_type_regexes": (".*gpu:0", "_trainable_variables", "Conv2D.*"),
    "show_name_regexes": (".*conv.*", ".*unit_[01].*", ".*[Gg]rad.*"),
    "hide_name_regexes": (".*control_dependency.*", ".*Initializer.*"),
}


class Case(NamedTuple):
    """A question: its options beside what is shown, the views, and the kind of output."""

    name: str
    views: tuple[str, ...]
    options: Mapping[str, Option]
    output: str = "file"

    @property
    def asked(self) -> dict[str, Option]:
        """All options of the question."""
        return {**_SHOWN, **self.options}

    def written(self, out: str, view: str) -> str:
        """The file that an answer to be written to *out* is in: a timeline adds its step."""
        step = {"graph": 0}.get(view, -1)
        return f"{out}_{step}" if self.output == "timeline" else out


COLD = Case("", VIEWS, {"max_depth": 10, "min_micros": 100})
COLD_REGEXES = Case("regexes", VIEWS, {**COLD.options, **_REGEXES})
DRAW = Case("draw", VIEWS, {"max_depth": 1})
FIRST = Case("everything", ("scope",), {"max_depth": EVERYTHING})

QUERIES = (
    Case("everything", VIEWS, FIRST.options),
    Case("depth 5", VIEWS, {"max_depth": 5}),
    Case("min_micros 1000", VIEWS, {"max_depth": EVERYTHING, "min_micros": 1000}),
    Case("regexes", VIEWS, {"max_depth": EVERYTHING, **_REGEXES}),
)

CHARTS = (
    Case("timeline", ("graph", "scope", "code"), FIRST.options, "timeline"),
    Case("pprof", ("code",), {**FIRST.options, "select": ("micros",)}, "pprof"),
)


def flags(options: Mapping[str, Option]) -> list[str]:
    """The options as command-line flags."""
    return [
        f"--{name}={','.join(value) if isinstance(value, tuple) else value}"
        for name, value in options.items()
    ]
