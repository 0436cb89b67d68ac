"""JSON from files that are not trusted: each value is checked against a form.

COUNT NUMBER TEXT …        that kind of value          a pattern     a text that it matches
{"a": form, "b": form}     an object with these names  {pattern: form}   one with such names
[form]                     a list of equal values      (form, form)  a list of exactly these
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from tfprof.foundation.arguments import INT64_MAX, shown

NUMBER, COUNT, TEXT, NUMBER_OR_NULL = "a number", "a count", "a text", "a number or null"
_LEAST: Final = {NUMBER: -INT64_MAX, NUMBER_OR_NULL: -INT64_MAX, COUNT: 0}


class Damage(Exception):  # noqa: N818 - as in read/columnar
    """A value does not have its form."""


def checked(form: Any, value: Any, where: str = "it") -> Any:  # noqa: ANN401 - any value of JSON
    """*value* without what *form* does not name; raises Damage where it does not fit."""
    match form, value:
        case dict(), dict():
            return _checked_object(form, value, where)
        case list(), list():
            if form[0] is NUMBER and _are_numbers(value):
                return value  # a fleet may have millions
            item = f"an item of {where}"
            return [checked(form[0], each, item) for each in value]
        case tuple(), list() if len(form) == len(value):
            return [checked(*pair, f"an item of {where}") for pair in zip(form, value, strict=True)]
    if isinstance(form, (str, re.Pattern)) and _fits(form, value):
        return value
    raise Damage(f"{where} cannot be {shown(value)}")


def _checked_object(form: dict[Any, Any], value: dict[str, Any], where: str) -> dict[str, Any]:
    (key, inner), *_ = form.items()
    if isinstance(key, re.Pattern):
        names = [checked(key, name, f"a key of {where}") for name in value]
        return {name: checked(inner, value[name], f"{where} {name}") for name in names}
    if missing := form.keys() - value.keys():
        raise Damage(f"{where} has no {min(missing)}")
    return {name: checked(form[name], value[name], name) for name in form}


def _fits(form: str | re.Pattern[str], value: object) -> bool:
    if isinstance(form, re.Pattern):
        return isinstance(value, str) and bool(form.fullmatch(value))
    if isinstance(value, str):
        return form == TEXT and _is_unicode(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return form in _LEAST and _LEAST[form] <= value <= INT64_MAX
    return value is None and form == NUMBER_OR_NULL


def _are_numbers(values: list[Any]) -> bool:
    known = {*map(type, values)} <= {int}
    return known and -INT64_MAX <= min(values, default=0) <= max(values, default=0) <= INT64_MAX


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def compact(value: object) -> str:
    """JSON on one line; the same for the same value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
