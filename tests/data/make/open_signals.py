"""Functions of signals, images, matrices and rows, for open_functions_worker.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from open_saving import model

if TYPE_CHECKING:
    from collections.abc import Callable

    Weight = Callable[..., Any]

RAW = tf.raw_ops

# --- signals ---


@model("sound B L")
def framed(weight: Weight) -> Any:
    w = weight(40, 7)
    return lambda x: tf.tensordot(tf.signal.frame(x, 40, 20), w, 1)


@model("sound B L")
def framed_to_the_end(weight: Weight) -> Any:
    w = weight(40, 7)
    return lambda x: tf.tensordot(tf.signal.frame(x, 40, 30, pad_end=True), w, 1)


@model("sound B L")
def mfcc(weight: Weight) -> Any:
    w = weight(13, 4)

    def call(x: Any) -> Any:
        spectrum = tf.abs(tf.signal.stft(x, 256, 128))
        mel = tf.signal.linear_to_mel_weight_matrix(20, 129, 8000, 100.0, 3800.0)
        energies = tf.math.log(tf.tensordot(spectrum, mel, 1) + 1e-6)
        return tf.tensordot(tf.signal.mfccs_from_log_mel_spectrograms(energies)[..., :13], w, 1)

    return call


@model("x B 64")
def filtered(weight: Weight) -> Any:
    w = weight(33)
    return lambda x: tf.signal.irfft(tf.signal.rfft(x) * tf.cast(w, tf.complex64))


@model("x B T 32")
def spectral_mixing(weight: Weight) -> Any:
    w = weight(32, 6)
    return lambda x: tf.math.real(tf.signal.fft(tf.cast(x, tf.complex64))) @ w


@model("x B 16 32")
def fourier_2d(weight: Weight) -> Any:
    w = weight(16, 17)

    def call(x: Any) -> Any:
        return tf.signal.irfft2d(tf.signal.rfft2d(x) * tf.cast(w, tf.complex64))

    return call


@model("sound B L")
def overlapped(weight: Weight) -> Any:
    w = weight(40, 40)

    def call(x: Any) -> Any:
        return tf.signal.overlap_and_add(tf.tensordot(tf.signal.frame(x, 40, 20), w, 1), 20)

    return call


@model("sound B L")
def spectrum_and_back(weight: Weight) -> Any:
    w = weight(33, 33)

    def call(x: Any) -> Any:
        spectrum = tf.signal.stft(x, 64, 32)
        mask = tf.tensordot(tf.abs(spectrum), w, 1)
        return tf.signal.inverse_stft(spectrum * tf.cast(mask, tf.complex64), 64, 32)

    return call


# --- images ---


@model("image B H W 3")
def patches(weight: Weight) -> Any:
    w = weight(48, 10)

    def call(x: Any) -> Any:
        size = [1, 4, 4, 1]
        return tf.tensordot(tf.image.extract_patches(x, size, size, [1] * 4, "VALID"), w, 1)

    return call


@model("image B H W 3", "boxes B 4", "number int32 B")
def cropped_boxes(weight: Weight) -> Any:
    w = weight(3, 3, 3, 8)

    def call(x: Any, boxes: Any, number: Any) -> Any:
        return tf.nn.conv2d(tf.image.crop_and_resize(x, boxes, number, [9, 7]), w, 1, "SAME")

    return call


@model("image B H W 3", "transforms B 8")
def projected(weight: Weight) -> Any:
    w = weight(3, 3, 3, 4)

    def call(x: Any, transforms: Any) -> Any:
        x = RAW.ImageProjectiveTransformV3(
            images=x, transforms=transforms, output_shape=tf.shape(x)[1:3] // 2,
            interpolation="BILINEAR", fill_mode="REFLECT", fill_value=0.0,
        )  # fmt: skip
        return tf.nn.conv2d(x, w, 1, "SAME")

    return call


@model("image B H W 3")
def enlarged(weight: Weight) -> Any:
    w = weight(3, 3, 3, 4)

    def call(x: Any) -> Any:
        return tf.nn.conv2d(tf.image.resize(x, 2 * tf.shape(x)[1:3]), w, 1, "SAME")

    return call


@model("image B H W 3")
def augmented(weight: Weight) -> Any:
    w = weight(3, 3, 3, 4)

    def call(x: Any) -> Any:
        x = tf.image.random_flip_left_right(tf.image.random_brightness(x, 0.2))
        x = tf.image.random_crop(
            tf.image.pad_to_bounding_box(x, 2, 2, 24, 32), [tf.shape(x)[0], 18, 16, 3]
        )
        return tf.nn.conv2d(tf.image.adjust_contrast(x, 0.5), w, 1, "VALID")

    return call


@model("image B H W 3")
def atrous(weight: Weight) -> Any:
    w = weight(3, 3, 3, 4)
    return lambda x: tf.nn.atrous_conv2d(x, w, 2, "SAME")


@model("image B H W 4")
def decoder(weight: Weight) -> Any:
    w = weight(3, 3, 6, 4)

    def call(x: Any) -> Any:
        b, h, wide = tf.unstack(tf.shape(x))[:3]
        return tf.nn.conv2d_transpose(x, w, [b, 2 * h, 2 * wide, 6], 2)

    return call


@model("image B H W 4")
def space_and_depth(weight: Weight) -> Any:
    w = weight(1, 1, 16, 8)

    def call(x: Any) -> Any:
        return tf.nn.depth_to_space(tf.nn.conv2d(tf.nn.space_to_depth(x, 2), w, 1, "SAME"), 2)

    return call


# --- linear algebra ---


@model("x B 6")
def diagonals(weight: Weight) -> Any:
    w = weight(6, 6)
    return lambda x: tf.linalg.diag_part(tf.linalg.diag(x) @ w @ tf.linalg.diag(x))


@model("x B T 6")
def bands(weight: Weight) -> Any:
    w = weight(6, 6)

    def call(x: Any) -> Any:
        scores = tf.matmul(x @ w, x, transpose_b=True)
        return tf.matmul(tf.linalg.band_part(scores, -1, 0), x)

    return call


@model("x B 6")
def shifted_diagonals(weight: Weight) -> Any:
    w = weight(7, 3)

    def call(x: Any) -> Any:
        square = tf.linalg.set_diag(tf.linalg.diag(x, k=1), tf.ones([tf.shape(x)[0], 7]))
        return square @ w

    return call


@model("x B 6 4")
def low_rank(weight: Weight) -> Any:
    w = weight(4, 3)

    def call(x: Any) -> Any:
        s, u, v = tf.linalg.svd(x)
        return u @ tf.linalg.diag(s) @ tf.linalg.matrix_transpose(v) @ w

    return call


@model("x B 6 4")
def orthogonal(weight: Weight) -> Any:
    w = weight(4, 4)

    def call(x: Any) -> Any:
        q, r = tf.linalg.qr(x)
        return q @ (r @ w)

    return call


@model("x B 5 5")
def whitened(weight: Weight) -> Any:
    w = weight(5, 2)

    def call(x: Any) -> Any:
        values, vectors = tf.linalg.eigh(x)
        return (vectors * values[:, None, :]) @ w

    return call


@model("x B 5 5")
def exponential(weight: Weight) -> Any:
    w = weight(5, 2)
    return lambda x: tf.linalg.expm(x) @ w


@model("x B 8 3", "y B 8 2")
def regression(weight: Weight) -> Any:
    w = weight(2, 6)
    return lambda x, y: tf.linalg.lstsq(x, y) @ w


@model("x B 5 4", "y B 5 1")
def gaussian_process(weight: Weight) -> Any:
    w = weight(4, 4)

    def call(x: Any, y: Any) -> Any:
        kernel = tf.matmul(x @ w, x, transpose_b=True) + tf.eye(5)
        factor = tf.linalg.cholesky(kernel)
        return tf.matmul(kernel, tf.linalg.cholesky_solve(factor, y)), tf.linalg.logdet(kernel)

    return call


# --- rows by condition, ragged and sparse tensors ---


@model("x B T 6", "mask bool B T")
def masked_sum(weight: Weight) -> Any:
    w = weight(6, 4)
    return lambda x, mask: tf.reduce_sum(tf.boolean_mask(x, mask), 0, keepdims=True) @ w


@model("x B 6", "mask bool B")
def masked_rows(weight: Weight) -> Any:
    w = weight(6, 4)
    return lambda x, mask: tf.boolean_mask(x, mask) @ w


@model("x B 6", "lengths int64 B")
def ragged_rows(weight: Weight) -> Any:
    w = weight(6, 4)

    def call(x: Any, lengths: Any) -> Any:
        rows = tf.RaggedTensor.from_row_lengths(x, lengths, validate=False)
        return tf.tensordot(rows.to_tensor(shape=[None, 9, None]), w, 1)

    return call


@model("x B 6")
def sparse_and_back(weight: Weight) -> Any:
    w = weight(6, 4)
    return lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x)) @ w


@model("places int64 E 2", "values E")
def sparse_product(weight: Weight) -> Any:
    w = weight(20, 7)

    def call(places: Any, values: Any) -> Any:
        return tf.sparse.sparse_dense_matmul(tf.SparseTensor(places, values, [9, 20]), w)

    return call


@model("x B 6")
def through_numpy(weight: Weight) -> Any:
    w = weight(6, 4)

    def call(x: Any) -> Any:
        y = tf.numpy_function(lambda array: array, [x], tf.float32)
        return tf.ensure_shape(y, [3, 6]) @ w

    return call


@model("x B 6")
def through_numpy_open(weight: Weight) -> Any:
    w = weight(6, 4)

    def call(x: Any) -> Any:
        y = tf.numpy_function(lambda array: array, [x], tf.float32)
        return tf.ensure_shape(y, [None, 6]) @ w

    return call


@model("x B 6")
def through_python_reshaped(weight: Weight) -> Any:
    w = weight(6, 4)

    def call(x: Any) -> Any:
        y = tf.py_function(lambda tensor: tensor, [x], tf.float32)
        return tf.reshape(y, [tf.shape(x)[0], 6]) @ w

    return call


@model("words string B")
def split_words(weight: Weight) -> Any:
    table, w = weight(50, 4), weight(4, 3)

    def call(words: Any) -> Any:
        parts = tf.strings.split(words).to_tensor("", shape=[None, 8])
        numbers = tf.strings.to_hash_bucket_fast(parts, 50)
        return tf.einsum("btf,fg->btg", tf.gather(tf.convert_to_tensor(table), numbers), w)

    return call
