"""Hostile checkpoints: places, shapes, slices and packed blocks that cannot be."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from checkpoint_data import FILES
from hostile import MEMORY_A_BYTE, Row
from hostile_parts import GRAPH, INT64_MAX, INT64_MIN, RUN, number, part, shape
from table_writer import block, checksum, copy, literal, table, table_of, varint
from tfprof.tables.limits import LIMITS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DATA: Final = "checkpoint.data-00000-of-00001"
_VALUES: Final = bytes(range(60))
_HEADER: Final = number(1, 1)
# Only what shows values of tensors reads any; all others need the names alone.
_SHOWING: Final = ("scope", "graph", "graph proto")
_ALONE: Final = ("scope", "op", "summary", "info")
_ASKED: Final = (*_SHOWING, "op", "advise", "info")


def _crc(data: bytes) -> bytes:
    return b"\x35" + checksum(data)


def _entry(*dims: int, piece: int = 0, offset: int = 0, size: int = 60, dtype: int = 1) -> bytes:
    """A BundleEntryProto of the values that there are."""
    place = number(3, piece) + number(4, offset) + number(5, size)
    return number(1, dtype) + part(2, shape(*dims)) + place + _crc(_VALUES)


def _bundle(
    name: str, entries: Mapping[bytes, bytes], data: bytes | None = _VALUES, **expected: object
) -> Row:
    index = table([(b"", _HEADER), *entries.items()])
    files = {"graph": GRAPH, "run": RUN, "checkpoint.index": index}
    if data is not None:
        files[_DATA] = data
    return Row(f"checkpoint: {name}", files, commands=_ASKED, **expected)  # type: ignore[arg-type]


def _refused(name: str, entry: bytes, says: str, **more: bytes) -> Row:
    entries = {b"w": entry, **{key.encode(): value for key, value in more.items()}}
    return _bundle(name, entries, refused=says, blames="checkpoint", refusing=_SHOWING)


def _places() -> Iterator[Row]:
    yield _bundle("as it should be", {b"w": _entry(3, 5)}, shows=b"[[")
    for offset in (1, 1 << 31, INT64_MAX, -1, INT64_MIN):
        yield _refused(f"values at byte {offset}", _entry(3, 5, offset=offset), "cut off")
    for size in (61, 1 << 40, INT64_MAX, -1, INT64_MIN):
        yield _refused(f"{size} bytes of values", _entry(3, 5, size=size), "checkpoint")
    for piece in (1, -1, 99_999, INT64_MAX):
        yield _refused(f"piece {piece}", _entry(3, 5, piece=piece), "is in piece")
    yield _bundle(
        "a piece that is missing",
        {b"w": _entry(3, 5)},
        None,
        refused="does not exist; expected piece 1 of 1",
        blames=_DATA,
        refusing=_SHOWING,
    )
    yield _refused("a bad checksum", _entry(3, 5)[:-1] + b"\0", "does not match its checksum")
    yield _refused("two tensors in one place", _entry(3, 5), "the same bytes", x=_entry(3, 5))


def _shapes() -> Iterator[Row]:
    yield _refused("a negative dimension", _entry(-3, -5), "not fully known")
    yield _refused("a product that overflows", _entry(1 << 32, 1 << 32), "no tensor can have")
    yield _refused("10^12 values", _entry(10**12), "but its shape")
    yield _refused("rank 100,000", _entry(*[1] * 100_000), "no tensor can have")
    yield _bundle(
        "no values of 2^62 rows",
        {b"w": number(1, 1) + part(2, shape(1 << 62, 0)) + _crc(b"")},
        b"",
        shows=b"[],",
    )
    for dtype in (999, 0, 20, INT64_MAX):
        yield _refused(f"type {dtype}", _entry(3, 5, dtype=dtype), "values cannot be read")
    lengths = varint(1 << 40) * 15
    yield _bundle("strings of 2^40 bytes", {b"w": _entry(3, 5, dtype=7, size=len(lengths))},
                  lengths, refused="does not hold 15 strings", blames="checkpoint",
                  refusing=_SHOWING)  # fmt: skip


def _slices() -> Iterator[Row]:
    def cut(*extents: tuple[int, int]) -> bytes:
        return part(7, *(part(1, number(1, start), number(2, length)) for start, length in extents))

    whole = number(1, 1) + part(2, shape(3, 5))
    cases = {
        "negative": cut((-1, 2), (0, 5)),
        "negative lengths": cut((0, -7), (0, 5)),
        "huge": cut((0, INT64_MAX), (INT64_MAX, INT64_MAX)),
        "of another rank": cut((0, 3)),
        "outside": cut((2, 3), (0, 5)),
        "too few": cut((0, 1), (0, 5)),
        "not there": cut((0, 3), (0, 5)),
    }
    for name, slices in cases.items():
        yield _refused(f"slices that are {name}", whole + slices, "checkpoint")
    many = cut((0, 0), (0, 5)) * 20_000
    yield _refused("20,000 slices of nothing", whole + many, "pieces hold 0 of 15 values")


def _tables() -> Iterator[Row]:
    """Sorted tables whose blocks ask for more than is there."""
    good = table([(b"", _HEADER), (b"w", _entry(3, 5))])
    footers = {
        "offset 2^64-1": varint((1 << 64) - 1) + varint(10),
        "size 2^64-1": varint(0) + varint((1 << 64) - 1),
        "sizes that overflow": varint(INT64_MAX) + varint(INT64_MAX),
        "numbers without end": b"\xff" * 40,
    }
    for name, place in footers.items():
        footer = (place + place).ljust(40, b"\0")[:40] + good[-8:]
        yield _index(f"a footer with {name}", good[:-48] + footer, "checkpoint.index is")
    yield _index("an empty index", b"", "cut off or not a checkpoint")
    yield _index("only the footer", good[-48:], "checkpoint.index is")
    yield _index("an index cut off", good[:-1], "cut off or not a checkpoint")
    yield _index("an index without a header", table([(b"w", _entry(3, 5))]), "has no header")
    declared = {"2^32-1": varint((1 << 32) - 1), "2^64-1": varint((1 << 64) - 1),
                "2^31": varint(1 << 31)}  # fmt: skip
    for name, size in declared.items():
        packed = table_of([(b"w", b"")], pack=partial(_declared, size))
        yield _index(f"snappy of {name} bytes", packed, "is damaged")
    bomb = varint(16 << 20) + literal(b"a") + copy(64, 1, 2) * (1 << 18)
    yield _index(
        "snappy that repeats one byte", table_of([(b"w", b"")], pack=lambda _: bomb), "checkpoint"
    )
    entries = b"".join(varint(1_000_000 - 8) + varint(8) + b"\0%08d" % at for at in range(100_000))
    first = varint(0) + varint(1_000_000) + b"\0" + b"k" * 1_000_000
    content = first + entries + bytes(4) + (1).to_bytes(4, "little")
    yield _index("100,000 keys that share a megabyte", table_of([(b"l", content)]),
                 "--limit_unpack_ratio raises this limit",
                 LIMITS["unpack_ratio"].default + MEMORY_A_BYTE)  # fmt: skip
    restarts = block([(b"", _HEADER)])[:-4] + b"\xff" * 4
    yield _index("2^32-1 restarts", table_of([(b"w", restarts)]), "checkpoint.index is")


def _declared(size: bytes, _: bytes) -> bytes:
    """A packed block that says it is so long."""
    return size + literal(b"ab")


def _index(name: str, index: bytes, says: str, memory_a_byte: int = MEMORY_A_BYTE) -> Row:
    files = {"graph": GRAPH, "checkpoint.index": index, _DATA: _VALUES}
    return Row(f"checkpoint: {name}", files, refused=says, blames="checkpoint",
               commands=("scope", "info"), memory_a_byte=memory_a_byte)  # fmt: skip


def _objects() -> Iterator[Row]:
    """Checkpoints alone, whose object graph lies, and texts that name a checkpoint."""

    def child(number_of: int, name: bytes) -> bytes:
        return part(1, number(1, number_of), part(2, name))

    value = part(2, part(1, b"VARIABLE_VALUE"), part(3, b"w"))
    cases = {
        "an object that is not there": part(1, child(7, b"a")),
        "a slot of an object that is not there": part(1, part(3, number(1, -1))),
        "a chain of 20,000 variables": b"".join(
            part(1, child(at + 1, b"long_name"), value) for at in range(20_000)
        ) + part(1, b""),
    }  # fmt: skip
    for name, objects in cases.items():
        length = len(objects).to_bytes(4, "little")
        text = varint(len(objects)) + checksum(length) + objects
        place = number(4, 60) + number(5, len(text))
        crc = checksum(length + text[len(varint(len(objects))) :])
        entry = number(1, 7) + part(2, b"") + place + b"\x35" + crc
        rows = [(b"", _HEADER), (b"_CHECKPOINTABLE_OBJECT_GRAPH", entry), (b"w", _entry(3, 5))]
        files = {"checkpoint.index": table(rows), _DATA: _VALUES + text}
        notes = "Names are keys of the checkpoint"
        yield Row(f"objects: {name}", files, notes=notes, shows=b"  w (3x5", commands=_ALONE)
    for path, says in {"checkpoint": "not a checkpoint", "../" * 9_999: "does not exist"}.items():
        text = f'model_checkpoint_path: "{path}"\n'.encode()
        files = {"graph": GRAPH, "checkpoint": text}
        title = f"checkpoint: a text that names {path[:20]}"
        yield Row(title, files, refused=says, blames="checkpoint", commands=("scope", "info"))


def _first_format() -> Iterator[Row]:
    """The same for tables that hold the values themselves."""
    whole = FILES["first_dtypes"]
    cases = {
        "empty": (b"", "cut off or not a checkpoint"),
        "cut off": (whole[:-1], "cut off or not a checkpoint"),
        "a flipped bit": (whole[:50] + bytes([whole[50] ^ 1]) + whole[51:], "checksum"),
        "no list of tensors": (table([(b"w", b"")]), "no list of tensors"),
        "a list that is none": (table([(b"", b"\x0a\xff\xff\x7f")]), "list of tensors: "),
    }
    for name, (data, says) in cases.items():
        yield Row(f"first checkpoint: {name}", {"graph": GRAPH, "checkpoint": data}, refused=says,
                  blames="checkpoint")  # fmt: skip

    def listed(*meta: bytes) -> bytes:
        inside = part(1, b"w"), *meta
        return table([(b"", part(1, part(1, *inside)))])

    extent = part(4, part(1, number(1, -1), number(2, INT64_MAX)))
    metas = {
        "no slices": (number(3, 1), part(2, shape(3))),
        "slices that are negative": (number(3, 1), part(2, shape(3)), extent),
        "a product that overflows": (number(3, 1), part(2, shape(1 << 40, 1 << 40)), extent),
        "a slice that is not there": (number(3, 1), part(2, shape(3)), part(4, part(1))),
    }
    for name, meta in metas.items():
        yield Row(
            f"first checkpoint: {name}",
            {"graph": GRAPH, "checkpoint": listed(*meta)},
            refused="checkpoint",
            blames="checkpoint",
            refusing=_SHOWING,
            commands=_ASKED,
        )


ROWS: Final = [*_places(), *_shapes(), *_slices(), *_tables(), *_objects(), *_first_format()]
