"""What every diff says beside its rows: how nodes were matched, and what each side leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.compare.match_nodes import Matches

FOLDED_AFTER: Final = 20  # rows that Markdown shows; a pull request has no room for more
MARKS: Final = {"added": "+", "removed": "-"}
ONLY_BASE, ONLY_NEW = "only_in_base", "only_in_new"
_RULES: Final = {
    "name": "by name",
    "scope renamed": "by renamed scope",
    "suffix": "by shifted suffix",
    "structure": "by structure",
}


def match_counts(matches: Matches) -> dict[str, int]:
    """How many nodes each rule matched, and how many are only in base or only in new."""
    alone = {ONLY_BASE: matches.new_of_base, ONLY_NEW: matches.base_of_new}
    return {
        **matches.by,
        **{side: int(np.count_nonzero(other < 0)) for side, other in alone.items()},
    }


def matching_sentence(matches: Matches) -> str:
    """How the nodes of both sides were matched."""
    counts = match_counts(matches)
    base, new = counts.pop(ONLY_BASE), counts.pop(ONLY_NEW)
    pairs = [f"{count:,} {_RULES[rule]}" for rule, count in counts.items() if count]
    left = [f"{count:,} only in {side}" for side, count in (("base", base), ("new", new)) if count]
    return f"nodes matched: {', '.join(pairs) or 'none'}; {', '.join(left) or 'none left over'}"


def by_side(base: Sequence[str], new: Sequence[str]) -> list[str]:
    """The texts of both sides, with the side where the other does not say the same."""
    both = [text for text in new if text and text in base]
    sides = (("base", base), ("new", new))
    return both + [
        f"{side}: {text}" for side, ts in sides for text in ts if text and text not in both
    ]


def difference_heading(name: str, count: int) -> str:
    """The heading of the differences of one of *count* numbers."""
    return f"Δ {name}" if count > 1 else "difference"
