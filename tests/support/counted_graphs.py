"""Small graphs, and what is counted of them by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.ops.counting import count
from tfprof.read import Source, load

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.ops.table import Which


def text_profile(graph: str) -> Profile:
    return load(Source("graph.pbtxt", np.frombuffer(graph.encode(), np.uint8)))


def flops(profile: Profile, which: Which = "tensorflow") -> dict[str, int]:
    """What is counted, by name, without the zeros."""
    values = zip(profile.nodes.name.texts(), count(profile, which).float_ops.tolist(), strict=True)
    return {name: value for name, value in values if value}


def uncounted(profile: Profile) -> list[tuple[str, int, str]]:
    return [*count(profile, "tensorflow").uncounted]
