"""Writes tests/data/fleet_v1: a dataset of fleet format 1, which every later version reads.

    PYTHONPATH=src:tests/support python tests/data/make/fleet_v1.py

It stays as it is. A change of the format adds a folder for its version.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fleet_parts import SKIPPED, add
from tfprof.fleet.writer import Writer

TARGET: Final = Path(__file__).parents[1] / "fleet_v1"


def main() -> None:
    """Write the dataset; print what it has."""
    writer = Writer.at(str(TARGET))
    add(writer, f"{1:016x}", "worker_0", {0: [5, 7], 1: [6, 8]})
    add(writer, f"{2:016x}", "worker_1", {0: [50, 70]})
    manifest = writer.commit([SKIPPED], ["a note"])
    print(f"{TARGET}: {manifest.rows} rows, {len(manifest.files)} files")


if __name__ == "__main__":
    main()
