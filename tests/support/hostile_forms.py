"""Hostile forms of SavedModels: tag sets, text, chunks, archives."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
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


def _archives() -> Iterator[Row]:
    model = _member("../../saved_model.pb", _MODEL)
    sound = tar(_member("/etc/evil", b"x"), model, _member("\x1b[31m", b"x"))
    for name, data in {"tar": sound, "tar.gz": gzip.compress(sound, mtime=0)}.items():
        yield Row(f"{name}: sound", {f"graph.{name}": data}, shows=b"mul (", commands=_SCOPE)
        yield Row(f"{name}: cut off", {f"graph.{name}": data[: min(len(data) // 2, 1_600)]},
                  refused=f"graph.{name}", commands=("scope",))  # fmt: skip
    long = _member("././@LongLink", b"saved_model.pb\0", type=tarfile.GNUTYPE_LONGNAME)
    yield Row("tar: a name of a name, 3,000 times", {"graph.tar": lambda: tar(*[long] * 3_000)},
              refused="is a damaged tar archive", commands=("scope",))  # fmt: skip
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


ROWS: Final = [*_tags(), *_texts(), *_chunks(), *_archives()]
