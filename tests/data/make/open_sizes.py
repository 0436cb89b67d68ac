"""The sizes at which models with open dimensions are compared."""

from __future__ import annotations

from typing import Final

# batch, time, another time, height, width, samples of a signal, edges of a graph
B, T, S, H, W, L, E = 3, 7, 5, 20, 28, 1_600, 11
SIZES: Final = {"B": B, "T": T, "S": S, "H": H, "W": W, "L": L, "E": E}
