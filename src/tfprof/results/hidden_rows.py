"""Which options hide how many rows of a view: the `truncated` member of JSON.

The stages of the answer run again, and each restriction in force is counted by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.query.answer import account, only, restrictions, start
from tfprof.results.table import Hidden
from tfprof.tables.options import OPTIONS

if TYPE_CHECKING:
    from tfprof.query.counted import Answer


def hidden_rows(answer: Answer) -> Hidden:
    """The rows of the view that *answer* does not display, and the options that hide them."""
    view, drawing, query = answer.view, answer.drawing, answer.query
    counted = account(answer.profile, view, drawing, query)
    tree, at = start(counted, view, query)
    hides = {
        "account_type_regexes": len(drawing.tree) - len(counted.tree),
        "start_name_regexes": len(counted.tree) - len(tree),
    }
    if query.era.totals_from_start:
        counted, at = only(counted, at)
    for option, passes in restrictions(counted, tree, at, view, query):
        hides[option] = int(np.count_nonzero(~passes[1:]))  # the root is always displayed
    reasons = {option: hides[option] for option in OPTIONS if hides.get(option)}
    return Hidden(len(drawing.tree) - len(answer), reasons)
