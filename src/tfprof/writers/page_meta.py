"""What a page says of a profile beside its columns: reports, tables of names, what is missing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from tfprof import __version__
from tfprof.columns.strings import clean_text
from tfprof.errors import TfprofError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.ops.kinds import KINDS, kinds_of
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.query.answer import params_remarks
from tfprof.query.defaults import fitted_options
from tfprof.results.page_report import file_name
from tfprof.results.report_table import MISSES_STREAM
from tfprof.results.workers_sentences import SERVERS, STEPS, STRAGGLERS, findings
from tfprof.tables.commands import COMMANDS
from tfprof.tables.fields import FIELDS
from tfprof.tables.options import OPTIONS
from tfprof.views import VIEWS
from tfprof.writers.overview import what

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tfprof.model import Profile
    from tfprof.results.loaded import Loaded
    from tfprof.results.page_report import PageReport
    from tfprof.results.result import Result
    from tfprof.results.workers_report import WorkersReport
    from tfprof.views.drawing import Drawing

# A page answers for today, with all rules, and draws what it likes.
_NOT_OFFERED: Final = ("output", "era", "flops", "frames", "dim", "viz", "dump_to_file")
_SHOWN: Final = ("select", "order_by", "max_depth")
_HABITS: Final = (
    "name", "summary", "groups", "chain", "recounts", "bounds_occurrence", "keeps_scopes",
    "trims_itself", "root_depth",
)  # fmt: skip
_SECTIONS: Final = {
    STRAGGLERS: "stragglers", SERVERS: "parameter_servers", STEPS: "slow_steps"
}  # fmt: skip
_OPEN: Final = "Open dimension"
_OF_ONE_RUN: Final = "float_ops are of one run; the command has their mean over worker steps"
_ADVICE: Final = re.compile(r"[:;,] (?:add|give|pass|set) |--dim |tfprof\.capture\(")


def page_meta(
    report: PageReport, loaded: Loaded, drawings: Mapping[str, Drawing], missing: Mapping[str, str]
) -> dict[str, Any]:
    """The meta data of the page of *loaded*, and of the views that are drawn or *missing*."""
    dims, is_fleet = report.sizes, report.fleet is not None
    over = _overview(report, loaded)
    # The graph of a fleet has no steps; in the address, `step` is one of its workers'.
    offered = [name for name in OPTIONS if name not in (*_NOT_OFFERED, *["step"] * is_fleet)]
    summary = _json(lambda: loaded.summary(dims=report.dims))
    meta = {
        "version": __version__,
        "title": report.title,
        "command": report.naming.before,
        "files": report.naming.after,
        "dims": [f"{name}={size}" for name, size in dims.items()],
        "overview": over,
        "summary": summary,
        "advice": _json(loaded.advice),
        "notes": _notes(loaded.profile, over, summary),
        "remarks": _remarks(loaded.profile, dims, [_OF_ONE_RUN] * is_fleet),
        "peaks": report.machine,
        "options": [_option(name) for name in offered],
        "fields": [_field(name) for name in FIELDS],
        "kinds": {"names": KINDS, "of_type": kinds_of(loaded.profile.types.texts())},
        "views": [_view(n, offered, drawings.get(n), missing.get(n, "")) for n in VIEWS],
        "spelled": _spelled(report),
        "defaults": {view: _defaults(loaded, view, dims) for view in VIEWS},
        "steps": list(loaded.steps),
        "folded": {"nodes": len(loaded), "sentence": report.fold_note}
        if report.fold_note
        else None,
        "profiles": 1,
    }
    if fleet := report.fleet:
        meta["fleet"] = {"report": _workers(fleet.workers)}
    return meta if report.source else _without_folders(meta, report.loaded.inputs)


def _remarks(profile: Profile, dims: Mapping[str, int], more: list[str]) -> dict[str, Any]:
    """Notes that an answer has if it shows parameters, float operations, or in any case."""
    steps = (None, *(step.number for step in profile.steps if profile.step_shapes))
    missed = [MISSES_STREAM] if profile.misses_accelerator_stream else []
    float_ops = {str(step): [*_counted(profile, dims, step), *more] for step in steps}
    return {"params": [*params_remarks(profile)], "float_ops": float_ops, "all": missed}


def _counted(profile: Profile, dims: Mapping[str, int], step: int | None) -> list[str]:
    counted, counts = with_float_ops(profile, "all", dims, step)
    return [str(counts), *map(str, counted.notes[len(profile.notes) :])]


def _without_folders(value: Any, paths: Iterable[str]) -> Any:  # noqa: ANN401 - of a JSON document
    """*value* with the bare names of these files in all texts."""
    if isinstance(value, dict):
        return {key: _without_folders(item, paths) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_folders(item, paths) for item in value]
    for path in paths if isinstance(value, str) else ():
        value = value.replace(path, file_name(path))
    return value


def _json(make: Callable[[], Result]) -> dict[str, Any]:
    """A result as --format=json gives it; an error says why there is none."""
    try:
        document: dict[str, Any] = json.loads(b"".join(make().pieces("json")))
    except TfprofError as problem:
        return {"error": str(problem)}
    return document


def _workers(report: WorkersReport) -> dict[str, Any]:
    """The report of the workers, and its sentences by the list that they are about."""
    said = findings(report.workers).items()
    sections = [{"title": name, "of": _SECTIONS[name], "sentences": texts} for name, texts in said]
    return {**_json(lambda: report), "findings": sections}


def _overview(report: PageReport, loaded: Loaded) -> dict[str, Any]:
    """The overview, and what its first line says in a terminal."""
    try:
        made = replace(loaded.overview(dims=report.dims), naming=report.naming)
    except TfprofError as problem:
        return {"error": str(problem)}
    over = made.overview
    of_fleet = [] if report.fleet is None else [report.fleet.what]
    first = {"what": "; ".join([*what(over), *of_fleet]), "of_variables": over.of_variables}
    return {**_json(lambda: made), **first}


def _notes(profile: Profile, over: dict[str, Any], summary: dict[str, Any]) -> list[str]:
    """What both and the profile say, each sentence once; first those that say what to do."""
    said = over.pop("sentences", [])
    others = summary.pop("sentences", [])
    if len(summary.get("symbols", ())) == 1 and any(one.startswith(_OPEN) for one in said):
        others = [one for one in others if not one.startswith(_OPEN)]
    notes = summary.pop("notes", map(str, profile.notes))
    every = dict.fromkeys(map(clean_text, (*said, *others, *notes)))
    return sorted(every, key=lambda one: _ADVICE.search(one) is None)


def _option(name: str) -> dict[str, Any]:
    row = OPTIONS[name]
    default = list(row.default) if isinstance(row.default, tuple) else row.default
    others = {"help": row.help, "choices": row.choices, "fitted": row.fitted}
    return {"name": name, "kind": row.kind, "default": default, **others}


def _field(name: str) -> dict[str, Any]:
    row = FIELDS[name]
    unit = None if row.unit is None else row.unit.__name__
    others = {"bound": row.bound, "help": row.help, "shows": row.shows, "aliases": row.aliases}
    return {"name": name, "legend": row.legend, "unit": unit, **others}


def _view(
    name: str, offered: Sequence[str], drawing: Drawing | None, missing: str
) -> dict[str, Any]:
    options = COMMANDS[name].options
    own = [option for option in offered if option in options]
    choices = {option: options[option].choices for option in ("select", "order_by")}
    habits = {habit: getattr(VIEWS[name], habit) for habit in _HABITS}
    rows = {
        "filler": drawing.filler.decode() if drawing else "",
        "in_name_order": drawing is not None and drawing.in_name_order,
        "notes": [str(note) for note in drawing.notes] if drawing else [],
    }
    return {**habits, **rows, "options": own, "choices": choices, "missing": missing}


def _spelled(report: PageReport) -> dict[str, list[str]]:
    """The options of each view for which the command has other defaults than the page."""
    if report.fleet is not None:  # the command has times
        return {view: ["select"] for view in VIEWS}
    if "demo" not in report.naming.before:
        return {}
    # The order follows --select.
    return {name: [n for n in view.demo if n != "order_by"] for name, view in VIEWS.items()}


def _defaults(loaded: Loaded, view: str, dims: Mapping[str, int]) -> dict[str, Any]:
    fitted = fitted_options(loaded.profile, {"dim": dims} if dims else {}, view)
    return {name: fitted.get(name, OPTIONS[name].default) for name in _SHOWN}
