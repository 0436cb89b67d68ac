"""The files that both programs read, generated once a size, and the folder for their answers.

A stamp beside the files names the generator that made them: another generator makes them anew.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from rows import Size
from worker import timed

if TYPE_CHECKING:
    from collections.abc import Iterable

HERE = Path(__file__).parent
PRINTED, ONE_LINE = "graph.pbtxt", "graph_line.pbtxt"
_GENERATOR = ("encode.py", "ops.py", "model.py", "stacks.py", "steps.py", "generate.py")


@dataclass(frozen=True)
class Inputs:
    """The files of one size, and the folder for answers."""

    size: Size
    folder: Path
    answers: Path

    def path(self, name: str) -> str:
        """One of the files."""
        return str(self.folder / name)

    def files(self, graph: str = "graph.pb") -> dict[str, object]:
        """What a profile is loaded from: a graph, every step, the op log."""
        steps = [self.path(f"run_meta_{step}") for step in range(self.size.steps)]
        return {"graph": self.path(graph), "run_metas": steps, "op_log": self.path("tfprof_log")}

    def outs(self, name: str) -> tuple[Path, Path]:
        """Where the two answers to a question go; answers of an earlier run are removed."""
        self.answers.mkdir(parents=True, exist_ok=True)
        stem = name.replace(":", "").replace(",", "").replace(" ", "_").replace("/", "")
        for earlier in self.answers.glob(f"{stem}.o*"):
            earlier.unlink()
        return self.answers / f"{stem}.ours", self.answers / f"{stem}.original"


def inputs(out: Path, size: Size, most_steps: int = 1) -> Inputs:
    """The files of a size, generated if need be; there are files for as many as *most_steps*."""
    one = most_steps == 1
    name = Size(size.nodes, most_steps).label.replace(" × ", "x")
    folder = out / "data" / name
    stamp, made_by = folder / "made_by", digest(HERE / part for part in _GENERATOR)
    if not stamp.exists() or stamp.read_text() != made_by:
        sys.stderr.write(f"generating {name}\n")
        _generate(folder, [str(size.nodes), "--text" if one else f"--steps={most_steps}"])
        stamp.write_text(made_by)
    return Inputs(size, folder, out / "answers" / size.label.replace(" × ", "x"))


def _generate(folder: Path, arguments: list[str]) -> None:
    """Made beside its place and moved there whole: others may be reading what is there now."""
    fresh = folder.with_name(f"{folder.name}.new")
    timed([sys.executable, str(HERE / "generate.py"), str(fresh), *arguments])
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def digest(files: Iterable[Path]) -> str:
    """A hash of the files that make an input."""
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
