"""ProfileOptionBuilder: builds a dictionary of options, call by call.

Every method that begins with `with_`, and `order_by`, `select` and `account_displayed_op_only`,
sets an option and returns the builder.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from tfprof.foundation.arguments import Options, options_of, path

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence


_LIMITS: Final = ("min_bytes", "min_micros", "min_params", "min_float_ops", "min_occurrence")


class ProfileOptionBuilder:
    """Options to start from, and methods to change them.

    >>> import tfprof
    >>> builder = tfprof.ProfileOptionBuilder(tfprof.ProfileOptionBuilder.float_operation())
    >>> options = builder.with_max_depth(3).with_empty_output().build()
    >>> options["select"], options["max_depth"], options["output"]
    (['float_ops'], 3, 'none')
    """

    def __init__(self, options: Options | None = None) -> None:
        """Start from a copy of *options*, or from the default: every row to depth 100."""
        self._options = _unrestricted() if options is None else deepcopy(options_of(options))

    # --- options to start from -------------------------------------------------------------------

    @staticmethod
    def trainable_variables_parameter() -> dict[str, Any]:
        """The parameters of trainable variables."""
        return _preset(account_type_regexes=["_trainable_variables"], select=["params"])

    @staticmethod
    def float_operation() -> dict[str, Any]:
        """The float operations of all nodes that have any, largest first."""
        return _preset(min_float_ops=1, order_by="float_ops", select=["float_ops"])

    @staticmethod
    def time_and_memory(  # noqa: PLR0913, PLR0917 - one a bound, in the original's order
        min_micros: int = 1,
        min_bytes: int = 1,
        min_accelerator_micros: int = 0,
        min_cpu_micros: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> dict[str, Any]:
        """The time and memory of all nodes that take at least this much, slowest first."""
        memory = min_bytes, min_peak_bytes, min_residual_bytes, min_output_bytes
        builder = ProfileOptionBuilder(_preset(order_by="micros", select=["micros", "bytes"]))
        builder.with_min_execution_time(min_micros, min_accelerator_micros, min_cpu_micros)
        return builder.with_min_memory(*memory).build()

    def build(self) -> dict[str, Any]:
        """A copy of the options so far."""
        return deepcopy(self._options)

    # --- which rows ------------------------------------------------------------------------------

    def with_max_depth(self, max_depth: int) -> ProfileOptionBuilder:
        """Show rows at most this deep; in op view, at most this many."""
        return self._set(max_depth=max_depth)

    def with_min_memory(
        self,
        min_bytes: int = 0,
        min_peak_bytes: int = 0,
        min_residual_bytes: int = 0,
        min_output_bytes: int = 0,
    ) -> ProfileOptionBuilder:
        """Show rows with at least this many requested, peak, residual or output bytes."""
        return self._set(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(
        self, min_micros: int = 0, min_accelerator_micros: int = 0, min_cpu_micros: int = 0
    ) -> ProfileOptionBuilder:
        """Show rows that take at least this many microseconds, in all, on accelerators and CPUs."""
        return self._set(
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
        )

    def with_min_micros(self, min_micros: int) -> ProfileOptionBuilder:
        """Show rows that take at least this many microseconds in all; sets only this limit."""
        return self._set(min_micros=min_micros)

    def with_min_parameters(self, min_params: int) -> ProfileOptionBuilder:
        """Show rows with at least this many parameters."""
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> ProfileOptionBuilder:
        """Show rows that stand for at least this many graph nodes."""
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> ProfileOptionBuilder:
        """Show rows with at least this many float operations."""
        return self._set(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> ProfileOptionBuilder:
        """Count only nodes with a type, device or tag that matches one of these regexes."""
        return self._set(account_type_regexes=account_type_regexes)

    def with_node_names(
        self,
        start_name_regexes: Sequence[str] | None = None,
        show_name_regexes: Sequence[str] | None = None,
        hide_name_regexes: Sequence[str] | None = None,
        trim_name_regexes: Sequence[str] | None = None,
    ) -> ProfileOptionBuilder:
        """Choose rows by name; arguments that are None change nothing.

        Start at rows that match *start*; display rows that match *show* and not *hide*; stop below
        rows that match *trim*.
        """
        changed = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._set(**{name: value for name, value in changed.items() if value is not None})

    with_displaying_options = with_node_names  # its name in older documents

    def account_displayed_op_only(self, is_true: bool) -> ProfileOptionBuilder:  # noqa: FBT001
        """Add up only displayed rows, not hidden ones."""
        return self._set(account_displayed_op_only=is_true)

    # --- what of them ----------------------------------------------------------------------------

    def with_step(self, step: int) -> ProfileOptionBuilder:
        """Show this step; -1 is the average of all steps."""
        return self._set(step=step)

    def order_by(self, attribute: str) -> ProfileOptionBuilder:
        """Sort the rows by this attribute."""
        return self._set(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> ProfileOptionBuilder:
        """Show these attributes of each row."""
        return self._set(select=attributes)

    # --- where to --------------------------------------------------------------------------------

    def with_empty_output(self) -> ProfileOptionBuilder:
        """Print and write nothing; only return the result."""
        return self._set(output="none")

    def with_stdout_output(self) -> ProfileOptionBuilder:
        """Print the report."""
        return self._set(output="stdout")

    def with_file_output(self, outfile: str | os.PathLike[str]) -> ProfileOptionBuilder:
        """Write the report to a file."""
        return self._set(output=f"file:outfile={path('outfile', outfile)}")

    def with_timeline_output(self, timeline_file: str | os.PathLike[str]) -> ProfileOptionBuilder:
        """Write a timeline for chrome://tracing or Perfetto; the step becomes part of the name."""
        return self._set(output=f"timeline:outfile={path('timeline_file', timeline_file)}")

    def with_pprof_output(self, pprof_file: str | os.PathLike[str]) -> ProfileOptionBuilder:
        """Write a profile for pprof."""
        return self._set(output=f"pprof:outfile={path('pprof_file', pprof_file)}")

    def _set(self, **options: Any) -> ProfileOptionBuilder:  # as many kinds as options
        self._options.update(options)
        return self


def _unrestricted() -> dict[str, Any]:
    return {
        "max_depth": 100, **dict.fromkeys(_LIMITS, 0), "order_by": "name",
        "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
        "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": False,
        "select": ["micros"], "step": -1, "output": "stdout",
    }  # fmt: skip


def _preset(**changes: Any) -> dict[str, Any]:  # as many kinds as options
    """Options that count displayed rows of any depth, with *changes*."""
    return _unrestricted() | {"max_depth": 10000, "account_displayed_op_only": True} | changes
