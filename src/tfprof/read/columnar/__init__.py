"""A converted profile (`tfprof convert`) → Profile: columns as they were, only narrower.

    file ──coding──► named columns ──layout──► tables ──checks──► Profile

All is decoded and checked at once but the attributes of nodes and the shapes that runs tell, which
are as far away as they are in the files that the profile was converted from: until they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tfprof.errors import InputError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import AttributeSource, Profile
from tfprof.read.columnar.checks import check, check_attributes, check_outputs
from tfprof.read.columnar.coding import Columns, Damage
from tfprof.read.columnar.layout import Attributes, RunShapes, made, truths

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import I64, Strings
    from tfprof.read.source import Source

T = TypeVar("T")

ATTRIBUTES, RUN_SHAPES = "attributes", "run_shapes"


def profile(source: Source) -> Profile:
    """The profile that was converted; raises InputError."""
    return _told(source, lambda: _profile(source))


def _told(source: Source, make: Callable[[], T]) -> T:
    """What *make* makes of the file; what is wrong with that becomes a sentence."""
    try:
        return make()
    except Damage as damage:
        raise InputError(f"{source.name} is damaged: {damage}") from None


def _profile(source: Source) -> Profile:
    columns = Columns(source)
    profile: Profile = made(Profile, "", columns)
    check(profile)
    described = truths(f"{ATTRIBUTES}.described", columns)
    if described.size != len(profile):
        raise Damage("its attributes are of other nodes")

    def attributes() -> tuple[I64, Strings]:
        source.check()
        return _told(source, lambda: _attributes(columns))

    def shaped(profile: Profile) -> Profile:
        source.check()
        return _told(source, lambda: _shaped(profile, columns))

    node = np.where(described, np.arange(len(profile)), -1)
    return replace(
        profile,
        attribute_sources=(AttributeSource(node, attributes, source.name),),
        shape_sources=(shaped,) if f"{RUN_SHAPES}.outputs.start" in columns else (),
    )


def _attributes(columns: Columns) -> tuple[I64, Strings]:
    attributes: Attributes = made(Attributes, ATTRIBUTES, columns)
    check_attributes(attributes)
    return attributes.node, attributes.texts.take(attributes.text)


def _shaped(profile: Profile, columns: Columns) -> Profile:
    told: RunShapes = made(RunShapes, RUN_SHAPES, columns)
    check_outputs(f"{RUN_SHAPES}.outputs", told.outputs, len(profile))
    return replace(profile, outputs=told.outputs, notes=(*profile.notes, *told.notes), _kept={})
