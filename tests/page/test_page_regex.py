"""The page's regexes under Node match what RE2 matches, and are refused with RE2's sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import sampling
from page_node import RefusalError, twin
from tfprof.columns.matching import compiled
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from page_node import Twin

# Characters that are the same but for case, newlines, blanks, digits, and bytes that are no UTF-8.
TEXTS: Final = (
    *("", "a", "b", "ab", "A", "aa", "aaa", "k", "K", "\u212a", "s", "S", "\u017f", "é", "É", "_"),
    *("\n", "a\n", "a\nb", "\v", "\t", "\0", "\a", " ", "\xa0", "\u2028", "0", "\u0663", "-", "]"),
    *("ß", "\u1e9e", "σ", "ς", "Σ", "\u0131", "\u0130", "i", "I", "日", "😀", "α", "\u2126"),
    *("[", "\\", "{2}", "a{,2}", "a{01}", "x8", "\x80", "\xff", "\ue000", "\U0010ffff", "\u0149"),
    *("\udc80", "a\udcff", "\udcc3", "\udced\udca0\udc80", "\udce0\udc80\udc80"),
    "\udcf4\udcbf" * 2,
    *("conv1/weights", "a.b", "a-b", "word boundary", "\u1c80", "в", "ǆ", "ǅ", "\u0345", "\u03b9"),
)  # fmt: skip
VALID: Final = (
    *("a{1,9999999999}", "a{4294967297}"),  # so many are no repetition
    *("(?<n>a)", "(?P<1>a)", "(?P<é>a)", "(?P<n>a)(?P<n>b)?", "(?)a", "(?:)", "(?iUms-iUms)a"),
    *("^*", "$*", r"\b*", "a{,2}", "a{01}", "a{0}", "(a{500}){2}", "(a{0,1000}){1}", r"\_", r"\Qa"),
    *(r"\Qa\E*", r"\Qa.b\E", r"\12", r"\07", r"\0", r"\018", r"\x{41}", r"\x61", r"\pN", r"\p{^L}"),
    *(r"\P{^L}", r"\p{Any}", r"\p{C}", r"\p{Cs}", r"\p{Thai}", r"\p{Greek}", r"\P{Greek}", r"\PL"),
    *("[]]", "[^]]", "[a-]", r"[\d-a]", "[[:alpha:]]", "[[:^alpha:]]", "[[:alpha]", "[:alpha:]+"),
    *("[[:word:]]", "[[.a.]]", "[[:punct:]]", "[[:cntrl:]]", "[[:graph:]]", "[[:print:]]", r"\a"),
    *(r"a\z", r"\Aa", r"\C", r"\C*", r"\Ca", r"[\pL-z]", r"[\x{61}-\172]", "(?:)*", "()*", "x{2}?"),
    *("(?i)k", "(?i)[^k]", r"(?i)\w", r"(?i)\W", "(?i)ß", "(?i)σ", "(?i)\u0131", "(?i)\u0130"),
    *("(?i)[[:upper:]]", "(?i)[[:^upper:]]", r"(?i)\p{Lu}", r"(?i)\P{Lu}", "(?i)ω", "(?i)\u0345"),
    *(".", "(?s).", "a.b", "(?s)a.b", "(?m)a$\n^b", "(?m)^", "a$", r"[^\n]", "[^a]", "[^/]*", ".*"),
    *(r"\b", r"\B", r"\w+ \bb\w+", r"\x80", r"[\x80-\xff]", "é|É", "a|ab", "|a", "a||b", "(a|b)*"),
    *("(a?){30}a{30}", "(a+)+$", "(a*)*b?", "a(?i)B|C", "(?i:A)B?", "(a(?i)b)?A", r"[\s\S]", "日+"),
    *("[[:space:]]", r"\s", r"\S", r"[^\D]", "[a-zA-Z]{0,3}", "(?U)a+", "a+?", "((((a))))"),
)  # fmt: skip
INVALID: Final = (
    *("(?<n>", "(?P<n", "(?P<>a)", "(?P<a-b>a)", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?>a)"),
    *("(?#a)", "(?i", "(?i-", "(?i-)a", "(?-)", "(?-:a)", "(?ix)a", "(?--i)", "a**", "a*?*"),
    *("a++", "*", "|*", "(*)", "a{2}{3}", "a{2}*", "a{2,1}", "a{1001}", "a{100000000}", "{2}"),
    *("(a{100}){11}", "((a{100}){10}){2}", r"\é", r"\E", r"\Q\E*", r"\8", r"\1", r"\x", r"\x4"),
    *(r"\x{}", r"\x{110000}", r"\x{41", r"\x{", r"\xzz", r"\x4z", r"\p{N", r"\p{Foo}", r"\p"),
    *(r"\pé", r"\p{Grek}", r"\p{LC}", r"\p{Cn}", r"\p{greek}", r"\p{Alphabetic}", "[", "[]", "[a"),
    *("[a-", "[b-a]", r"[a-\d]", "[[:foo:]]", r"[a\]", "\\", "a\\", ")", "a)", "(", "(?i:a"),
    *(r"\Z", r"\h", r"\R", r"\X", r"\K", r"\G", r"\cA", r"\e", r"\N", r"[\b]", r"[\Qa\E]", r"[\C]"),
    *("(?P=n)", "(?P>n)", "(?1)", "(?R)", "(?P<", "(?'n'a)", r"\u0041", "\ud800", "[[:é:]]", "é)"),
)  # fmt: skip
PARTS: Final = (
    *("a", "b", "A", "k", "é", "日", "/", ".", "0", " ", "\n", "-", "^", "$", "|", "(", ")", "["),
    *("*", "+", "?", "{", "}", ",", "1", "\\", ":", "(?:", "(?i)", "(?s)", "(?m)", "(?i:", "(?-i)"),
    *(r"\d", r"\W", r"\s", r"\b", r"\B", r"\pL", r"\PN", r"\p{Greek}", r"\Q", r"\E", r"\x{e9}"),
    *("[a-z]", "[^/]", "[[:alpha:]]", "[[:^digit:]]", "{2}", "{1,3}", "{0,2}?", "*?", r"\.", r"\n"),
    *("(a|b)", "(?P<n>", ".*", ".+", r"\C", r"\z", r"\A", "[k-m]", "[^a-fé]", "_", "conv", "&"),
    *("#", "]"),
)  # fmt: skip


@pytest.fixture(scope="module")
def page() -> Iterator[Twin]:
    """The page's modules, in one process for all tests of this file."""
    with twin() as process:
        yield process


def by_re2(pattern: str, texts: Sequence[str]) -> list[bool] | str:
    """Whether RE2 matches each whole text, or its refusal."""
    try:
        regex = compiled(pattern)
    except UsageError as refusal:
        return str(refusal)
    encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
    return [regex.fullmatch(text) is not None for text in encoded]


def on_page(page: Twin, pattern: str, texts: Sequence[str]) -> list[bool] | str:
    """Whether the page matches each whole text, or its refusal."""
    try:
        return [bool(match) for match in page("match", pattern=pattern, texts=texts)]
    except RefusalError as refusal:
        return str(refusal)


def assert_same(page: Twin, pattern: str, texts: Sequence[str]) -> list[bool] | str:
    """The page matches what RE2 matches; returns what that is."""
    expected, found = by_re2(pattern, texts), on_page(page, pattern, texts)
    if found != expected:
        both = isinstance(found, list) and isinstance(expected, list)
        where = [text for text, one, two in zip(texts, found, expected, strict=False) if one != two]
        pytest.fail(
            f"{pattern!r}: {where if both else (found, expected)} ({sampling.again()})",
            pytrace=False,
        )
    return expected


def test_valid_patterns(page: Twin) -> None:
    for pattern in VALID:
        assert isinstance(assert_same(page, pattern, TEXTS), list), pattern


def test_invalid_patterns(page: Twin) -> None:
    for pattern in INVALID:
        assert isinstance(assert_same(page, pattern, TEXTS), str), pattern


def random_text(rng: Random) -> str:
    """A short text, mostly of letters that patterns name."""
    return "".join(rng.choice((*"aabbAk/0é \n.", *TEXTS)) for _ in range(rng.randrange(7)))


@pytest.mark.sampled
@pytest.mark.parametrize("batch", range(sampling.amount(20, 1)))
def test_random_patterns(page: Twin, batch: int) -> None:
    rng = sampling.rng(f"regexes {batch}")
    valid = 0
    for _ in range(400):
        pattern = "".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 9)))
        texts = [random_text(rng) for _ in range(20)]
        valid += isinstance(assert_same(page, pattern, texts), list)
    assert valid > 100


@pytest.mark.sampled
def test_case_is_that_of_re2(page: Twin) -> None:
    """Every letter with others that are the same but for case, in the table of RE2."""
    letters = [chr(point) for point in range(0x20000) if chr(point).swapcase() != chr(point)]
    for letter in sampling.sampled([n for n in letters if len(n.swapcase()) == 1], 60, "case"):
        near = {letter.upper(), letter.lower(), letter.swapcase(), letter.casefold(), letter}
        assert_same(page, f"(?i){letter}", sorted(near))


@pytest.mark.sampled
@pytest.mark.parametrize("name", sampling.sampled(
    ["L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "N", "Nd", "P", "Pc", "S", "Sm", "Z", "Zs", "C",
     "Cc", "Cf", "Co", "Cs", "Any", "Latin", "Greek", "Cyrillic", "Han", "Common", "Inherited",
     "Yi", "Lisu", "Old_Italic", "Nko"], 6, "classes", again=True))  # fmt: skip
def test_classes_of_unicode(page: Twin, name: str) -> None:
    """Code points that old versions of Unicode have: a browser's may be newer than RE2's."""
    points = [*range(0xD800), *range(0xE000, 0xFFFE), *range(0x1F300, 0x1F320), 0x20000, 0x10FFFD]
    import unicodedata  # noqa: PLC0415 - only here

    # U+0295 is a lower-case letter until Unicode 16 and has no case since 17.
    points = [point for point in points if point != 0x295]
    old = [chr(point) for point in points if unicodedata.category(chr(point)) != "Cn"]
    texts = sampling.sampled(old, 2_000, name)
    assert_same(page, rf"\p{{{name}}}", texts)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(a+)+$", [1, 0]), ("(a|a)*b", [0, 1]), (".*.*.*.*=.*", [0, 0]), ("(.*a){12}", [1, 0]),
        ("(x+x+)+y", [0, 0]), ("([a-z]+)*[0-9]", [0, 0]), ("(a?){100}a{100}", [0, 0]),
        (".*a.{12}", [1, 1]),
    ],
)  # fmt: skip
def test_no_regex_takes_forever(page: Twin, pattern: str, expected: list[int]) -> None:
    """JavaScript's own engine would try again from every place, for years."""
    texts = ["a" * 100_000, "a" * 100_000 + "b"]
    assert page("match", pattern=pattern, texts=texts) == expected


def test_a_pattern_that_is_too_large_is_refused(page: Twin) -> None:
    for pattern in (r"(\pL{100}){10}", "(" * 5_000 + ")" * 5_000, "a" * 300_000, "a|" * 200_000):
        with pytest.raises(RefusalError, match="is not a valid regex: pattern too large"):
            page("match", pattern=pattern, texts=["a"])
