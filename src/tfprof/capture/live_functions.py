"""Live functions and Keras models as columns: through the bytes of a SavedModel, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfprof import read
from tfprof.capture import keras_models
from tfprof.capture.saved_model import saved_model_of
from tfprof.capture.traced import Traced, concrete_functions

if TYPE_CHECKING:
    from tfprof.read.columns import GraphColumns


class LiveFunctions(NamedTuple):
    """What live functions consist of, and the lines of the program that made it."""

    columns: GraphColumns
    lines: read.Source  # a GraphDebugInfo


def live_functions(given: Any) -> LiveFunctions:  # noqa: ANN401 - see traced
    """The functions that a live object holds; raises UsageError where none was traced."""
    functions = [Traced.of(name, concrete) for name, concrete in concrete_functions(given)]
    weights = keras_models.weights(given) if keras_models.is_model(given) else None
    model, lines = (
        read.Source("the graph given", np.frombuffer(data, np.uint8))
        for data in saved_model_of(functions, weights)
    )
    return LiveFunctions(read.read_graph(model), lines)
