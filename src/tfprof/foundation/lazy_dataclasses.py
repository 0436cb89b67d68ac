"""dataclass, field, fields and replace: what tfprof uses of `dataclasses`, compiled lazily.

The standard module compiles four functions when a class is defined. For all of our classes that
takes as long as reading a graph of a thousand nodes. Here a class compiles its `__init__` when it
has a few instances; all other methods are shared. Type checkers see the standard functions,
and these behave the same; only frozen classes are supported. Pickles and copies hold the fields
alone: neither those without *init*, which are caches, nor cached properties.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
else:

    class FrozenInstanceError(AttributeError):
        """An attempt to change a frozen instance."""

    def field(**options: object) -> Field:
        """A field with a default or a default_factory."""
        return Field(**options)

    def dataclass(*, frozen: bool, eq: bool = True, repr: bool = True) -> Callable[[type], type]:  # noqa: A002
        """A decorator that adds `__init__` and the other methods to a class."""
        assert frozen, "only frozen dataclasses are supported"
        return partial(_add_methods, eq=eq, repr=repr)

    def fields(of: object) -> tuple[Field, ...]:
        """The fields of a class or an instance, in order."""
        return tuple(_fields(of).values())

    def replace(old: object, /, **changes: object) -> object:
        """A copy of *old* with *changes*."""
        names = [name for name, each in _fields(old).items() if each.init and name not in changes]
        unchanged = {name: getattr(old, name) for name in names}
        return type(old)(**unchanged, **changes)


__all__ = ["FrozenInstanceError", "dataclass", "field", "fields", "replace"]

_MISSING: Any = object()
_FIELDS = "__fields_of_dataclass__"
_UNCOMPILED = 20  # instances that take less time than the compiler


class Field:
    """A field of a class; without *init* each object creates its own value, such as a cache."""

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
    by_name: dict[str, Field] = getattr(of, _FIELDS, {})
    return by_name


def _add_methods(cls: type, *, eq: bool, repr: bool) -> type:  # noqa: A002
    by_name = dict(_fields(cls))  # those of its base class
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        default = vars(cls).get(name, _MISSING)
        each = default if isinstance(default, Field) else Field(default)
        each.name, each.type = name, annotation
        by_name[name] = each
        if each is default:
            delattr(cls, name)
    methods: dict[str, object] = {
        _FIELDS: by_name,
        "__init__": _first_init(cls),
        "__setattr__": _reject,
        "__delattr__": _reject,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
        **({"__repr__": _repr} if repr else {}),
        **({"__eq__": _eq, "__hash__": _hash} if eq else {}),
    }
    for name, value in methods.items():
        if name not in vars(cls) or name == "__hash__":
            setattr(cls, name, value)
    return cls


def _first_init(cls: Any) -> Callable[..., None]:  # noqa: ANN401
    """An `__init__` that sets the fields one by one; the next but a few is compiled."""
    uses = iter(range(_UNCOMPILED))

    def __init__(self: object, *arguments: object, **named: object) -> None:  # noqa: N807
        values = _bound(cls, arguments, named) if next(uses, None) is not None else None
        if values is None:  # many are created, or an argument is wrong
            cls.__init__ = _compiled_init(cls)
            cls.__init__(self, *arguments, **named)
            return
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()  # type: ignore[attr-defined]

    return __init__


def _bound(cls: type, arguments: Any, named: dict[str, object]) -> dict[str, object] | None:  # noqa: ANN401
    """The value of each field, in order; None where arguments are missing, unknown or doubled."""
    values: dict[str, object] = {}
    rest = iter(arguments)
    unused = dict(named)
    for name, each in _fields(cls).items():
        value = next(rest, _MISSING) if each.init else _MISSING
        if value is _MISSING and each.init:
            value = unused.pop(name, _MISSING)
        if value is _MISSING:
            has_factory = each.default_factory is not _MISSING
            value = each.default_factory() if has_factory else each.default
        if value is _MISSING:
            return None
        values[name] = value
    return None if unused or next(rest, _MISSING) is not _MISSING else values


def _compiled_init(cls: type) -> Callable[..., None]:
    names: dict[str, Any] = {"set_": object.__setattr__, "MISSING": _MISSING}
    parameters, lines = ["self"], []
    for name, each in _fields(cls).items():
        value = name
        if each.default_factory is not _MISSING:
            names[f"make_{name}"] = each.default_factory
            parameters += [f"{name}=MISSING"] * each.init
            value = f"make_{name}()" + f" if {name} is MISSING else {name}" * each.init
        elif each.default is not _MISSING:
            names[f"default_{name}"] = each.default
            parameters.append(f"{name}=default_{name}")
        else:
            parameters.append(name)
        lines.append(f"    set_(self, {name!r}, {value})\n")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()\n")
    source = f"def __init__({', '.join(parameters)}):\n{''.join(lines) or '    pass'}"
    exec(source, names)  # noqa: S102 - the source has only names from our own classes
    compiled: Callable[..., None] = names["__init__"]
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
        {n: each.default_factory() for n, each in _fields(self).items() if not each.init}
    )
    if hasattr(self, "__post_init__"):
        self.__post_init__()


def _repr(self: object) -> str:
    names = [name for name, each in _fields(self).items() if each.repr]
    values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
    return f"{type(self).__qualname__}({values})"


def _eq(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _reject(_: object, name: str, *value: object) -> None:
    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")
