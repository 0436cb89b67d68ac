"""The profiles that goldens name: where their files are."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import paths
import tfprof

DATA: Final = paths.DATA
SAMPLE: Final = Path(tfprof.__file__).parent / "sample"


@dataclass(frozen=True)
class ProfileFiles:
    """The input files of one profile."""

    graph: Path
    runs: tuple[Path, ...]
    op_log: Path

    def flags(self) -> list[str]:
        """The words that give these files to the command."""
        return [
            f"--graph_path={self.graph}",
            f"--run_meta_path={','.join(map(str, self.runs))}",
            f"--op_log_path={self.op_log}",
        ]


def _files(folder: Path, *runs: str) -> ProfileFiles:
    graph, log = folder / "graph.pbtxt.gz", folder / "tfprof_log.gz"
    return ProfileFiles(graph, tuple(folder / run for run in runs), log)


_HANDMADE: Final = DATA / "handmade"
PROFILES: Final = {
    "handmade": ProfileFiles(
        _HANDMADE / "graph.pbtxt",
        (_HANDMADE / "run_meta_0.pbtxt", _HANDMADE / "run_meta_1.pbtxt"),
        _HANDMADE / "op_log.pbtxt",
    ),
    "resnet": _files(SAMPLE, "run_meta_0.gz", "run_meta_1.gz"),
    **{name: _files(DATA / name, "run_meta.gz") for name in ("model_analyzer", "seq2seq")},
}


def content(path: Path) -> bytes:
    """The bytes of a file, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data
