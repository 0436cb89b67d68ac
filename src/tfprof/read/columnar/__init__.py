"""Reads a converted profile (`tfprof convert`): the columns of a Profile in compact form.

    file ──coding──► named columns ──layout──► tables ──checks──► Profile

Everything is decoded and checked at once, except node attributes and the shapes recorded by runs:
these are read on demand, as with the files that the profile was converted from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import AttributeSource, Profile
from tfprof.read.columnar.checks import check, check_attributes, check_outputs
from tfprof.read.columnar.coding import Columns, Damage
from tfprof.read.columnar.layout import Attributes, RunShapes, from_columns, truths

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import I64, Strings
    from tfprof.read.source import Source

T = TypeVar("T")

ATTRIBUTES, RUN_SHAPES = "attributes", "run_shapes"


def profile(source: Source) -> Profile:
    """The profile in the file; raises InputError."""
    return _checked(source, lambda: _profile(source))


def _checked(source: Source, make: Callable[[], T]) -> T:
    """The result of make(); turns Damage into an InputError that names the file."""
    try:
        return make()
    except Damage as damage:
        raise InputError(f"{source.name} is damaged: {damage}") from None


def _profile(source: Source) -> Profile:
    columns = Columns(source)
    profile: Profile = from_columns(Profile, "", columns)
    check(profile)
    described = truths(f"{ATTRIBUTES}.described", columns)
    if described.size != len(profile):
        raise Damage("its attributes belong to other nodes")

    def attributes() -> tuple[I64, Strings]:
        source.check()
        return _checked(source, lambda: _attributes(columns))

    def shaped(profile: Profile) -> Profile:
        source.check()
        return _checked(source, lambda: _shaped(profile, columns))

    node = np.where(described, np.arange(len(profile)), -1)
    return replace(
        profile,
        attribute_sources=(AttributeSource(node, attributes, source.name),),
        shape_sources=(shaped,) if f"{RUN_SHAPES}.outputs.start" in columns else (),
    )


def _attributes(columns: Columns) -> tuple[I64, Strings]:
    attributes: Attributes = from_columns(Attributes, ATTRIBUTES, columns)
    check_attributes(attributes)
    return attributes.node, attributes.texts.take(attributes.text)


def _shaped(profile: Profile, columns: Columns) -> Profile:
    shapes: RunShapes = from_columns(RunShapes, RUN_SHAPES, columns)
    check_outputs(f"{RUN_SHAPES}.outputs", shapes.outputs, len(profile))
    notes = (*profile.notes, *shapes.notes)
    return replace(profile, outputs=shapes.outputs, notes=notes, _kept={})
