"""tfprof says where a TensorFlow model's parameters, float operations, time and memory go."""

# Nothing is imported here, so that Ctrl-C meets the command when it is ready for it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tfprof import model_analyzer, tfprof_log_pb2, tfprof_logger
    from tfprof.api import load, load_sample
    from tfprof.api import open_fleet as fleet
    from tfprof.capture.folder import Capture as capture  # noqa: N813 - it is called
    from tfprof.capture.keras_callback import capture_callback
    from tfprof.compat.classic import Profiler, advise, profile, write_op_log
    from tfprof.compat.option_builder import ProfileOptionBuilder
    from tfprof.compat.profile_context import ProfileContext
    from tfprof.errors import InputError, OutputError, TfprofError, UsageError
    from tfprof.fleet.gather import gather_fleet
    from tfprof.ops.op import Op, size
    from tfprof.ops.shape import UnknownShape
    from tfprof.ops.table import flops_rule
    from tfprof.results.fleet import Fleet
    from tfprof.results.loaded import Loaded
    from tfprof.results.report import Report
    from tfprof.tables.limits import raised_limits

    # Messages are made at run time from our own schema, so there is no class to import.
    AdviceProto: Any
    GraphNodeProto: Any
    MultiGraphNodeProto: Any
    OpLogProto: Any

__version__ = "0.1.0"

_HOME = {
    **dict.fromkeys(("load", "load_sample"), "api"),
    "Fleet": "results.fleet",
    "gather_fleet": "fleet.gather",
    "Loaded": "results.loaded",
    "raised_limits": "tables.limits",
    "Report": "results.report",
    "flops_rule": "ops.table",
    **dict.fromkeys(("Op", "size"), "ops.op"),
    "UnknownShape": "ops.shape",
    **dict.fromkeys(("TfprofError", "UsageError", "InputError", "OutputError"), "errors"),
    # What a program written for tf.profiler or tf.contrib.tfprof uses.
    **dict.fromkeys(("profile", "advise", "write_op_log", "Profiler"), "compat.classic"),
    "ProfileOptionBuilder": "compat.option_builder",
    "ProfileContext": "compat.profile_context",
    "capture_callback": "capture.keras_callback",
}
_MESSAGES = ("AdviceProto", "GraphNodeProto", "MultiGraphNodeProto", "OpLogProto")
_MODULES = ("model_analyzer", "tfprof_logger", "tfprof_log_pb2", "capture", "fleet")

# fmt: off
__all__ = [
    "AdviceProto", "Fleet", "GraphNodeProto", "InputError", "Loaded", "MultiGraphNodeProto", "Op",
    "OpLogProto", "OutputError", "ProfileContext", "ProfileOptionBuilder", "Profiler", "Report",
    "TfprofError", "UnknownShape", "UsageError", "__version__", "advise", "capture",
    "capture_callback", "fleet", "flops_rule", "gather_fleet", "load", "load_sample",
    "model_analyzer", "profile", "raised_limits", "size", "tfprof_log_pb2", "tfprof_logger",
    "write_op_log",
]
# fmt: on


def __getattr__(name: str) -> "Any":  # noqa: ANN401 - whatever the name stands for
    from importlib import import_module  # noqa: PLC0415 - see above

    if name in _HOME:
        return getattr(import_module(f"tfprof.{_HOME[name]}"), name)
    if name in _MESSAGES:
        return import_module("tfprof.wire.schema").message(f"tensorflow.tfprof.{name}")
    if name in _MODULES:
        return import_module(f"tfprof.{name}")
    raise AttributeError(f"module 'tfprof' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
