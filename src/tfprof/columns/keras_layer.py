"""KerasLayer: what a file records of a layer."""

from __future__ import annotations

from typing import NamedTuple


class KerasLayer(NamedTuple):
    """A layer of a Keras model; in a list of them, the model itself is the first."""

    path: str  # names from the model down, joined by /
    kind: str  # its class
    shape: tuple[int, ...] | None = None  # of its output, -1: open; None: not recorded
