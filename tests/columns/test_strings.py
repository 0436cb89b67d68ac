"""Columns of byte strings, against plain lists of bytes."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.columns import byte_words, strings
from tfprof.columns.string_index import Index
from tfprof.columns.strings import Strings
from tfprof.kernels.table import KERNELS

if TYPE_CHECKING:
    from tfprof.columns.strings import U64

pytestmark = pytest.mark.usefixtures("kernels")
often = settings(deadline=None, max_examples=150)

# Around every border: none, one byte, a word or two, and what is hashed as a long string.
LENGTHS = (0, 1, 7, 8, 9, 15, 16, 17, 24, 1_023, 1_024, 1_025, 1_040)
# Few bytes, so that strings are alike: the least, the greatest, and those that are looked for.
BYTES = b"\x00\x01a/:^\xff"
TAILS = (b"", b"\x00", b"a", b"/", b"a:", b"^\xff", b"a/\x00")
# A few bytes behind a beginning that many strings share.
TEXTS = [
    (beginning * length)[:length] + tail
    for length in LENGTHS
    for beginning in (b"a", b"\x00", b"a\x00/:^\xff-")
    for tail in TAILS
]

texts = st.sampled_from(TEXTS) | st.binary(max_size=20)


class Column(NamedTuple):
    """The same rows twice: on a blob, and as plain bytes."""

    strings: Strings
    rows: list[bytes]


@st.composite
def one_after_the_other(draw: st.DrawFn) -> Column:
    rows = draw(st.lists(texts, max_size=8))
    return Column(Strings.of(rows), rows)


@st.composite
def picked(draw: st.DrawFn) -> Column:
    """Rows in another order on the blob than in the column, some of them twice."""
    stored = draw(st.lists(texts, min_size=1, max_size=8))
    rows = draw(st.lists(st.integers(0, len(stored) - 1), max_size=8))
    column = Strings.of(stored).take(np.array(rows, np.int64))
    return Column(column, [stored[row] for row in rows])


@st.composite
def overlapping(draw: st.DrawFn) -> Column:
    """Slices of one text, down to a blob too short for a whole word."""
    blob = bytes(draw(st.lists(st.sampled_from(BYTES), max_size=20)))
    at = st.integers(0, len(blob))
    cuts = [sorted(cut) for cut in draw(st.lists(st.tuples(at, at), max_size=8))]
    start = np.array([first for first, _ in cuts], np.int64)
    end = np.array([last for _, last in cuts], np.int64)
    column = Strings(np.frombuffer(blob, np.uint8), start, end - start)
    return Column(column, [blob[first:last] for first, last in cuts])


columns = st.one_of(one_after_the_other(), picked(), overlapping())


def distinct(column: Column) -> Column:
    """The column with each string once."""
    rows = [row for row, text in enumerate(column.rows) if column.rows.index(text) == row]
    taken = column.strings.take(np.array(rows, np.int64))
    return Column(taken, [column.rows[row] for row in rows])


@often
@given(columns)
def test_rows_read_back_as_they_are(column: Column) -> None:
    assert list(column.strings) == column.rows
    assert [column.strings[row] for row in range(len(column.strings))] == column.rows
    decoded = column.strings.texts()
    assert [text.encode("utf-8", "surrogateescape") for text in decoded] == column.rows


@often
@given(columns)
def test_compact_keeps_the_rows_and_nothing_else(column: Column) -> None:
    compact = column.strings.compact()
    assert list(compact) == column.rows
    assert compact.blob.tobytes() == b"".join(column.rows)


@often
@given(st.lists(columns, max_size=4))
def test_concat_holds_the_rows_of_all_parts_in_order(parts: list[Column]) -> None:
    joined = Strings.concat(part.strings for part in parts)
    assert list(joined) == [row for part in parts for row in part.rows]


def test_compact_joins_more_rows_than_are_copied_at_a_time() -> None:
    rows = [b"%d" % row for row in range(3 * 2**16 // 2)]
    assert list(Strings.of(rows).compact()) == rows


@often
@given(columns)
def test_intern_numbers_distinct_strings_as_they_appear(column: Column) -> None:
    number: dict[bytes, int] = {}
    expected = [number.setdefault(row, len(number)) for row in column.rows]
    for ids, first in (column.strings.intern(), strings._intern_by_hash(column.strings)[:2]):
        assert ids.tolist() == expected
        assert first.tolist() == [column.rows.index(text) for text in number]


@often
@given(columns.map(distinct), columns)
def test_find_gives_the_row_of_a_string_or_minus_one(among: Column, wanted: Column) -> None:
    expected = [among.rows.index(row) if row in among.rows else -1 for row in wanted.rows]
    assert among.strings.find(wanted.strings).tolist() == expected


@often
@given(columns.map(distinct))
def test_find_finds_every_row_of_its_own(column: Column) -> None:
    assert column.strings.find(column.strings).tolist() == list(range(len(column.rows)))


@pytest.mark.parametrize("length", [7, 8, 9, 16, 1_024, 1_025, 3_000])
def test_strings_of_one_length_are_told_apart_by_any_one_byte(length: int) -> None:
    places = sorted({0, length // 2, length - 1, *range(6, min(length, 18)), max(0, length - 9)})
    rows = [b"a" * at + b"b" + b"a" * (length - at - 1) for at in places]
    column, absent = Strings.of(rows), Strings.of([b"a" * length])
    assert column.intern()[0].tolist() == list(range(len(rows)))
    assert column.find(column.take(slice(None, None, -1))).tolist() == [*range(len(rows))][::-1]
    assert column.find(absent).tolist() == [-1]
    assert column.order().tolist() == [*range(len(rows))][::-1]
    assert column.common_with_previous().tolist() == [0, *places[:-1]]


@often
@given(columns)
def test_order_is_that_of_bytes_and_equal_rows_stay_as_they_were(column: Column) -> None:
    expected = sorted(range(len(column.rows)), key=lambda row: column.rows[row])
    assert column.strings.order().tolist() == expected


@often
@given(columns, columns)
def test_same_is_equality_row_by_row(one: Column, other: Column) -> None:
    pairs = [(a, b) for a in range(len(one.rows)) for b in range(len(other.rows))]
    left = np.array([a for a, _ in pairs], np.int64)
    right = np.array([b for _, b in pairs], np.int64)
    expected = [one.rows[a] == other.rows[b] for a, b in pairs]
    assert one.strings.same(left, other.strings, right).tolist() == expected


def shared(one: bytes, other: bytes) -> int:
    limit = min(len(one), len(other))
    return next((at for at in range(limit) if one[at] != other[at]), limit)


@often
@given(columns)
def test_common_with_previous_counts_the_shared_leading_bytes(column: Column) -> None:
    pairs = zip(column.rows, column.rows[1:], strict=False)
    expected = [0, *(shared(*pair) for pair in pairs)][: len(column.rows)]
    assert column.strings.common_with_previous().tolist() == expected


@often
@given(columns, st.sampled_from(BYTES))
def test_before_cuts_each_row_at_the_first_such_byte(column: Column, byte: int) -> None:
    expected = [row.partition(bytes([byte]))[0] for row in column.rows]
    assert list(column.strings.before(bytes([byte]))) == expected


@often
@given(columns, st.sampled_from(BYTES))
def test_without_first_drops_one_leading_byte_where_it_is_that_one(
    column: Column, byte: int
) -> None:
    expected = [row.removeprefix(bytes([byte])) for row in column.rows]
    assert list(column.strings.without_first(bytes([byte]))) == expected


@often
@given(columns, st.sampled_from(BYTES))
def test_positions_names_every_row_and_offset_of_a_byte(column: Column, byte: int) -> None:
    row, offset = column.strings.positions(bytes([byte]))
    expected = [
        (number, at)
        for number, text in enumerate(column.rows)
        for at, character in enumerate(text)
        if character == byte
    ]
    assert list(zip(row.tolist(), offset.tolist(), strict=True)) == expected


# --- when different strings have one hash ------------------------------------------------------


@pytest.fixture
def colliding(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Strings of one length collide with the first seed; the seeds that were asked for."""
    proper = Strings.hashes
    seeds = []

    def hashes(self: Strings, seed: np.uint64) -> U64:
        seeds.append(int(seed))
        if seed == strings.FIRST_SEED:
            return self.length.astype(np.uint64)
        return proper(self, seed)

    monkeypatch.setattr(Strings, "hashes", hashes)
    for kernel in KERNELS.values():  # the compiled core hashes by itself
        monkeypatch.setattr(kernel, "compiled", None)
    return seeds


def made_to_collide(count: int) -> list[bytes]:
    """Strings of two words with one hash: the second word undoes what the first one did."""
    seed = int(strings.FIRST_SEED)
    factor, everything = seed | 1, (1 << 64) - 1
    rows = []
    for first in range(count):
        mixed = first ^ (16 * factor & everything) ^ seed
        mixed ^= mixed >> 32
        mixed = mixed * factor & everything
        mixed ^= mixed >> 29
        rows.append(struct.pack("<QQ", first, mixed ^ 0x0123456789ABCDEF))
    return rows


def test_strings_made_to_collide_are_told_apart() -> None:
    rows = made_to_collide(3_000)
    column = Strings.of([*rows, *rows])
    assert np.unique(column.hashes(strings.FIRST_SEED)).size == 1
    ids, first = column.intern()
    assert ids.tolist() == [*range(3_000), *range(3_000)]
    assert first.tolist() == [*range(3_000)]
    among = Strings.of(rows)
    assert among.find(column).tolist() == ids.tolist()
    assert among.find(Strings.of(made_to_collide(3_003)[2_998:])).tolist() == [
        2_998,
        2_999,
        *[-1] * 3,
    ]


def test_no_strings_collide_whatever_the_seed() -> None:
    # The highest bit of a word once changed the same bits of its hash for every seed.
    change = 1 << 63 | 1 << 34
    rows = [
        struct.pack("<QQ", first ^ flip << 63, 7 ^ change * flip)
        for first in range(100)
        for flip in (0, 1)
    ]
    ids, _ = Strings.of(rows).intern()
    assert ids.tolist() == [*range(200)]
    seeds = np.random.default_rng(1).integers(0, 1 << 63, 20, dtype=np.uint64)
    assert any(np.unique(Strings.of(rows).hashes(seed)).size == len(rows) for seed in seeds)


def test_intern_tells_colliding_strings_apart(colliding: list[int]) -> None:
    rows = Strings.of([b"one", b"two", b"one", b"three", b"six", b"two"])
    ids, first, _ = strings._intern_by_hash(rows)
    assert ids.tolist() == [0, 1, 0, 2, 3, 1]
    assert first.tolist() == [0, 1, 3, 4]
    assert len(set(colliding)) > 1


def test_find_tells_colliding_strings_apart(colliding: list[int]) -> None:
    among = Strings.of([b"one", b"two", b"three"])
    wanted = Strings.of([b"two", b"six", b"", b"three", b"one", b"seven"])
    index = KERNELS["index_slices"].reference(among.blob, among.start, among.length)
    assert strings.find_slices(among, index, wanted).tolist() == [1, -1, -1, 2, 0, -1]
    assert len(set(colliding)) > 1


def test_find_does_not_take_a_strange_string_for_the_one_it_collides_with(
    colliding: list[int],
) -> None:
    among = Strings.of([b"one", b"three"])
    assert among.find(Strings.of([b"two", b"seven", b"one"])).tolist() == [-1, -1, 0]
    assert len(set(colliding)) == 1


# --- sparse, long and many ---------------------------------------------------------------------


@st.composite
def sparse(draw: st.DrawFn) -> Column:
    """Rows far apart on their blob."""
    rows = draw(st.lists(texts, min_size=1, max_size=6))
    gap = b":/" * 2_000
    blob = gap + b"".join(row + gap for row in rows)
    length = np.array([len(row) for row in rows], np.int64)
    start = len(gap) + np.cumsum(length + len(gap)) - length - len(gap)
    return Column(Strings(np.frombuffer(blob, np.uint8), start, length), rows)


@often
@given(
    column=sparse() | columns,
    text=st.sampled_from([b":", b"/", b"\x00", b"\xff", b"a:", b":/", b"//", b"aaa", b"a" * 2_000]),
)
def test_the_first_of_a_text(column: Column, text: bytes) -> None:
    assert column.strings.first(text).tolist() == [row.find(text) for row in column.rows]


@often
@given(column=sparse())
def test_rows_far_apart_are_read_like_any(column: Column) -> None:
    assert list(column.strings) == column.rows
    assert list(column.strings.compact()) == column.rows
    assert column.strings.compact().blob.size == sum(map(len, column.rows))
    found = zip(*(places.tolist() for places in column.strings.positions(b":")), strict=True)
    assert list(found) == [
        (row, place)
        for row, text in enumerate(column.rows)
        for place, byte in enumerate(text)
        if byte == ord(b":")
    ]


@often
@given(
    numbers=st.lists(st.integers(0, 5), min_size=1, max_size=30),
    size=st.sampled_from([1, 100, 160, 161, 300, 2_000]),
)
def test_texts_of_every_length_are_told_apart(numbers: list[int], size: int) -> None:
    rows = [b"a" * size + bytes([number]) for number in numbers]
    ids, first = Strings.of(rows).intern()
    known = list(dict.fromkeys(rows))
    assert ids.tolist() == [known.index(row) for row in rows]
    assert first.tolist() == [rows.index(row) for row in known]


def test_more_rows_than_are_worked_on_at_a_time() -> None:
    count = 3 * byte_words.CHUNK + 5
    rows = [b"name/%d" % (number % 40_000) for number in range(count)]
    column = Strings.of(rows)
    ids, first = column.intern()
    assert ids.tolist() == [number % 40_000 for number in range(count)]
    assert first.tolist() == list(range(40_000))
    distinct_ones = column.take(first)
    assert distinct_ones.find(column).tolist() == ids.tolist()
    assert column.first(b"/").tolist() == [4] * count
    backwards = column.take(np.arange(count)[::-1])
    assert list(backwards.compact()) == rows[::-1]


def test_many_rows_at_every_offset_are_worked_on_as_few_are() -> None:
    """Few rows are read from any offset, many in groups by what their offset leaves."""
    random = np.random.default_rng(7)
    rows = [TEXTS[row] for row in random.integers(0, len(TEXTS), 20_000).tolist()]
    many = Strings.of(rows)
    few = [many.take(slice(first, first + 100)) for first in range(0, len(many), 100)]
    seed = np.uint64(12)
    assert many.hashes(seed).tolist() == [h for part in few for h in part.hashes(seed).tolist()]
    for byte in (b"a", b"/", b":", b"^", b"\x00", b"\xff", b"z"):
        assert many.first(byte).tolist() == [row.find(byte) for row in rows]
    apart = many.apart()
    assert list(apart) == rows
    assert not (apart.start % byte_words.WORD).any()
    other = random.permutation(len(many))
    assert many.same(np.arange(len(many)), many, other).tolist() == [
        row == rows[partner] for row, partner in zip(rows, other.tolist(), strict=True)
    ]
    known = sorted(set(rows))
    column = Strings.of(known).apart()
    assert [known[row] for row in column.find(many).tolist()] == rows


def test_hashes_that_crowd_one_bucket_are_still_found() -> None:
    hashes = np.sort(np.random.default_rng(3).permutation(10_000)[:500].astype(np.uint64))
    index = Index.of(np.uint64(0), hashes, np.arange(500))
    assert len({int(h >> index.shift) for h in hashes}) == 1
    assert index.candidates(hashes).tolist() == list(range(500))
    beyond = np.array([10_000, 2**64 - 1], np.uint64)
    assert index.candidates(beyond).tolist() == [499, 499]
