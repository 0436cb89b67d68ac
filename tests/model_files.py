"""Files of models that Keras builds: recorded in `make test`, built anew in `make test-all`.

    data/models/NAME.tar.xz   what the worker NAME wrote, with zeros for weights

`python tests/data/make/models.py [NAME…]` records them again, after a worker has changed.
"""

from __future__ import annotations

import ast
import hashlib
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import sampling

if TYPE_CHECKING:
    from collections.abc import Callable

    from forked import Forked

HERE: Final = Path(__file__).parent
RECORDED: Final = HERE / "data" / "models"
APPLICATIONS: Final = (
    *("ResNet50", "MobileNet", "Xception", "MobileNetV2", "EfficientNetB0", "InceptionV3"),
    *("VGG16", "VGG19", "DenseNet121", "ConvNeXtTiny", "transformer"),
)
SUMMARIES: Final = ("conv", "lstm", "gru", "transformer", "nested", "mixed", "mobilenet")
WORDS: Final = {"inference": (), "keras": APPLICATIONS, "layers": (), "loops": (), "summary": SUMMARIES}
"""What each worker takes behind its folder."""

MADE_BY: Final = "made_by"
"""The file in an archive that says which worker made it."""


def worker(name: str) -> Path:
    """The script that builds the models."""
    return HERE / f"{name}_worker.py"


def fingerprint(name: str) -> str:
    """A number that changes with what the worker does, but not with what it says of itself."""
    tree = ast.parse(worker(name).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return hashlib.sha256(f"{ast.dump(tree)} {WORDS[name]}".encode()).hexdigest()


def unpacked(name: str, folder: Path) -> Path:
    """The recorded files."""
    with tarfile.open(RECORDED / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def built(name: str, folder: Path, tensorflow: Forked) -> Path:
    """The files as the worker makes them now."""
    tensorflow.script(worker(name), str(folder), *WORDS[name])
    return folder


def files(name: str, folder: Path, tensorflow: Callable[[], Forked]) -> Path:
    """The recorded files, or in a whole run new ones."""
    return built(name, folder, tensorflow()) if sampling.is_whole() else unpacked(name, folder)
