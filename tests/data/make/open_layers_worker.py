"""Models of Keras layers with open dimensions, in a process of its own.

python open_layers_worker.py FOLDER   →  see open_saving.py; open_layers_figures.py has the costs
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import keras

import open_convolutions  # noqa: F401 - registers its models
from open_saving import Model, model, write

if TYPE_CHECKING:
    from collections.abc import Callable

L = keras.layers

# --- recurrent layers ---


@model("frames B T 12")
def stacked_lstm(x: Any) -> Any:
    return L.Dense(5)(L.LSTM(8)(L.LSTM(16, return_sequences=True)(x)))


@model("frames B T 10")
def bidirectional_gru(x: Any) -> Any:
    return L.Dense(4)(L.Bidirectional(L.GRU(6, return_sequences=True))(x))


@model("frames B T 6")
def stacked_bidirectional_lstm(x: Any) -> Any:
    x = L.Bidirectional(L.LSTM(5, return_sequences=True))(x)
    return L.Dense(2)(L.Bidirectional(L.LSTM(4), merge_mode="sum")(x))


@model("tokens int32 B T")
def masked_lstm(x: Any) -> Any:
    return L.Dense(3)(L.LSTM(7)(L.Embedding(50, 8, mask_zero=True)(x)))


@model("frames B T 6")
def masking_bidirectional(x: Any) -> Any:
    x = L.Bidirectional(L.LSTM(4, return_sequences=True))(L.Masking()(x))
    return L.Dense(3)(L.GlobalAveragePooling1D()(x))


@model("frames B S 9", "words B T 11")
def seq2seq(x: Any, y: Any) -> Any:
    _, *state = L.LSTM(16, return_state=True)(x)
    return L.Dense(20)(L.LSTM(16, return_sequences=True)(y, initial_state=state))


@model("source int32 B S", "target int32 B T")
def seq2seq_with_attention(x: Any, y: Any) -> Any:
    keys, state = L.GRU(8, return_sequences=True, return_state=True)(L.Embedding(40, 6)(x))
    queries = L.GRU(8, return_sequences=True)(L.Embedding(30, 6)(y), initial_state=state)
    return L.Dense(30)(L.Concatenate()([queries, L.Attention()([queries, keys])]))


@model("frames B T 6")
def simple_rnn(x: Any) -> Any:
    return L.TimeDistributed(L.Dense(4))(L.SimpleRNN(9, return_sequences=True)(x))


@model("frames B T 7")
def stacked_cells(x: Any) -> Any:
    return L.RNN([L.LSTMCell(5), L.GRUCell(6)])(x)


@model("frames B T 7")
def backwards_gru(x: Any) -> Any:
    return L.GRU(5, go_backwards=True, reset_after=False)(x)


@model("x B 10")
def repeated_vector(x: Any) -> Any:
    x = L.RepeatVector(6)(L.Dense(4)(x))
    return L.TimeDistributed(L.Dense(3))(L.GRU(8, return_sequences=True)(x))


@model("clip B T 10 12 2")
def conv_lstm(x: Any) -> Any:
    return L.ConvLSTM2D(4, 3, padding="same")(x)


@model("series B T 12 2")
def conv_lstm_1d(x: Any) -> Any:
    return L.ConvLSTM1D(3, 3, return_sequences=True)(x)


@model("clip B T 8 8 3")
def convolution_then_lstm(x: Any) -> Any:
    x = L.TimeDistributed(L.GlobalAveragePooling2D())(L.TimeDistributed(L.Conv2D(4, 3))(x))
    return L.LSTM(5)(x)


# --- attention ---


@model("queries B T 12", "values B S 10")
def cross_attention(x: Any, y: Any) -> Any:
    return L.MultiHeadAttention(3, 4, value_dim=5)(x, y)


@model("x B T 16")
def causal_decoder(x: Any) -> Any:
    x = x + L.MultiHeadAttention(2, 8)(x, x, use_causal_mask=True)
    return L.Dense(16)(L.Dense(32, activation="gelu")(L.LayerNormalization()(x)))


@model("x B T 24")
def grouped_queries(x: Any) -> Any:
    return L.GroupQueryAttention(6, 4, 2)(x, x)


@model("queries B T 6", "values B S 6")
def additive_attention(x: Any, y: Any) -> Any:
    return L.Dense(3)(L.AdditiveAttention()([x, y]))


@model("image B 16 16 3")
def vision_transformer(x: Any) -> Any:
    x = L.Reshape((16, 12))(L.Conv2D(12, 4, strides=4)(x))
    x = x + L.MultiHeadAttention(3, 4)(x, x)
    return L.Dense(10)(L.GlobalAveragePooling1D()(L.LayerNormalization()(x)))


@model("x B 8 6")
def mlp_mixer(x: Any) -> Any:
    y = L.Permute((2, 1))(L.LayerNormalization()(x))
    x = x + L.Permute((2, 1))(L.Dense(8)(L.Dense(20, activation="gelu")(y)))
    return x + L.Dense(6)(L.Dense(24, activation="gelu")(L.LayerNormalization()(x)))


# --- whole models of dense layers ---


@model("tokens int32 B T")
def embedding_and_pooling(x: Any) -> Any:
    x = L.GlobalAveragePooling1D()(L.Embedding(60, 12, mask_zero=True)(x))
    return L.Dense(4)(x)


@model("x B T 6")
def normalizations(x: Any) -> Any:
    x = L.Dense(8)(L.LayerNormalization()(x))
    x = L.UnitNormalization()(L.Dense(12)(L.GroupNormalization(4)(x)))
    return L.Dense(2)(L.RMSNormalization()(x))


@model("image B H W 3")
def convolutional_autoencoder(x: Any) -> Any:
    x = L.MaxPooling2D()(L.Conv2D(6, 3, padding="same", activation="relu")(x))
    return L.Conv2D(3, 3, padding="same")(L.UpSampling2D()(x))


class Sampling(L.Layer):  # type: ignore[misc,name-defined]
    """A normal variable of this mean and logarithm of the variance."""

    def call(self, inputs: Any) -> Any:
        mean, spread = inputs
        noise = keras.random.normal(keras.ops.shape(mean), seed=1)
        return mean + keras.ops.exp(spread / 2) * noise


@model("x B 20")
def variational_autoencoder(x: Any) -> Any:
    x = L.Dense(10, activation="relu")(x)
    x = Sampling()([L.Dense(3)(x), L.Dense(3)(x)])
    return L.Dense(20)(L.Dense(10, activation="relu")(x))


@model("noise B 5")
def generator_and_discriminator(x: Any) -> Any:
    x = L.Reshape((4, 4, 8))(L.Dense(128)(x))
    x = L.LeakyReLU()(L.Conv2DTranspose(6, 4, strides=2, padding="same")(x))
    x = L.Conv2D(1, 3, padding="same", activation="tanh")(x)
    x = L.Conv2D(5, 3, strides=2)(x)
    return L.Dense(1)(L.Flatten()(x))


@model("x B 10")
def mixture_of_experts(x: Any) -> Any:
    gates = L.Dense(4, activation="softmax")(x)
    experts = L.EinsumDense("bi,eio->beo", (4, 7))(L.Identity()(x))
    return L.Dot(1)([gates, experts])


@model("first B 9", "second B 9")
def siamese(x: Any, y: Any) -> Any:
    tower = keras.Sequential([L.Dense(6, activation="relu"), L.Dense(4)])
    return L.Dot(1, normalize=True)([tower(x), tower(y)])


@model("wide B 30", "deep int32 B 5")
def wide_and_deep(x: Any, y: Any) -> Any:
    y = L.Dense(8, activation="relu")(L.Flatten()(L.Embedding(100, 4)(y)))
    return L.Dense(1)(L.Concatenate()([x, y]))


# --- preprocessing of features ---


@model("tokens int32 B T")
def multi_hot(x: Any) -> Any:
    return L.Dense(4)(L.CategoryEncoding(15, output_mode="multi_hot")(x))


@model("label int32 B 1")
def one_hot(x: Any) -> Any:
    return L.Dense(4)(L.CategoryEncoding(9, output_mode="one_hot")(x))


@model("words string B 1")
def text_vectorization(x: Any) -> Any:
    words = L.TextVectorization(output_sequence_length=6, vocabulary=["a", "b", "c"])
    return L.Dense(2)(L.Flatten()(L.Embedding(5, 4)(words(x))))


@model("words string B 3")
def string_lookup(x: Any) -> Any:
    ids = L.StringLookup(vocabulary=["a", "b", "c"], output_mode="multi_hot")(x)
    return L.Dense(2)(ids)


@model("x B 3")
def discretization(x: Any) -> Any:
    places = L.Discretization([0.0, 1.0, 2.0])(x)
    return L.Dense(2)(L.Flatten()(L.Embedding(4, 5)(places)))


@model("user int32 B 1", "item int32 B 1")
def hashed_crossing(x: Any, y: Any) -> Any:
    return L.Dense(3)(L.HashedCrossing(12, output_mode="one_hot")((x, y)))


@model("sound B L")
def mel_spectrogram(x: Any) -> Any:
    layer = L.MelSpectrogram(fft_length=256, sequence_stride=128, num_mel_bins=20)
    return layer(x)


def save(made: Model, path: str) -> Callable[..., Any]:
    """Export a model that trains, so that random layers do something."""
    tensors = [
        keras.Input(spec.shape[1:], dtype=spec.dtype.name, name=spec.name)
        for spec in (one.open_spec for one in made.inputs)
    ]
    network = keras.Model(tensors, made.build(*tensors))
    training = made.name.startswith("random")

    def called(*given: Any) -> Any:
        return network(list(given) if len(given) > 1 else given[0], training=training)

    archive = keras.export.ExportArchive()
    archive.track(network)
    archive.add_endpoint("serve", called, [one.open_spec for one in made.inputs])
    archive.write_out(path, verbose=False)
    return called


def main(folder: str) -> None:
    write(folder, save)


if __name__ == "__main__":
    main(*sys.argv[1:])
