"""LAWS: what holds of every profile, whatever bytes it was read from.

Each asks a profile for something. A refusal in a sentence, a TfprofError, is always a right answer;
any other exception is a finding, and so is an answer that cannot be: JSON that does not parse, an
escape that reaches a terminal, a file that is another one once it is read and written again.
"""

from __future__ import annotations

import csv
import io
import json
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar
from unicodedata import bidirectional, category

import numpy as np

from tfprof.checkers import advise
from tfprof.console.escape import visible
from tfprof.errors import TfprofError
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.query.query import Query
from tfprof.read import Source, load
from tfprof.results.loaded import Loaded
from tfprof.results.report import Report
from tfprof.tables.options import FLOPS, OPTIONS
from tfprof.tables.outputs import kinds
from tfprof.views import VIEWS
from tfprof.writers import advice
from tfprof.writers.columnar import columnar
from tfprof.writers.saved import saved
from tfprof.writers.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tfprof.model import Profile

T = TypeVar("T")

_EVERYTHING: Final = [name for name in OPTIONS["select"].choices if name != "tensor_value"]
_SELDOM: Final = 3
QUERIES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"select": _EVERYTHING, "max_depth": 1000},
    {"select": _EVERYTHING, "max_depth": 3, "order_by": "micros", "min_micros": 1},
    {"select": ["params", "float_ops"], "account_type_regexes": ["Var.*"], "order_by": "params"},
    {"select": ["bytes", "device"], "account_displayed_op_only": True, "order_by": "bytes"},
    {"select": ["micros", "occurrence"], "start_name_regexes": [".*a.*"], "max_depth": 50},
    {"select": ["op_types", "input_shapes"], "hide_name_regexes": ["a"], "step": 0},
    {"select": ["float_ops"], "trim_name_regexes": ["b.*"], "device_regexes": [".*gpu.*"]},
)


class Pick:
    """Which of several things to look at: one, told by the input, or all of them."""

    def __init__(self, data: bytes, *, everything: bool) -> None:
        self.everything = everything
        self._left = zlib.crc32(data)

    def __call__(self, things: Sequence[T]) -> Sequence[T]:
        """All of *things*, or one; none where there are none."""
        return things if self.everything or not things else [self.one(things)]

    def one(self, things: Sequence[T]) -> T:
        """One of *things*."""
        self._left, place = divmod(self._left or 0xFFFFFFFF, len(things))
        return things[place]


def source(data: bytes) -> Source:
    """*data* as a file called "it"."""
    return Source("it", np.frombuffer(data, np.uint8))


def hold(profile: Profile, pick: Pick) -> None:
    """Raise where a law does not hold of *profile*; of most inputs only whether they are read."""
    if not pick.everything and pick.one(range(_SELDOM)):
        return
    for law in pick(LAWS):
        with suppress(TfprofError):
            law(profile, pick)


def _answers(profile: Profile, pick: Pick) -> None:
    """Every view answers in every form."""
    for view in pick(tuple(VIEWS)):
        for form in pick(("terminal", *kinds(Report.offers))):
            query = {**pick.one(QUERIES), "flops": pick.one(FLOPS)}
            with suppress(TfprofError):
                report = Loaded(profile).report(view, Query.of(query))
                made = b"".join(
                    visible(report.for_terminal().pieces("text"))
                    if form == "terminal"
                    else report.pieces(form)
                )
                _RIGHT.get(form, _anything)(made, report)


def _anything(made: bytes, report: Report) -> None:
    assert made or not len(report)


def _nothing(made: bytes, _: Report) -> None:
    assert not made


def _json(made: bytes, report: Report) -> None:
    assert len(json.loads(made)["rows"]) == len(report)


def _csv(made: bytes, report: Report) -> None:
    rows = list(csv.reader(io.StringIO(made.decode(), newline="")))
    assert len(rows) == len(report) + 1
    assert {len(row) for row in rows} == {len(report.columns)}


def _terminal(made: bytes, _: Report) -> None:
    for one in set(made.decode()) - set("\n\t"):
        assert category(one) not in ("Cc", "Zl", "Zp"), f"a terminal would obey {one!r}"
        assert bidirectional(one) not in _TURNS, f"{one!r} would turn the text around"


_TURNS: Final = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


_RIGHT: Final[dict[str, Callable[[bytes, Report], None]]] = {
    "json": _json,
    "csv": _csv,
    "none": _nothing,
    "terminal": _terminal,
}


def _objects(profile: Profile, pick: Pick) -> None:
    """What Python gets of a report: rows, a message, a picture, its notes."""
    for view in pick(tuple(VIEWS)):
        with suppress(TfprofError):
            report = Loaded(profile).report(view, Query.of(pick.one(QUERIES)))
            assert len(report.rows) == len(report)
            assert report.proto().IsInitialized()
            assert "<script" not in report._repr_html_().lower()
            assert report.text()
            for note in report.notes:
                assert str(note)


def _timelines(profile: Profile, pick: Pick) -> None:
    """Every timeline is JSON."""
    steps = [step.number for step in profile.steps]
    for view in pick(("scope", "graph", "code")):
        for step in pick(steps if view == "graph" else [None, *steps]):
            with suppress(TfprofError):
                report = Loaded(profile).report(view, Query(step=step))
                made = b"".join(timeline(report.answer).pieces())
                assert "traceEvents" in json.loads(made)


def _advice(profile: Profile, _: Pick) -> None:
    """The checkers have an opinion."""
    found = advise(profile)
    assert b"".join(advice.text(found))
    assert advice.proto(found)


def _counts(profile: Profile, pick: Pick) -> None:
    """Float operations are counted by any set of rules."""
    for which in pick(("all", "tensorflow")):
        made, counts = with_float_ops(profile, which)  # type: ignore[arg-type]  # both are among FLOPS
        assert counts.counted <= counts.ops
        assert str(counts)
        assert len(made) == len(profile)


def _saved(profile: Profile, _: Pick) -> None:
    """Saved and read again, it is saved as the same bytes."""
    if len(profile):
        _written_twice(profile, saved)


def _converted(profile: Profile, _: Pick) -> None:
    """Converted and read again, it is converted to the same bytes."""
    _written_twice(profile, columnar)


def _written_twice(profile: Profile, write: Callable[[Profile], Iterator[bytes]]) -> None:
    made = b"".join(write(profile))
    try:
        again = load(saved=source(made))
    except TfprofError as refusal:
        raise AssertionError("what was written is not read") from refusal
    assert b"".join(write(again)) == made, "written again, it is another file"


LAWS: Final[tuple[Callable[[Profile, Pick], None], ...]] = (
    _answers,
    _objects,
    _timelines,
    _advice,
    _counts,
    _saved,
    _converted,
)
