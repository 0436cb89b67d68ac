"""The internals of TensorFlow and Keras that tfprof uses: one row per name, read here only.

    require_tensorflow("a capture", Part.FUNCTIONS)   before a run: TensorFlow, with these names
    missing(Part.FUNCTIONS)          the first name that this release lacks
    Internal.CHILDREN.of(function)   reads an attribute
    Internal.SAVED_MODEL.load()      imports a name from a module

None of these names is public, so any release may change them. Attributes that files contain, such
as `_output_shapes`, are not names of the library; they are in the modules that read or write them.
"""

from __future__ import annotations

from enum import Enum
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

OLDEST, NEWEST = "2.14", "2.21"  # the releases that tests run with, and one in between


class Part(Enum):
    """What a feature of tfprof looks at, and so which rows it needs."""

    FUNCTIONS = "functions"
    GRAPHS = "graphs"
    SESSIONS = "sessions"
    OPTIONAL = "optional"  # rows that only some releases or objects have; nothing fails without


_FUNCTIONS, _GRAPHS, _SESSIONS, _OPTIONAL = Part
_OPS: Final = "tensorflow.python.framework.ops"
_SAVED_MODEL: Final = "tensorflow.core.protobuf.saved_model_pb2"
_VARIABLE: Final = "tensorflow.core.framework.variable_pb2"
_DEBUG_INFO: Final = "tensorflow.core.framework.graph_debug_info_pb2"
_SESSION: Final = "Session"
_NO_DEFAULT: Final = object()


class Internal(Enum):
    """The part that needs the name, what has it, its spellings (newest first), and what it is."""

    SAVED_MODEL = _FUNCTIONS, _SAVED_MODEL, "SavedModel", "the message that a capture writes"
    VARIABLE_DEF = _FUNCTIONS, _VARIABLE, "VariableDef", "lists a variable in a collection"
    GRAPH_DEBUG_INFO = _FUNCTIONS, _DEBUG_INFO, "GraphDebugInfo", "the message of call stacks"
    CONCRETE_FUNCTIONS = _FUNCTIONS, "tf.function", "_list_all_concrete_functions", "its traces"
    CAPTURED_INPUTS = _FUNCTIONS, "ConcreteFunction", "captured_inputs", "the last of its inputs"
    INFERENCE_FUNCTION = _FUNCTIONS, "ConcreteFunction", "_inference_function", "what it runs"
    NAME = _FUNCTIONS, "AtomicFunction", "name", "the name of the FunctionDef, as bytes"
    DEFINITION = _FUNCTIONS, "AtomicFunction", "cached_definition", "the FunctionDef"
    GRAPH = _FUNCTIONS, "AtomicFunction", "graph", "the graph of the FunctionDef, with all shapes"
    CHILDREN = _FUNCTIONS, "AtomicFunction", "children", "the functions that it calls"
    DEBUG_INFO = _FUNCTIONS, "AtomicFunction", "graph_debug_info", "the call stack of every node"
    FUNCTION_TYPE = _FUNCTIONS, "AtomicFunction", "function_type", "has the types of its outputs"
    OUTPUT_TYPES = _FUNCTIONS, "FunctionType", "flat_outputs", "shape and dtype of each output"
    CALL = _FUNCTIONS, "AtomicFunction", "call_flat flat_call", "every call; see call_method"
    INPUTS = _FUNCTIONS, "FuncGraph", "inputs", "the arguments inside the graph, captured ones last"
    CAPTURES = _FUNCTIONS, "FuncGraph", "captures", "captured tensors, each with its argument"
    VARIABLES = _FUNCTIONS, "FuncGraph", "variables", "the tf.Variables that the function reads"
    HANDLE_DATA = _FUNCTIONS, "Tensor", "_handle_data", "shape and dtype of a handle's variable"
    STATISTICS = _GRAPHS, _OPS, "_stats_registry", "the op types that RegisterStatistics named"
    COUNT_STATISTICS = _GRAPHS, _OPS, "get_stats_for_node_def", "float operations of one node"
    RUN = _SESSIONS, _SESSION, "run", "every run of a session; a ProfileContext hooks it"
    INPUT_STRUCTURE = _OPTIONAL, "Model", "_inputs_struct _nested_inputs", "inputs as nested"
    INNER_LAYERS = _OPTIONAL, "Layer", "_flatten_layers", "the layers inside a layer"
    BATCHES_PER_CALL = _OPTIONAL, "Model", "steps_per_execution _steps_per_execution", "of Keras"

    def __init__(self, part: Part, owner: str, spellings: str, purpose: str) -> None:
        self.part, self.owner, self.purpose = part, owner, purpose
        self.spellings = tuple(spellings.split())

    def __str__(self) -> str:
        return f"{self.owner}.{self.spellings[0]}"

    def of(self, holder: Any, default: Any = _NO_DEFAULT) -> Any:  # live objects
        """The attribute of *holder*, by the first spelling it has."""
        for name in self.spellings:
            if (value := getattr(holder, name, _NO_DEFAULT)) is not _NO_DEFAULT:
                return value
        if default is _NO_DEFAULT:
            raise AttributeError(f"{type(holder).__qualname__} has no {self.spellings[0]}")
        return default

    def load(self) -> Any:  # a class or function
        """The attribute of the module that has it."""
        return self.of(import_module(self.owner))

    def is_missing(self) -> bool:
        """Whether the installed release lacks this name."""
        try:
            holder = _holder(self.owner)
        except ImportError:
            return True
        return not any(hasattr(holder, name) for name in self.spellings)


def require_tensorflow(feature: str, *parts: Part) -> Any:  # a module without types
    """The module, imported now; raises UsageError where it lacks an internal of *parts*.

    Call it before the user's program runs, so that an unknown release fails before and not after.
    """
    try:
        tensorflow = import_module("tensorflow")
    except ModuleNotFoundError as problem:
        if problem.name != "tensorflow":
            raise
        raise UsageError(f"{feature} needs TensorFlow, which is not installed") from None
    if (name := missing(*parts)) is not None:
        raise UsageError(
            f"{feature} needs {name}, which TensorFlow {tensorflow.__version__} does not have: "
            f"tfprof works with TensorFlow {OLDEST} to {NEWEST}"
        )
    return tensorflow


def missing(*parts: Part) -> Internal | None:
    """The first name of these parts that the installed release lacks; None if it has them all."""
    return next((row for row in Internal if row.part in parts and row.is_missing()), None)


def _holder(name: str) -> Any:
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
    """The class and the method that every call of a function goes through."""
    # In TensorFlow 2.14 that is `__call__`, which its `flat_call` uses; later it is another.
    kind = type(_samples()["AtomicFunction"])
    later = Internal.CALL.spellings[0]
    return kind, later if hasattr(kind, later) else "__call__"


def session_run() -> tuple[type, str]:
    """The class that all sessions inherit `run` from, and the name of the method."""
    (name,) = Internal.RUN.spellings
    kinds = _holder(_SESSION).__mro__
    return next(kind for kind in kinds if name in vars(kind)), name


def set_active_context(context: object) -> None:
    """Set `profile_context` of the session class to *context*; None removes the attribute."""
    # TensorFlow's own ProfileContext sets it, and programs look there for the context they are in.
    owner, name = session_run()[0], "profile_context"
    if context is not None:
        setattr(owner, name, context)
    elif name in vars(owner):
        delattr(owner, name)


class MethodHook:
    """Calls *around* with the original method and its arguments, from now until `remove`.

    begin    class.method = hook ──► around(original, …)
    end      class.method = original     if the hook is still on top
             hook ──► original           if somebody wrapped it since: their wrapper stays
    """

    def __init__(self, owner: type, name: str, around: Callable[..., Any]) -> None:
        self._owner, self._name = owner, name
        self._around: Callable[..., Any] | None = around
        original = self._original = vars(owner)[name]

        @wraps(original)
        def hook(*args: Any, **kwargs: Any) -> Any:  # whatever the method takes
            around = self._around
            return around(original, *args, **kwargs) if around else original(*args, **kwargs)

        self._hook = hook
        setattr(owner, name, hook)

    def remove(self) -> None:
        """Restore the method; where somebody wrapped the hook, it passes every call on."""
        self._around = None
        if vars(self._owner).get(self._name) is self._hook:
            setattr(self._owner, self._name, self._original)
