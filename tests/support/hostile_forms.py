"""Hostile forms of SavedModels: tag sets, text, chunks, archives."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from chunked_models import SIGNATURE, field, riegeli
from hostile import Row
from hostile_archives import archive, saved_model, signature
from hostile_parts import GRAPH, INT64_MAX, part

if TYPE_CHECKING:
    from collections.abc import Iterator

_MODEL: Final = saved_model(GRAPH, signature(b"s", b"s/mul:0"))
_SCOPE: Final = ("scope", "info")


def _tags() -> Iterator[Row]:
    def tagged(*tags: bytes) -> bytes:
        return part(2, part(1, *(part(4, tag) for tag in tags)), part(2, GRAPH))

    many = b"".join(tagged(b"t%d" % at) for at in range(5_000)) + tagged(b"serve")
    odd = tagged(b"\x1b[31m", b"a,b", b"") + tagged(b"\xff'; rm") + tagged(b"\n", b"serve")
    for what, model, others in (("5,000", many, 5_000), ("not to be typed", odd + tagged(), 3)):
        yield Row(
            f"tags: {what}",
            {"saved_model.pb": model},
            notes=f"{others:,} more graphs of the SavedModel ignored",
            commands=_SCOPE,
        )
    wide = tagged(*[b"x" * 1_000] * 1_000) + tagged(b"serve")
    yield Row("tags: a thousand long ones", {"saved_model.pb": wide}, notes="1 more graph",
              commands=_SCOPE)  # fmt: skip


def _texts() -> Iterator[Row]:
    graph = b'graph_def { node { name: "s/mul" op: "Abs" } }'
    sound = b'saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: "serve" } '
    yield Row("saved model text: sound", {"saved_model.pbtxt": sound + graph + b"}"},
              shows=b"mul", commands=_SCOPE)  # fmt: skip
    yield Row("saved model text: cut off", {"saved_model.pbtxt": sound + graph},
              refused="saved_model.pbtxt", commands=("scope",))  # fmt: skip
    deep = b"meta_graphs { " + b"graph_def { " * 10_000
    yield Row("saved model text: 10,000 braces", {"saved_model.pbtxt": deep},
              refused="saved_model.pbtxt", commands=("scope",))  # fmt: skip


def _placed(path: list[bytes], *message: bytes) -> bytes:
    """A ChunkedField."""
    return field(2, b"".join(field(1, tag) for tag in path) + field(3, b"".join(message)))


def _chunked(name: str, *records: bytes, message: bytes = b"", **expected: Any) -> Row:
    infos = b"".join(field(2, field(1, 1)) for _ in records)

    def data() -> bytes:
        return riegeli([*records, infos + field(3, message)])

    return Row(f"chunks: {name}", {"saved_model.cpb": data}, **expected)


def _chunks() -> Iterator[Row]:
    meta = [field(1, 2), field(3, 0)]
    sound = field(1, 0) + _placed([*meta, field(1, 2)], field(1, 1))
    empty = saved_model(b"", signature(b"s", b"s/mul:0"))
    yield _chunked("sound", empty, GRAPH, message=sound, shows=b"mul (", commands=_SCOPE)
    for what, index in {"one": 1, "the largest": INT64_MAX}.items():
        path = [field(1, 2), field(3, index), field(1, 2)]
        place = field(1, 0) + _placed(path, field(1, 1))
        yield _chunked(f"an index that is {what}", _MODEL, GRAPH, message=place, commands=_SCOPE)
    damaged: dict[str, Any] = {"refused": "is a damaged chunked SavedModel", "commands": ("scope",)}
    yield _chunked("no such record", _MODEL, message=field(1, 7), **damaged)
    often = field(1, 0) + _placed(meta, field(1, 0)) * 100_000
    yield _chunked("one record 100,000 times", _MODEL, message=often, **damaged)
    yield _chunked(
        "a path of 100,000 steps", _MODEL, message=_placed([field(1, 2)] * 100_000), **damaged
    )
    nested = field(1, 0)
    for _ in range(3_000):
        nested = _placed([field(1, 2)], nested)
    yield _chunked("messages in messages", _MODEL, message=nested, **damaged)
    key = field(1, 0) + _placed([field(1, 5), field(2, b"\xff"), field(1, 2)], field(1, 1))
    yield _chunked("a key in a path", _MODEL, GRAPH, message=key, commands=_SCOPE)
    whole = riegeli([_MODEL])
    for at in (24 + 8, 64 + 8, 64 + 25, 64 + 32):
        wrong = whole[:at] + b"\xff" * 7 + whole[at + 7 :]
        yield Row(f"chunks: a header of large numbers at {at}", {"saved_model.cpb": wrong},
                  refused="saved_model.cpb", commands=("scope",))  # fmt: skip
    many = whole[: 64 + 25] + (10**6).to_bytes(7, "little") + whole[64 + 32 :]
    yield Row("chunks: a million records in a few bytes", {"saved_model.cpb": many},
              refused="more records than bytes", commands=("scope",))  # fmt: skip
    for kind in b"t\0\xff":
        wrong = whole[:88] + bytes([kind]) + whole[89:]
        yield Row(f"chunks: of type {kind}", {"saved_model.cpb": wrong},
                  refused="which tfprof does not read", commands=("scope",))  # fmt: skip
    yield Row("chunks: cut off", {"saved_model.cpb": SIGNATURE[:40]},
              refused="is a damaged chunked SavedModel", commands=("scope",))  # fmt: skip


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as opened:
        for info, data in members:
            opened.addfile(info, io.BytesIO(data))
    return made.getvalue()


def _member(name: str, data: bytes, **also: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for attribute, value in also.items():
        setattr(info, attribute, value)
    return info, data


def tar_header(kind: bytes, name: bytes, content: bytes, size: int | None = None) -> bytes:
    """A header and its content; *size* is what the header declares where it is something else."""
    number = b"\x80" + (len(content) if size is None else size).to_bytes(11, "big")
    made = bytearray(512)
    made[: len(name)] = name
    made[124:136], made[156:157], made[257:265] = number, kind, b"ustar\x0000"
    made[148:156] = b"%06o\0 " % (sum(made) + 8 * 32)
    return bytes(made) + content + bytes(-len(content) % 512)


def pax(**records: bytes) -> bytes:
    """The records of a pax header; __ in a key stands for a dot."""
    made = []
    for key, value in records.items():
        record = b" " + key.replace("__", ".").encode() + b"=" + value + b"\n"
        length = len(record)
        while len(str(length)) + len(record) != length:
            length = len(str(length)) + len(record)
        made.append(b"%d" % length + record)
    return b"".join(made)


_TAR_MODEL: Final = tar_header(b"0", b"saved_model.pb", _MODEL)


def _tar_headers() -> Iterator[Row]:
    refused: dict[str, Any] = {"refused": "is a damaged tar archive", "commands": ("scope",)}
    read: dict[str, Any] = {"shows": b"mul (", "commands": ("scope",)}
    digits = b"1" * 500_000
    for kind in (b"x", b"g", b"X"):
        data = tar_header(kind, b"pax", digits) + _TAR_MODEL
        for name, content in {"tar": data, "tgz": gzip.compress(data, mtime=0)}.items():
            what = f"{name}: a header {kind.decode()} of 500,000 digits"
            yield Row(what, {f"graph.{name}": content}, **refused)
    for name in "xgLK":
        large = tar_header(name.encode(), b"header", b"", 1 << 60)
        yield Row(f"tar: a header {name} of 1 EB", {"graph.tar": large + _TAR_MODEL},
                  **refused)  # fmt: skip
        longer = tar_header(name.encode(), b"header", bytes(100 << 20))
        yield Row(f"tar.gz: a header {name} of 100 MB",
                  {"graph.tgz": gzip.compress(longer + _TAR_MODEL, 9, mtime=0) + bytes(1 << 20)},
                  **refused)  # fmt: skip
    for key, value in {"size": b"9" * 5_000, "path": b"saved_model.pb" * 70_000}.items():
        header = tar_header(b"x", b"pax", pax(**{key: value}))
        yield Row(f"tar: a long {key}", {"graph.tar": header + _TAR_MODEL},
                  refused="is a", commands=("scope",))  # fmt: skip
    # Sparse files: their maps are not read.
    maps = {
        "0.0": pax(GNU__sparse__size=b"1", GNU__sparse__offset=b"1" * 900_000),
        "0.1": pax(GNU__sparse__map=b"1," * 450_000 + b"1"),
        "1.0": pax(GNU__sparse__major=b"1", GNU__sparse__minor=b"0"),
    }
    for name, records in maps.items():
        content = b"1" * 2_000_000 if name == "1.0" else b""
        sparse = tar_header(b"0", b"sparse", content)
        yield Row(f"tar: a sparse file {name} with a long map",
                  {"graph.tar": tar_header(b"x", b"pax", records) + sparse + _TAR_MODEL},
                  **read)  # fmt: skip
    more = bytes(504) + b"\1" + bytes(7)
    first = bytearray(tar_header(b"S", b"sparse", b""))
    first[482] = 1
    first[148:156] = b"%06o\0 " % (sum(first) - sum(first[148:156]) + 8 * 32)
    yield Row("tar: a sparse file of 10,000 headers",
              {"graph.tar": bytes(first) + more * 10_000 + bytes(512) + _TAR_MODEL},
              **read)  # fmt: skip
    shared = tar_header(b"g", b"pax", pax(**{f"k{at}": b"x" for at in range(50_000)}))
    yield Row("tar: 50,000 records for each of 3,000 files",
              {"graph.tar": shared + tar_header(b"0", b"a", b"") * 3_000 + _TAR_MODEL},
              **read)  # fmt: skip
    # A file without content is a header of 512 bytes, packed 200-fold.
    one = tar_header(b"0", b"a", b"")
    yield Row("tar.gz: 200,000 files without content",
              {"graph.tgz": lambda: gzip.compress(one * 200_000 + _TAR_MODEL, mtime=0)},
              **read)  # fmt: skip


def understated(name: str, unpacked: int, declared: int) -> bytes:
    """A zip archive with a member that unpacks to zeros: more than its headers declare."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = piece + again * ((unpacked >> 20) - 1) + packer.flush()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        opened.writestr(zipfile.ZipInfo(name), packed)
    data = bytearray(made.getvalue())
    for at in (6, data.index(b"PK\1\2") + 8):
        data[at + 2] = zipfile.ZIP_DEFLATED
        data[at + 8 : at + 12] = zlib.crc32(bytes(declared)).to_bytes(4, "little")
        data[at + 16 : at + 20] = declared.to_bytes(4, "little")
    return bytes(data)


def _zips() -> Iterator[Row]:
    for name, inside in {"graph.keras": "config.json", "graph.zip": "saved_model.pb"}.items():
        for declared in (99, 60 << 20):
            yield Row(f"zip: {inside} of 1 GB that is declared as {declared:,}",
                      {name: partial(understated, inside, 1 << 30, declared)},
                      refused=name, commands=("scope",))  # fmt: skip


def _archives() -> Iterator[Row]:
    model = _member("../../saved_model.pb", _MODEL)
    sound = tar(_member("/etc/evil", b"x"), model, _member("\x1b[31m", b"x"))
    for name, data in {"tar": sound, "tar.gz": gzip.compress(sound, mtime=0)}.items():
        yield Row(f"{name}: sound", {f"graph.{name}": data}, shows=b"mul (", commands=_SCOPE)
        yield Row(f"{name}: cut off", {f"graph.{name}": data[: min(len(data) // 2, 1_600)]},
                  refused=f"graph.{name}", commands=("scope",))  # fmt: skip
    long = _member("././@LongLink", b"saved_model.pb\0", type=tarfile.GNUTYPE_LONGNAME)
    yield Row("tar: a name of a name, 3,000 times", {"graph.tar": lambda: tar(*[long] * 3_000)},
              refused="is a tar archive without a SavedModel", commands=("scope",))  # fmt: skip
    sparse = bytearray(tar(_member("saved_model.pb", b"x" * 512, type=tarfile.GNUTYPE_SPARSE)))
    yield Row("tar: a sparse file", {"graph.tar": bytes(sparse)},
              refused="graph.tar", commands=("scope",))  # fmt: skip
    claims = bytearray(tar(_member("saved_model.pb", b"x")))
    claims[124:136] = b"\x80" + b"\0" * 3 + (1 << 62).to_bytes(8, "big")
    claims[148:156] = b"%06o\0 " % (sum(claims[:148]) + 8 * 32 + sum(claims[156:512]))
    yield Row("tar: a file of 4 EB", {"graph.tar": bytes(claims)},
              refused="graph.tar", commands=("scope",))  # fmt: skip
    yield Row("tar.gz: 100 MB in 100 KB",
              {"graph.tgz": lambda: gzip.compress(
                  tar(_member("weights", bytes(100 << 20)), model), mtime=0)},
              refused="unpacks to far more", commands=("scope",))  # fmt: skip
    yield Row("tar: 4,000 names that end like a SavedModel",
              {"graph.tar": lambda: tar(*(_member(f"{at}/xsaved_model.pb", b"")
                                          for at in range(4_000)))},
              refused="is a tar archive without a SavedModel", commands=("scope",))  # fmt: skip
    unnamed = bytearray(archive({"saved_model.pb": _MODEL}))
    for start in (6, unnamed.index(b"PK\1\2") + 8):
        unnamed[start + 1] |= 8  # names are UTF-8
    unnamed = unnamed.replace(b"saved_model.pb", b"saved\xff\xfe\xfdodel.pb")
    yield Row("zip: a name that is not UTF-8", {"graph.zip": bytes(unnamed)},
              refused="a zip archive that is damaged or cut off", commands=("scope",))  # fmt: skip
    files = {f"{at}/keras_metadata.pb": b"x" for at in range(10_000)}
    yield Row("zip: 10,000 files beside",
              {"graph.zip": lambda: archive({**files, "saved_model.pb": _MODEL})},
              shows=b"mul (", commands=_SCOPE)  # fmt: skip
    zeros = {"saved_model.pb": bytes(100 << 20)}
    yield Row("zip: a SavedModel of 100 MB in 100 KB",
              {"graph.zip": lambda: archive(zeros, zipfile.ZIP_DEFLATED)},
              refused="--limit_unpack_ratio", commands=("scope",))  # fmt: skip


ROWS: Final = [*_tags(), *_texts(), *_chunks(), *_archives(), *_tar_headers(), *_zips()]
