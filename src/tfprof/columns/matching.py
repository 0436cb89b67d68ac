"""Which rows of a column of strings a list of regexes matches.

A regex matches a whole string, with RE2's syntax and in linear time. All patterns of a list are
tried on a string in one pass, and callers keep the answer with the column, so a string is tried
once a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import re2

    from tfprof.columns.strings import Bool, Strings

# A set of patterns has no way out when its automaton outgrows the memory it may use, so patterns
# that multiply states go the slower way, which has one.
_LONGEST_IN_SET = 500
_SET_MEMORY = 64 << 20


def matches(strings: Strings, patterns: Sequence[str]) -> Bool:
    """Whether any of *patterns* matches each row whole."""
    tests: list[Callable[[bytes], object]] = []
    together = _Set()
    for pattern in patterns:
        regex = compiled(pattern)
        if "{" in pattern or len(pattern) > _LONGEST_IN_SET:
            tests.append(regex.fullmatch)
        else:
            together.add(pattern)
    if together.size:
        tests.append(together.test())
    result = np.zeros(len(strings), np.bool_)
    for test in tests:
        result |= np.fromiter((bool(test(row)) for row in strings), np.bool_, len(strings))
    return result


def compiled(pattern: str) -> re2._Regexp:
    """*pattern* as a regex; raises UsageError where it is none."""
    import re2  # noqa: PLC0415 - many questions have no regex

    try:
        return re2.compile(pattern, _options())
    except UnicodeEncodeError:
        raise UsageError(f"{pattern!r} is not a valid regex: it is no UTF-8") from None
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


class _Set:
    """Patterns that are tried together."""

    def __init__(self) -> None:
        import re2  # noqa: PLC0415 - as above

        self.size = 0
        self._set = re2.Set.FullMatchSet(_options())

    def add(self, pattern: str) -> None:
        self._set.Add(pattern)
        self.size += 1

    def test(self) -> Callable[[bytes], object]:
        self._set.Compile()
        match: Callable[[bytes], object] = self._set.Match
        return match
