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
_LATER = (
    *("min_peak_bytes", "min_residual_bytes", "min_output_bytes"),
    *("min_accelerator_micros", "min_cpu_micros"),
)
_COMMON = tuple(option for option in _MODERN_BLOCK if option not in _LATER)
_AVAILABILITY = "Availability depends on --[run_meta|checkpoint|op_log]_path."
# The lists of options of the documents, with their comments to the letter.
_BLOCK_2017 = (
    *_COMMON[:-2],
    f"# supported select fields. {_AVAILABILITY}",
    "# [bytes|micros|params|float_ops|occurrence|tensor_value|device|op_types]",
    "select",
    "# format: output_type:key=value,key=value...",
    "# output_types: stdout (default), timeline, file.",
    "# key=value pairs:",
    "#   1. timeline: outfile=<filename>",
    "#   2. file: outfile=<filename>",
    "#   3. stdout: None.",
    "# E.g. timeline:outfile=/tmp/timeline.json",
    "output",
)
_BLOCK_2016 = (
    *("max_depth", "min_bytes", "min_micros", "min_params", "min_float_ops", "device_regexes"),
    *_COMMON[_COMMON.index("order_by") : -2],
    f"# supported select fileds. {_AVAILABILITY}",
    "# [bytes|micros|params|float_ops|num_hidden_ops|tensor_value|device|op_types]",
    *("select", "viz", "dump_to_file"),
)


@dataclass(frozen=True)
class Era:
    """A row of the table."""

    name: str
    block: tuple[str, ...]  # the options that the shell lists, in order; a comment begins with #
    defaults: Mapping[str, Any] = field(default_factory=dict)  # defaults that differ from now
    view_defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # likewise
    doc: bool = True  # a report has a Doc block
    legend: Mapping[str, str] | None = field(default_factory=dict)  # other headings; None: no line
    keeps_scopes: bool = True  # scopes that are not accounted are rows and add their own numbers
    root_counts: bool = False  # the root is accounted if everything is
    bounds_own: bool = False  # min_* apply to a graph node's own numbers
    totals_from_start: bool = False  # the root's total counts only what start_name_regexes match
    bare_options: bool = False  # the shell's list shows no blanks after a name, nor "stdout:"
    scalar_shape: bool = True  # a scalar variable shows a shape
    splits_time: bool = True  # micros has columns for accelerator and cpu
    counts_runs: bool = True  # occurrence in op view also shows runs
    names_steps: bool = True  # the name of a timeline file ends with its step
    source_text: bool = False  # a line of code shows its source text
    gradient_rows: bool = True  # gradients have rows below the line of their forward operation
    sorts_inputs: bool = False  # graph view prints inputs by name; totals still follow their order
    float_op_types: frozenset[bytes] | None = None  # if set, the only types with float operations
    folds_frames: bool = False  # code view may fold frames of libraries and add layers of Keras
    also_types: Mapping[bytes, bytes] = field(default_factory=dict)  # a second type, by type
    before: tuple[str, ...] = ()  # lines before files are read
    progress: Mapping[str, str] = field(default_factory=dict)  # a line by kind of file
    after: tuple[str, ...] = ()  # lines when all are read
    file_names: Mapping[str, str] = field(default_factory=dict)  # by a document's other name
    original_errors: bool = False  # the shell rejects a line with the original's sentences
    pager: bool = True  # a terminal that is too small shows a report in the user's pager
    fits_files: bool = False  # defaults fit the files, and remarks say what is hidden or misspelled
    functions: bool = True  # the function library of a graph is read, unless an option says not to


NOW = Era("now", _MODERN_BLOCK, fits_files=True, folds_frames=True)
_ALL = (".*",)
_FLAT: Mapping[str, Any] = {
    **dict.fromkeys(("doc", "keeps_scopes", "scalar_shape", "splits_time", "counts_runs"), False),
    **dict.fromkeys(("gradient_rows", "names_steps"), False),
    **dict.fromkeys(("bounds_own", "source_text"), True),
    "float_op_types": frozenset({b"Conv2D", b"MatMul", b"BiasAdd"}),
}
_THEN: Mapping[str, Any] = {
    **_FLAT,
    **dict.fromkeys(("root_counts", "totals_from_start", "bare_options", "sorts_inputs"), True),
    "legend": None,
    "view_defaults": {"op": {"max_depth": 10, "account_type_regexes": _ALL}},
    "before": ("Reading Files...",),
    "after": ("Preparing Views...",),
    "file_names": {"op_log": "tfprof_log"},
    "progress": {
        "graph": "Parsing GraphDef...",
        "run_meta": "Parsing RunMetadata...",
        "op_log": "Parsing OpLog...",
        "checkpoint": "Parsing Checkpoint...",
    },
}


def _defaults(*variables: str) -> dict[str, Any]:
    hidden = (r"IsVariableInitialized_[0-9]+", r"save\/.*", r"^zeros[0-9_]*")
    counted = {"account_type_regexes": variables, "select": ("params",)}
    return {"max_depth": 4, "hide_name_regexes": hidden, **counted}


ERAS: dict[str, Era] = {
    era.name: era
    for era in (
        NOW,
        # Everything as TensorFlow 2.21 does it: also what a new option changes belongs here.
        Era("original", _MODERN_BLOCK, original_errors=True, pager=False, functions=False),
        Era("2018", _MODERN_BLOCK,
            {"max_depth": 10, "account_type_regexes": _ALL, "select": ("params",)},
            legend={"micros": "execution time", "occurrence": "op occurrence"}, **_FLAT),
        Era("2017", _BLOCK_2017, _defaults("Variable", "VariableV2"), **_THEN),
        Era("2016", _BLOCK_2016, _defaults("Variable"),
            also_types={b"VariableV2": b"Variable"}, **_THEN),
    )
}  # fmt: skip
