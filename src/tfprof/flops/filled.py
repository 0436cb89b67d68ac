"""A profile with float operations by rule where its op log gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.flops.counting import Counts, count
from tfprof.flops.table import rules
from tfprof.light_dataclasses import replace

if TYPE_CHECKING:
    from tfprof.flops.table import Which
    from tfprof.model import Profile


def filled(profile: Profile, which: Which) -> tuple[Profile, Counts]:
    """(*profile* with what the rules count, what they count and what not).

    What an op log says stands. Shapes that only a run can tell are taken from the runs; what is
    odd about those is among the notes of the profile that comes back, behind its own.
    """
    # A rule registered since makes another table, and with it another answer.
    key = ("float operations by rule", which, tuple(rules(which).values()))
    return profile.keep(key, lambda: _filled(profile, which))


def _filled(profile: Profile, which: Which) -> tuple[Profile, Counts]:
    shaped = profile.with_run_shapes
    counts = count(shaped, which)
    nodes = profile.nodes
    float_ops = np.where(nodes.float_ops != 0, nodes.float_ops, counts.float_ops)
    nodes = replace(nodes, float_ops=float_ops)
    return replace(profile, nodes=nodes, notes=shaped.notes, _kept={}), counts
