"""The internals of TensorFlow and Keras that tfprof uses: one row per name, read here only.

    missing(Part.FUNCTIONS)          before a run: the first name that this release lacks
    Internal.CHILDREN.of(function)   reads an attribute
    Internal.SAVED_MODEL.load()      imports a name from a module

None of these names is public, so any release may change them. Attributes that files contain, such
as `_output_shapes`, are no names of the library and stand where they are read and written.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Final

OLDEST, NEWEST = "2.14", "2.21"  # the releases that tests run with, and one in between


class Part(Enum):
    """What a feature of tfprof looks at, and so which rows it needs."""

    FUNCTIONS = "functions"
    GRAPHS = "graphs"
    SESSIONS = "sessions"
    OPTIONAL = "optional"  # rows that only some releases or objects have; nothing fails without


_NO_DEFAULT: Final = object()
_OPS: Final = "tensorflow.python.framework.ops"
_MESSAGES: Final = "tensorflow.core"
_SESSION: Final = "Session"


class Internal(Enum):
    """The part that needs the name, what has it, its spellings (newest first), and its purpose."""

    # fmt: off
    SAVED_MODEL = (
        Part.FUNCTIONS, f"{_MESSAGES}.protobuf.saved_model_pb2", ("SavedModel",),
        "the message that a capture writes",
    )
    VARIABLE_DEF = (
        Part.FUNCTIONS, f"{_MESSAGES}.framework.variable_pb2", ("VariableDef",),
        "the message that lists a variable in a collection",
    )
    GRAPH_DEBUG_INFO = (
        Part.FUNCTIONS, f"{_MESSAGES}.framework.graph_debug_info_pb2", ("GraphDebugInfo",),
        "the message that holds call stacks",
    )
    CONCRETE_FUNCTIONS = (
        Part.FUNCTIONS, "tf.function", ("_list_all_concrete_functions",),
        "lists what a tf.function was traced for",
    )
    CAPTURED_INPUTS = (
        Part.FUNCTIONS, "ConcreteFunction", ("captured_inputs",),
        "the variables and constants that a function captured: its last inputs",
    )
    INFERENCE_FUNCTION = (
        Part.FUNCTIONS, "ConcreteFunction", ("_inference_function",),
        "the AtomicFunction that runs for it",
    )
    NAME = (
        Part.FUNCTIONS, "AtomicFunction", ("name",),
        "the name of the FunctionDef, as bytes",
    )
    DEFINITION = (
        Part.FUNCTIONS, "AtomicFunction", ("cached_definition",),
        "the FunctionDef",
    )
    GRAPH = (
        Part.FUNCTIONS, "AtomicFunction", ("graph",),
        "the FuncGraph that the FunctionDef was made from; it knows all shapes",
    )
    CHILDREN = (
        Part.FUNCTIONS, "AtomicFunction", ("children",),
        "the functions that it calls",
    )
    DEBUG_INFO = (
        Part.FUNCTIONS, "AtomicFunction", ("graph_debug_info",),
        "the call stack of every node, as a GraphDebugInfo",
    )
    FUNCTION_TYPE = (
        Part.FUNCTIONS, "AtomicFunction", ("function_type",),
        "has the shapes and dtypes of the outputs",
    )
    OUTPUT_TYPES = (
        Part.FUNCTIONS, "FunctionType", ("flat_outputs",),
        "the shape and dtype of each output",
    )
    CALL = (
        Part.FUNCTIONS, "AtomicFunction", ("call_flat", "flat_call"),
        "the method that every call of a function goes through; a capture replaces it",
    )
    INPUTS = (
        Part.FUNCTIONS, "FuncGraph", ("inputs",),
        "the arguments inside the graph, captured ones last",
    )
    CAPTURES = (
        Part.FUNCTIONS, "FuncGraph", ("captures",),
        "pairs of a captured tensor and its argument inside the graph",
    )
    VARIABLES = (
        Part.FUNCTIONS, "FuncGraph", ("variables",),
        "the tf.Variables that the function reads",
    )
    HANDLE_DATA = (
        Part.FUNCTIONS, "Tensor", ("_handle_data",),
        "the shape and dtype of the variable behind a resource handle",
    )
    STATISTICS = (
        Part.GRAPHS, _OPS, ("_stats_registry",),
        "the op types that RegisterStatistics named",
    )
    COUNT_STATISTICS = (
        Part.GRAPHS, _OPS, ("get_stats_for_node_def",),
        "counts the float operations of one node",
    )
    RUN = (
        Part.SESSIONS, _SESSION, ("run",),
        "the method that every session runs through; a ProfileContext replaces it",
    )
    INPUT_STRUCTURE = (
        Part.OPTIONAL, "Keras model", ("_inputs_struct", "_nested_inputs"),
        "the inputs of a functional model as the program nests them",
    )
    BATCHES_PER_CALL = (
        Part.OPTIONAL, "Keras model", ("steps_per_execution", "_steps_per_execution"),
        "how many batches Keras runs in one call",
    )
    # fmt: on

    def __init__(self, part: Part, holder: str, spellings: tuple[str, ...], purpose: str) -> None:
        self.part, self.holder, self.spellings, self.purpose = part, holder, spellings, purpose

    def __str__(self) -> str:
        return f"{self.holder}.{self.spellings[0]}"

    def of(self, holder: Any, default: Any = _NO_DEFAULT) -> Any:  # noqa: ANN401 - live objects
        """The attribute of *holder*, by the first spelling it has."""
        name = next((one for one in self.spellings if hasattr(holder, one)), self.spellings[0])
        return getattr(holder, name) if default is _NO_DEFAULT else getattr(holder, name, default)

    def load(self) -> Any:  # noqa: ANN401 - a class or function
        """The attribute of the module that has it."""
        return self.of(import_module(self.holder))

    def is_missing(self) -> bool:
        """Whether the installed release lacks this name."""
        try:
            holder = _holder(self.holder)
        except ImportError:
            return True
        return not any(hasattr(holder, one) for one in self.spellings)


def missing(*parts: Part) -> Internal | None:
    """The first name of these parts that the installed release lacks; None if it has them all."""
    return next((row for row in Internal if row.part in parts and row.is_missing()), None)


def _holder(name: str) -> Any:  # noqa: ANN401
    """The module, the class or a sample of the class that a row names."""
    if name.startswith("tensorflow."):
        return import_module(name)
    if name == _SESSION:
        return import_module("tensorflow").compat.v1.Session
    return _samples()[name]


@cache
def _samples() -> dict[str, Any]:
    """One object of each class, made in a graph of their own: the program's own does not grow."""
    import tensorflow as tf  # noqa: PLC0415 - callers have imported it

    with tf.Graph().as_default():
        function = tf.function(lambda: tf.constant(0.0), autograph=False)
        concrete = function.get_concrete_function()
        atomic = Internal.INFERENCE_FUNCTION.of(concrete, None)
        return {
            "tf.function": function,
            "ConcreteFunction": concrete,
            "AtomicFunction": atomic,
            "FuncGraph": concrete.graph,
            "FunctionType": Internal.FUNCTION_TYPE.of(atomic, None),
            "Tensor": tf.compat.v1.Variable(0.0, use_resource=True).handle,
        }


def call_method() -> tuple[type, str]:
    """The class and the method that every call of a function goes through.

    In TensorFlow 2.14 that is `__call__`, which its `flat_call` uses; later `__call__` is another.
    """
    kind = type(_samples()["AtomicFunction"])
    later = Internal.CALL.spellings[0]
    return kind, later if hasattr(kind, later) else "__call__"


def session_run() -> tuple[type, str]:
    """The class that all sessions inherit `run` from, and the name of the method."""
    (name,) = Internal.RUN.spellings
    kinds = _holder(_SESSION).__mro__
    return next(kind for kind in kinds if name in vars(kind)), name
