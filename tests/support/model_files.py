"""Files of models that Keras builds: recorded, and built anew by test_model_files.

    data/models/NAME.tar.xz   what the worker NAME wrote, with zeros for weights

`python tests/data/make/models.py [NAME…]` records them again, after a worker has changed.
"""

from __future__ import annotations

import ast
import hashlib
import tarfile
from typing import TYPE_CHECKING, Final

from paths import DATA, MAKE

if TYPE_CHECKING:
    from pathlib import Path

    from forked import Forked

RECORDED: Final = DATA / "models"
APPLICATIONS: Final = (
    *("ResNet50", "MobileNet", "Xception", "MobileNetV2", "EfficientNetB0", "InceptionV3"),
    *("VGG16", "VGG19", "DenseNet121", "ConvNeXtTiny", "transformer"),
    *("ResNet101", "ResNet152", "InceptionResNetV2", "DenseNet169", "DenseNet201"),
    *("MobileNetV3Small@224", "MobileNetV3Large@224", "NASNetMobile", "EfficientNetB1"),
    *("EfficientNetB2@288", "EfficientNetB3", "EfficientNetV2B0"),
)
SUMMARIES: Final = ("conv", "lstm", "gru", "transformer", "nested", "mixed", "mobilenet")
WORDS: Final[dict[str, tuple[str, ...]]] = {
    "events": (),
    "inference": (),
    "hdf5": (),
    "layer_names": (),
    "keras": APPLICATIONS,
    "layers": (),
    "loops": (),
    "open_functions": (),
    "open_layers": (),
    "saved_model_forms": (),
    "summary": SUMMARIES,
    "tflite": (),
    "training": (),
}
"""What each worker takes behind its folder."""

MADE_BY: Final = "made_by"
"""The file in an archive that says which worker made it."""


def worker(name: str) -> Path:
    """The script that builds the models."""
    return MAKE / f"{name}_worker.py"


def fingerprint(name: str) -> str:
    """A number that changes with what the worker does, but not with what it says of itself."""
    trees = [_without_docstrings(worker(name))]
    # What it imports from its folder, and what that imports.
    for tree in trees:
        imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        imported += [node.name for node in ast.walk(tree) if isinstance(node, ast.alias)]
        files = [MAKE / f"{module}.py" for module in imported]
        trees += [_without_docstrings(path) for path in files if path.exists()]
    text = "".join(map(ast.dump, trees))
    return hashlib.sha256(f"{text} {WORDS[name]}".encode()).hexdigest()


def _without_docstrings(path: Path) -> ast.Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return tree


def unpacked(name: str, folder: Path) -> Path:
    """The recorded files."""
    with tarfile.open(RECORDED / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def built(name: str, folder: Path, tensorflow: Forked) -> Path:
    """The files as the worker makes them now."""
    tensorflow.script(worker(name), str(folder), *WORDS[name])
    return folder
