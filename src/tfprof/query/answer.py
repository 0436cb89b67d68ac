"""answer(profile, view, query) → Answer: the documented procedure, one function per stage.

    account   choose the rows that count, and take totals over them
    start     begin at the rows that start_name_regexes match
    show      drop rows that are trimmed, too deep, too small or hidden; their children move up
    only      take totals over the displayed rows alone, if the query says so
    order     sort siblings by name or by a total

Each stage takes rows and returns other rows; none of them changes its input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.matching import matches
from tfprof.columns.strings import I64, Bool, Strings
from tfprof.columns.unique import marked
from tfprof.errors import UsageError
from tfprof.foundation.caches import RecentCache
from tfprof.foundation.lazy_dataclasses import fields, replace
from tfprof.foundation.units import plural
from tfprof.model import Note, own_notes
from tfprof.query.counted import DEFINED, Answer, Counted
from tfprof.query.unmatched import unmatched
from tfprof.read.left_out import VARIABLES
from tfprof.tables.fields import FIELDS, METRICS
from tfprof.views import View, view_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.columns.tree import Tree
    from tfprof.model import Profile
    from tfprof.query.counted import Samples
    from tfprof.query.query import Query
    from tfprof.tables.eras import Era
    from tfprof.views.drawing import Drawing

DRAWN_BY_ERA = ("source_text", "gradient_rows", "sorts_inputs")


_HAS_FUNCTIONS = "the graph was read with functions, unlike the original: see --functions=off"
# What params counts in an XLA program are weights and the state of an optimizer.
_VARIABLES = VARIABLES | {b"parameter"}
Deeper = tuple[int, int]  # rows that only max_depth hides: how many, the depth of the deepest


def answer(
    profile: Profile, view_name: str, query: Query, samples: Samples | None = None
) -> Answer:
    """The rows that *query* asks for, also of a fleet; raises UsageError if that is impossible."""
    view = view_named(view_name)
    _check(profile, view, query)
    counts = None
    notes: tuple[Note, ...] = ()
    concerned = (*query.select, *query.minimum, query.order_by)
    if query.flops != "log" and "float_ops" in concerned:
        # A report without them does not pay for the rules.
        from tfprof.ops.with_float_ops import with_float_ops  # noqa: PLC0415

        known = len(profile.notes)
        profile, counts = with_float_ops(profile, query.flops, query.dims, query.step)
        notes = profile.notes[known:]
    counted_profile, era = profile, query.era
    profile = profile.cached(("as of", era.name), lambda: _as_of(counted_profile, era))
    how = {name: getattr(query.era, name) for name in DRAWN_BY_ERA} | {"frames": query.frames}
    drawing = view.draw(profile, **how)
    recent = profile.cached(("answers", view.name, *how.values()), RecentCache)
    counted, tree, at, deeper = recent.cached(
        ("displayed", samples and samples.key, *_selection(query)),
        lambda: _displayed(profile, view, drawing, query, recent, samples),
    )
    notes = (*notes, *_notes(view, drawing, query, len(tree)))
    if query.left_open:
        rows, depth = deeper
        cut_off = "max_depth" in query.left_open and rows
        shows = f"--max_depth={depth} shows {'it' if rows == 1 else 'them'}"
        remarks = [f"{plural(rows, 'more row')}: {shows}"] if cut_off else []
        others = (*unmatched(profile, drawing, query), *_other_values(profile, query))
        notes += own_notes((*remarks, *others))
    if not query.era.functions and len(profile.regions):
        notes += own_notes([_HAS_FUNCTIONS])
    return Answer(view, query, tree, counted, at, notes, counts)


def _displayed(  # noqa: PLR0913, PLR0917 - what the stages need
    profile: Profile,
    view: View,
    drawing: Drawing,
    query: Query,
    recent: RecentCache,
    samples: Samples | None,
) -> tuple[Counted, Tree, I64, Deeper]:
    """(counted, tree, counted rows) of the displayed rows, and what only max_depth hides."""
    order_of_chain = query.order_by if view.chain else None
    sampled = samples and samples.key
    counted = recent.cached(
        ("counted", sampled, query.account_types, query.step, query.era.name, order_of_chain),
        lambda: account(profile, view, drawing, query, samples),
    )
    tree, at = start(counted, view, query)
    if query.era.totals_from_start:
        counted, at = only(counted, at)
    tree, at, deeper = show(counted, tree, at, view, query)
    if query.displayed_only and view.recounts:
        counted, at = only(counted, at)
        counted = replace(counted, root_defined=1)
    if not view.chain:
        tree, at = order(counted, tree, at, query)
    return counted, tree, at, deeper


def _selection(query: Query) -> tuple[object, ...]:
    """Cache key: the query fields that affect selection and order."""
    others = ("select", "output", "notes", "flops", "dims", "minimum", "era", "left_open")
    names = [field.name for field in fields(query) if field.name not in others]
    minimum = tuple(sorted(query.minimum.items()))
    return (query.era.name, minimum, *(getattr(query, name) for name in names))


def account(
    profile: Profile, view: View, drawing: Drawing, query: Query, samples: Samples | None = None
) -> Counted:
    """The accounted rows and, where a view keeps scopes, the rows above them."""
    # parity Q5: a row that stays only for what is below it still adds its own numbers.
    picked = _times_picked(profile, query)
    accounted = _accounted(drawing, view, query, picked)
    rows = np.arange(len(drawing.tree))
    times = picked if view.groups or not query.era.keeps_scopes else None
    counted = Counted(
        profile, drawing, drawing.tree, rows, accounted, query.step, times, samples=samples
    )
    if query.account_types is not None:
        remains = drawing.tree.holds(accounted) if view.keeps_scopes else accounted.copy()
        remains[0] = True
        counted = counted.keep_rows(remains)
    return _ordered_chain(counted, query) if view.chain else counted


def start(counted: Counted, view: View, query: Query) -> tuple[Tree, I64]:
    """(tree, counted rows) from the rows that a start regex matches."""
    rows = np.arange(len(counted.tree))
    # parity Q38: an empty list is no restriction in a chain; elsewhere it matches nothing.
    if query.start_names is None or (view.chain and not query.start_names):
        return counted.tree, rows
    begins = _named(counted, rows, query.start_names)
    begins[0] = False
    remains = begins | counted.tree.under(begins)
    remains[0] = True
    return counted.tree.keep_rows(remains), rows[remains]


def show(
    counted: Counted, tree: Tree, at: I64, view: View, query: Query
) -> tuple[Tree, I64, Deeper]:
    """(tree, counted rows) of the displayed rows, also the root, and what only max_depth hides."""
    passes = restrictions(counted, tree, at, view, query)
    _, within = next(passes)  # max_depth
    shown = np.ones(len(tree), np.bool_)
    for _, passed in passes:
        shown &= passed
    shown[0] = True
    depths = tree.depth[shown & ~within]
    deeper = (depths.size, int(depths.max(initial=0)) - 1 + view.root_depth)
    shown &= within
    shown[0] = True
    return tree.keep_rows(shown), at[shown], deeper


def restrictions(
    counted: Counted, tree: Tree, at: I64, view: View, query: Query
) -> Iterator[tuple[str, Bool]]:
    """(option, whether each row passes it) of each option that can hide rows, max_depth first."""
    yield "max_depth", tree.depth - 1 + view.root_depth <= query.max_depth
    for metric in METRICS:
        reaches = _reaches(counted, at, view, query, metric)
        if reaches is not None:
            yield f"min_{metric}", reaches
    if not query.era.keeps_scopes:
        yield "era", counted.accounted[at]
    if query.show_names is not None:
        yield "show_name_regexes", _named(counted, at, query.show_names)
    if query.hide_names:
        yield "hide_name_regexes", ~_named(counted, at, query.hide_names)
    if query.devices is not None:
        yield "device_regexes", _on_device(counted, at, view, query.devices)
    if query.trim_names:
        trimmed = _named(counted, at, query.trim_names)
        trimmed[0] &= not view.chain  # the root is not an item of a chain
        passes = ~tree.under(trimmed)
        if view.trims_itself:
            passes &= ~trimmed
        yield "trim_name_regexes", passes


def only(counted: Counted, at: I64) -> tuple[Counted, I64]:
    """(counted, its rows) with totals over the rows *at* alone."""
    remains = marked(at, len(counted.tree))
    return counted.keep_rows(remains), np.arange(at.size)


def order(counted: Counted, tree: Tree, at: I64, query: Query) -> tuple[Tree, I64]:
    """(tree, counted rows) with siblings in the order of the query; ties stay in drawing order."""
    key = _key(counted, at, query)
    if key is None:
        return tree, at
    tree, old = tree.sort(key)
    return tree, at[old]


def _ordered_chain(counted: Counted, query: Query) -> Counted:
    """The rows of a chain, sorted by their own numbers, so that totals run along that order."""
    key = _key(counted, np.arange(len(counted.tree)), query, own=True)
    if key is None:
        return counted
    old = np.append(0, 1 + np.argsort(key[1:], kind="stable"))
    return replace(counted, row=counted.row[old])


def _key(counted: Counted, at: I64, query: Query, *, own: bool = False) -> I64 | None:
    """What to sort rows by, smallest first; None where they are in order already."""
    drawing = counted.drawing
    if query.order_by is None or (query.order_by == "name" and drawing.in_name_order):
        return None
    if query.order_by == "name":
        return drawing.label.take(counted.row[at]).rank()
    if query.order_by == "depth":
        return counted.tree.depth[at]
    if query.order_by == "occurrence":
        value = counted.own(DEFINED)
    else:
        value = counted.own(query.order_by) if own else counted.total(query.order_by)
    if value.dtype != np.int64:  # a mean or a percentile
        return -value[at]
    return ~value[at]  # largest first; unlike minus, this cannot overflow


def _reaches(counted: Counted, at: I64, view: View, query: Query, metric: str) -> Bool | None:
    """Whether each row reaches min_<metric>; None where every row does."""
    least = query.minimum.get(metric, 0)
    if metric == "occurrence" and view.groups:
        return counted.own(DEFINED)[at] >= least if view.bounds_occurrence else None
    times = 1 if query.account_types is None else len(query.account_types)
    if least <= 0 and not counted.profile.may_be_negative(metric, times):
        return None
    own = (FIELDS[metric].bound == "own" or query.era.bounds_own) and not view.groups
    return (counted.own(metric) if own else counted.total(metric))[at] >= least


def shown_fields(answer: Answer) -> list[str]:
    """The fields with a column, in order: the selected ones and those they imply."""
    shown = {name for field in answer.query.select for name in FIELDS[field].shows}
    if not answer.query.era.splits_time:
        shown &= {*answer.query.select}
    ordered = [name for name in FIELDS if name in shown and FIELDS[name].legend]
    if not answer.view.groups:
        return ordered
    # Counts come after measurements.
    last = [name for name in ordered if FIELDS[name].unit is None or name == "occurrence"]
    return sorted(ordered, key=lambda name: (name in last, name in ("params", "float_ops")))


def _check(profile: Profile, view: View, query: Query) -> None:
    steps = [step.number for step in profile.steps]
    if query.step is not None and query.step not in steps:
        there = ", ".join(map(str, steps)) or "none, as there is no run"
        raise UsageError(f"there is no step {query.step} (steps: {there})")
    if query.order_by == "occurrence" and not view.groups:
        raise UsageError(
            f"{view.name} view has one node per row and cannot order by occurrence; "
            "op and code view can"
        )


def _notes(view: View, drawing: Drawing, query: Query, rows: int) -> tuple[Note, ...]:
    notes = [*map(Note, query.notes), *drawing.notes]
    if query.displayed_only and not view.recounts:
        notes.append(Note(f"Note: {view.name} view ignores account_displayed_op_only"))
    if "tensor_value" in query.select and view.name == "code":
        notes.append(Note("code view has no tensor value to show", times=rows))
    return tuple(notes)


def _other_values(profile: Profile, query: Query) -> Iterator[str]:
    if "select" in query.left_open and "params" in query.select:
        yield from params_remarks(profile)


def params_remarks(profile: Profile) -> Iterator[str]:
    """What params counts besides variables, as the original does: placeholders and the like."""
    kinds = [at for at, kind in enumerate(profile.types) if kind in _VARIABLES]
    values = np.where(np.isin(profile.nodes.op, kinds), 0, profile.values("params", None))
    first = int(values.argmax()) if values.any() else -1
    if first >= 0:
        name = profile.nodes.name[first].decode("utf-8", "surrogateescape")
        counted = plural(int(values.sum()), "value")
        yield f"params counts {counted} of nodes that are not variables, such as {name}"


def _as_of(profile: Profile, era: Era) -> Profile:
    """*profile* with the types and float operations that it had in that era."""
    for kind, other in era.also_types.items():
        number = len(profile.types)
        nodes = np.flatnonzero(profile.nodes.op == profile.types.find(Strings.of([kind])))
        profile = replace(
            profile,
            types=Strings.concat([profile.types, Strings.of([other])]),
            typed_node=np.append(profile.typed_node, nodes),
            typed_as=np.append(profile.typed_as, np.full(nodes.size, number, np.int64)),
        )
    if era.float_op_types is None:
        return profile
    counted = np.isin(profile.nodes.op, profile.types.find(Strings.of(sorted(era.float_op_types))))
    float_ops = np.where(counted, profile.nodes.float_ops, 0)
    return replace(profile, nodes=replace(profile.nodes, float_ops=float_ops))


def _on_device(counted: Counted, at: I64, view: View, patterns: tuple[str, ...]) -> Bool:
    """Whether one of *patterns*, in any case, matches a device of each row."""
    profile, owner = counted.profile, counted.drawing.owner
    names = Strings.concat([profile.types, Strings.of([b""])])
    hit = matches(names, [f"(?i:{pattern})" for pattern in patterns])
    rows = np.zeros(len(counted.drawing.tree), np.bool_)
    rows[:] = not view.groups and bool(hit[-1])
    drawn = np.flatnonzero(owner >= 0)
    if not view.groups:
        rows[owner[drawn]] = False
    placed = drawn[hit[profile.nodes.device[drawn]]]
    rows[owner[placed]] = True
    return rows[counted.row[at]]


def _times_picked(profile: Profile, query: Query) -> I64:
    """For each node, how many account regexes match at least one of its types."""
    if query.account_types is None:
        return np.ones(len(profile), np.int64)
    node, kind = profile.type_pairs
    times = np.zeros(len(profile), np.int64)
    for pattern in query.account_types:
        once = marked(node[matches(profile.types, [pattern])[kind]], len(profile))
        times += once
    return times


def _accounted(drawing: Drawing, view: View, query: Query, picked: I64) -> Bool:
    """Whether each row of the drawing is itself accounted; the root never is."""
    if query.account_types is None:
        result = np.ones(len(drawing.tree), np.bool_)
    else:
        result = np.zeros(len(drawing.tree), np.bool_)
        if not view.groups:
            result[:] = matches(Strings.of([drawing.filler]), query.account_types)
            drawn = np.flatnonzero(drawing.owner >= 0)
            result[drawing.owner[drawn]] = False
        hit = np.flatnonzero((drawing.owner >= 0) & (picked > 0))
        result[drawing.owner[hit]] = True
    result[0] = query.era.root_counts and query.account_types is None
    return result


def _named(counted: Counted, at: I64, patterns: tuple[str, ...]) -> Bool:
    """Whether one of *patterns* matches the label of each of the counted rows *at*."""
    return counted.drawing.labels_match(patterns)[counted.row[at]]
