"""NamedTuple, as in typing, but importing a module that defines one compiles nothing.

The standard one compiles every annotation and a constructor for each class, a few tenths of a
millisecond, which `tfprof` would pay at each start. Here a constructor is compiled for classes
with many instances alone (as in lazy_dataclasses.py).
"""

# ruff: noqa: ANN401, N807 - methods of any named tuple
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from _collections import _tuplegetter

    _UNCOMPILED = 20  # instances that take less time than the compiler

    class _Meta(type):
        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            """A subclass of tuple; its fields are the annotations of the class."""
            if not bases:
                return super().__new__(cls, name, bases, body)
            names = tuple(body.get("__annotations__", ()))
            defaults = {field: body.pop(field) for field in names if field in body}
            getters = {field: _tuplegetter(at, None) for at, field in enumerate(names)}
            facts = {"_fields": names, "_field_defaults": defaults, "__match_args__": names}
            made = type(name, (tuple,), {**_METHODS, **body, **getters, **facts, "__slots__": ()})
            made.__new__ = _first_new(made)
            return made

    class NamedTuple(metaclass=_Meta):
        """The base of named tuples."""

    def _first_new(kind: Any) -> Any:
        """A `__new__` that works without a compiler, for the first instances."""
        uses = iter(range(_UNCOMPILED))
        names, defaults = kind._fields, kind._field_defaults

        def __new__(cls: type, *values: object, **named: object) -> Any:
            rest, known = names[len(values) :], defaults | named if named else defaults
            if (
                next(uses, None) is not None
                and len(values) + len(rest) == len(names)
                and {*named} <= {*rest} <= known.keys()
            ):
                return tuple.__new__(cls, (*values, *map(known.__getitem__, rest)))
            kind.__new__ = _compiled_new(kind)  # there are many, or an argument is wrong
            return kind.__new__(cls, *values, **named)

        return __new__

    def _compiled_new(kind: Any) -> Any:
        fields = ", ".join(kind._fields)
        values = f"({fields},)" if fields else "()"
        known = {"new": tuple.__new__, "__name__": f"namedtuple_{kind.__name__}"}
        made = eval(f"lambda _cls, {fields}: new(_cls, {values})", known)  # noqa: S307 - our names
        made.__name__, made.__qualname__ = "__new__", f"{kind.__qualname__}.__new__"
        made.__defaults__ = tuple(kind._field_defaults.values())
        return made

    def _make(cls: type, values: Any) -> Any:
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self: Any, **named: object) -> Any:
        made = self._make(map(named.pop, self._fields, self))
        if named:
            raise ValueError(f"Got unexpected field names: {[*named]!r}")
        return made

    def _asdict(self: Any) -> dict[str, object]:
        return dict(zip(self._fields, self, strict=True))

    def _repr(self: Any) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in _asdict(self).items())
        return f"{type(self).__name__}({values})"

    _METHODS = {
        "_make": classmethod(_make),
        "_replace": _replace,
        "_asdict": _asdict,
        "__repr__": _repr,
        "__getnewargs__": lambda self: tuple(self),  # noqa: PLW0108 - a type is no method
    }

__all__ = ["NamedTuple"]
