"""Which tests run in one worker of pytest-xdist, one after the other.

    a file            its tests share what its fixtures make
    files of UNITS    what they share takes long to make
    files of SPREAD   long in a whole run and nothing to share: each test goes to whoever is free

The controller knows tests by their names alone, so marks cannot say it: pytest-xdist 3.8 writes
groups into names, which pytest 9.2 does not let it change, and then groups nothing. Units with more
tests are given out first, so the tests of SPREAD come last and all workers end at the same time.
"""

from __future__ import annotations

from typing import Final

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

UNITS: Final = {
    "the example for Keras": ("test_check_document.py", "test_examples.py", "test_readme.py"),
    "every operation type": ("test_flops_coverage.py", "test_op_shapes.py"),
}
SPREAD: Final = (
    *("test_convert_damage.py", "test_fuzz.py", "test_hostile.py"),
    *("test_hostile_parity.py", "test_oracle.py"),
)
_UNIT_OF: Final = {file: unit for unit, files in UNITS.items() for file in files}


def unit_of(test: str) -> str:
    """The unit of a *test*, by its name."""
    path = test.partition("::")[0]
    file = path.rpartition("/")[2]
    return test if file in SPREAD else _UNIT_OF.get(file, path)


class WorkUnits(LoadFileScheduling):  # type: ignore[misc]
    """Gives workers one unit at a time."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
