"""dataclass, field, fields and replace: the part of `dataclasses` that is used here, made lazily.

The standard module compiles four functions for every class when it is defined, which for all of
ours takes as long as to read a graph of a thousand nodes. Here a class compiles its `__init__` when
the first of its objects is made; all else is shared. For a type checker these are the standard
functions, and they do the same, as far as they go: classes are frozen. Pickles and copies hold the
fields alone: neither those without *init*, which are caches, nor cached properties.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
else:

    class FrozenInstanceError(AttributeError):
        """A frozen object was to be changed."""

    def field(**given: object) -> Field:
        """A field with a default, or one that a function makes for each object."""
        return Field(**given)

    def dataclass(*, frozen: bool, eq: bool = True, repr: bool = True) -> Callable[[type], type]:  # noqa: A002
        """A decorator that gives a class an `__init__` for its fields, and the rest."""
        assert frozen, "nothing here changes once made"

        def decorated(cls: type) -> type:
            return _made(cls, eq=eq, repr=repr)

        return decorated

    def fields(of: object) -> tuple[Field, ...]:
        """The fields of a class or of an object, in order."""
        return tuple(_fields(of).values())

    def replace(old: object, /, **changes: object) -> object:
        """An object like *old* with other values in some fields."""
        given = [name for name, one in _fields(old).items() if one.init and name not in changes]
        same = {name: getattr(old, name) for name in given}
        return type(old)(**same, **changes)


__all__ = ["FrozenInstanceError", "dataclass", "field", "fields", "replace"]

_MISSING: Any = object()
_FIELDS = "__fields_of_dataclass__"


class Field:
    """A field of a class; without *init* each object makes its own, as a cache is made."""

    __slots__ = ("default", "default_factory", "init", "name", "repr", "type")

    def __init__(
        self,
        default: object = _MISSING,
        default_factory: Callable[[], object] = _MISSING,
        *,
        init: bool = True,
        repr: bool = True,  # noqa: A002 - as the standard module calls it
    ) -> None:
        self.name, self.type, self.init, self.repr = "", "", init, repr
        self.default, self.default_factory = default, default_factory


def _fields(of: object) -> dict[str, Field]:
    every: dict[str, Field] = getattr(of, _FIELDS, {})
    return every


def _made(cls: type, *, eq: bool, repr: bool) -> type:  # noqa: A002
    every = dict(_fields(cls))  # those of the class above, if it has any
    for name, kind in vars(cls).get("__annotations__", {}).items():
        given = vars(cls).get(name, _MISSING)
        one = given if isinstance(given, Field) else Field(given)
        one.name, one.type = name, kind
        every[name] = one
        if one is given:
            delattr(cls, name)
    made: dict[str, object] = {
        _FIELDS: every,
        "__init__": _first_init(cls),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
        **({"__repr__": _repr} if repr else {}),
        **({"__eq__": _eq, "__hash__": _hash} if eq else {}),
    }
    for name, value in made.items():
        if name not in vars(cls) or name == "__hash__":
            setattr(cls, name, value)
    return cls


def _first_init(cls: Any) -> Callable[..., None]:  # noqa: ANN401
    """An `__init__` that puts the compiled one in its place, and calls it."""

    def __init__(self: object, *arguments: object, **named: object) -> None:  # noqa: N807
        cls.__init__ = _compiled_init(cls)
        cls.__init__(self, *arguments, **named)

    return __init__


def _compiled_init(cls: type) -> Callable[..., None]:
    known: dict[str, Any] = {"set_": object.__setattr__, "MISSING": _MISSING}
    parameters, lines = ["self"], []
    for name, one in _fields(cls).items():
        value = name
        if one.default_factory is not _MISSING:
            known[f"make_{name}"] = one.default_factory
            parameters += [f"{name}=MISSING"] * one.init
            value = f"make_{name}()" + f" if {name} is MISSING else {name}" * one.init
        elif one.default is not _MISSING:
            known[f"default_{name}"] = one.default
            parameters.append(f"{name}=default_{name}")
        else:
            parameters.append(name)
        lines.append(f"    set_(self, {name!r}, {value})\n")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()\n")
    source = f"def __init__({', '.join(parameters)}):\n{''.join(lines) or '    pass'}"
    exec(source, known)  # noqa: S102 - of the names in our own classes
    compiled: Callable[..., None] = known["__init__"]
    return compiled


def _values(of: object) -> tuple[object, ...]:
    return tuple(getattr(of, name) for name in _fields(of))


def _getstate(self: object) -> dict[str, object]:
    """What a pickle or a copy holds: the fields, without what was worked out from them."""
    every = _fields(self)
    return {
        name: value
        for name, value in vars(self).items()
        if (name not in every or every[name].init)
        and not isinstance(getattr(type(self), name, None), cached_property)
    }


def _setstate(self: Any, state: dict[str, object]) -> None:  # noqa: ANN401
    vars(self).update(state)
    vars(self).update(
        {n: one.default_factory() for n, one in _fields(self).items() if not one.init}
    )
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _repr(self: object) -> str:
    told = [name for name, one in _fields(self).items() if one.repr]
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in told)
    return f"{type(self).__qualname__}({inside})"


def _eq(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _refuse_to_set(_: object, name: str, __: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
