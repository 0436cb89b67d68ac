"""Messages in wire format put together by hand, with holes in them that files need not store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.wire.scalar import encode_varint as varint

if TYPE_CHECKING:
    from pathlib import Path


class Hole(int):
    """So many zeros that are not written."""


Part = bytes | Hole


def size(parts: list[Part]) -> int:
    return sum(part if isinstance(part, Hole) else len(part) for part in parts)


def field(number: int, *parts: Part) -> list[Part]:
    """A field with these bytes in it."""
    return [varint(number << 3 | 2) + varint(size([*parts])), *parts]


def sparse(path: Path, *parts: Part) -> Path:
    """A file of these parts; only what is no hole is written."""
    with path.open("wb") as file:
        for part in parts:
            if isinstance(part, Hole):
                file.seek(part, 1)
            else:
                file.write(part)
        file.truncate()
    assert path.stat().st_blocks * 512 < 1 << 20, "the hole takes no room"
    return path


def joined(parts: list[Part]) -> bytes:
    return b"".join(part for part in parts if isinstance(part, bytes))


def node(
    name: bytes, op: bytes, *attributes: list[Part], inputs: tuple[bytes, ...] = ()
) -> list[Part]:
    named = [*field(1, name), *field(2, op), *(part for one in inputs for part in field(3, one))]
    return field(1, *named, *(part for one in attributes for part in field(5, *one)))


def shape_of(*dims: int) -> bytes:
    return joined([part for dim in dims for part in field(2, b"\x08" + varint(dim))])


def attribute(key: bytes, *value: Part) -> list[Part]:
    return [*field(1, key), *field(2, *value)]


def output_shapes(*dims: int) -> list[Part]:
    return attribute(b"_output_shapes", *field(1, *field(7, shape_of(*dims))))
