"""A measured gathering: its seconds, and the peak memory of its reducer and of its largest process.

    python bench/fleet_gather.py SOURCE TARGET --graph PATH --op_log PATH --processes 2

prints one line of JSON. Peaks are what the kernel kept for each process (`VmHWM`), read while the
processes live.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from generated_files import GeneratingEngine, register
from tfprof.fleet.gather import gather

_KIB = 1024
_OFTEN = 0.5  # seconds between two looks at the processes


def _status(process: str) -> dict[str, str]:
    lines = Path("/proc", process, "status").read_text(encoding="utf-8").splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


class Peaks(threading.Thread):
    """The largest peak of the processes below this one, kept up to date until `stop` is set."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.stop = threading.Event()
        self.largest = 0

    def run(self) -> None:
        """Look again and again."""
        while not self.stop.wait(_OFTEN):
            self._look()

    def _look(self) -> None:
        processes = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has just ended
                processes[folder.name] = _status(folder.name)
        below = {str(os.getpid())}
        while True:
            more = {name for name, status in processes.items() if status["PPid"] in below} - below
            if not more:
                break
            below |= more
        peaks = [processes[name].get("VmHWM", "0 kB") for name in below - {str(os.getpid())}]
        self.largest = max([self.largest, *(int(peak.split()[0]) * _KIB for peak in peaks)])


def main() -> None:
    """Gather and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--graph", required=True)
    parser.add_argument("--op_log", required=True)
    parser.add_argument("--processes", type=int, required=True)
    asked = parser.parse_args()
    register()
    peaks = Peaks()
    peaks.start()
    start = time.perf_counter()
    with GeneratingEngine(processes=asked.processes) as engine:
        gather(
            [asked.source],
            asked.target,
            graph=asked.graph,
            op_log=asked.op_log,
            strict=True,
            engine=engine,
        )
    seconds = time.perf_counter() - start
    peaks.stop.set()
    peaks.join()
    own = int(_status("self")["VmHWM"].split()[0]) * _KIB
    cpu = sum(os.times()[:4])  # of this process and of those that have ended
    line = json.dumps({"seconds": seconds, "cpu": cpu, "reducer": own, "process": peaks.largest})
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
