"""Loops of single nodes, as TensorFlow 1 builds them: without a run they count once.

Enter ─► Merge ─► Switch ─► body ─► NextIteration ─► Merge     everything up to Exit repeats
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.model import Note
from tfprof.ops.classes import of_class
from tfprof.ops.reach import Links

if TYPE_CHECKING:
    from tfprof.columns.strings import Bool
    from tfprof.model import Profile


def old_loops(profile: Profile) -> tuple[Bool, tuple[Note, ...]]:
    """(the nodes inside such loops, a note if there are any)."""
    loops = int(of_class(profile, "loop condition").sum())
    if not loops:
        return np.zeros(len(profile), np.bool_), ()
    inside = Links.consumers(profile.edges).reached(
        of_class(profile, "loop entry"), ~of_class(profile, "loop exit")
    )
    text = "loop (LoopCond) counts" if loops == 1 else "loops (LoopCond) count"
    note = Note(f"{loops:,} {text} once: add a run to count every iteration", ours=True)
    return inside, (note,)
