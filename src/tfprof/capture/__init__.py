"""Everything that touches a running program: live graphs and functions, op logs, sessions.

    coerce                 a tf.Graph, function, message, bytes or path ──► columns
      traced_functions       the functions that a tf.function or a Keras model holds
      keras_models           a Keras model, traced
      variables              the variables that functions read
      debug_info             the lines of the program that created their nodes, also gradients
      saved_model            all of it as the bytes of a SavedModel
    folder                 Capture: everything that runs in a with block, in one folder
      problems               what fails in its own work, as one warning and a note
    keras_callback         a Capture for some batches of `fit`
    session_runs           every session.run inside a ProfileContext; step_plan chooses some
    call_stacks            the call stacks of the operations of a graph
    op_logs                the op log of a graph, joined with the user's
    model                  graph, runs and op log, read again as the graph grows ──► Profile
    run_query              options as a dictionary ──► a printed report and a message
    profiler               a Profile that grows step by step
    tensorflow_internals   every private name of TensorFlow and Keras, checked before a capture

Only this package imports TensorFlow, and only for a live TensorFlow object or a capture.

The package itself is callable: `tfprof.capture("log")` returns a `folder.Capture`.
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

    def __call__(
        self, folder: str | os.PathLike[str], *, python: bool = False, source: bool = True
    ) -> Capture:
        """As `folder.Capture`."""
        from tfprof.capture.folder import Capture  # noqa: PLC0415 - NumPy loads only if needed

        return Capture(folder, python=python, source=source)


sys.modules[__name__].__class__ = _Room
