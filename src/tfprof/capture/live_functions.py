"""Live functions and Keras models as columns: through the bytes of a SavedModel, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof import read
from tfprof.capture import keras_models
from tfprof.capture.require_tensorflow import require_tensorflow
from tfprof.capture.saved_model import saved_model_of
from tfprof.capture.tensorflow_internals import Part
from tfprof.capture.traced import Traced, concrete_functions

if TYPE_CHECKING:
    from tfprof.read.columns import GraphColumns


class LiveFunctions(NamedTuple):
    """The nodes of live functions, and the lines of the program that made them."""

    columns: GraphColumns
    lines: read.Source  # a GraphDebugInfo


def live_functions(holder: Any) -> LiveFunctions:  # noqa: ANN401 - see traced
    """The functions that a live object holds; raises UsageError where none was traced."""
    require_tensorflow("reading a live function or model", Part.FUNCTIONS)
    functions = [Traced.of(name, concrete) for name, concrete in concrete_functions(holder)]
    weights = keras_models.weights(holder) if keras_models.is_model(holder) else None
    model, lines = (
        read.Source("the graph given", np.frombuffer(data, np.uint8))
        for data in saved_model_of(functions, weights)
    )
    return LiveFunctions(read.read_graph(model), lines)
