"""Imports NumPy without what no command needs at once: less than half the time.

    docstrings, types for annotations     left out; whoever imports them later gets them
    inspect, pickle, ast, ctypes          imported when NumPy uses them
    numpy.lib, numpy.linalg               np.append and the like are imported when first used

Only the command line does so: it shows no docstring of NumPy. Placeholders stand for the modules
while NumPy is imported; `_Lazy` ones stay and become the module when they are asked for something.
"""

from __future__ import annotations

import sys
from _thread import RLock
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

_SKIPPED = (
    *(
        f"numpy.{core}._add_newdocs{part}"
        for core in ("_core", "core")
        for part in ("", "_scalars")
    ),
    *("numpy._typing", "inspect", "pickle", "ast", "ctypes"),
)
_LAZY = ("numpy.lib.", "numpy.linalg.")
_loading = RLock()
_executing: list[str] = []


class _Placeholder(ModuleType):
    NDArray = list  # linear algebra annotates its results with it: NDArray[Any]
    # What NumPy calls to describe its functions.
    cleandoc = staticmethod(str)
    signature = staticmethod(lambda _: None)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class _Name:
    """What NumPy's own import gets of a lazy module: a name; matrices call such functions."""

    __all__ = ()

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def value(self) -> Any:  # noqa: ANN401 - whatever it names
        return getattr(import_module(self._module), self._name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the function
        return self.value()(*arguments, **named)


class _Lazy(ModuleType):
    """A module that is executed when it is asked for something, but not by NumPy's own import."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        finder = next((each for each in sys.meta_path if isinstance(each, _LazyFinder)), None)
        if finder is not None and name == "__all__":
            return ()
        if name.startswith("__"):
            raise AttributeError(name)
        if finder is not None:
            return _Name(self.__name__, name)
        with _loading:
            # A module imports its neighbours by way of the package, which would import the module.
            beside = f"{self.__name__}.{name}"
            if _executing and PathFinder.find_spec(beside, vars(self).get("__path__", ())):
                return import_module(beside)
            spec = self.__spec__
            if isinstance(self, _Lazy) and spec and isinstance(spec.loader, _LazyLoader):
                spec.loader = spec.loader.loader
                _executing.append(self.__name__)
                try:
                    spec.loader.exec_module(self)
                finally:
                    _executing.pop()
                self.__class__ = ModuleType
        return ModuleType.__getattribute__(self, name)


class _LazyLoader:
    """Creates a lazy module, which *loader* executes later."""

    def __init__(self, loader: Any) -> None:  # noqa: ANN401 - of a file
        self.loader = loader

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        return _Lazy(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Not now."""


class _LazyFinder:
    """Finds the modules in `_LAZY` and below, of NumPy 2."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _: object = None) -> ModuleSpec | None:
        if not f"{name}.".startswith(_LAZY):
            return None
        version: str = getattr(sys.modules.get("numpy.version"), "version", "")
        spec = PathFinder.find_spec(name, path) if version.startswith("2.") else None
        if spec is not None:
            spec.loader = _LazyLoader(spec.loader)  # type: ignore[assignment]
        return spec


def import_numpy() -> None:
    """Import NumPy, unless something has imported it before."""
    if "numpy" in sys.modules:
        return
    placeholders = {name: _Placeholder(name) for name in _SKIPPED if name not in sys.modules}
    sys.modules.update(placeholders)
    finder = _LazyFinder()
    if sys.platform != "darwin":  # there NumPy tests its linear algebra at once
        sys.meta_path.insert(0, finder)
    try:
        numpy = import_module("numpy")
    finally:
        sys.meta_path[:] = [each for each in sys.meta_path if each is not finder]
        for name, placeholder in placeholders.items():
            if sys.modules.get(name) is placeholder:
                del sys.modules[name]
    _find_later(numpy)


def _find_later(numpy: ModuleType) -> None:
    """Let NumPy find the names of lazy modules when they are used."""
    named = {name: value for name, value in vars(numpy).items() if isinstance(value, _Name)}
    for name in named:
        delattr(numpy, name)
    of_numpy = numpy.__getattr__

    def find(name: str) -> Any:  # noqa: ANN401 - whatever it is
        if name not in named:
            return of_numpy(name)
        setattr(numpy, name, named[name].value())
        return getattr(numpy, name)

    numpy.__getattr__ = find  # type: ignore[method-assign]
    vars(numpy)["__all__"] += named
