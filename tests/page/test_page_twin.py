"""The page's answers under Node are those of Python, for any options of any view.

Numbers are written as Python writes them, to the last digit.
"""

from __future__ import annotations

import base64
import random
from typing import TYPE_CHECKING, Any, Final

import pytest

import sampling
import tfprof
from case import VIEWS, Case
from fixed_cases import FIXED
from ours import load
from page_node import RefusalError, twin
from page_profiles import FILES
from random_cases import batches, make_case
from random_options import make_options
from tfprof.cli.argv import read_words
from tfprof.cli.request import make_request
from tfprof.errors import UsageError
from tfprof.foundation.units import count, memory, micros, plural
from tfprof.query.counted import DEFINED
from tfprof.results.loaded import Loaded
from tfprof.results.report_table import report_table
from tfprof.results.summary_numbers import BYTES, MICROS, exact, short
from tfprof.tables.commands import COMMANDS
from tfprof.tables.fields import METRICS
from tfprof.writers.numbers import percent
from tfprof.writers.page_data import page_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from page_node import Twin
    from tfprof.query.counted import Answer

NUMBERS: Final = (*METRICS, DEFINED)


@pytest.fixture(scope="module")
def page() -> Iterator[Twin]:
    """The page's modules, in one process for all tests of this file."""
    with twin() as process:
        yield process


def read(page: Twin, loaded: Loaded) -> None:
    page("read", bytes=base64.b64encode(page_data(loaded.page())).decode())


def on_page(page: Twin, view: str, options: dict[str, str]) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = page("ask", view=view, options=options, metrics=NUMBERS)
    except RefusalError as refusal:
        return {"refusal": str(refusal)}
    return answer


def in_python(loaded: Loaded, view: str, options: dict[str, str]) -> dict[str, Any]:
    """What the command line answers; the page leaves out options that the command does not take."""
    command = COMMANDS[view]
    taken = {name: text for name, text in options.items() if name in command.options}
    try:
        words = read_words([f"--{name}={text}" for name, text in taken.items()], command.options)
        request = make_request(command, [], words.options, lambda _: loaded)
        sizes = loaded.page().sizes
        report = loaded.ask(view, {**request.query_options, **({"dim": sizes} if sizes else {})})
    except UsageError as refusal:
        return {"refusal": str(refusal)}
    answer = report.answer
    hidden = report_table(answer).hidden
    notes = (*report.own_notes, *report_table(answer).notes)
    return {
        "row": answer.row.tolist(),
        "node": [-1] * len(answer) if answer.view.groups else answer.node.tolist(),
        "label": list(answer.label.texts()),
        "parent": answer.tree.parent.tolist(),
        "depth": answer.tree.depth.tolist(),
        "accounted": answer.accounted.astype(int).tolist(),
        "own": {metric: answer.own(metric).tolist() for metric in _known(answer)},
        "total": {metric: answer.total(metric).tolist() for metric in _known(answer)},
        "lower": {metric: _lower(answer, metric) for metric in _known(answer)},
        "hidden": {"rows": hidden.rows, "reasons": hidden.reasons},
        "hiddenAbove": answer.hidden_above().tolist(),
        "notes": [str(note) for note in notes],
    }


def _known(answer: Answer) -> list[str]:
    """The metrics of an answer; the page always counts float operations by rules."""
    return [metric for metric in NUMBERS if metric != "float_ops" or answer.flops]


def _lower(answer: Answer, metric: str) -> list[list[int]] | None:
    own, total = answer.lower_bounds(metric)
    if own is None or total is None:
        return None
    return [own.astype(int).tolist(), total.astype(int).tolist()]


def assert_same(page: Twin, loaded: Loaded, view: str, options: dict[str, str]) -> None:
    """The page's answer is that of Python."""
    wanted, found = in_python(loaded, view, options), on_page(page, view, options)
    for part in wanted if "refusal" not in found else found:
        expected, given = wanted.get(part), found.get(part)
        if part in ("own", "total", "lower") and expected and given:
            given = {metric: given[metric] for metric in expected}
        if given != expected:
            pytest.fail(
                f"pytest {sampling.again()} tries it again.\n{part} of {view} with {options}:\n"
                f"the page: {given}\nPython:   {expected} {wanted.get('refusal', '')}",
                pytrace=False,
            )


# Texts that only a person writes: blanks, aliases, misspelled words, what is no number or no regex.
ODD: Final = {
    "max_depth": ("x", "+3", "-1", "", "9223372036854775808", " 1", "1_0", "\uff10", "9" * 30, "2"),
    "min_micros": ("9007199254740993", "-9223372036854775808", "1e3", "1.0"),
    "min_params": ("9223372036854775807", "--1", "4"),
    "step": ("0", "1", "7", "-5", "first"),
    "order_by": ("depth", "time", "exec_micros", "", "micro", "name ", "occurrence", "device"),
    "select": (
        "time, params", "", ",", "nonsense", "parms", "tensor_value,num_hidden_ops", "Bytes",
    ),
    "account_displayed_op_only": ("True", "yes", "N", "maybe", ""),
    "account_type_regexes": (
        "Variable", "conv", "Conv2D,", "no such'type", "MatMul , .*gpu.*", "(",
    ),
    "start_name_regexes": ("", ",", "no/such/name", "^$", "[", "a\\ , b", " a"),
    "show_name_regexes": (
        "unit", "^conv$", "a|b", "*", ".*_a", "\\C*", '"it\'s"', "\x00", "(?i)A.*",
    ),
    "hide_name_regexes": ("w", ".*?", "(?<n>a)b", "\\pL+", "\\p{Nonsense}", "(?=a)", "a**"),
    "trim_name_regexes": ("_TFProfRoot", ".*", "a{1001}", "x{2,1}", "\\1"),
    "device_regexes": (".*gpu.*", ".*CPU:0", "", "no_device", ")", "/job:.*", "cpu, gpu", "[^/]*"),
}  # fmt: skip


def spelled(rng: random.Random, options: dict[str, Any]) -> dict[str, str]:
    """Some of *options* as the command line spells them, and some that are odd."""
    texts = {
        name: ",".join(value) if isinstance(value, list) else str(value)
        for name, value in options.items()
        if name != "output"
    }
    if rng.random() < 0.6:
        texts = {name: texts[name] for name in texts if rng.random() < 0.4}
    for name in rng.sample([*ODD], rng.choice((0, 0, 0, 1, 1, 2))):
        texts[name] = rng.choice(ODD[name])
    return texts


def assert_same_answers(page: Twin, loaded: Loaded, rng: random.Random, queries: int) -> None:
    """Any query gives the same answer on the page and in Python."""
    read(page, loaded)
    profile = loaded.profile
    names, types = [*profile.nodes.name.take(slice(0, 400)).texts()], [*profile.types.texts()]
    for view in VIEWS:
        if on_page(page, view, {}).get("refusal", "").endswith("_path)."):
            continue  # the page says which file is missing
        labels = [*loaded.ask(view, {"max_depth": 10_000}).answer.label.texts(), *names]
        for _ in range(queries):
            options = make_options(rng, view, labels, types, loaded.steps)
            assert_same(page, loaded, view, spelled(rng, options))


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampling.sampled([*FILES], 3, "files of the twin", again=True))
def test_files(page: Twin, name: str) -> None:
    loaded = tfprof.load(**FILES[name])
    assert_same_answers(page, loaded, sampling.rng(name), sampling.amount(60, 5))


@batches(200, 6, 10)
def test_random_profiles(page: Twin, numbers: list[int]) -> None:
    for number in numbers:
        rng = random.Random(number)  # noqa: S311 - repeatable, not secret
        profile = load(make_case(number, rng.choice(VIEWS)))
        if len(profile):
            assert_same_answers(page, Loaded(profile), rng, 10)


@pytest.mark.parametrize("name", FIXED)
def test_fixed_cases(page: Twin, name: str) -> None:
    case = FIXED[name]
    loaded = Loaded(load(case))
    read(page, loaded)
    texts = {option: ",".join(value) for option, value in case.options.items()}
    assert_same(page, loaded, case.view if case.graph else "scope", texts)


def node_of(name: str, size: int) -> str:
    """A node with so many parameters."""
    shape = f"shape {{ dim {{ size: {size} }} }}"
    return f'node {{ name: "{name}" op: "V" attr {{ key: "shape" value {{ {shape} }} }} }}'


def test_sums_beyond_doubles(page: Twin) -> None:
    graph = node_of("a/b", 2**53 - 1) + node_of("a/c", 2)
    read(page, Loaded(load(Case.from_text("scope", graph))))
    found = on_page(page, "scope", {"select": "params", "order_by": "name"})
    assert found["total"]["params"] == [2**53 + 1, 2**53 + 1, 2**53 - 1, 2]
    read(page, Loaded(load(Case.from_text("op", node_of("a", 2**61)))))
    found = on_page(page, "op", {"select": "params", "account_type_regexes": "V,.*,V|W,[U-V],V?"})
    assert found["hidden"]["reasons"] == {"min_params": 1}  # five times 2^61 is negative
    assert found["total"]["params"] == [5 * 2**61 - 2**64]


def test_a_captured_variable_of_unknown_size(page: Twin) -> None:
    resource = 'attr { key: "dtype" value { type: DT_RESOURCE } }'
    graph = f"""{node_of("a/b", 3)} node {{ name: "cap" op: "Placeholder" {resource} }}
        node {{ name: "read" op: "ReadVariableOp" input: "cap" }}"""
    loaded = Loaded(load(Case.from_text("scope", graph)))
    read(page, loaded)
    assert_same(page, loaded, "scope", {"select": "params"})
    found = on_page(page, "scope", {"select": "params", "order_by": "name"})
    assert found["notes"][0] == "params does not count 1 variable of unknown shape, such as 'cap'"
    assert found["lower"]["params"] == [[0, 0, 0, 1, 0], [1, 0, 0, 1, 0]]


def test_a_regex_of_many_states(page: Twin) -> None:
    """The automaton forgets its states now and then, while it reads names from those of scopes."""
    rng = random.Random(12)  # noqa: S311 - repeatable, not secret
    names = {"".join(rng.choice("aab/") for _ in range(rng.randrange(1, 60))) for _ in range(700)}
    nodes = [f'node {{ name: "{name}" op: "A" }}' for name in sorted(names)]
    case = Case.from_text("scope", "\n".join(nodes))
    loaded = Loaded(load(case))
    read(page, loaded)
    for pattern in (".*a.{15}", "(.*[ab].{9}){2}"):
        options = {"show_name_regexes": pattern, "max_depth": "100"}
        assert_same(page, loaded, "scope", options)


# Where units change, where texts are half way between two, and beyond what doubles hold.
EDGES: Final = (
    *range(1_100), *range(999_000, 1_001_000, 125), *range(1_000, 20_000, 125), 2**53, 2**53 + 1,
    *(10**power + rest for power in range(3, 19) for rest in (-1, 0, 5, 125)),
    *(-(10**power) for power in range(19)),
    *(2**63 - 1, -(2**63), 9_999_999_999_999_999, 999_950_000, 999_949_999, 1_125, 1_375, 12_250),
)  # fmt: skip


def test_numbers_are_written_alike(page: Twin) -> None:
    rng = sampling.rng("units")
    numbers = [*EDGES, *(rng.randrange(10 ** rng.randrange(1, 19)) for _ in range(1_000))]
    written = page("units", numbers=list(map(str, numbers)))
    for number, texts in zip(numbers, written, strict=True):
        assert texts == [
            *(count(number), micros(number), memory(number)),
            *(short(number), short(number, MICROS), short(number, BYTES)),
            *(exact(number), plural(number, "row"), percent(number % 123_457 / 123_457)),
        ], number


def test_formulas_of_open_sizes(page: Twin) -> None:
    # By hand, after the units above: k is a thousand, kB a thousand bytes.
    written = {
        "12544*batch + 160": "12.5 kB·batch + 160 B",
        "-3*batch*time**2 - 1/2*time": "-3 B·batch·time² - 1/2·time",
        "15/2*layer_12**10": "15/2·layer_12¹⁰",
        "9223372036854775807*batch": "9223 PB·batch",
    }
    assert page("amounts", texts=[*written], kind="memory") == [*written.values()]
    assert page("amounts", texts=["86240*batch"], kind="count") == ["86.2k·batch"]
