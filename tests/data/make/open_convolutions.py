"""Models of convolutions with open dimensions, for open_layers_worker.py."""

from __future__ import annotations

from typing import Any

import keras

from open_saving import model

L = keras.layers

# --- images of any size ---


def small_convolution(x: Any) -> Any:
    return L.Conv2D(4, 3)(x)


@model("image B H W 3")
def random_flip(x: Any) -> Any:
    return small_convolution(L.RandomFlip()(x))


@model("image B H W 3")
def random_rotation(x: Any) -> Any:
    return small_convolution(L.RandomRotation(0.2)(x))


@model("image B H W 3")
def random_zoom(x: Any) -> Any:
    return small_convolution(L.RandomZoom(0.3)(x))


@model("image B H W 3")
def random_translation(x: Any) -> Any:
    return small_convolution(L.RandomTranslation(0.1, 0.2)(x))


@model("image B 20 28 3")
def random_crop(x: Any) -> Any:
    return small_convolution(L.RandomCrop(16, 18)(x))


@model("image B H W 3")
def random_contrast(x: Any) -> Any:
    return small_convolution(L.RandomBrightness(0.1)(L.RandomContrast(0.2)(x)))


@model("image B H W 3")
def resizing(x: Any) -> Any:
    return small_convolution(L.Rescaling(1 / 255)(L.Resizing(16, 18)(x)))


@model("image B H W 3")
def center_crop(x: Any) -> Any:
    return small_convolution(L.CenterCrop(16, 18)(x))


@model("image B 20 28 3")
def upsampling(x: Any) -> Any:
    return small_convolution(L.UpSampling2D(2, interpolation="bilinear")(x))


@model("image B H W 3")
def padding_and_cropping(x: Any) -> Any:
    return small_convolution(L.Cropping2D(((1, 2), (3, 4)))(L.ZeroPadding2D(5)(x)))


@model("image B H W 3")
def u_net(x: Any) -> Any:
    top = L.Conv2D(8, 3, padding="same")(x)
    low = L.Conv2D(16, 3, padding="same")(L.MaxPooling2D()(top))
    up = L.Conv2DTranspose(8, 2, strides=2)(low)
    return L.Conv2D(2, 1)(L.Concatenate()([top, up]))


@model("image B H W 3")
def strided_residual(x: Any) -> Any:
    y = L.Conv2D(8, 3, strides=2, padding="same", use_bias=False)(x)
    y = L.Conv2D(8, 3, padding="same", use_bias=False)(L.ReLU()(L.BatchNormalization()(y)))
    return L.Add()([L.Conv2D(8, 1, strides=2, use_bias=False)(x), y])


@model("image B H W 8")
def squeeze_and_excite(x: Any) -> Any:
    s = L.Dense(2, activation="relu")(L.GlobalAveragePooling2D()(x))
    s = L.Reshape((1, 1, 8))(L.Dense(8, activation="sigmoid")(s))
    return L.Conv2D(4, 1)(L.Multiply()([x, s]))


@model("image B H W 6")
def inverted_residual(x: Any) -> Any:
    y = L.ReLU(6)(L.BatchNormalization()(L.Conv2D(24, 1, use_bias=False)(x)))
    y = L.BatchNormalization()(L.DepthwiseConv2D(3, padding="same", use_bias=False)(y))
    return L.Add()([x, L.Conv2D(6, 1, use_bias=False)(y)])


@model("image B H W 4")
def inception_block(x: Any) -> Any:
    a = L.Conv2D(2, 1)(x)
    b = L.Conv2D(5, 3, padding="same")(L.Conv2D(3, 1)(x))
    c = L.Conv2D(2, 1)(L.MaxPooling2D(3, 1, padding="same")(x))
    return L.Concatenate()([a, b, c])


@model("image B H W 16")
def grouped_convolution(x: Any) -> Any:
    return L.Conv2D(8, 3, groups=4)(x)


@model("image B H W 5")
def separable_convolutions(x: Any) -> Any:
    x = L.DepthwiseConv2D(3, depth_multiplier=2)(x)
    return L.SeparableConv2D(6, (3, 5), padding="same")(x)


@model("image B H W 3")
def dilated_convolution(x: Any) -> Any:
    return L.Conv2D(4, 3, dilation_rate=3)(L.Conv2D(6, 3, dilation_rate=2, padding="same")(x))


# --- convolutions along other axes ---


@model("series B T 4")
def causal_convolutions(x: Any) -> Any:
    for rate in (1, 2, 4):
        x = L.Conv1D(8, 2, dilation_rate=rate, padding="causal")(x)
    return L.Conv1D(3, 1)(x)


@model("series B T 4")
def transposed_1d(x: Any) -> Any:
    return L.Conv1DTranspose(6, 4, strides=2, padding="same")(x)


@model("series B T 4")
def separable_1d(x: Any) -> Any:
    return L.SeparableConv1D(7, 3)(L.DepthwiseConv1D(3, padding="same")(x))


@model("volume B T 8 6 2")
def convolution_3d(x: Any) -> Any:
    return L.Conv3D(5, (1, 3, 3))(L.Conv3D(4, 3, padding="same")(x))


@model("volume B 4 6 5 3")
def transposed_3d(x: Any) -> Any:
    return L.Conv3DTranspose(2, 2, strides=2)(x)
