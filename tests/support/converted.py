"""Converted profiles as tests need them: written, read, compared with what they were made from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from case import VIEWS
from tfprof.checkers import advise
from tfprof.columns.strings import Strings
from tfprof.errors import InputError, UsageError
from tfprof.foundation.lazy_dataclasses import fields
from tfprof.query.query import Query
from tfprof.read import Source, load
from tfprof.results.loaded import Loaded
from tfprof.tables.options import FLOPS, OPTIONS
from tfprof.writers import advice
from tfprof.writers.columnar import columnar
from tfprof.writers.saved import saved
from tfprof.writers.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tfprof.model import Profile

SELECT: Final = [name for name in OPTIONS["select"].choices if name != "tensor_value"]
FORMS: Final = ("text", "json", "csv", "md", "proto", "pprof")


def convert(profile: Profile) -> bytes:
    return b"".join(columnar(profile))


def source(data: bytes) -> Source:
    return Source("it", np.frombuffer(data, np.uint8))


def reread(data: bytes) -> Profile:
    return load(saved=source(data))


def columns(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """(name, content) of everything in a profile, whatever the model has."""
    if isinstance(value, Strings):
        yield name, list(value)
    elif fields(value):
        for part in fields(value):
            if part.name not in ("attribute_sources", "shape_sources") and "cache" not in part.name:
                yield from columns(getattr(value, part.name), f"{name}.{part.name}")
    elif isinstance(value, tuple):
        yield name, len(value)
        for number, one in enumerate(value):
            yield from columns(one, f"{name}.{number}")
    elif isinstance(value, np.ndarray):
        assert value.dtype in (np.int64, np.bool_)
        yield name, (value.dtype, value.tolist())
    else:
        yield name, (type(value), value)


def known(profile: Profile) -> dict[str, Any]:
    """All that a profile knows, also what it reads only when it is asked."""
    node, entry = profile.attributes
    return {
        **dict(columns(profile)),
        "in graph": profile.in_graph.tolist(),
        "attributes": list(zip(node.tolist(), entry, strict=True)),
        "with run shapes": dict(columns(profile.with_run_shapes)),
        "coverage": profile.coverage,
    }


def answers(profile: Profile, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What every view says in every form, with every way to count; a refusal is an answer."""
    found: dict[str, Any] = {}
    loaded = Loaded(profile)
    for view in VIEWS:
        for flops in FLOPS:
            query = Query.of({"select": SELECT, "max_depth": 99, **(options or {}), "flops": flops})
            found[f"{view} {flops}"] = _or_refusal(_forms, loaded, view, query)
    for number in [None, *loaded.steps]:
        for view in ("scope", "code") if number is None else ("scope", "graph", "code"):
            asked = Query(step=number)
            found[f"timeline of {view} {number}"] = _or_refusal(_chart, loaded, view, asked)
    found["advice"] = [*advice.text(advise(profile)), *map(str, advise(profile).notes)]
    found["saved"] = b"".join(saved(profile)) if len(profile) else b""
    return found


def _forms(loaded: Loaded, view: str, query: Query) -> list[Any]:
    report = loaded.report(view, query)
    return [
        *([b"".join(report.pieces(form)) for form in FORMS]),
        *map(str, report.own_notes),
        str(report.flops),
    ]


def _chart(loaded: Loaded, view: str, query: Query) -> bytes:
    return b"".join(timeline(loaded.report(view, query).answer).pieces())


def _or_refusal(make: Callable[[Loaded, str, Query], Any], *asked: Any) -> Any:
    try:
        return make(*asked)
    except UsageError as refusal:
        return str(refusal)


def unharmed(data: bytes, before: Profile) -> bool:
    """Whether the file says what *before* says; otherwise it is refused in a sentence."""
    try:
        after = known(reread(data))
    except InputError as refusal:
        sentence = str(refusal)
    else:
        assert after == _known(before)
        return True
    assert sentence.startswith("it ")
    assert "\n" not in sentence
    return False


@cache
def _known(profile: Profile) -> dict[str, object]:
    return known(profile)
