"""Parts of programs that use one cache."""

from __future__ import annotations

from typing import Final

# The samples are small and new. A process that reads files says so.
BEGIN: Final = """
import os, sys
import tfprof.api
from tfprof.cache import key
key.SMALLEST = key._TICK_NS = key._WHOLE_SECONDS_NS = 0
key._code = lambda: (0, 0)
read = tfprof.api._read_files
def noted(*arguments):
    with open(os.environ["READS"], "a") as file:
        file.write("read\\n")
    return read(*arguments)
tfprof.api._read_files = noted
"""

END: Final = """
from tfprof.__main__ import main
main()
"""

SECONDS: Final = 60.0
