"""Everything that touches a running program: live graphs and functions, op logs, sessions, streams.

    given            tf.Graph, function, message, bytes or path ──► columns
    live_graph       a tf.Graph: its nodes, operations and trainable variables
    live_functions   a tf.function or a Keras model ──► columns, through a SavedModel:
      traced           the functions that a live object holds
      keras_models     a Keras model, traced
      variables        what is told of the variables that functions read
      library          functions as FunctionDefs, with all shapes
      debug_info       the lines of the program that made their nodes
      saved_model      all of it as bytes
    folder           capture(): what runs in a while, in one folder
      called           the functions that are called meanwhile
    keras_callback   the same for some batches of `fit`
    traces           where in the program each operation was made
    statistics       float operations that the program itself registered with TensorFlow
    own_log          what a graph says of its operations ─┐
    joined_log       what the user says of them ──────────┴──► one op log
    model            graph, runs and op log, as often as the graph grows ──► Profile
    asking           options as a dictionary ──► report on the stream, message returned
    profiler         a Profile that steps are added to

TensorFlow is imported where a live object of it is at hand, and nowhere else.

The room has the name of what it is best known for: `tfprof.capture("log")` calls `folder.capture`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from tfprof.capture.folder import Capture


class _Room(ModuleType):
    """A module that can be called: this one."""

    def __call__(self, folder: str | os.PathLike[str], *, python: bool = False) -> Capture:
        """What `folder.capture` gives."""
        from tfprof.capture.folder import capture  # noqa: PLC0415 - who captures pays for it

        return capture(folder, python=python)


sys.modules[__name__].__class__ = _Room
