"""Parts of programs that use one cache."""

from __future__ import annotations

from typing import Final

# The samples are small and new. A process that reads files says so, and one that works after the
# answer when it begins and ends that.
BEGIN: Final = """
import os, sys
import tfprof.api
import tfprof.cli
from tfprof.cache import key
from tfprof.console import detached
key.SMALLEST = key._TICK_NS = key._WHOLE_SECONDS_NS = 0
key._code = lambda: (0, 0)
read = tfprof.api._read_files
def noted(*arguments):
    with open(os.environ["READS"], "a") as file:
        file.write("read\\n")
    return read(*arguments)
tfprof.api._read_files = noted
def note(word):
    with open(os.environ["READS"] + ".work", "a") as file:
        file.write(word)
run_detached, run_work = tfprof.cli.run_detached, detached._run
def noted_begin(*work, **how):
    note("begun ")
    run_detached(*work, **how)
def noted_end(work):
    run_work(work)
    note("ended ")
tfprof.cli.run_detached, detached._run = noted_begin, noted_end
"""
END: Final = """
from tfprof.__main__ import main
main()
"""
