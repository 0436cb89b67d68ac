"""A small model of each Keras layer, with what Keras says of it, in a process of its own.

python layers_worker.py FOLDER   →  FOLDER/truth.json, and of each case
    CASE.keras     the archive
    CASE.pb        the GraphDef of the model's call
The name of a case is its class, and a word for what is special.
"""

from __future__ import annotations

import inspect
import json
import sys
from math import prod
from pathlib import Path
from typing import Any, Final

import keras
import tensorflow as tf

L = keras.layers
VECTOR, SERIES, IMAGE, VOLUME = (6,), (None, 6), (12, 10, 4), (6, 8, 6, 4)
LARGE: Final = 200  # nodes of graphs that no test compares
SIDES: Final = {1: (12, 4), 2: IMAGE, 3: VOLUME}


def one(layer: Any, *shapes: Any, dtype: str = "float32", **call: Any) -> Any:
    """The model of a layer with an input for each shape."""
    inputs = [keras.Input(shape, dtype=dtype, name=f"x{at}") for at, shape in enumerate(shapes)]
    result = layer(inputs if len(inputs) > 1 else inputs[0], **call)
    return keras.Model(inputs, result, name="net")


def apart(layer: Any, *shapes: Any) -> Any:
    """The same, with an argument for each input."""
    inputs = [keras.Input(shape, name=f"x{at}") for at, shape in enumerate(shapes)]
    return keras.Model(inputs, layer(*inputs), name="net")


def sequence(*layers: Any) -> Any:
    return keras.Sequential([keras.Input(SERIES, name="x0"), *layers], name="net")


def dense() -> dict[str, Any]:
    quantized = one(L.Dense(5, activation="relu"), VECTOR)
    quantized.quantize("int8")
    four = one(L.Dense(5), (8,))
    four.quantize("int4")
    adapted = L.Dense(5)
    with_lora = one(adapted, VECTOR)
    adapted.enable_lora(2)
    einsum = L.EinsumDense("abc,cde->abde", (None, 2, 5), bias_axes="de")
    einsum_lora = one(einsum, SERIES)
    einsum.enable_lora(3)
    words = L.Embedding(20, 6)
    words_lora = one(words, (None,), dtype="int32")
    words.enable_lora(3)
    conv = L.Conv2D(5, 3)
    conv_lora = one(conv, IMAGE)
    conv.enable_lora(2)
    words_int8 = one(L.Embedding(20, 6), (None,), dtype="int32")
    words_int8.quantize("int8")
    words_int4 = one(L.Embedding(20, 6), (None,), dtype="int32")
    words_int4.quantize("int4")
    einsum_int8 = one(L.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d"), SERIES)
    einsum_int8.quantize("int8")
    einsum_int4 = one(L.EinsumDense("abc,cd->abd", (None, 4), bias_axes="d"), SERIES)
    einsum_int4.quantize("int4")
    both = L.Dense(5)
    lora_int8 = one(both, VECTOR)
    both.enable_lora(2)
    lora_int8.quantize("int8")
    heads = apart(L.MultiHeadAttention(2, 3), SERIES, SERIES)
    heads.quantize("int8")
    return {
        "Dense lora int8": lora_int8,
        "MultiHeadAttention int8": heads,
        "Dense": one(L.Dense(5), VECTOR),
        "Dense relu": one(L.Dense(5, "relu", use_bias=False), SERIES),
        "Dense int8": quantized,
        "Dense int4": four,
        "Dense lora": with_lora,
        "EinsumDense": one(L.EinsumDense("abc,cde->abde", (None, 2, 5), bias_axes="de"), SERIES),
        "EinsumDense dots": one(L.EinsumDense("...x,xy->...y", 5), SERIES),
        "EinsumDense lora": einsum_lora,
        "EinsumDense int8": einsum_int8,
        "EinsumDense int4": einsum_int4,
        "Embedding": one(L.Embedding(20, 6), (None,), dtype="int32"),
        "Embedding lora": words_lora,
        "Embedding int8": words_int8,
        "Embedding int4": words_int4,
        "ReversibleEmbedding": one(L.ReversibleEmbedding(20, 6), (None,), dtype="int32"),
        "ReversibleEmbedding reverse": reversible(),
        "Conv2D lora": conv_lora,
    }


def reversible() -> Any:
    layer, tokens = L.ReversibleEmbedding(20, 6), keras.Input((None,), dtype="int32", name="x0")
    return keras.Model(tokens, layer(layer(tokens), reverse=True), name="net")


def convolutions() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for rank, shape in SIDES.items():
        conv, up = getattr(L, f"Conv{rank}D"), getattr(L, f"Conv{rank}DTranspose")
        made[f"Conv{rank}D"] = one(conv(6, 3, padding="same", activation="relu"), shape)
        made[f"Conv{rank}D strides"] = one(conv(6, 3, strides=2), shape)
        made[f"Conv{rank}D dilated"] = one(conv(6, 2, dilation_rate=2, use_bias=False), shape)
        made[f"Conv{rank}DTranspose"] = one(up(6, 3, strides=2, padding="same"), shape)
        made[f"Conv{rank}DTranspose valid"] = one(up(6, 3, activation="tanh"), shape)
        open_sides = (*(None for _ in shape[:-1]), 4)
        made[f"Conv{rank}D open"] = one(conv(6, 3), open_sides)
    made["Conv1D causal"] = one(L.Conv1D(6, 3, padding="causal"), (12, 4))
    made["Conv2D dilated same"] = one(L.Conv2D(6, 3, dilation_rate=2, padding="same"), IMAGE)
    first = {"data_format": "channels_first"}
    made["Conv2D first"] = one(L.Conv2D(6, 3, strides=2, padding="same", **first), IMAGE)
    made["Conv2DTranspose open"] = one(L.Conv2DTranspose(6, 3, strides=2), (None, None, 4))
    made["Conv2DTranspose more"] = one(
        L.Conv2DTranspose(6, 3, strides=2, output_padding=1, padding="same"), IMAGE
    )
    made["Conv2D groups"] = one(L.Conv2D(6, 3, groups=2), IMAGE)
    for rank, shape in ((1, (12, 4)), (2, IMAGE)):
        depthwise = getattr(L, f"DepthwiseConv{rank}D")
        separable = getattr(L, f"SeparableConv{rank}D")
        made[f"DepthwiseConv{rank}D"] = one(depthwise(3, depth_multiplier=2), shape)
        made[f"SeparableConv{rank}D"] = one(separable(5, 3, padding="same", strides=2), shape)
    return made


def pooling() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for rank, shape in SIDES.items():
        for kind in ("Average", "Max"):
            layer = getattr(L, f"{kind}Pooling{rank}D")
            made[f"{kind}Pooling{rank}D"] = one(layer(2), shape)
            made[f"{kind}Pooling{rank}D same"] = one(layer(3, strides=2, padding="same"), shape)
            made[f"Global{kind}Pooling{rank}D"] = one(
                getattr(L, f"Global{kind}Pooling{rank}D")(), shape
            )
            adaptive = getattr(L, f"Adaptive{kind}Pooling{rank}D", None)
            if adaptive:
                made[f"Adaptive{kind}Pooling{rank}D"] = one(adaptive(2), shape)
        made[f"UpSampling{rank}D"] = one(getattr(L, f"UpSampling{rank}D")(2), shape)
        made[f"ZeroPadding{rank}D"] = one(getattr(L, f"ZeroPadding{rank}D")(1), shape)
        made[f"Cropping{rank}D"] = one(getattr(L, f"Cropping{rank}D")(1), shape)
        made[f"SpatialDropout{rank}D"] = one(getattr(L, f"SpatialDropout{rank}D")(0.5), shape)
    made["GlobalAveragePooling2D keep"] = one(L.GlobalAveragePooling2D(keepdims=True), IMAGE)
    made["UpSampling2D bilinear"] = one(L.UpSampling2D(2, interpolation="bilinear"), IMAGE)
    return made


def normalization() -> dict[str, Any]:
    return {
        "BatchNormalization": one(L.BatchNormalization(), IMAGE),
        "BatchNormalization vector": one(L.BatchNormalization(scale=False), VECTOR),
        "BatchNormalization axis": one(L.BatchNormalization(axis=1), IMAGE),
        "LayerNormalization": one(L.LayerNormalization(), SERIES),
        "LayerNormalization axes": one(L.LayerNormalization(axis=[1, 2], center=False), IMAGE),
        "RMSNormalization": one(L.RMSNormalization(), SERIES),
        "GroupNormalization": one(L.GroupNormalization(2), IMAGE),
        "UnitNormalization": one(L.UnitNormalization(), VECTOR),
        "SpectralNormalization": one(L.SpectralNormalization(L.Dense(5)), VECTOR),
        "Normalization": one(L.Normalization(), VECTOR),
        "Normalization given": one(L.Normalization(mean=3.0, variance=2.0), VECTOR),
    }


def activations() -> dict[str, Any]:
    made = {
        "ReLU": one(L.ReLU(), VECTOR),
        "ReLU max": one(L.ReLU(max_value=6.0), VECTOR),
        "ReLU slope": one(L.ReLU(negative_slope=0.1, threshold=0.5), VECTOR),
        "LeakyReLU": one(L.LeakyReLU(), VECTOR),
        "ELU": one(L.ELU(), VECTOR),
        "PReLU": one(L.PReLU(shared_axes=[1, 2]), IMAGE),
        "Softmax": one(L.Softmax(), VECTOR),
        "Softmax axis": one(L.Softmax(axis=1), IMAGE),
        "ActivityRegularization": one(L.ActivityRegularization(0.1), VECTOR),
        "Identity": one(L.Identity(), VECTOR),
    }
    for name in sorted(_functions(keras.activations)):
        made[f"Activation {name}"] = one(L.Activation(name), (3, 6))
    return made


def _functions(module: Any) -> list[str]:
    skipped = {"get", "serialize", "deserialize", "threshold"}
    return [n for n, f in inspect.getmembers(module, inspect.isfunction) if n not in skipped]


def shapes() -> dict[str, Any]:
    return {
        "Flatten": one(L.Flatten(), IMAGE),
        "Flatten dense": keras.Sequential([keras.Input(IMAGE), L.Flatten(), L.Dense(3)]),
        "Reshape": one(L.Reshape((-1, 8)), IMAGE),
        "Permute": one(L.Permute((2, 1, 3)), IMAGE),
        "RepeatVector": one(L.RepeatVector(3), VECTOR),
        "Masking": one(L.Masking(), SERIES),
        "Dropout": one(L.Dropout(0.5), VECTOR),
        "AlphaDropout": one(L.AlphaDropout(0.5), VECTOR),
        "GaussianDropout": one(L.GaussianDropout(0.5), VECTOR),
        "GaussianNoise": one(L.GaussianNoise(0.5), VECTOR),
        "InputLayer": sequence(L.Identity()),
    }


def merging() -> dict[str, Any]:
    made = {}
    for name in ("Add", "Average", "Maximum", "Minimum", "Multiply"):
        made[name] = one(getattr(L, name)(), VECTOR, VECTOR, VECTOR)
        made[f"{name} broadcast"] = one(getattr(L, name)(), (3, 6), VECTOR)
    made["Subtract"] = one(L.Subtract(), VECTOR, VECTOR)
    made["Concatenate"] = one(L.Concatenate(), SERIES, SERIES)
    made["Concatenate dense"] = keras.Model(
        (inputs := [keras.Input(VECTOR, name="x0"), keras.Input((3,), name="x1")]),
        L.Dense(2)(L.Concatenate()(inputs)),
    )
    made["Dot"] = one(L.Dot(axes=1), VECTOR, VECTOR)
    made["Dot matrices"] = one(L.Dot(axes=(2, 1)), (3, 6), (6, 4))
    made["Dot normalized"] = one(L.Dot(axes=2, normalize=True), (3, 6), (4, 6))
    return made


def recurrent() -> dict[str, Any]:
    made = {}
    for name in ("LSTM", "GRU", "SimpleRNN"):
        layer, cell = getattr(L, name), getattr(L, f"{name}Cell")
        made[name] = one(layer(5), (7, 6))
        made[f"{name} open"] = one(layer(5, return_sequences=True), SERIES)
        if name == "GRU":
            made["GRU state"] = one(layer(5, return_state=True, use_bias=False), SERIES)
        if name == "LSTM":
            made["RNN LSTM"] = one(L.RNN(cell(5)), SERIES)
        made[f"Bidirectional {name}"] = one(L.Bidirectional(layer(5)), SERIES)
        states = [(5,)] * (2 if name == "LSTM" else 1)
        made[f"{name}Cell"] = celled(cell(5), (6,), *states)
    made["GRU before"] = one(L.GRU(5, reset_after=False), SERIES)
    made["LSTM backwards"] = one(L.LSTM(5, go_backwards=True, activation="relu"), SERIES)
    made["Bidirectional sum"] = one(
        L.Bidirectional(L.LSTM(5, return_sequences=True), merge_mode="sum"), SERIES
    )
    made["Bidirectional two"] = one(
        L.Bidirectional(L.GRU(5), backward_layer=L.GRU(5, go_backwards=True)), SERIES
    )
    made["StackedRNNCells"] = one(L.RNN(L.StackedRNNCells([L.LSTMCell(5), L.LSTMCell(3)])), SERIES)
    made["TimeDistributed"] = one(L.TimeDistributed(L.Dense(5, "relu")), SERIES)
    made["TimeDistributed conv"] = one(L.TimeDistributed(L.Conv2D(5, 3)), (3, *IMAGE))
    for rank, shape in SIDES.items():
        layer = getattr(L, f"ConvLSTM{rank}D")
        made[f"ConvLSTM{rank}D"] = one(layer(3, 3), (5, *shape))
    return made


def celled(cell: Any, shape: Any, *states: Any) -> Any:
    given = keras.Input(shape, name="x0")
    held = [keras.Input(state, name=f"h{at}") for at, state in enumerate(states)]
    output, _ = cell(given, held)
    return keras.Model([given, *held], output, name="net")


def attention() -> dict[str, Any]:
    queries, keys = (5, 6), (7, 6)
    return {
        "Attention": one(L.Attention(), queries, keys),
        "Attention scale": one(L.Attention(use_scale=True, score_mode="concat"), queries, keys),
        "AdditiveAttention": one(L.AdditiveAttention(), queries, keys),
        "MultiHeadAttention": apart(L.MultiHeadAttention(2, 3), SERIES, SERIES),
        "MultiHeadAttention value": apart(
            L.MultiHeadAttention(2, 3, value_dim=4, output_shape=9), (5, 6), (7, 8)
        ),
        "MultiHeadAttention causal": causal(),
        "MultiHeadAttention axes": apart(
            L.MultiHeadAttention(2, 3, attention_axes=(2, 3)), (3, 5, 4, 6), (3, 7, 4, 6)
        ),
        "GroupQueryAttention": apart(L.GroupQueryAttention(3, 4, 2), SERIES, SERIES),
    }


def causal() -> Any:
    given = keras.Input(SERIES, name="x0")
    result = L.MultiHeadAttention(2, 3)(given, given, use_causal_mask=True)
    return keras.Model(given, result, name="net")


def preprocessing() -> dict[str, Any]:
    made = {
        "Rescaling": one(L.Rescaling(2.0, offset=1.0), IMAGE),
        "Resizing": one(L.Resizing(8, 8), IMAGE),
        "Resizing nearest": one(L.Resizing(8, 8, interpolation="nearest"), IMAGE),
        "CenterCrop": one(L.CenterCrop(8, 8), IMAGE),
        "Discretization": one(L.Discretization([0.0, 1.0]), VECTOR),
        "CategoryEncoding": one(L.CategoryEncoding(6), VECTOR, dtype="int32"),
        "Hashing": one(L.Hashing(8), (1,), dtype="int32"),
        "HashedCrossing": one(L.HashedCrossing(8), (1,), (1,), dtype="int32"),
        "IntegerLookup": one(L.IntegerLookup(vocabulary=[3, 5]), (1,), dtype="int64"),
        "StringLookup": one(L.StringLookup(vocabulary=["a", "b"]), (1,), dtype="string"),
        "TextVectorization": one(
            L.TextVectorization(vocabulary=["a", "b"], output_sequence_length=4), (1,),
            dtype="string",
        ),
        "MelSpectrogram": one(L.MelSpectrogram(16, 8, 16, num_mel_bins=4), (64,)),
        "Pipeline": one(L.Pipeline([L.Rescaling(2.0)]), IMAGE),
    }  # fmt: skip
    for name, arguments in RANDOM.items():
        made[name] = one(getattr(L, name)(**arguments), (12, 10, 3))
    return made


RANDOM: Final[dict[str, dict[str, Any]]] = {
    "AugMix": {}, "AutoContrast": {}, "CutMix": {}, "MixUp": {},
    "ContrastLimitedAdaptiveHistogramEqualization": {},
    "RandAugment": {}, "RandomBrightness": {"factor": 0.2}, "RandomColorDegeneration":
    {"factor": 0.2}, "RandomColorJitter": {}, "RandomContrast": {"factor": 0.2},
    "RandomCrop": {"height": 8, "width": 8}, "RandomElasticTransform": {}, "RandomErasing": {},
    "RandomFlip": {}, "RandomGaussianBlur": {}, "RandomGrayscale": {}, "RandomHue":
    {"factor": 0.2}, "RandomInvert": {}, "RandomPerspective": {}, "RandomPosterization":
    {"factor": 4}, "RandomRotation": {"factor": 0.2}, "RandomSaturation": {"factor": 0.2},
    "RandomSharpness": {"factor": 0.2}, "RandomShear": {}, "RandomTranslation":
    {"height_factor": 0.2, "width_factor": 0.2}, "RandomZoom": {"height_factor": 0.2},
    "Solarization": {},
}  # fmt: skip


def models() -> dict[str, Any]:
    """Nested and shared layers, several inputs and outputs, operators, and frozen layers."""
    inner = keras.Sequential([keras.Input(VECTOR), L.Dense(6, "gelu"), L.Dense(6)], name="inner")
    x0, x1 = keras.Input(VECTOR, name="x0"), keras.Input(VECTOR, name="x1")
    twice = keras.Model([x0, x1], [inner(x0) + inner(x1), inner(x0) * 2.0], name="net")
    two = keras.Model([x0, x1], [L.Dense(3)(x0), L.Dense(4)(x1 - x0)], name="two")
    first, second = two([x1, x0])
    frozen = L.Dense(6, trainable=False)
    both = keras.Model([x0, x1], [L.Dense(2)(frozen(second)), first], name="net")
    shared = L.Conv1D(5, 2)
    long, short = keras.Input((9, 4), name="x0"), keras.Input((None, 4), name="x1")
    return {
        "Model twice": twice,
        "Model both": both,
        "Model shared": keras.Model([long, short], [shared(long), shared(short)], name="net"),
        "Model late": late(),
        "Model sequence": sequence(L.LSTM(4, return_sequences=True), L.Dense(3), L.GRU(2)),
    }


def late() -> Any:
    """A Sequential model that learns its input from the first call."""
    made = keras.Sequential([L.Dense(4, "relu"), L.Dropout(0.5), L.Dense(2)], name="net")
    made.build((None, 6))
    return made


GROUPS = (
    dense, convolutions, pooling, normalization, activations, shapes, merging, recurrent,
    attention, preprocessing, models,
)  # fmt: skip


def main(folder: str) -> None:
    truth: dict[str, Any] = {"classes": classes(), "cases": {}}
    for group in GROUPS:
        for name, model in group().items():
            truth["cases"][name] = written(Path(folder), name, model)
    Path(folder, "truth.json").write_text(json.dumps(truth), encoding="utf-8")


def classes() -> list[str]:
    """The names of all layers; of several names for one class, its own, or else the first."""
    layers = inspect.getmembers(L, lambda it: inspect.isclass(it) and issubclass(it, L.Layer))
    names: dict[Any, str] = {}
    for name, layer in layers:
        names[layer] = name if name == layer.__name__ else names.get(layer, name)
    return sorted(names.values())


def written(folder: Path, name: str, model: Any) -> dict[str, Any]:
    specs = [tf.TensorSpec(one.shape, one.dtype, one.name) for one in model.inputs]
    function = tf.function(lambda *given: model(list(given), training=False))
    graph = function.get_concrete_function(*specs)
    definition = graph.graph.as_graph_def(add_shapes=True)
    if len(definition.node) < LARGE:
        (folder / f"{name}.pb").write_bytes(definition.SerializeToString())
    model.save(folder / f"{name}.keras")
    outputs = [tensor.name.partition(":")[0] for tensor in graph.outputs]
    return {
        "outputs": outputs,
        "parameters": model.count_params(),
        "trainable": sum(prod(weight.shape) for weight in model.trainable_weights),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
