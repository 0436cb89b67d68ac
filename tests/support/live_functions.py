"""Keras models and functions that tests load as they live; TensorFlow is imported with this."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import tensorflow as tf
from tensorflow.core.framework.graph_debug_info_pb2 import GraphDebugInfo
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

layers = keras.layers
KERAS_3 = keras.__version__.startswith("3")


def convolutions() -> Any:
    """Convolution and batch normalisation, with moving averages that training does not change."""
    inside = [layers.Conv2D(4, 3), layers.BatchNormalization(), layers.Flatten(), layers.Dense(10)]
    return keras.Sequential([layers.Input([8, 8, 3]), *inside], name="convolutions")


def lstm() -> Any:
    return keras.Sequential([layers.Input([5, 6]), layers.LSTM(4)], name="lstm")


def gru() -> Any:
    recurrent = layers.Bidirectional(layers.GRU(4))
    return keras.Sequential([layers.Input([5, 6]), recurrent], name="gru")


def transformer() -> Any:
    tokens = layers.Input([12], name="tokens")
    x = layers.Embedding(100, 16)(tokens)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    return keras.Model(tokens, layers.Dense(10)(x), name="transformer")


class Own(keras.Model):  # type: ignore[misc]
    """A class of the user's own, with a weight that nothing reads and a state of random numbers."""

    def __init__(self) -> None:
        super().__init__(name="own")
        self.dense = layers.Dense(4)
        self.dropout = layers.Dropout(0.5)
        self.unread = self.add_weight(shape=[7, 7], name="unread", trainable=False)

    def call(self, x: Any) -> Any:
        hidden = self.dense(x)  # the line of the dense layer
        return self.dropout(hidden, training=True) * 2.0


def own() -> Any:
    model = Own()
    model(tf.ones([2, 3]))
    return model


class Folder(NamedTuple):
    """The two messages that say what functions are."""

    meta: Any
    lines: Any

    @classmethod
    def parsed(cls, model: bytes, lines: bytes) -> Folder:
        (meta,) = SavedModel.FromString(model).meta_graphs
        return cls(meta, GraphDebugInfo.FromString(lines))

    def nodes(self, op: str) -> dict[str, Any]:
        """The nodes of the top level with this type, by name."""
        return {node.name: node for node in self.meta.graph_def.node if node.op == op}

    def functions(self) -> dict[str, Any]:
        return {one.signature.name: one for one in self.meta.graph_def.library.function}

    def stack(self, key: str) -> list[tuple[str, int]]:
        """(file, line) of the frames of a node, outermost first."""
        trace = self.lines.traces_by_id[self.lines.name_to_trace_id[key]]
        frames = [self.lines.frames_by_id[number] for number in trace.frame_id]
        return [(self.lines.files[frame.file_index], frame.line) for frame in frames]

    def stacks_of(self, node: str) -> set[tuple[tuple[str, int], ...]]:
        """The stacks of the nodes of this name in any function."""
        keys = [key for key in self.lines.name_to_trace_id if key.rpartition("@")[0] == node]
        return {tuple(self.stack(key)) for key in keys}
