"""The fields that a report has columns for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.tables.fields import FIELDS

if TYPE_CHECKING:
    from tfprof.query.counted import Answer


def shown_fields(answer: Answer) -> list[str]:
    """The fields with a column, in order: the selected ones and those they imply."""
    shown = {name for field in answer.query.select for name in FIELDS[field].shows}
    if not answer.query.era.splits_time:
        shown &= {*answer.query.select}
    ordered = [name for name in FIELDS if name in shown and FIELDS[name].legend]
    if answer.view.groups:
        ordered.sort(key=_group_place)
    return ordered


def _group_place(name: str) -> int:
    """In views of groups, counts stand behind measurements."""
    if FIELDS[name].unit is None or name == "occurrence":
        return 2
    return 1 if name in ("params", "float_ops") else 0
