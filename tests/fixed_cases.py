"""Cases that stay: whatever once went wrong, as small as it was found.

A random case that fails prints itself as `Case.from_text(…)`. Mend what is wrong and paste the case
here under a name that says what it is about. `test_fixed_cases.py` compares each with the original
in every form: report, message, pprof, timeline, saved profile, advice. A damaged file that is read
wrong goes to `fuzz/findings/TARGET`, and an example that Hypothesis finds becomes an `@example`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from case import Case

FIXED: Final[dict[str, Case]] = {}
