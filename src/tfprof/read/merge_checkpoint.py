"""Profile + the names in a checkpoint → Profile: its variables get an extra type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read.merge import with_types

if TYPE_CHECKING:
    from tfprof.model import Profile

_TYPE = b"_checkpoint_variables"


def with_checkpoint(profile: Profile, names: Strings) -> Profile:
    """*profile* with the nodes called *names* typed as checkpoint variables."""
    node = profile.nodes.name.find(names)
    node = node[node >= 0]
    types, kind = with_types(profile.types, Strings.of([_TYPE]))
    return replace(
        profile,
        types=types,
        typed_node=np.concatenate([profile.typed_node, node]),
        typed_as=np.concatenate([profile.typed_as, np.repeat(kind, node.size)]),
        _kept={},
    )
