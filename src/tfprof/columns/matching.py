"""Which rows of a column of strings match a list of regexes.

A regex must match the whole string. It has RE2's syntax and runs in linear time. All patterns of a
list are tried in one pass over a string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import re2

    from tfprof.columns.strings import Bool, Strings

# An RE2 set fails when its automaton outgrows its memory, so patterns that multiply states are
# matched one by one, which is slower but always works.
_LONGEST_IN_SET = 500
_SET_MEMORY = 64 << 20


def matches(strings: Strings, patterns: Sequence[str]) -> Bool:
    """Whether any of *patterns* matches the whole row, for each row."""
    import re2  # noqa: PLC0415 - most queries have no regex

    tests: list[Callable[[bytes], object]] = []
    together, count = re2.Set.FullMatchSet(_options()), 0
    for pattern in patterns:
        regex = compiled(pattern)
        if "{" in pattern or len(pattern) > _LONGEST_IN_SET:
            tests.append(regex.fullmatch)
        else:
            together.Add(pattern)
            count += 1
    if count:
        together.Compile()
        tests.append(together.Match)
    result = np.zeros(len(strings), np.bool_)
    for test in tests:
        result |= np.fromiter(map(bool, map(test, strings)), np.bool_, len(strings))
    return result


def compiled(pattern: str) -> re2._Regexp:
    """*pattern* as a regex; raises UsageError."""
    import re2  # noqa: PLC0415 - as above

    try:
        return re2.compile(pattern, _options())
    except UnicodeEncodeError:
        raise UsageError(f"{pattern!r} is not a valid regex: not UTF-8") from None
    except re2.error as problem:
        reason = problem.args[0]
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise UsageError(f"{pattern!r} is not a valid regex: {reason}") from None


def _options() -> re2.Options:
    import re2  # noqa: PLC0415 - as above

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _SET_MEMORY
    return options
