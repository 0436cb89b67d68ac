"""Regexes in linear time: those of users on names without end, and our own on texts without end.

A regex that tries again from every place takes minutes on these; the clock is the processor's, and
what is allowed is a hundred times what is needed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tfprof import read
from tfprof.columns.matching import matches
from tfprof.columns.strings import Strings
from tfprof.errors import InputError, UsageError
from tfprof.ops.classes import CLASSES
from tfprof.read import Source
from tfprof.read.detect import detect
from tfprof.read.hlo.text_attributes import metadata
from tfprof.read.hlo.text_header import module_header
from tfprof.read.xplane.kernels import without_number
from tfprof.tables.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 1_000_000
MOST_SECONDS = 10.0


def quickly(do: Callable[[], object]) -> object:
    """What *do* gives, which must take little time."""
    before = time.process_time()
    result = do()
    assert time.process_time() - before < MOST_SECONDS
    return result


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(a+)+$", [True, False]),
        ("(a|a)*b", [False, True]),
        (".*.*.*.*=.*", [False, False]),
        ("(.*a){12}", [True, False]),
        ("(x+x+)+y", [False, False]),
        ("([a-z]+)*[0-9]", [False, False]),
        ("(a?){100}a{100}", [False, False]),
    ],
)
def test_regexes_of_users(pattern: str, expected: list[bool]) -> None:
    names = Strings.of([b"a" * LONG, b"a" * LONG + b"b"])
    found = quickly(lambda: matches(names, [pattern]).tolist())
    assert found == expected


@pytest.mark.parametrize(
    "pattern", ["((a{1000}){1000}){1000}", "a{1001}", "(((a{100}){100}){100})", "(" * 2_000]
)
def test_patterns_that_are_too_large(pattern: str) -> None:
    with pytest.raises(UsageError, match="is not a valid regex"):
        quickly(lambda: matches(Strings.of([b"a"]), [pattern]))


SHAPE = 'node { name: "n" attr { key: "shape" value { shape { dim { size: %s } } } } }'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (SHAPE % ('"' + "Expected identifier or number, got " * 30_000 + '"'), "an integer, found"),
        (SHAPE % ('"' + "Couldn't parse integer: " * 30_000 + "'"), "an integer, found"),
        ('node { name: "' + '\\"' * LONG, "it:1:14: expected"),
        ("node { name: @ x: '" + "\\'" * LONG, 'expected a string, found "@"'),
        ("node { x: @ y: '" + "\\'" * LONG, 'expected a value, found "@"'),
        ("node { x: [" + "a, " * 30_000 + "@", "expected a value"),
        ("node" + " " * LONG + "!", "wire type"),
        ("node {" + "a" * LONG + " " * LONG + "!", 'expected "{"'),
        ("#" + " #" * LONG + "\n!", "wire type"),
    ],
    ids=range(9),
)
def test_texts_that_are_refused(text: str, sentence: str) -> None:
    source = Source("it", np.frombuffer(text.encode(), np.uint8))
    with pytest.raises(InputError) as refusal:
        quickly(lambda: read.read_graph(source))
    assert sentence in str(refusal.value)
    assert len(str(refusal.value)) < 300


def test_comments_without_end_before_a_text() -> None:
    text = b"# " + b"x" * LONG + b"\n" + b" \n# c\n" * 100_000 + b"node { }"
    assert quickly(lambda: detect(memoryview(text))) is FORMATS["graph_text"]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("part", ["Barrier", "Iterator", "TPU", "ConfigureTPU", "RandomUniform"])
def test_operations_without_end_are_of_no_class(kind: str, part: str) -> None:
    name = part * (LONG // len(part)) + "!"
    assert quickly(lambda: name in CLASSES[kind]) is False


def test_operations_are_of_their_classes() -> None:
    assert "BarrierReadySize" in CLASSES["no arithmetic"]
    assert "RandomUniformInt" in CLASSES["no arithmetic"]
    assert "MatMul" not in CLASSES["no arithmetic"]


@pytest.mark.parametrize(
    "header",
    [
        b", frontend_attributes={" + b" " * LONG + b"}",
        b", input_output_alias={ {0}: (0" + b" " * LONG + b"x) }",
        b", buffer_donor={ (0" + b" " * LONG + b"x) }",
    ],
    ids=["attributes", "alias", "donor"],
)
def test_headers_of_programs(header: bytes) -> None:
    module = b"HloModule m" + header + b"\n"
    assert quickly(lambda: module_header(module, 0))


def test_metadata_of_blanks() -> None:
    assert quickly(lambda: metadata(7, b"{" + b" " * LONG + b"}")) == b":\0"


def test_names_in_traces() -> None:
    name = b".1" * LONG + b"\n!"
    assert quickly(lambda: without_number(name)) == b".1"
