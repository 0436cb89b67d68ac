"""What the functions of open_functions_worker.py cost, worked out by hand.

name: (multiply-adds, parameters), at the sizes of open_sizes.py
"""

from __future__ import annotations

from math import log2
from typing import Final

from open_sizes import B, E, H, L, T, W

FRAMES: Final = B * T
PIXELS: Final = B * H * W

LOOPS: Final = {
    "mapped": (B * 16 * 24, 16 * 24),
    "mapped_to_pairs": (B * 2 * T * 6 * 5 + FRAMES * 5 * 4 + B * 5 * 4, 6 * 5 + 5 * 4),
    "scanned": (T * 3 * (8 * 8 + 8 * 2), 8 * 8 + 8 * 2),
    "scanned_over_time": (FRAMES * 8 * 8 + FRAMES * 8, 8 * 8),
    "vectorized": (B * 6 * 9, 6 * 9),
    "folded": (T * 5 * 5, 5 * 5),
    "written_and_stacked": (FRAMES * (6 * 4 + 4 * 3), 6 * 4 + 4 * 3),
    "unstacked_and_gathered": (FRAMES * (6 * 4 + 4 * 3), 6 * 4 + 4 * 3),
    "decoded_step_by_step": (B * 6 * 8 + 4 * B * (8 * 8 + 8 * 5), 6 * 8 + 8 * 8 + 8 * 5),
    "conditional": (B * (2 * 6 * 6 + 6 * 4), 6 * 6 + 6 * 4),
    "switched": (B * (3 * 6 * 6 + 6 * 4), 6 * 6 + 6 * 4),
    "power_iteration": (10 * B * 6 * 6, 6 * 6),
    "newton_schulz": (B * (6 * 2 * 5**3 + 5**3), 5 * 5),
}

SIGNALS: Final = {
    "framed": (B * (1 + (L - 40) // 20) * 40 * 7, 40 * 7),
    "framed_to_the_end": (B * -(-L // 30) * 40 * 7, 40 * 7),
    "mfcc": (B * (1 + (L - 256) // 128) * (129 * 20 + 13 * 4), 13 * 4),
    "filtered": (0, 33),
    "spectral_mixing": (FRAMES * 32 * 6, 32 * 6),
    "fourier_2d": (0, 16 * 17),
    "overlapped": (B * (1 + (L - 40) // 20) * 40 * 40, 40 * 40),
    "spectrum_and_back": (B * (1 + (L - 64) // 32) * 33 * 33, 33 * 33),
}

IMAGES: Final = {
    "patches": (B * (H // 4) * (W // 4) * 48 * 10, 48 * 10),
    "cropped_boxes": (B * 9 * 7 * 27 * 8, 27 * 8),
    "projected": (B * (H // 2) * (W // 2) * 27 * 4, 27 * 4),
    "enlarged": (4 * PIXELS * 27 * 4, 27 * 4),
    "augmented": (B * 16 * 14 * 27 * 4, 27 * 4),
    "atrous": (PIXELS * 27 * 4, 27 * 4),
    "decoder": (PIXELS * 9 * 4 * 6, 9 * 4 * 6),
    "space_and_depth": (PIXELS // 4 * 16 * 8, 16 * 8),
}

ALGEBRA: Final = {
    "diagonals": (B * 2 * 6**3, 6 * 6),
    "bands": (FRAMES * 6 * 6 + 2 * FRAMES * T * 6, 6 * 6),
    "shifted_diagonals": (B * 7 * 7 * 3, 7 * 3),
    "low_rank": (B * (6 * 4 * 4 + 6 * 4 * 4 + 6 * 4 * 3), 4 * 3),
    "orthogonal": (B * (4 * 4 * 4 + 6 * 4 * 4), 4 * 4),
    "whitened": (B * 5 * 5 * 2, 5 * 2),
    # Padé approximants of degrees 3, 5 and 7 take 2, 3 and 4 products; then the result is squared
    # as often as the numbers need, here once.
    "exponential": (B * (10 * 5**3 + 5 * 5 * 2), 5 * 2),
    # Normal equations: both sides are multiplied by the transpose of the matrix.
    "regression": (B * (3 * 8 * 3 + 3 * 8 * 2 + 3 * 2 * 6), 2 * 6),
    "gaussian_process": (B * (5 * 4 * 4 + 5 * 4 * 5 + 5 * 5 * 1), 4 * 4),
}

ROWS: Final = {
    "masked_sum": (6 * 4, 6 * 4),
    "masked_rows": (B * 6 * 4, 6 * 4),  # at most: the mask says how many rows there are
    "ragged_rows": (B * 9 * 6 * 4, 6 * 4),
    "sparse_and_back": (B * 6 * 4, 6 * 4),
    "sparse_product": (E * 7, 20 * 7),
    "through_numpy": (3 * 6 * 4, 6 * 4),
    "through_numpy_open": (B * 6 * 4, 6 * 4),  # Python may return any number of rows
    "through_python_reshaped": (B * 6 * 4, 6 * 4),
    "split_words": (B * 8 * 4 * 3, 50 * 4 + 4 * 3),
}

PRODUCTS: Final = {
    "bilinear": (B * (4 * 6 * 5 + 6 * 5), 4 * 6 * 5),
    "heads_by_einsum": (FRAMES * (2 * 12 * 12 + 2 * T * 12), 2 * 12 * 12),
    "messages": (E * 8 * 6 + 10 * 14 * 5, 8 * 6 + 14 * 5),
    "top_experts": (B * (12 * 4 + 2 * 12 * 5 + 2 * 5), 12 * 4 + 4 * 12 * 5),
    # Each row meets one of two experts; the numbers say which.
    "partitioned_experts": (B * (6 * 6 + 6 * 3), 2 * 6 * 6 + 6 * 3),
    "k_means": (2 * FRAMES * 5 * 4, 5 * 4),
    "factorization": (B * (10 * 6 + 6 * 3 + 3 * 2), 10 * 6 + 3 * 2),
}

GRADIENTS: Final = {
    # Forward, and the gradients of both factors, in each step.
    "scan_gradient": (3 * T * 3 * 8 * 8, 8 * 8),
    # Of the first product only the weights need a gradient.
    "dense_gradient": (B * (2 * 6 * 5 + 3 * 5 * 4), 6 * 5 + 5 * 4),
    "convolution_gradient": (2 * PIXELS * 27 * 4, 27 * 4),
}

FIGURES: Final = {**LOOPS, **SIGNALS, **IMAGES, **ALGEBRA, **ROWS, **PRODUCTS, **GRADIENTS}

# Where TensorFlow traces something else if sizes are known: a gradient needs the shape of a loss's
# input, and so its value if the shape is open.
FIXED: Final = {
    "dense_gradient": B * (2 * 6 * 5 + 2 * 5 * 4),
    "convolution_gradient": 2 * PIXELS * 27 * 4,
}

# Sizes are cut to whole windows, so the costs are no polynomials.
NO_FORMULA: Final = frozenset(
    {
        *("framed", "framed_to_the_end", "mfcc", "overlapped", "spectrum_and_back"),
        *("patches", "projected", "space_and_depth", "atrous"),
    }
)

# What depends on the numbers in tensors: tfprof must say that it does not know.
DATA_DEPENDENT: Final = frozenset(
    {"exponential", "masked_rows", "through_numpy_open", "partitioned_experts"}
)

# The products are certain, but rows are summed that a mask picks, or Python computes something.
PARTLY: Final = frozenset({"masked_sum", "through_numpy", "through_python_reshaped"})

# Float operations of single operation types, as textbooks and FFT benchmarks count them.
KERNELS: Final = {
    "filtered": {"RFFT": B * 5 * 64 * 6 // 2, "IRFFT": B * 5 * 64 * 6 // 2},
    "spectral_mixing": {"FFT": FRAMES * 5 * 32 * 5},
    "fourier_2d": {"RFFT2D": B * 5 * 512 * 9 // 2, "IRFFT2D": B * 5 * 512 * 9 // 2},
    # The spectrum, and a cosine transform: the transform of 20 numbers and as many zeros.
    "mfcc": {
        "RFFT": B * (1 + (L - 256) // 128) * 5 * 256 * 8 // 2
        + int(B * (1 + (L - 256) // 128) * 5 * 40 * log2(40) / 2)
    },
    "spectrum_and_back": {"IRFFT": B * (1 + (L - 64) // 32) * 5 * 64 * 6 // 2},
    "low_rank": {"Svd": B * (14 * 6 * 4**2 + 8 * 4**3)},
    "orthogonal": {"Qr": B * 2 * (2 * 6 * 4**2 * 3 - 2 * 4**3) // 3},
    "whitened": {"SelfAdjointEigV2": B * 9 * 5**3},
    "gaussian_process": {"Cholesky": 2 * (B * 5**3 // 3)},
}
