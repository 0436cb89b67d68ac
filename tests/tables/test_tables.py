"""Every row of every table can be asked for and says what it is; what is no row is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tfprof import cli
from tfprof.checkers import CHECKERS, Checker
from tfprof.cli.argv import read_words
from tfprof.errors import UsageError
from tfprof.query.query import Query
from tfprof.tables.fields import FIELDS, METRICS, ORDERS
from tfprof.tables.formats import INPUTS
from tfprof.tables.options import OPTIONS, Option
from tfprof.views import VIEWS, View, view_named

if TYPE_CHECKING:
    from tfprof.tables.fields import Field

ALL_OPTIONS = {**INPUTS, **OPTIONS}


@pytest.fixture
def help_text(capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.run(["--help"]) == 0
    return capsys.readouterr().out


# --- every row has help ------------------------------------------------------------------------


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_a_field_says_what_it_is(field: Field) -> None:
    assert FIELDS[field.name] is field
    assert field.help
    assert field.legend or field.name in ("tensor_value", "num_hidden_ops")
    assert bool(field.unit) == bool(field.bound) == bool(field.bound_help)
    assert set(field.shows) <= set(FIELDS)


@pytest.mark.parametrize("option", ALL_OPTIONS.values(), ids=ALL_OPTIONS)
def test_an_option_says_what_it_does(option: Option, help_text: str) -> None:
    assert ALL_OPTIONS[option.name] is option
    assert option.help
    (line,) = [line for line in help_text.splitlines() if line.split()[:1] == [f"--{option.name}"]]
    assert option.help in line


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_says_what_it_draws(view: View, help_text: str) -> None:
    assert view_named(view.name) is view
    assert view.help.startswith(f"{view.name}: ")
    assert view.summary
    (line,) = [line for line in help_text.splitlines() if line.split()[:1] == [view.name]]
    assert view.summary in line


@pytest.mark.parametrize("checker", CHECKERS.values(), ids=CHECKERS)
def test_a_checker_says_what_it_looks_for(checker: Checker) -> None:
    assert CHECKERS[checker.name] is checker
    assert checker.help
    for name, option in checker.options.items():
        assert option.name == name
        assert option.help
        assert checker.parse({})[name] == option.default


@pytest.mark.parametrize("name", ["select", "order_by"])
def test_help_lists_all_that_can_be_chosen(name: str, help_text: str) -> None:
    (line,) = [line for line in help_text.splitlines() if line.startswith(f"{name} ")]
    assert line.partition(": ")[2].split(", ") == list(OPTIONS[name].choices)


# --- every row can be asked for ----------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_can_be_bounded(metric: str) -> None:
    assert Query.of({f"min_{metric}": 3}).minimum == {metric: 3}


@pytest.mark.parametrize("choice", OPTIONS["select"].choices)
def test_every_field_can_be_selected(choice: str) -> None:
    assert Query.of({"select": [choice]}).select == (choice,)


@pytest.mark.parametrize("choice", OPTIONS["order_by"].choices)
def test_every_order_is_accepted(choice: str) -> None:
    assert Query.of({"order_by": choice}).order_by == choice


def test_select_takes_fields_and_order_by_takes_metrics_name_and_depth() -> None:
    assert set(OPTIONS["select"].choices) == set(FIELDS)
    assert set(OPTIONS["order_by"].choices) == {"name", "depth", *METRICS} == set(ORDERS)


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_the_default_of_an_option_is_what_leaving_it_out_means(option: Option) -> None:
    assert Query.of({option.name: option.default}) == Query.of({}) == Query()


@pytest.mark.parametrize("option", ALL_OPTIONS.values(), ids=ALL_OPTIONS)
def test_every_option_is_read_in_every_spelling(option: Option) -> None:
    text, value = {
        "int": ("3", 3),
        "bool": ("true", True),
        "list": ("a,b", ("a", "b")),
        "regexes": ("a.*,b", ("a.*", "b")),
    }.get(option.kind, ("text", "text"))
    for word in (f"--{option.name}", f"-{option.name}", f"--{option.name.replace('_', '-')}"):
        for line in ([f"{word}={text}"], [word, text]):
            assert read_words(line, ALL_OPTIONS).options == {option.name: value}


# --- what is no row is refused, with the near miss ---------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_dept": 3}, r"no option 'max_dept'; did you mean 'max_depth'\?"),
        ({"select": ["bytes", "param"]}, r"select has no 'param'; did you mean 'params'\?"),
        ({"order_by": "micro"}, r"order_by has no 'micro'; did you mean 'micros'\?"),
        ({"output": "stdut"}, r"output type 'stdut'; did you mean 'stdout'\?"),
        ({"order_by": "zzz"}, r"order_by has no 'zzz' \(there are: name, "),
    ],
)
def test_what_is_no_row_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Query.of(options)


def test_an_unknown_word_and_view_are_refused() -> None:
    with pytest.raises(UsageError, match=r"no option --max_dept; did you mean '--max_depth'\?"):
        read_words(["--max_dept=3"], ALL_OPTIONS)
    with pytest.raises(UsageError, match=r"no view 'scoep'; did you mean 'scope'\?"):
        view_named("scoep")


def test_the_command_refuses_an_unknown_view_with_exit_code_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["scoep", "--graph_path=x"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("tfprof: there is no command 'scoep'; did you mean 'scope'?")
