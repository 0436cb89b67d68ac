"""The compiled kernels: each returns what its NumPy code returns, and none reads outside of arrays.

`fuzz/kernel_inputs.py` has the arguments of every kernel, and `fuzz/kernels.py` runs them under
sanitizers. What the kernels compute is tested with both cores, by test_strings.py, test_tree.py,
test_wire.py and others with the fixture `kernels`.
"""

from __future__ import annotations

import gc
import re
import sys
from importlib.util import find_spec
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fuzz import kernels
from fuzz.kernel_inputs import INPUTS, material
from padded_varint import varint
from paths import ROOT
from processes import python
from sampling import amount, rng, sampled, seed
from tfprof.columns.strings import Strings
from tfprof.kernels.core import CORE
from tfprof.kernels.table import KERNELS
from tfprof.read.text.lines import NAMES
from tfprof.read.text.syntax import Unhandled
from tfprof.wire.decode import BYTES, FIXED32, FIXED64, VARINT, WireError, whole

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess

compiled = pytest.mark.skipif(CORE != "compiled", reason="tfprof was built without a compiler")
with_fuzzer = pytest.mark.skipif(find_spec("atheris") is None, reason="the fuzzer is not installed")
often = settings(deadline=None, max_examples=60)
SOURCE: Final = ROOT / "src" / "tfprof" / "kernels" / "_core.c"
WANTED: Final = {1: BYTES, 2: VARINT, 3: FIXED32, 4: FIXED64, 16: BYTES, 31: VARINT}
LARGE: Final = (2**31 - 1, 2**32, 2**62, 2**63 - 9, 2**63 - 1)


def same(left: Any, right: Any) -> None:
    """Assert that two results are equal: types, shapes, values."""
    if isinstance(left, np.ndarray):
        assert isinstance(right, np.ndarray)
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        assert left.tolist() == right.tolist()
    elif isinstance(left, dict):
        assert sorted(left) == sorted(right)
        for key in left:
            same(left[key], right[key])
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for pair in zip(left, right, strict=True):
            same(*pair)
    else:
        assert left == right


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(it.copy() if isinstance(it, np.ndarray) else it for it in arguments)


def compare(name: str, arguments: tuple[Any, ...]) -> None:
    """Both cores agree."""
    if name == "scan_fields":
        compare_scan(*arguments)
        return
    ours, theirs = copied(arguments), copied(arguments)
    kernel, outcome = KERNELS[name], INPUTS[name].outcome
    assert kernel.compiled is not None
    result = kernel.compiled(*ours)
    assert result is not None, f"{name} does not take {arguments}"
    same(outcome(ours, result), outcome(theirs, kernel.reference(*theirs)))


def compare_scan(buffer: Any, start: Any, end: Any, wanted: dict[int, int]) -> None:
    """Messages are damaged for both cores or for none."""
    kernel = KERNELS["scan_fields"]
    assert kernel.compiled is not None
    fields = kernel.compiled(buffer, start, end, wanted)
    try:
        expected = kernel.reference(buffer, start, end, wanted)
    except WireError as problem:
        assert fields is None
        with pytest.raises(WireError, match=re.escape(str(problem))):
            kernel(buffer, start, end, wanted)
    else:
        assert fields is not None
        same(fields, {number: tuple(field) for number, field in expected.items()})


# --- both cores --------------------------------------------------------------------------------


def test_every_kernel_has_inputs_and_a_compiled_function() -> None:
    assert set(INPUTS) == set(KERNELS)
    if CORE == "compiled":
        assert [name for name, kernel in KERNELS.items() if kernel.compiled is None] == []


@pytest.mark.sampled
@compiled
@pytest.mark.parametrize("name", INPUTS)
def test_cores_agree_on_parts_of_the_corpus(name: str) -> None:
    random = Random(f"{name} {seed()}")  # noqa: S311 - repeatable, not secret
    numbers = np.random.default_rng(seed())
    count = amount(3_000, 150)
    parts = [*kernels.damaged(count, random), *kernels.mutated(count, random)]
    for data in (*parts, b"", b"\x0a\0", b"/"):
        compare(name, INPUTS[name].arguments(material(data, numbers)))


@compiled
@often
@given(st.binary(max_size=3_000), st.integers(0, 2**32), st.sampled_from([*INPUTS]))
@example(b"", 0, "subtree_ends")
@example(b"a" * 1_025, 0, "intern_slices")
def test_cores_agree_on_any_bytes(data: bytes, number: int, name: str) -> None:
    compare(name, INPUTS[name].arguments(material(data, np.random.default_rng(number))))


@compiled
@pytest.mark.parametrize(
    "text",
    [b"\n", b"a {\n", b"}\n", b"a {\n}\n}\n", b"a {\nb: 1\n}\n", b"a {\n  }\n",
     b"a {\n  \n}\n", b"a {\n\n}\n", b"a {\n \tb: 1\n}\n"],
)  # fmt: skip
def test_lines_of_another_layout_are_left_to_numpy(text: bytes) -> None:
    kernel, padded = KERNELS["field_lines"], np.frombuffer(text + bytes(16), np.uint8)
    assert kernel.compiled is not None
    assert kernel.compiled(padded) is None
    with pytest.raises(Unhandled):
        kernel.reference(padded)


BEGINNINGS: Final = (
    *(b"node", b"op", b"size", b"device", b"int_val", b"tensor", b"unknown_rank", b"unknown_ranks"),
    *(b"nod", b"x", b"_", b"a9", b"Z" * 15, b"Z" * 16, b"Z" * 17, b"Z" * 64, b"Z" * 65),
    *(b"", b"9", b"9a", b"a-b", b"a.b", b"\xc3\xa9", b"a\0", b"node\0", b"a:", b"a {", b" a"),
)
ENDS: Final = (b" {", b": 1", b": ", b":", b" ", b"", b"{", b":1", b" : 1", b"  {", b" { {", b": {")


@compiled
@pytest.mark.parametrize("name", BEGINNINGS)
@pytest.mark.parametrize("end", ENDS)
def test_a_name_is_the_same_or_is_left_to_numpy(name: bytes, end: bytes) -> None:
    line, kernel = b"  " + (name + end or b"x"), KERNELS["line_names"]
    text = np.frombuffer(line + b"\n" + bytes(16), np.uint8)
    arguments = text, np.array([2]), np.array([len(line)]), NAMES
    assert kernel.compiled is not None
    result = kernel.compiled(*arguments)
    try:
        expected = kernel.reference(*arguments)
    except Unhandled:
        assert result is None
    else:
        same(result, expected)


SIZES = (0, 1, 7, 8, 9, 15, 16, 17, 1_023, 1_024)


@compiled
@pytest.mark.parametrize(
    "name", ["hashes", "equal", "first", "apart", "put", "spill", "intern_slices", "order_slices"]
)
def test_cores_agree_on_slices_at_every_border(name: str) -> None:
    """Of each size, at each offset, up to the last byte of the blob; equal ones among them."""
    numbers = np.random.default_rng(1)
    for size in SIZES:
        blob = numbers.integers(0, 3, size + 9, dtype=np.uint8)
        start = np.arange(10)
        length = np.minimum(size, blob.size - start)
        it = material(b"", numbers)._replace(blob=blob, rows=Strings(blob, start, length))
        compare(name, INPUTS[name].arguments(it))


@compiled
@pytest.mark.parametrize("name", INPUTS)
def test_cores_agree_on_other_layouts_of_the_same_arrays(name: str) -> None:
    """Strided, misaligned, not writeable: as long as it is no array that is written to."""
    it = material((kernels.CORPUS / "graph/real-00").read_bytes(), np.random.default_rng(5))
    start, end = whole(it.blob)
    arguments = INPUTS[name].arguments(it._replace(start=start, end=end))
    kernel, outcome = KERNELS[name], INPUTS[name].outcome
    for change in (strided, misaligned, read_only):
        others, expected = [*copied(arguments)], copied(arguments)
        for at, argument in enumerate(arguments):
            if isinstance(argument, Strings):
                others[at] = Strings(*map(change, vars(argument).values()))
            elif isinstance(argument, np.ndarray) and at != NOT_CHANGED.get(name):
                others[at] = change(argument)
        ours = outcome(tuple(others), kernel(*others))
        same(ours, outcome(expected, kernel.reference(*expected)))


# What is written to, and an index, which only the core itself makes.
NOT_CHANGED: Final = {"put": 0, "spill": 0, "find_slices": 1}


def strided(array: Any) -> Any:
    return np.repeat(array, 2)[::2]


def misaligned(array: Any) -> Any:
    held = bytearray(b"\0" + array.tobytes())
    return np.frombuffer(held, array.dtype, array.size, 1)


def read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


# --- messages ----------------------------------------------------------------------------------


def tag(number: int, kind: int, size: int = 1) -> bytes:
    return varint(number << 3 | kind, size)


MESSAGES: Final = {
    "empty": b"",
    "a tag alone": tag(1, BYTES),
    "a string": tag(1, BYTES) + b"\3abc",
    "an empty string at the end": tag(1, BYTES) + b"\0",
    "a string that is too long by one": tag(1, BYTES) + b"\4abc",
    "a number": tag(2, VARINT) + varint(300),
    "a number of ten bytes": tag(2, VARINT) + varint(2**64 - 1),
    "ten bytes with bits above the 64th": tag(2, VARINT) + b"\xff" * 9 + b"\x7f",
    "a number of eleven bytes": tag(2, VARINT) + varint(1, 11),
    "a number padded to ten bytes": tag(2, VARINT) + varint(1, 10),
    "a number that does not end": tag(2, VARINT) + b"\x80" * 9,
    "a length of ten bytes": tag(1, BYTES) + varint(3, 10) + b"abc",
    "a tag of two bytes": tag(16, BYTES) + b"\1a",
    "a tag of five bytes": tag(1, BYTES, 5) + b"\1a",
    "a tag of ten bytes": tag(1, BYTES, 10) + b"\1a",
    "a field number of 32": tag(32, BYTES) + b"\1a" + tag(2, VARINT) + b"\1",
    "a field number of 31": tag(31, VARINT) + b"\1",
    "the largest field number": tag(2**29 - 1, VARINT) + b"\1",
    "a field number above it": tag(2**29, VARINT) + b"\1",
    "a field number of 61 bits": tag(2**60, VARINT) + b"\1",
    "a field number of 0": tag(0, VARINT) + b"\1",
    "eight bytes": tag(4, FIXED64) + b"12345678",
    "seven bytes of eight": tag(4, FIXED64) + b"1234567",
    "four bytes": tag(3, FIXED32) + b"1234",
    "three bytes of four": tag(3, FIXED32) + b"123",
    "a group": tag(1, 3) + tag(1, 4),
    "the end of a group": tag(5, 4),
    "a wire type of 6": tag(1, 6),
    "a wire type of 7": tag(9, 7),
    "another wire type than wanted": tag(1, VARINT) + b"\1" + tag(2, BYTES) + b"\1a",
    **{f"a length of {size}": tag(1, BYTES) + varint(size) + b"abc" for size in LARGE},
    **{f"a length of -{size}": tag(1, BYTES) + varint(2**64 - size) for size in (1, 2, 2**62)},
    "many of one field": (tag(1, BYTES) + b"\2ab") * 500 + tag(2, VARINT) + b"\7",
}


@compiled
@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_cores_agree_on_a_message(message: bytes) -> None:
    """Alone, as one of many, and where bytes follow that are not its own."""
    alone = np.frombuffer(message, np.uint8)
    compare_scan(alone, *whole(alone), WANTED)
    after = np.frombuffer(message + b"\x0a\x80" * 30, np.uint8)
    compare_scan(after, np.zeros(1, np.int64), np.full(1, len(message)), WANTED)
    many = np.frombuffer(b"\x0a\1a" * 20 + message + b"\x10\1" * 20, np.uint8)
    spans = [(at, at + 3) for at in range(0, 60, 3)]
    spans.append((60, 60 + len(message)))
    spans += [(at, at + 2) for at in range(spans[-1][1], many.size, 2)]
    start, end = np.array(spans, np.int64).T.copy()
    compare_scan(many, start, end, WANTED)


@compiled
@pytest.mark.parametrize(
    ("start", "end"), [(-1, 3), (0, 7), (4, 3), (7, 7), (2**63 - 1, 2**63 - 1), (-(2**63), 0)]
)
def test_messages_outside_of_their_file_are_left_to_the_reference(start: int, end: int) -> None:
    buffer = np.frombuffer(b"\x0a\1a\x0a\1b", np.uint8)
    scan = KERNELS["scan_fields"].compiled
    assert scan is not None
    assert scan(buffer, np.array([0, start]), np.array([3, end]), WANTED) is None


# --- slices outside of their blob --------------------------------------------------------------

OUTSIDE: Final = (
    *((-1, 1), (0, 7), (6, 1), (7, 1), (5, -1), (2**63 - 1, 2**63 - 1), (-(2**63), 1)),
    *((0, large) for large in LARGE),
    *((large, 1) for large in LARGE),
)


@compiled
@pytest.mark.parametrize(("start", "length"), OUTSIDE)
def test_slices_outside_of_their_blob_are_left_to_the_reference(start: int, length: int) -> None:
    blob, target = np.frombuffer(b"abcdef", np.uint8), np.zeros(6, np.uint8)
    good, one = np.array([0, 0]), np.array([0, 1])
    starts, lengths = np.array([0, start]), np.array([1, length])
    call: Any = {name: kernel.compiled for name, kernel in KERNELS.items()}
    rows = Strings(blob, starts, lengths)
    known = Strings(blob, np.array([0, 1]), one)
    results = {
        "hashes": (blob, starts, lengths, np.uint64(1)),
        "equal": (blob, starts, blob, good, lengths),
        "first": (blob, starts, lengths, b"a"),
        "put": (target, good, blob, starts, lengths),
        "intern_slices": (blob, starts, lengths),
        "order_slices": (blob, starts, lengths),
        "scope_rows": (blob, starts, lengths),
        "find_slices": (known, KERNELS["index_slices"](*vars(known).values()), rows),
    }
    for name, arguments in results.items():
        assert call[name](*arguments) is None, name
    assert call["equal"](blob, good, blob, starts, lengths) is None
    assert call["put"](target, starts, blob, good, lengths) is None
    assert not target.any()


@compiled
def test_empty_slices_may_begin_anywhere() -> None:
    blob = np.frombuffer(b"abcdef", np.uint8)
    start = np.array([-(2**63), -1, 0, 6, 7, 2**63 - 1, 2])
    length = np.array([0, 0, 0, 0, 0, 0, 3])
    call: Any = {name: kernel.compiled for name, kernel in KERNELS.items()}
    assert call["equal"](blob, start, blob, start, length).all()
    assert call["first"](blob, start, length, b"d").tolist() == [-1] * 6 + [1]
    assert call["first"](blob, start, length, b"de").tolist() == [-1] * 6 + [1]
    assert call["first"](blob, start, length, b"def").tolist() == [-1] * 7
    ids, first, _ = call["intern_slices"](blob, start, length)
    assert (ids.tolist(), first.tolist()) == ([0] * 6 + [1], [0, 6])
    assert call["order_slices"](blob, start, length).tolist() == [*range(7)]


@compiled
def test_depths_ends_and_edges_that_make_no_tree_are_left_to_the_reference() -> None:
    ends: Any = KERNELS["subtree_ends"].compiled
    parents: Any = KERNELS["parent_rows"].compiled
    walk: Any = KERNELS["visit_inputs"].compiled
    for depth in ([2], [0], [1, 3], [1, 2, 2**63 - 1], [1, -(2**63)], [1, 0]):
        assert ends(np.array(depth)) is None
    for end in ([4, 3, 4, 4], [1, 2], [0, 0], [2, 2**63 - 1], [-1, -1]):
        assert parents(np.array(end), np.ones(len(end), np.int64)) is None
    for start in ([0, 1], [0, 2, 1], [-1, 0, 1], [0, 1, 9], [2**63 - 1, 0, 0]):
        assert walk(2, np.array([1]), np.array(start), np.array([0])) is None
    # Inputs that are no node are none.
    node, _ = walk(2, np.array([5, -7, 2**63 - 1]), np.array([0, 2, 3]), np.array([0, 1, 9, -9]))
    assert node.tolist() == [0, 1]


# --- the functions of the core, called as nobody calls them ------------------------------------


def fitting(kinds: str) -> list[Any]:
    """Arguments of the right number and types."""
    return [np.zeros(1, np.uint8 if kind in "bB" else np.int64) for kind in kinds[::2]]


@compiled
@pytest.mark.parametrize("name", kernels.signatures(SOURCE))
def test_a_function_refuses_what_it_does_not_take(name: str) -> None:
    from tfprof.kernels import _core  # noqa: PLC0415 - there may be none

    function, kinds = getattr(_core, name), kernels.signatures(SOURCE)[name]
    for arguments in ([], fitting(kinds)[1:], [*fitting(kinds), np.zeros(1)]):
        with pytest.raises(TypeError):
            function(*arguments)
    for at, kind in enumerate(kinds[::2]):
        before, after = fitting(kinds)[:at], fitting(kinds)[at + 1 :]
        for no_array in (None, 7, "text", [1]):
            with pytest.raises(TypeError):
                function(*before, no_array, *after)
        if kind in "BN":
            for constant in (b"12345678", read_only(fitting(kinds)[at])):
                with pytest.raises((BufferError, ValueError)):
                    function(*before, constant, *after)
            for other in range(at):  # it would overwrite what was checked
                if {kind, kinds[2 * other]} - {"b", "B"}:
                    arrays = fitting(kinds)
                    arrays[at] = np.zeros(1, np.int64)
                    arrays[other] = arrays[at].view(arrays[other].dtype)
                    assert function(*arrays) is None
        if kind in "nN":
            for unlike in (np.zeros(2, np.int32), bytearray(9), misaligned(np.zeros(1, np.int64))):
                assert function(*before, unlike, *after) is None


@compiled
def test_refusals_keep_nothing() -> None:
    """No array stays open, and no object stays alive, whatever a function returns."""
    from tfprof.kernels import _core  # noqa: PLC0415 - there may be none

    called, random, numbers = kernels.signatures(SOURCE), rng("leaks"), np.random.default_rng(1)
    cases = [(name, kernels.raw(called[name], random, numbers)) for name in [*called] * 60]
    cases += [("scan", [damaged, bytes(8), varint(len(damaged)).ljust(8, b"\0"), b"\2" * 32])
              for damaged in (b"\x0a\3abc\x0a\3ab", b"\x0a\3abc" * 20)]  # fmt: skip
    # Small numbers, None and short bytes are those of everybody in this process.
    shared = (int, type(None))
    own = [it for _, case in cases for it in case if not isinstance(it, shared)]
    held = [it for it in own if not isinstance(it, (bytes, str)) or len(it) > 1]
    counts = []
    for _ in range(6):
        for name, arguments in cases:
            kernels.call(getattr(_core, name), arguments)
        gc.collect()
        counts.append((sys.getallocatedblocks(), sum(map(sys.getrefcount, held))))
    assert counts[5][1] == counts[1][1]
    # One function that keeps a block does so in each round; what else runs here does not.
    in_rounds = [after - before for (before, _), (after, _) in pairwise(counts)]
    assert min(in_rounds[1:]) < 60 / 2
    grown = bytearray(8)
    for name, kinds in called.items():
        for at in range(len(kinds) // 2):
            kernels.call(getattr(_core, name), [*fitting(kinds)[:at], grown])
            grown.append(0)  # BufferError, if it were still open
            grown.pop()


# --- under sanitizers --------------------------------------------------------------------------


def sanitized(number: int, *words: str | Path) -> CompletedProcess[str]:
    return python("-m", "fuzz.kernels", f"--seed={number}", *words, check=False, cwd=ROOT)


@pytest.mark.sampled
@compiled
@with_fuzzer
def test_sanitizers_find_nothing() -> None:
    count = amount(40_000, 4_000)
    ran = sanitized(seed(), f"--damaged={count}", f"--mutated={count // 4}", f"--raw={count * 4}")
    assert ran.returncode == 0, ran.stderr[-3_000:]
    told = re.findall(r"^(\w+) +([0-9,]+) executions", ran.stdout, re.MULTILINE)
    done = {what: int(number.replace(",", "")) for what, number in told}
    assert done == {"damaged": count, "mutated": count // 4, "raw": count * 4}
    assert "nothing found" in ran.stdout


CHECKS: Final = {
    "the offsets of slices": ("    return !wrong;", "    return wrong >= 0;"),
    "the ends of messages": ("at < stop; shift += 7", "at <= stop; shift += 7"),
    "the depths of rows": ("if (depth[row] < 1 || ", "if ("),
    "overlapping arrays": ("fits &= !overlap(", "fits |= !overlap("),
}


@pytest.mark.sampled
@compiled
@with_fuzzer
@pytest.mark.parametrize("check", sampled([*CHECKS], 1, "checks"))
def test_sanitizers_notice_a_check_that_is_taken_out(check: str, tmp_path: Path) -> None:
    right, wrong = CHECKS[check]
    text = SOURCE.read_text()
    assert text.count(right) == 1
    source = tmp_path / "_core.c"
    source.write_text(text.replace(right, wrong))
    # The same inputs each time: few messages end inside of a number.
    ran = sanitized(1, "--damaged=10000", "--mutated=0", "--raw=30000", "--source", source)
    assert ran.returncode == 99, ran.stdout + ran.stderr[-3_000:]
    assert re.search(r"SUMMARY: (Address|UndefinedBehavior)Sanitizer: ", ran.stderr)
