"""ERAS: the output format and defaults of tfprof at different times, one row each.

`original` is TensorFlow 2.21 in everything that no option sets. `now` prints the same text, with
defaults that fit the files (query/defaults.py). The others reproduce the documents that people
learned tfprof from. What an era prints depends only on the columns of this table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODERN_BLOCK = (
    "max_depth", "min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes",
    "min_micros", "min_accelerator_micros", "min_cpu_micros", "min_params", "min_float_ops",
    "min_occurrence", "step", "order_by", "account_type_regexes", "start_name_regexes",
    "trim_name_regexes", "show_name_regexes", "hide_name_regexes", "account_displayed_op_only",
    "select", "output",
)  # fmt: skip
_LATER_BOUNDS = ("min_peak_bytes", "min_residual_bytes", "min_output_bytes")
_LATER_TIMES = ("min_accelerator_micros", "min_cpu_micros")
_BLOCK_2017 = tuple(o for o in _MODERN_BLOCK if o not in (*_LATER_BOUNDS, *_LATER_TIMES))
_BLOCK_2016 = (
    *("max_depth", "min_bytes", "min_micros", "min_params", "min_float_ops", "device_regexes"),
    *_BLOCK_2017[_BLOCK_2017.index("order_by") : -1],
    *("viz", "dump_to_file"),
)


@dataclass(frozen=True)
class Era:
    """A row of the table."""

    name: str
    block: tuple[str, ...]  # the options that the shell lists, in order
    defaults: Mapping[str, Any] = field(default_factory=dict)  # defaults that differ from now
    heading: bool = True  # a report has a Doc block and a legend
    keeps_scopes: bool = True  # scopes that are not accounted are rows and add their own numbers
    root_counts: bool = False  # the root is accounted if everything is
    bounds_own: bool = False  # min_* apply to a graph node's own numbers
    totals_from_start: bool = False  # the root's total counts only what start_name_regexes match
    names_stdout: bool = True  # the shell's list of options shows "stdout" as the plain output
    scalar_shape: bool = True  # a scalar variable shows a shape
    splits_time: bool = True  # micros has columns for accelerator and cpu
    counts_runs: bool = True  # occurrence in op view also shows runs
    source_text: bool = False  # a line of code shows its source text
    float_op_types: frozenset[bytes] | None = None  # if set, the only types with float operations
    original_errors: bool = False  # the shell rejects a line with the original's sentences
    fits_files: bool = False  # defaults fit the files, and remarks say what is hidden or misspelled
    functions: bool = True  # the function library of a graph is read, unless an option says not to


_THEN: Mapping[str, Any] = {
    **dict.fromkeys(("heading", "keeps_scopes", "names_stdout", "scalar_shape"), False),
    **dict.fromkeys(("splits_time", "counts_runs"), False),
    **dict.fromkeys(("root_counts", "bounds_own", "totals_from_start", "source_text"), True),
    "float_op_types": frozenset({b"Conv2D", b"MatMul", b"BiasAdd"}),
}

NOW = Era("now", _MODERN_BLOCK, fits_files=True)


def _defaults(*variables: str) -> dict[str, Any]:
    hidden = (r"IsVariableInitialized_[0-9]+", r"save\/.*", r"^zeros[0-9_]*")
    counted = {"account_type_regexes": variables, "select": ("params",)}
    return {"max_depth": 4, "hide_name_regexes": hidden, **counted}


ERAS: dict[str, Era] = {
    era.name: era
    for era in (
        NOW,
        # Everything as TensorFlow 2.21 does it: also what a new option changes belongs here.
        Era("original", _MODERN_BLOCK, original_errors=True, functions=False),
        Era("2017", _BLOCK_2017, _defaults("Variable", "VariableV2"), **_THEN),
        Era("2016", _BLOCK_2016, _defaults("Variable"), **_THEN),
    )
}
