"""The numbers of a page's nodes: what `values` of the model multiplies, or sums of folded nodes.

    params, params.lower          parameters, and where they are a lower bound
    float_ops.log times.log       of one run, and how often a node runs; without rules
    float_ops.all times.all …     by all rules; gap, once: what rules leave out
    float_ops.0 …                 of a step, where steps ran with different shapes
    region, region.runs.0 …       the function that a node is in, and how often that ran
    values.micros.0 lower.0 …     the sums themselves, of a folded profile

Times and memory follow from the steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.ops.counting import lower_bound_nodes
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.query.counted import lacks_params
from tfprof.tables.fields import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tfprof.model import Profile
    from tfprof.writers.page_columns import Container
    from tfprof.writers.page_fold import Fold


def page_numbers(out: Container, profile: Profile, dims: Mapping[str, int]) -> None:
    """Add the columns from which values are computed."""
    out.add("params", profile.values("params", None))
    out.add("params.lower", lacks_params(profile))
    out.add("float_ops.log", profile.nodes.float_ops)
    out.add("times.log", profile.times)
    own = {number: steps for steps, _ in profile.step_shapes for number in steps}
    # Steps with the same shapes are counted once.
    alike: dict[tuple[int, ...], int] = {}
    for name, step in _steps(profile):
        if step is not None and not own:
            break
        asked = None if step is None else alike.setdefault(own.get(step, ()), step)
        counted, counts = with_float_ops(profile, "all", dims, asked)
        out.add(f"float_ops.{name}", counted.nodes.float_ops)
        out.add(f"times.{name}", counted.times)
        out.add(f"gap.{name}", counts.gap)
        out.add(f"once.{name}", counts.once)
    if len(profile.regions) and profile.steps:
        out.add("region", profile.regions.of_nodes(len(profile)))
        for name, step in _steps(profile):
            ran = profile.values("occurrence", step)
            out.add(f"region.runs.{name}", profile.regions.runs(ran))


def folded_numbers(out: Container, profile: Profile, dims: Mapping[str, int], folded: Fold) -> None:
    """Add the sums of what *profile* has; those of its own nodes would not add up to them."""
    out.add("params", folded.sums(profile.values("params", None)))
    out.add("params.lower", folded.any(lacks_params(profile)))
    out.add("values.defined.all", folded.size)
    for name, step in _steps(profile):
        counted, counts = with_float_ops(profile, "all", dims, step)
        for metric in METRICS:
            if metric != "params":
                out.add(f"values.{metric}.{name}", folded.sums(counted.values(metric, step)))
        bounds = lower_bound_nodes(counted, counts, counted.nodes.float_ops, step)
        out.add(f"lower.{name}", folded.any(bounds))
    once = with_float_ops(profile, "all", dims)[0].values("float_ops", None)
    for name, values in (("all", once), ("log", profile.values("float_ops", None))):
        out.add(f"float_ops.{name}", folded.sums(values))
        out.add(f"times.{name}", np.empty(0, np.int64))


def _steps(profile: Profile) -> Iterator[tuple[str, int | None]]:
    """(name in columns, number) of the average of all steps, and of each step."""
    yield "all", None
    yield from ((str(at), step.number) for at, step in enumerate(profile.steps))
