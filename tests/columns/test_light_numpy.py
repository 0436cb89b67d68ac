"""NumPy as the command line imports it: whichever of its modules is used first, it is there."""

from __future__ import annotations

from typing import Final

from processes import python

# Each module that is left for later is the first one that a process asks for something.
EACH_FIRST: Final = """
import os, sys
from tfprof.foundation.light_numpy import _Lazy, import_numpy
import_numpy()
lazy = [name for name, module in sys.modules.items() if isinstance(module, _Lazy)]
assert len(lazy) > 5, lazy
for name in lazy:
    child = os.fork()
    if not child:
        try:
            sys.modules[name].not_there
        except AttributeError:
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        print(name)
"""


def test_any_module_may_be_the_first() -> None:
    assert python("-c", EACH_FIRST).stdout == ""
