"""The modules of this room that hold rules; `table` imports them when rules are first asked for."""

from __future__ import annotations

from typing import Final

RULE_FILES: Final = (
    "tensorflow_rules",
    "activation_rules",
    "contraction_rules",
    "convolution_rules",
    "einsum_rules",
    "elementwise_rules",
    "linalg_rules",
    "normalisation_rules",
    "optimizer_rules",
    "pooling_rules",
    "recurrent_rules",
    "reduction_rules",
    "sparse_rules",
)
