"""Single modules of the TensorFlow wheel, without starting all of TensorFlow.

The message classes and the native profiler need nothing that `import tensorflow` sets up, and
that import takes seconds. So for the length of one import `tensorflow` is a bare package that
only knows its folder; afterwards the bare package is forgotten, and a real `import tensorflow`
in the same process still works and finds the same message classes.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any

_BARE = ("tensorflow", "tensorflow.python", "tensorflow.python.util")


def piece(name: str) -> Any:
    """The module `name`, which starts with `tensorflow.`."""
    if "tensorflow" in sys.modules:
        return importlib.import_module(name)
    try:
        return _import_bare(name)
    except ImportError:
        return importlib.import_module(name)


def _import_bare(name: str) -> Any:
    spec = importlib.util.find_spec("tensorflow")
    if spec is None or spec.submodule_search_locations is None:
        message = "the tensorflow wheel is not installed"
        raise ModuleNotFoundError(message, name="tensorflow")
    (folder,) = spec.submodule_search_locations
    for package in _BARE:
        module = ModuleType(package)
        module.__path__ = ["/".join([folder, *package.split(".")[1:]])]
        sys.modules[package] = module
    try:
        return importlib.import_module(name)
    finally:
        for loaded in list(sys.modules):
            if loaded.partition(".")[0] == "tensorflow":
                del sys.modules[loaded]
