"""Defaults that fit the files: what a report shows, and in which order, if nobody says.

    flops       all         rules count what the op log does not
    select      micros              where there are runs
                float_ops, params   of a graph alone
                params, float_ops   if most operations have no count, as with an open batch size
                params              if none has
    order_by    the first number that is selected, the largest first; without one, name

They hold in eras whose `fits_files` is set. The command line, the shell and Python ask here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.foundation.lazy_dataclasses import replace
from tfprof.query.query import Query
from tfprof.tables.fields import FIELDS
from tfprof.tables.options import OPTIONS, check_options
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Profile


def fitted_query(profile: Profile, options: Mapping[str, Any], view: str = "") -> Query:
    """The query of *options*, with defaults that fit *profile* for those left open."""
    chosen = check_options(options)
    query = Query.of(fitted_options(profile, chosen, view), view)
    if not query.era.fits_files:
        return query
    return replace(query, left_open=frozenset(OPTIONS.keys() - chosen))


def fitted_options(profile: Profile, options: Mapping[str, Any], view: str = "") -> dict[str, Any]:
    """*options*, and the values of those left open that fit *profile* and *view*."""
    chosen = check_options(options)
    query = Query.of(chosen, view)  # an invalid option is an error before anything is counted
    if not query.era.fits_files:
        return chosen
    fitted: dict[str, Any] = {"flops": "all", **chosen}
    if "select" not in fitted:
        fitted["select"] = _select(profile, replace(query, flops=fitted["flops"]))
    groups = view in VIEWS and VIEWS[view].groups  # other views have one node per row
    numbers = (name for name in fitted["select"] if name in FIELDS and FIELDS[name].unit)
    order = next((name for name in numbers if groups or name != "occurrence"), "name")
    return {"order_by": order, **fitted}


def _select(profile: Profile, query: Query) -> tuple[str, ...]:
    if profile.steps:
        return ("micros",)
    mostly_counted = True
    if query.flops != "log":
        from tfprof.ops.with_float_ops import with_float_ops  # noqa: PLC0415 - as in answer

        # The answer shows them, so this is no extra work.
        profile, counts = with_float_ops(profile, query.flops, query.dims, query.step)
        mostly_counted = 2 * counts.counted > counts.ops
    if not profile.nodes.float_ops.any():
        return ("params",)
    return ("float_ops", "params") if mostly_counted else ("params", "float_ops")
