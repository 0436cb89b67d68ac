"""Regexes on columns of strings: whole strings only, any of a list, in linear time."""

from __future__ import annotations

import pytest
import re2
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tfprof.columns.matching import matches
from tfprof.columns.strings import Strings
from tfprof.errors import UsageError

often = settings(deadline=None, max_examples=200)

ATOMS = (
    *("a", "b", "/", "é", ".", "..", "[a-c]", "[^/]", r"\d", r"\w", r"\S", r"\.", r"\pL", "x{2,3}"),
    *("^", "$", r"\b", "(?i)A", "(?s).", r"\Qa.b\E", "[[:alpha:]]", "(a|b)", "(?:)", r"\x00", "|"),
)
REPEATS = ("", "", "", "*", "+", "?", "*?", "{1,2}", "{0}")

patterns = st.lists(
    st.builds(str.__add__, st.sampled_from(ATOMS), st.sampled_from(REPEATS)), max_size=5
).map("".join)
rows = st.lists(
    st.text("aAbBcx./é0 \n\x00", max_size=8).map(str.encode) | st.binary(max_size=4), max_size=8
)


def is_regex(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error:
        return False
    return True


def matched(strings: list[bytes], *regexes: str) -> list[bool]:
    found: list[bool] = matches(Strings.of(strings), regexes).tolist()
    return found


@often
@given(patterns, rows)
def test_a_regex_matches_whole_strings(pattern: str, strings: list[bytes]) -> None:
    assume(is_regex(pattern))
    expected = [re2.fullmatch(pattern, text) is not None for text in strings]
    assert matched(strings, pattern) == expected


@often
@given(st.lists(patterns.filter(is_regex), max_size=4), rows)
def test_a_list_matches_what_any_of_it_matches(listed: list[str], strings: list[bytes]) -> None:
    expected = [any(re2.fullmatch(pattern, text) for pattern in listed) for text in strings]
    assert matched(strings, *listed) == expected


@pytest.mark.parametrize(
    ("pattern", "text", "matches_it"),
    [
        ("conv", b"conv", True), ("conv", b"conv1", False), ("conv", b"my/conv", False),
        (".*conv.*", b"my/conv1", True), ("a|ab", b"ab", True), ("^a$", b"a", True),
        ("a.b", b"a\nb", False), ("(?s)a.b", b"a\nb", True), ("a$", b"a\n", False),
        ("", b"", True), ("", b"a", False), ("é", "é".encode(), True), (".", "é".encode(), True),
        (".*", b"\xff", False), (r"\C*", b"\xff", True), (r"a\x00b", b"a\x00b", True),
        ("x{2}", b"xx", True), ("x" * 501, b"x" * 501, True), ("(a?){30}a{30}", b"a" * 30, True),
    ],
)  # fmt: skip
def test_matching_follows_re2(pattern: str, text: bytes, *, matches_it: bool) -> None:
    assert matched([text], pattern) == [matches_it]
    assert (re2.fullmatch(pattern, text) is not None) == matches_it


def test_no_regex_matches_nothing_and_no_string_is_no_answer() -> None:
    assert matched([b"", b"a"]) == [False, False]
    assert matched([], "a", "b{2}") == []


@pytest.mark.parametrize(
    "pattern", ["(", "a)", "[b", "*", "a**", r"\1", "(?=a)", "(?<n>", "x{2,1}"]
)
def test_what_is_no_regex_is_refused_by_its_name(pattern: str) -> None:
    with pytest.raises(UsageError) as refusal:
        matched([b"a"], "a", pattern)
    assert str(refusal.value).startswith(f"{pattern!r} is not a valid regex: ")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*", "(a*)*b", "([a]*)*c", "(a+){2,5}b"])
def test_no_regex_takes_forever(pattern: str) -> None:
    assert matched([b"a" * 50_000 + b"!", b"b"], pattern) == [
        False,
        re2.fullmatch(pattern, b"b") is not None,
    ]


def test_the_regex_that_other_engines_never_finish_matches() -> None:
    assert matched([b"a" * 50_000], "(a+)+$") == [True]


def test_a_list_that_needs_many_states_is_still_answered_right() -> None:
    hard = ".*a" + "." * 18
    strings = [b"b" * n + b"a" + b"b" * 18 for n in range(300)]
    assert matched(strings, hard, hard.replace("a", "c")) == [True] * 300
    assert matched([text + b"b" for text in strings], hard) == [False] * 300
