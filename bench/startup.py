"""How long it takes to say hello: `tfprof --help` and a small report, beside Python and TensorFlow.

python bench/startup.py [REPEAT]

Prints medians of wall time and the ratios that matter: help against an empty Python, and a report
of a small model and of the bundled one against `import tensorflow`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

SMALL = Path(__file__).parents[1] / "tests" / "data" / "handmade" / "graph.pbtxt"
REPEAT = int(sys.argv[1]) if len(sys.argv) > 1 else 5
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "tfprof --help": ["-m", "tfprof", "--help"],
    "a small report": ["-m", "tfprof", "scope", str(SMALL)],
    "tfprof demo": ["-m", "tfprof", "demo"],
    "import tensorflow": [str(Path(__file__).with_name("plain_tensorflow.py"))],
}


def seconds(words: list[str]) -> float:
    """The median of a few runs."""
    runs = []
    for _ in range(REPEAT):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        runs.append(time.perf_counter() - begin)
    return statistics.median(runs)


took = {name: seconds(words) for name, words in COMMANDS.items()}
for name, one in took.items():
    print(f"{name:<20} {one:.3f} s")
print(f"help / python        {took['tfprof --help'] / took['python -c pass']:.2f}")
print(f"small / tensorflow   {took['a small report'] / took['import tensorflow']:.3f}")
print(f"demo / tensorflow    {took['tfprof demo'] / took['import tensorflow']:.3f}")
