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


PROFILES: Final = {
    "handmade": ProfileFiles(
        DATA / "handmade" / "graph.pbtxt",
        (DATA / "handmade" / "run_meta_0.pbtxt", DATA / "handmade" / "run_meta_1.pbtxt"),
        DATA / "handmade" / "op_log.pbtxt",
    ),
    "resnet": ProfileFiles(
        SAMPLE / "graph.pbtxt.gz",
        (SAMPLE / "run_meta_0.gz", SAMPLE / "run_meta_1.gz"),
        SAMPLE / "tfprof_log.gz",
    ),
    "model_analyzer": ProfileFiles(
        DATA / "model_analyzer" / "graph.pbtxt.gz",
        (DATA / "model_analyzer" / "run_meta.gz",),
        DATA / "model_analyzer" / "tfprof_log.gz",
    ),
    "seq2seq": ProfileFiles(
        DATA / "seq2seq" / "graph.pbtxt.gz",
        (DATA / "seq2seq" / "run_meta.gz",),
        DATA / "seq2seq" / "tfprof_log.gz",
    ),
}


def content(path: Path) -> bytes:
    """The bytes of a file, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data
