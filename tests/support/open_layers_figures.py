"""What the models of open_layers_worker.py cost, worked out by hand at the sizes of open_sizes.py.

name: (multiply-adds, parameters)
"""

from __future__ import annotations

from typing import Final

from open_sizes import B, H, L, S, T, W


def lstm(inputs: int, units: int) -> int:
    """Multiply-adds of a step: four gates, each of the input and of the state."""
    return 4 * units * (inputs + units)


def lstm_weights(inputs: int, units: int) -> int:
    return lstm(inputs, units) + 4 * units


def gru(inputs: int, units: int) -> int:
    """Three gates."""
    return 3 * units * (inputs + units)


def gru_weights(inputs: int, units: int, biases: int = 2) -> int:
    return gru(inputs, units) + biases * 3 * units


def dense(inputs: int, outputs: int) -> int:
    return (inputs + 1) * outputs


def heads(width: int, inputs: int, size: int) -> int:
    """The weights and biases of a projection to heads."""
    return (inputs + 1) * width * size


FRAMES: Final = B * T
PIXELS: Final = B * H * W
INSIDE: Final = B * (H - 2) * (W - 2)  # where a window of 3 by 3 fits
SMALL: Final = 4 * 27  # multiply-adds of a pixel: 3 channels, windows of 3 by 3, 4 filters
SMALL_WEIGHTS: Final = 4 * 28

# fmt: off
RECURRENT: Final = {
    "stacked_lstm": (FRAMES * (lstm(12, 16) + lstm(16, 8)) + B * 8 * 5,
                     lstm_weights(12, 16) + lstm_weights(16, 8) + dense(8, 5)),
    "bidirectional_gru": (FRAMES * (2 * gru(10, 6) + 12 * 4),
                          2 * gru_weights(10, 6) + dense(12, 4)),
    "stacked_bidirectional_lstm": (FRAMES * 2 * (lstm(6, 5) + lstm(10, 4)) + B * 4 * 2,
                                   2 * lstm_weights(6, 5) + 2 * lstm_weights(10, 4) + dense(4, 2)),
    # With a mask, Keras runs a step before the loop: it needs zeros like what a step returns.
    "masked_lstm": ((FRAMES + B) * lstm(8, 7) + B * 7 * 3,
                    50 * 8 + lstm_weights(8, 7) + dense(7, 3)),
    "masking_bidirectional": ((FRAMES + B) * 2 * lstm(6, 4) + B * 8 * 3,
                              2 * lstm_weights(6, 4) + dense(8, 3)),
    "seq2seq": (B * S * lstm(9, 16) + FRAMES * (lstm(11, 16) + 16 * 20),
                lstm_weights(9, 16) + lstm_weights(11, 16) + dense(16, 20)),
    "seq2seq_with_attention": (B * S * gru(6, 8) + FRAMES * (gru(6, 8) + 2 * S * 8 + 16 * 30),
                               40 * 6 + 30 * 6 + 2 * gru_weights(6, 8) + dense(16, 30)),
    # If time is open, Keras 3 runs TimeDistributed for as many steps as the batch has rows.
    "simple_rnn": (FRAMES * 9 * (6 + 9) + B * B * 9 * 4, 9 * (6 + 9 + 1) + dense(9, 4)),
    "stacked_cells": (FRAMES * (lstm(7, 5) + gru(5, 6)), lstm_weights(7, 5) + gru_weights(5, 6)),
    "backwards_gru": (FRAMES * gru(7, 5), gru_weights(7, 5, biases=1)),
    "repeated_vector": (B * (10 * 4 + 6 * (gru(4, 8) + 8 * 3)),
                        dense(10, 4) + gru_weights(4, 8) + dense(8, 3)),
    "conv_lstm": (
        FRAMES * 10 * 12 * 9 * 16 * (2 + 4),  # four gates of four filters each
        9 * 16 * (2 + 4) + 16,
    ),
    # A window of 3 fits 10 times into 12; the state, of 10, is padded.
    "conv_lstm_1d": (FRAMES * 10 * 3 * 12 * (2 + 3), 3 * 12 * (2 + 3) + 12),
    "convolution_then_lstm": (
        B * B * (6 * 6 * SMALL + lstm(4, 5)),  # as in simple_rnn
        SMALL_WEIGHTS + lstm_weights(4, 5),
    ),
}

IMAGES: Final = {
    "random_flip": (INSIDE * SMALL, SMALL_WEIGHTS),
    "random_rotation": (INSIDE * SMALL, SMALL_WEIGHTS),
    "random_zoom": (INSIDE * SMALL, SMALL_WEIGHTS),
    "random_translation": (INSIDE * SMALL, SMALL_WEIGHTS),
    "random_crop": (B * 14 * 16 * SMALL, SMALL_WEIGHTS),
    "random_contrast": (INSIDE * SMALL, SMALL_WEIGHTS),
    "resizing": (B * 14 * 16 * SMALL, SMALL_WEIGHTS),
    "center_crop": (B * 14 * 16 * SMALL, SMALL_WEIGHTS),
    "upsampling": (B * (2 * 20 - 2) * (2 * 28 - 2) * SMALL, SMALL_WEIGHTS),
    "padding_and_cropping": (B * (H + 5) * (W + 1) * SMALL, SMALL_WEIGHTS),
    "u_net": (PIXELS * 9 * 3 * 8 + PIXELS // 4 * (9 * 8 * 16 + 4 * 16 * 8) + PIXELS * 16 * 2,
              28 * 8 + (9 * 8 + 1) * 16 + (4 * 16 + 1) * 8 + dense(16, 2)),
    "strided_residual": (PIXELS // 4 * (9 * 3 * 8 + 9 * 8 * 8 + 3 * 8),
                         9 * 3 * 8 + 9 * 8 * 8 + 3 * 8 + 4 * 8),
    "squeeze_and_excite": (B * (8 * 2 + 2 * 8) + PIXELS * 8 * 4,
                           dense(8, 2) + dense(2, 8) + dense(8, 4)),
    "inverted_residual": (PIXELS * (6 * 24 + 9 * 24 + 24 * 6),
                          6 * 24 + 9 * 24 + 24 * 6 + 2 * 4 * 24),
    "inception_block": (PIXELS * (4 * 2 + 4 * 3 + 9 * 3 * 5 + 4 * 2),
                        dense(4, 2) + dense(4, 3) + (27 + 1) * 5 + dense(4, 2)),
    "grouped_convolution": (INSIDE * 8 * 9 * 4, (9 * 4 + 1) * 8),
    "separable_convolutions": (INSIDE * (9 * 10 + 15 * 10 + 10 * 6),
                               (9 + 1) * 10 + 15 * 10 + dense(10, 6)),
    # TensorFlow splits an image into as many as the dilation squared, padded to equal sizes.
    "dilated_convolution": (
        PIXELS * 27 * 6 + B * 9 * (-(-H // 3) - 2) * (-(-W // 3) - 2) * 9 * 6 * 4,
        28 * 6 + (9 * 6 + 1) * 4,
    ),
    "convolutional_autoencoder": (PIXELS * (27 * 6 + 9 * 6 * 3), 28 * 6 + (9 * 6 + 1) * 3),
}

SERIES: Final = {
    # Here two or four series, each padded by one element in front.
    "causal_convolutions": (
        FRAMES * (2 * 4 * 8 + 8 * 3) + B * (2 * -(-T // 2) + 4 * -(-T // 4)) * 2 * 8 * 8,
        (2 * 4 + 1) * 8 + 2 * (2 * 8 + 1) * 8 + dense(8, 3),
    ),
    # Each of T places spreads over 4.
    "transposed_1d": (FRAMES * 4 * 4 * 6, (4 * 4 + 1) * 6),
    "separable_1d": (FRAMES * 3 * 4 + B * (T - 2) * (3 * 4 + 4 * 7),
                     (3 + 1) * 4 + 3 * 4 + dense(4, 7)),
    "convolution_3d": (FRAMES * (8 * 6 * 27 * 2 * 4 + 6 * 4 * 9 * 4 * 5),
                       (27 * 2 + 1) * 4 + (9 * 4 + 1) * 5),
    "transposed_3d": (B * 4 * 6 * 5 * 8 * 3 * 2, (8 * 3 + 1) * 2),
}

ATTENTION: Final = {
    "cross_attention": (
        FRAMES * (12 * 12 + 15 * 12)  # queries, output
        + B * S * (10 * 12 + 10 * 15)  # keys, values
        + FRAMES * S * (12 + 15),
        heads(3, 12, 4) + heads(3, 10, 4) + heads(3, 10, 5) + dense(15, 12),
    ),
    "causal_decoder": (FRAMES * (4 * 16 * 16 + 2 * T * 16 + 2 * 16 * 32),
                       4 * dense(16, 16) + dense(16, 32) + dense(32, 16) + 2 * 16),
    # Heads of 6; 4 of queries, 2 of keys and values, repeated to 4.
    "grouped_queries": (FRAMES * (24 * 24 + 2 * 24 * 12 + 24 * 24 + 2 * T * 24),
                        dense(24, 24) + 2 * dense(24, 12) + dense(24, 24)),
    # The sum over tanh is no product; the weights times the values are.
    "additive_attention": (FRAMES * (S * 6 + 6 * 3), 6 + dense(6, 3)),
    "vision_transformer": (B * (16 * 48 * 12 + 16 * (4 * 12 * 12 + 2 * 16 * 12) + 12 * 10),
                           dense(48, 12) + 4 * dense(12, 12) + 2 * 12 + dense(12, 10)),
    "mlp_mixer": (B * (6 * 2 * 8 * 20 + 8 * 2 * 6 * 24),
                  dense(8, 20) + dense(20, 8) + dense(6, 24) + dense(24, 6) + 2 * 2 * 6),
}

DENSE: Final = {
    "embedding_and_pooling": (B * 12 * 4, 60 * 12 + dense(12, 4)),
    "normalizations": (FRAMES * (6 * 8 + 8 * 12 + 12 * 2),
                       2 * 6 + dense(6, 8) + 2 * 8 + dense(8, 12) + 12 + dense(12, 2)),
    "variational_autoencoder": (B * (20 * 10 + 2 * 10 * 3 + 3 * 10 + 10 * 20),
                                dense(20, 10) + 2 * dense(10, 3) + dense(3, 10) + dense(10, 20)),
    # An image of 4 by 4 becomes one of 8 by 8, and 3 by 3 windows.
    "generator_and_discriminator": (
        B * (5 * 128 + 16 * 16 * 8 * 6 + 64 * 9 * 6 + 9 * 9 * 5 + 45),
        dense(5, 128) + (16 * 8 + 1) * 6 + (9 * 6 + 1) + (9 + 1) * 5 + 46,
    ),
    "mixture_of_experts": (B * (10 * 4 + 4 * 10 * 7 + 4 * 7), dense(10, 4) + 4 * 10 * 7),
    "siamese": (B * (2 * (9 * 6 + 6 * 4) + 4), dense(9, 6) + dense(6, 4)),
    "wide_and_deep": (B * (20 * 8 + 38), 100 * 4 + dense(20, 8) + 39),
    "multi_hot": (B * 15 * 4, dense(15, 4)),
    "one_hot": (B * 9 * 4, dense(9, 4)),
    "text_vectorization": (B * 24 * 2, 5 * 4 + dense(24, 2)),
    "string_lookup": (B * 4 * 2, dense(4, 2)),
    "discretization": (B * 15 * 2, 4 * 5 + dense(15, 2)),
    "hashed_crossing": (B * 12 * 3, dense(12, 3)),
    # Half a frame is padded on both sides; 256 samples have 129 frequencies.
    "mel_spectrogram": (B * (1 + L // 128) * 129 * 20, 0),
}
# fmt: on

FIGURES: Final = {**RECURRENT, **IMAGES, **SERIES, **ATTENTION, **DENSE}

# Where TensorFlow traces something else if sizes are known.
FIXED: Final = {
    "masked_lstm": FRAMES * lstm(8, 7) + B * 7 * 3,
    "masking_bidirectional": FRAMES * 2 * lstm(6, 4) + B * 8 * 3,
    "simple_rnn": FRAMES * (9 * (6 + 9) + 9 * 4),
    "convolution_then_lstm": FRAMES * (6 * 6 * SMALL + lstm(4, 5)),
}

# Sizes are cut to whole windows, so the costs are no polynomials; an image that is too small to be
# cropped is resized.
NO_FORMULA: Final = frozenset(
    {
        "center_crop",
        *("u_net", "strided_residual", "convolutional_autoencoder", "mel_spectrogram"),
        *("dilated_convolution", "causal_convolutions"),
    }
)

# The products are certain, but the numbers in tensors say how often something else is computed.
PARTLY: Final = frozenset({"text_vectorization"})
