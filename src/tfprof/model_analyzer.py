"""tf.contrib.tfprof.model_analyzer, as programs of 2016 and 2017 use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfprof.capture.profiler import ALL_ADVICE, Profiler
from tfprof.compat import classic
from tfprof.compat.classic import profile
from tfprof.compat.option_builder import ProfileOptionBuilder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.capture.run_query import Checkers
    from tfprof.foundation.arguments import Options

__all__ = [
    "ALL_ADVICE",
    "FLOAT_OPS_OPTIONS",
    "PRINT_ALL_TIMING_MEMORY",
    "PRINT_PARAMS_ON_DEVICE",
    "TRAINABLE_VARS_PARAMS_STAT_OPTIONS",
    "Profiler",
    "advise",
    "print_model_analysis",
    "profile",
]


_NEWER: Final = ("step", "min_occurrence")  # options that are newer than these dictionaries


def _preset(options: Mapping[str, Any], **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """*options* as of 2017, with *changes*."""
    old = {name: value for name, value in options.items() if name not in _NEWER}
    return {**old, "dump_to_file": "", **changes}


# The parameters of trainable variables.
TRAINABLE_VARS_PARAMS_STAT_OPTIONS: Final = _preset(
    ProfileOptionBuilder.trainable_variables_parameter()
)
# The float operations of all nodes that have any.
FLOAT_OPS_OPTIONS: Final = _preset(ProfileOptionBuilder.float_operation())
# The parameters on the first parameter server.
PRINT_PARAMS_ON_DEVICE: Final = _preset(
    ProfileOptionBuilder().build(),
    max_depth=1,
    account_type_regexes=[".*ps.*task:0.*"],
    select=["device", "params"],
)
# The time and memory of all nodes that take any.
PRINT_ALL_TIMING_MEMORY: Final = _preset(
    ProfileOptionBuilder().build(),
    max_depth=10000,
    min_bytes=1,
    min_micros=1,
    account_displayed_op_only=True,
    select=["micros", "bytes"],
)


def print_model_analysis(  # noqa: PLR0913 - both spellings of the original's arguments
    graph: Any,  # noqa: ANN401 - any of the forms
    run_meta: Any = None,  # noqa: ANN401 - likewise
    op_log: Any = None,  # noqa: ANN401 - likewise
    tfprof_cmd: str = "scope",
    tfprof_options: Options = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
    *,
    cmd: str | None = None,
    options: Options | None = None,
) -> Any:  # noqa: ANN401 - a message has no type
    """As `tfprof.profile`; *cmd* and *options* are the newer names of two arguments."""
    return profile(
        graph,
        run_meta,
        op_log,
        tfprof_cmd if cmd is None else cmd,
        tfprof_options if options is None else options,
    )


def advise(
    graph: Any = None,  # noqa: ANN401 - any of the forms
    run_meta: Any = None,  # noqa: ANN401 - likewise
    options: Checkers | None = ALL_ADVICE,
    *,
    tfprof_options: Checkers | None = None,
) -> Any:  # noqa: ANN401 - a message has no type
    """As `tfprof.advise`; *tfprof_options* is the older name of *options*."""
    return classic.advise(graph, run_meta, options if tfprof_options is None else tfprof_options)
