"""Tar archives: members, names, sizes and contents are those that Python's tarfile tells."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pytest

import tfprof as library
from hostile_forms import pax, tar_header
from tfprof.errors import InputError
from tfprof.io.tar import BLOCK, Member, Pieces, TarError, members

if TYPE_CHECKING:
    from pathlib import Path

NAMES: Final = (
    "a",
    "b/" * 60 + "c",
    "d" * 99,
    "e" * 300,
    "f/" * 120 + "f",
    "ü\udcff" * 40,
    "g\n=5 x=y\n",
)
FORMATS: Final = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


def made(kind: int) -> bytes:
    """An archive with all names that the format can hold, and entries of all types."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as archive:
        for at, name in enumerate(NAMES):
            info = tarfile.TarInfo(name)
            info.size = at * 300
            try:
                archive.addfile(info, io.BytesIO(b"%d" % at * info.size))
            except ValueError:
                assert kind == tarfile.USTAR_FORMAT, "others have long names"
        for type_ in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CONTTYPE):
            info = tarfile.TarInfo(f"type {type_!r}")
            info.type, info.linkname, info.size = type_, "x" * 200 * (kind > 0), 0
            archive.addfile(info)
    return out.getvalue()


def found(data: bytes, piece: int = 1 << 20) -> list[tuple[Member, bytes]]:
    """The members of an archive that comes in pieces of this size, with their contents."""
    archive = Pieces(data[at : at + piece] for at in range(0, len(data), piece))
    return [(one, archive.exactly(one.size)) for one in members(archive)]


@pytest.mark.parametrize("piece", [1, 700, 1 << 20])
@pytest.mark.parametrize("kind", FORMATS)
def test_members_are_those_of_tarfile(kind: int, piece: int) -> None:
    data = made(kind)
    expected = []
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for info in archive:
            content = archive.extractfile(info) if info.isreg() else None
            is_file = info.isreg() and not info.issparse()
            expected.append(
                (Member(info.name, info.size, is_file), content.read() if content else b"")
            )
    assert found(data, piece) == expected
    assert len(expected) >= 8


@pytest.mark.parametrize("kind", FORMATS)
def test_an_archive_that_is_cut_off_has_the_members_before(kind: int) -> None:
    data = made(kind)
    whole = found(data)
    for end in range(0, len(data), 97):
        archive = Pieces(iter([data[:end]]))
        seen: list[tuple[Member, bytes]] = []
        with suppress(TarError):
            seen.extend((one, archive.exactly(one.size)) for one in members(archive))
        assert seen == whole[: len(seen)]


def test_a_member_that_nobody_reads_is_skipped() -> None:
    archive = Pieces(iter([made(tarfile.GNU_FORMAT)]))
    assert [one.name for one in members(archive)][:3] == [NAMES[0], NAMES[1], NAMES[2]]


def test_a_checksum_of_signed_bytes_is_right() -> None:
    header = bytearray(tar_header(b"0", b"\xff\xfe", b""))
    plain = sum(header) - sum(header[148:156]) + 8 * 32
    for minus, fits in ((0, True), (512, False), (256 * 3, True), (1, False)):
        header[148:156] = b"%06o\0 " % (plain - minus)
        if fits:
            assert found(bytes(header))
        else:
            with pytest.raises(TarError, match="wrong checksum"):
                found(bytes(header))


def test_records_say_more_of_the_next_member_or_of_all() -> None:
    first = tar_header(b"x", b"", pax(path=b"long", size=b"3"))
    file = tar_header(b"0", b"short", b"abcdef", 6)
    more = tar_header(b"g", b"", pax(comment=b"=", GNU__sparse__major=b"1"))
    names = [(one.name, one.size, one.is_file) for one, _ in found(first + file + file)]
    assert names == [("long", 3, True), ("short", 6, True)]
    assert [one.is_file for one, _ in found(file + more + file + file)] == [True, False, False]
    for wrong in (
        b"5 a=\n",
        b"0 a=b\n",
        b"99999999999999999999 a=b\n",
        b"6 ab \n",
        b"a=b",
        b"6 a=b",
    ):
        (records,) = [tar_header(b"x", b"", wrong)]
        if wrong == b"5 a=\n":
            assert found(records + file)
        else:
            with pytest.raises(TarError, match="a pax header is no list of records"):
                found(records + file)


def test_a_header_costs_no_more_than_a_megabyte(tmp_path: Path) -> None:
    path = tmp_path / "graph.tar"
    for kind in (b"x", b"g", b"L", b"K"):
        path.write_bytes(tar_header(kind, b"", bytes(32 << 20)) + tar_header(b"0", b"a", b""))
        tracemalloc.start()
        try:
            with pytest.raises(InputError, match=r"a header declares 33,554,432 bytes; tfprof acc"):
                library.load(graph=path)
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()


def test_what_follows_the_archive_is_part_of_the_checksum(tmp_path: Path) -> None:
    path = tmp_path / "graph.tgz"
    data = bytearray(gzip.compress(made(tarfile.GNU_FORMAT) + bytes(100 << 10), 0))
    data[-6] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"is a damaged gzip file: .*incorrect data check"):
        library.load(graph=path)


def patched(data: bytes, **places: tuple[int, bytes]) -> bytes:
    """The archive with other bytes in its first header, whose checksum is right again."""
    header = bytearray(data[:BLOCK])
    for at, content in places.values():
        header[at : at + len(content)] = content
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data[BLOCK:]


FILE: Final = tar_header(b"0", b"name", b"")
LAST: Final = tar_header(b"0", b"last", b"")


@pytest.mark.parametrize(
    "data",
    [
        FILE + LAST + b"\n",
        patched(FILE, type=(156, b"\0"), name=(0, b"folder/"), size=(124, b"%011o" % 900)) + LAST,
        patched(FILE, type=(156, b"2"), size=(124, b"\xff" * 12)) + LAST,
        patched(FILE, magic=(257, b"ustar 00"), prefix=(345, b"before")) + LAST,
        patched(FILE, magic=(257, b"ustar  \0"), prefix=(345, b"0")) + LAST,
        patched(FILE, type=(156, b"1"), size=(124, b"%011o" % 512)) + LAST,
    ],
    ids=[
        "a line behind it", "a folder of old", "a link of a size below zero",
        "a prefix without a magic", "GNU's header without a prefix", "a hard link of a size",
    ],
)  # fmt: skip
def test_what_programs_of_old_write(data: bytes) -> None:
    names = [one.name for one, _ in found(data)]
    assert names[-1] == "last"
    if b"ustar 00" in data:
        assert names[0] == "before/name"
    elif b"folder" in data:
        assert found(data)[0] == (Member("folder", 0, is_file=False), b"")
    else:
        assert names[0] == "name"
