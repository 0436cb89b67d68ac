"""Fuzzing: bytes that nobody would write, given to every reader, and laws that hold all the same.

    corpus/TARGET/ ─┐                    ┌─► laws.py       only TfprofError, and what is read
                    ├─► mutate.py ──► targets.py           answers, is saved and read again
    findings/TARGET/┘      ▲                 │
                           └── coverage ◄────┘             run.py, with atheris

What tests write by hand, such as the tables of checkpoints, is written here by the same code.
"""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = str(Path(__file__).parent.parent / "tests" / "support")
if _TESTS not in sys.path:
    sys.path.append(_TESTS)

from fuzz import sanitized  # noqa: E402 - before anybody imports the kernels

sanitized.load()
