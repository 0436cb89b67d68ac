"""The variables of a SavedModel that no signature needs, such as those of its optimizer.

What no signature needs is not in the profile. A note says how many variables that leaves out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.foundation.units import plural
from tfprof.model import Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.strings import I64, Strings
    from tfprof.read.columns import GraphColumns

VARIABLES: Final = frozenset({b"Variable", b"VariableV2", b"VarHandleOp", b"AutoReloadVariable"})


def unneeded_variables(
    graph: GraphColumns, rows: I64, needed: Strings, signature: str | None
) -> Iterator[Note]:
    """A note on the variables among the *rows* of *graph* that are not *needed*, if there are any.

    It is a caveat, which a summary repeats. *signature* is the one that was read; None: all.
    """
    kind, first = graph.op.take(rows).intern()
    kinds = [at for at, op in enumerate(graph.op.take(rows[first])) if op in VARIABLES]
    variable = rows[np.isin(kind, kinds)]
    variable = variable[needed.find(graph.name.take(variable)) < 0]
    if variable.size:
        values = sum(graph.shape.elements()[np.isin(graph.shape_node, variable)].tolist())
        held = f"{plural(variable.size, 'variable')} with {plural(values, 'value')}"
        who = "the signatures do" if signature is None else f"signature {signature} does"
        yield Note(f"Left out: {held} that {who} not need.", ours=True, caveat=True)
