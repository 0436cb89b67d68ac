"""Time us and the original in one run.

    python bench/run.py [--sizes 1k,10k,100k] [--repeat 3] [--only cold,load,query,text]

Inputs are generated once a size under the output folder and kept. The table goes to standard
output and to OUT/table.md; the exit code is 1 if an answer differs or fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from phases import HERE, Inputs, cold, loads_and_queries, texts
from table import short, table, verdict
from worker import timed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phases import Row

PHASES = ("cold", "load", "query", "text")
_LETTERS = {"k": 1_000, "m": 1_000_000}
_GENERATOR = ("encode.py", "ops.py", "model.py", "stacks.py", "steps.py", "generate.py")


def size(word: str) -> int:
    """10k → 10000."""
    scale = _LETTERS.get(word[-1:].lower(), 1)
    return int(word.rstrip("kKmM")) * scale


def inputs(out: Path, nodes: int) -> Inputs:
    """The files of a size, generated if they are missing or made by another generator."""
    folder = out / "data" / short(nodes)
    made_by = sha256(b"".join((HERE / name).read_bytes() for name in _GENERATOR)).hexdigest()
    stamp = folder / "made_by"
    if not stamp.exists() or stamp.read_text() != made_by:
        sys.stderr.write(f"generating {short(nodes)}\n")
        timed([sys.executable, str(HERE / "generate.py"), str(folder), str(nodes), "--text"])
        stamp.write_text(made_by)
    return Inputs(nodes, folder, out / "answers" / short(nodes))


def measure(given: Inputs, repeat: int, only: set[str]) -> Iterator[Row]:
    """All rows of a size."""
    if "cold" in only:
        yield from cold(given, repeat)
    if only & {"load", "query"}:
        yield from loads_and_queries(given, repeat, only)
    if "text" in only:
        yield from texts(given, repeat)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time us and the original in one run.")
    parser.add_argument("--sizes", default="1k,10k,100k", help="numbers of nodes")
    parser.add_argument("--repeat", type=int, default=3, help="measurements a row")
    parser.add_argument("--only", default=",".join(PHASES), help="phases to run")
    parser.add_argument("--out", type=Path, default=HERE / "out", help="inputs, answers, table")
    asked = parser.parse_args()
    only = set(asked.only.split(","))
    if unknown := only - set(PHASES):
        parser.error(f"unknown phases: {', '.join(sorted(unknown))}; known: {', '.join(PHASES)}")
    rows: list[Row] = []
    for nodes in sorted(size(word) for word in asked.sizes.split(",")):
        for row in measure(inputs(asked.out.resolve(), nodes), asked.repeat, only):
            sys.stderr.write(f"{short(nodes):>5} {row.name}: {verdict(row)}\n")
            rows.append(row)
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    load = f"load average {os.getloadavg()[0]:.1f}"
    report = f"{machine}, {load}; medians, both sides in turns.\n\n{table(rows)}"
    (asked.out / "table.md").write_text(report)
    sys.stdout.write(report)
    return int(any(verdict(row) != "same" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
