"""renamed(): the base profile with the names and call stacks that its nodes have in the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.foundation.lazy_dataclasses import replace

if TYPE_CHECKING:
    from tfprof.compare.match_nodes import Matches
    from tfprof.model import Profile


def renamed(base: Profile, new: Profile, matches: Matches) -> Profile:
    """*base* itself where no name and no stack differs; all that is not matched stays as it is."""
    at = matches.new_of_base
    if sum(matches.by.values()) == matches.by["name"]:
        return base
    names = Strings.concat([base.nodes.name, new.nodes.name])
    rows = np.where(at < 0, np.arange(len(base)), len(base) + at)
    return replace(base, nodes=replace(base.nodes, name=names.take(rows)))
