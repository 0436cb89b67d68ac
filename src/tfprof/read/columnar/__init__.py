"""Reads a converted profile (`tfprof convert`): the columns of a Profile in compact form.

    file ──coding──► named columns ──layout──► tables ──checks──► Profile

Everything is decoded and checked at once, except node attributes and the shapes recorded by runs:
these are read on demand, as with the files that the profile was converted from.
"""

from __future__ import annotations

from functools import partial
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
    return _checked(_profile, source)


def _checked(read: Callable[[Source], T], source: Source) -> T:
    """The result of *read*; turns Damage into an InputError that names the file."""
    try:
        return read(source)
    except Damage as damage:
        raise InputError(f"{source.name} is damaged: {damage}") from None


def _profile(source: Source) -> Profile:
    columns = Columns(source)
    profile: Profile = from_columns(Profile, "", columns)
    check(profile)
    described = truths(f"{ATTRIBUTES}.described", columns)
    if described.size != len(profile):
        raise Damage("its attributes belong to other nodes")
    node = np.where(described, np.arange(len(profile)), -1)
    attributes = partial(_checked, _attributes, source)
    has_shapes = f"{RUN_SHAPES}.outputs.start" in columns
    return replace(
        profile,
        attribute_sources=(AttributeSource(node, attributes, source.name),),
        shape_sources=(partial(_with_run_shapes, source),) if has_shapes else (),
    )


def _attributes(source: Source) -> tuple[I64, Strings]:
    source.check()
    attributes: Attributes = from_columns(Attributes, ATTRIBUTES, Columns(source))
    check_attributes(attributes)
    return attributes.node, attributes.texts.take(attributes.text)


def _with_run_shapes(source: Source, profile: Profile) -> Profile:
    return _checked(partial(_shaped, profile), source)


def _shaped(profile: Profile, source: Source) -> Profile:
    source.check()
    shapes: RunShapes = from_columns(RunShapes, RUN_SHAPES, Columns(source))
    check_outputs(f"{RUN_SHAPES}.outputs", shapes.outputs, len(profile))
    return replace(profile, outputs=shapes.outputs, notes=(*profile.notes, *shapes.notes))
