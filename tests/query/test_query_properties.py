"""Any query at all: as words, as a dictionary and as a line of the shell.

Each gives a report that obeys the laws of reports, or is refused in one sentence; and the same
query gives the same bytes in whatever way it is put.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pytest
import re2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from case import VIEWS
from invariants import assert_totals_add_up
from ours import files_loaded
from profiles import PROFILES
from tfprof.cli.argv import read_words
from tfprof.errors import UsageError
from tfprof.query.query import Query
from tfprof.results.loaded import Loaded
from tfprof.results.result import deliver
from tfprof.shell.prompt import Shell
from tfprof.tables.fields import FIELDS, METRICS
from tfprof.tables.options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfprof.console.outcome import Outcome
    from tfprof.query.counted import Answer

LOADED: Final = Loaded(files_loaded(PROFILES["handmade"]))
NAMES: Final = sorted(LOADED.profile.nodes.name.texts())
FILE: Final = "OUTFILE"

# --- what is asked -------------------------------------------------------------------------------

extremes = st.sampled_from([2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**31, -(2**31), 10**25])
few = st.integers(-2, 12)
numbers = st.one_of(few, few, few, st.integers(-(2**63), 2**63 - 1), extremes)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
words = st.one_of(
    st.sampled_from([*NAMES, "_TFProfRoot", "Conv2D", "MatMul", "VariableV2", "/gpu:0", "no/such"]),
    st.sampled_from(NAMES).map(lambda name: name.rpartition("/")[0]),
)
atoms = st.one_of(
    words.map(re.escape),
    st.sampled_from([".", ".*", ".+", "[a-z]", "[^/]", r"\d", r"\w+", "^", "$", r"\b", "", r"\pL"]),
    st.sampled_from(
        ["(?i)", "[[:alpha:]]", r"\Qa.b\E", "(", ")", "[", "*", "{2,1}", "\\", "é日", "(?P<"]
    ),
)
regexes = st.one_of(
    st.just(".*"),
    words,
    st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map("".join),
            st.lists(inner, min_size=1, max_size=3).map("|".join),
            st.tuples(
                inner, st.sampled_from(["*", "+", "?", "*?", "{0,3}", "{1000}", "{9999}"])
            ).map(lambda pair: f"({pair[0]}){pair[1]}"),
        ),
        max_leaves=6,
    ),
    texts,
)


def listed(item: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Lists as a word has them; also an empty one, and one with nothing between commas."""
    return st.lists(item, max_size=3).map(",".join)


def chosen(option: str) -> st.SearchStrategy[str]:
    """One of the words that an option takes; seldom another."""
    known = st.sampled_from(OPTIONS[option].choices)
    return st.one_of(known, known, known, known, texts)


outputs = st.one_of(
    st.sampled_from(["stdout", "none", "json", "csv", "md", ""]),
    st.sampled_from(["file", "json", "csv", "md", "timeline", "pprof", "proto"]).map(
        lambda kind: f"{kind}:outfile={FILE}"
    ),
    texts,
)
VALUES: Final = {
    "step": st.one_of(st.integers(-1, 2).map(str), numbers.map(str)),
    "order_by": chosen("order_by"),
    "select": listed(chosen("select")),
    "output": outputs,
    "era": chosen("era"),
    "flops": chosen("flops"),
    "dim": listed(st.sampled_from(["batch=8", "tokens_1=128", "batch=0", "batch", "=1", "b=x"])),
    "dump_to_file": st.sampled_from(["", FILE]),
}
OF_KIND: Final = {
    "int": numbers.map(str),
    "bool": st.sampled_from(["true", "false", "yes", "0", "T", "maybe"]),
    "regexes": listed(regexes),
}
# Some of the options, each as it is written; only code view takes frames.
OF_ALL_VIEWS: Final = [name for name in OPTIONS if name != "frames"]
queries = st.lists(st.sampled_from(OF_ALL_VIEWS), min_size=1, max_size=4, unique=True).flatmap(
    lambda names: st.fixed_dictionaries(
        {name: VALUES[name] if name in VALUES else OF_KIND[OPTIONS[name].kind] for name in names}
    )
)

sound = st.sampled_from(
    [".*", "[a-m].*", ".*/.*", ".*[0-9].*", *map(re.escape, NAMES), "Conv2D|MatMul", r".*\.py:.*"]
)
# What says which rows are displayed, so that laws about them have something to hold for.
restricting = st.fixed_dictionaries(
    {},
    optional={
        "hide_name_regexes": sound,
        "show_name_regexes": sound,
        "min_micros": few.map(str),
        "max_depth": st.integers(2, 12).map(str),
        "order_by": st.sampled_from(OPTIONS["order_by"].choices),
    },
)


def as_python(written: dict[str, str]) -> dict[str, Any]:
    """The values as Python has them; what cannot be read as such stays as it is written."""
    found: dict[str, Any] = {}
    for name, text in written.items():
        kind = OPTIONS[name].kind
        if kind == "int":
            found[name] = int(text)
        elif kind in ("list", "regexes"):
            found[name] = [item for item in text.split(",") if item]
        else:
            found[name] = text
    return found


# --- what comes of it ----------------------------------------------------------------------------


class Asked:
    """What a query gives: output, notes and file; or the sentence of its refusal."""

    def __init__(self, folder: Path, ask: Callable[[], Outcome]) -> None:
        for old in folder.iterdir():
            old.unlink()
        self.refusal: str | None = None
        try:
            outcome = ask()
            self.made: Any = (
                b"".join(outcome.stdout),
                # Only a line knows which options were written.
                [note for note in map(str, outcome.notes) if " ignores --" not in note],
                {file.name: file.read_bytes() for file in sorted(folder.iterdir())},
            )
        except UsageError as refusal:
            self.made = self.refusal = str(refusal)


def answered(view: str, query: Query) -> Outcome:
    return deliver(LOADED.report(view, query), query.output, LOADED.inputs)


def is_one_sentence(refusal: str) -> bool:
    return bool(refusal.strip()) and "\n" not in refusal


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


often = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@often
@given(st.sampled_from(VIEWS), queries)
def test_words_and_dictionaries_ask_the_same(
    here: Path, view: str, written: dict[str, str]
) -> None:
    line = [view, *(f"--{name}={text}" for name, text in written.items())]
    by_words = Asked(here, lambda: answered(view, Query.of(read_words(line, OPTIONS).options)))
    by_python = Asked(here, lambda: answered(view, Query.of(as_python(written))))
    assert (by_words.refusal is None) == (by_python.refusal is None)
    if by_words.refusal is None:
        assert by_words.made == by_python.made
        return
    for refusal in (by_words.refusal, by_python.refusal):
        assert refusal is not None
        assert is_one_sentence(refusal)


def _fits_a_line(written: dict[str, str]) -> bool:
    """Whether a line of the shell can say it: words end at blanks and lose quotes around them."""
    return all(
        text and not re.search(r"[\s\0]", text) and text == text.strip("\"'") and text[0] != "-"
        for text in written.values()
    )


@often
@given(st.sampled_from(VIEWS), queries.filter(_fits_a_line))
def test_a_line_of_the_shell_asks_the_same(
    here: Path, capfd: pytest.CaptureFixture[str], view: str, written: dict[str, str]
) -> None:
    shown: list[Outcome] = []
    shell = Shell(LOADED, {}, shown.append)
    words = [f"-{name} {text}" for name, text in written.items()]

    def by_line() -> Outcome:
        assert shell.run(" ".join([view, *words]))
        told = capfd.readouterr()
        assert told.out == ""
        assert told.err.startswith("E: ") if not shown else told.err == ""
        if not shown:
            raise UsageError(told.err)
        return shown[0]

    def by_python() -> Outcome:
        report = LOADED.ask(view, as_python(written))
        return deliver(report, report.answer.query.output, LOADED.inputs)

    line = Asked(here, by_line)
    python = Asked(here, by_python)
    assert (line.refusal is None) == (python.refusal is None)
    if line.refusal is None:
        assert line.made == python.made


@often
@given(st.lists(st.one_of(texts, st.sampled_from([*VIEWS, "-select", "-step", "set", "more"]))))
def test_a_line_of_any_text_is_answered_or_refused(
    capfd: pytest.CaptureFixture[str], some: list[str]
) -> None:
    shown: list[Outcome] = []
    Shell(LOADED, {}, shown.append).run(" ".join(some))
    told = capfd.readouterr()
    assert told.out == ""
    assert not (shown and told.err)


# --- laws of reports -----------------------------------------------------------------------------


@often
@given(st.sampled_from(VIEWS), queries, restricting)
def test_whatever_is_asked_a_report_obeys_its_laws(
    view: str, written: dict[str, str], more: dict[str, str]
) -> None:
    try:
        query = Query.of(as_python({**written, **more, "output": "stdout"}))
        report = LOADED.report(view, query).answer
    except UsageError as refusal:
        said = str(refusal)
    else:
        said = "an answer"
        assert_totals_add_up(report)
        assert_rows_are_those_asked_for(report)
        assert_siblings_are_in_order(report)
    assert is_one_sentence(said)


def assert_rows_are_those_asked_for(report: Answer) -> None:
    query, view = report.query, report.view
    labels = list(report.label)[1:]
    for label in labels:
        assert query.show_names is None or _matches(query.show_names, label)
        assert not _matches(query.hide_names, label)
    for metric, least in query.minimum.items():
        if FIELDS[metric].bound == "total" and not view.groups and query.era.name == "now":
            assert (report.counted.total(metric)[report.counted_row[1:]] >= least).all() or (
                query.displayed_only
            )
    assert int(report.tree.depth.max()) <= max(query.max_depth - view.root_depth + 1, 1)


def _matches(patterns: tuple[str, ...], label: bytes) -> bool:
    return any(re2.fullmatch(pattern, label) for pattern in patterns)


def assert_siblings_are_in_order(report: Answer) -> None:
    order = report.query.order_by
    if report.view.chain or order not in (*METRICS, "name") or order == "occurrence":
        return
    labels = list(report.label)
    keys = labels if order == "name" else (-report.total(order)).tolist()
    parents = report.tree.parent.tolist()
    siblings: dict[int, list[Any]] = {}
    for key, parent in list(zip(keys, parents, strict=True))[1:]:
        siblings.setdefault(parent, []).append(key)
    assert all(one <= other for some in siblings.values() for one, other in pairwise(some))
