"""Records what the workers of the tests build with Keras, so that most runs need not build it.

python tests/data/make/models.py [NAME...]     (needs tensorflow; takes two minutes)

NAME.tar.xz     what NAME_worker.py writes, with zeros for weights: they pack to nothing
"""

from __future__ import annotations

import argparse
import io
import lzma
import runpy
import sys
import tarfile
import tempfile
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import keras

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from model_files import MADE_BY, RECORDED, WORDS, fingerprint, worker


def zeros(_: Any, shape: Any, dtype: Any = None, **__: Any) -> Any:
    return keras.ops.zeros(shape, dtype or "float32")


def without_random_weights() -> None:
    """Make every initializer of Keras give zeros."""
    for kind in vars(keras.initializers).values():
        if isinstance(kind, type) and issubclass(kind, keras.initializers.Initializer):
            kind.__call__ = zeros  # type: ignore[method-assign]


def run(name: str, folder: str) -> None:
    """Run a worker."""
    sys.argv[:] = [str(worker(name)), folder, *WORDS[name]]
    runpy.run_path(sys.argv[0], run_name="__main__")


def packed(folder: Path, made_by: str) -> bytes:
    """An archive of the files; the same for the same files."""
    stream = io.BytesIO()
    with (
        lzma.open(stream, "wb", preset=9 | lzma.PRESET_EXTREME) as packer,
        tarfile.open(fileobj=packer, mode="w") as archive,
    ):
        contents = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.parent.name != "variables"
        }
        for name, data in {MADE_BY: made_by.encode(), **contents}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*WORDS, []])
    without_random_weights()
    RECORDED.mkdir(exist_ok=True)
    for name in parser.parse_args().names or WORDS:
        with tempfile.TemporaryDirectory() as folder:
            # In a process of its own: Keras numbers layers by how many a process has made.
            work = get_context("fork").Process(target=run, args=(name, folder))
            work.start()
            work.join()
            assert work.exitcode == 0
            data = packed(Path(folder), fingerprint(name))
        path = RECORDED / f"{name}.tar.xz"
        path.write_bytes(data)
        print(f"{path}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
