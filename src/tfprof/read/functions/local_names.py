"""The names of nodes inside their function: "MatMul@body_12"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings

if TYPE_CHECKING:
    from tfprof.model import Profile


def local_names(profile: Profile) -> Strings:
    """The name of each node in its function, then "@" and the function's name, if any."""
    name, regions = profile.nodes.name, profile.regions
    of_node = np.full(len(profile), -1, np.int64)
    of_node[: regions.of_node.size] = regions.of_node
    function = Strings.concat([regions.function, Strings.of([b""])]).take(of_node)
    prefix = np.append(regions.prefix, 0)[of_node]
    local = Strings(name.blob, name.start + prefix, name.length - prefix)
    at = Strings.of([b"@"]).take(np.zeros(len(profile), np.int64))
    return Strings.beside([local, at, function])
