"""Hostile names: of nodes, operations, devices, types, files and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostile import FEW, Row
from hostile_parts import CPU, device, entry, frame, node, part, run, shape_attribute, stat, text

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES: Final = {
    "empty": b"",
    "a slash": b"/",
    "slashes": b"////",
    "a slash first": b"/a",
    "two slashes first": b"//a",
    "two slashes inside": b"a//b",
    "a slash last": b"a/",
    "a caret": b"^a",
    "a colon": b"a:0",
    "blanks": b"  ",
    "NUL": b"a\0b",
    "newline": b"a\nb\r\nc",
    "ANSI": b"\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "bidirectional marks": "a\u202eb\u2066c".encode(),
    "markup": b"</script><img src=x onerror=alert(1)>",
    "a formula": b"=cmd|' /C calc'!A0",
    "Markdown": b"[a](javascript:alert(1))|`b`",
    "quotes": b"a\"b'c\\",
    "invalid UTF-8": b"a\xff\xfe\xc3",
    "a lone surrogate": b"a\xed\xa0\x80b",
    "noncharacters": "a\uffff\U0010ffff".encode(),
    "the root": b"_TFProfRoot",
    "below the root": b"_TFProfRoot/a",
    "gradients": b"gradients/_grad/gradients/x_grad/",
    "percents": b"%s%n{0}{a!r}",
    "a path": b"../../../etc/passwd",
}


def _everywhere(name: str, odd: bytes) -> Row:
    """A profile where *odd* is the name of all there is."""
    graph = node(b"plain", b"VariableV2", shape_attribute(2)) + node(
        odd, odd, shape_attribute(3), inputs=(odd, b"plain", b"^" + odd)
    )
    runs = run(device(CPU, stat(odd, 5, 6), stat(b"plain", 7, 8)),
               device(odd, stat(odd, 5, 6), stat(odd + b"x", 6, 6)),
               device(b"/" + odd + b"/gpu:0/stream:all", stat(b"plain", 5, 6)))  # fmt: skip
    log = (
        entry(odd, frame(1, 2, 3, 4), float_ops=7, types=(odd,))
        + entry(b"plain", frame(1, 3, 3), frame(3, 4, 1), float_ops=7, types=(odd, odd))
        + b"".join(text(key, odd) for key in (1, 3, 4))
    )
    return Row(f"names: {name}", {"graph": graph, "run": runs, "log": log}, shows=b"plain (")


def _long() -> Iterator[Row]:
    """Names of a megabyte."""
    long = b"n" * 1_000_000
    yield Row("names: a megabyte",
              {"graph": node(long, long, inputs=(long,)),
               "run": run(device(CPU, stat(long, 1, 1)), device(long, stat(long, 1, 1))),
               "log": entry(long, frame(1, 1, 1), types=(long,)) + text(1, long)},
              shows=b"nnn (")  # fmt: skip
    yield Row("names: a thousand with a prefix of a kilobyte",
              {"graph": b"".join(node(long[:1000] + b"%d" % at) for at in range(1000))},
              shows=b"nnn100 (")  # fmt: skip
    deep = b"a/" * 2_000 + b"b"
    yield Row(
        "names: 2,000 scopes",
        {"graph": node(deep, b"NoOp", inputs=(deep,)), "run": run(device(CPU, stat(deep, 1, 1)))},
        shows=b"/a/a/a (",
    )
    deeper = b"a/" * 500_000
    yield Row(
        "names: a megabyte of scopes",
        {"graph": node(deeper, b"NoOp"), "run": run(device(CPU, stat(deeper, 1, 1)))},
        shows=b"a/a/a (",
        commands=("scope", "graph", "advise", "save", "overview", "page"),
    )
    yield Row("names: 200,000 slashes",
              {"graph": node(b"x", b"NoOp") + node(b"/" * 200_000, b"NoOp")}, shows=b"//// (",
              commands=("scope", "graph", "advise", "save"))  # fmt: skip


def _kinds() -> Iterator[Row]:
    """What the name of a device or of an allocator may make us look for."""
    long = b"/device:gpu:" + b"0" * 500_000 + b"x"
    cpus = b"/cpu:" * 200_000
    gpus = b"gpu:1" * 200_000
    yield Row("names: devices that nearly are one",
              {"graph": node(b"w"),
               "run": run(*(device(d, stat(b"w", 1, 1)) for d in (long, cpus, gpus)))},
              shows=b"  w (", commands=FEW)  # fmt: skip
    gradients = b"gradients/" * 50_000 + b"_grad/" * 50_000
    yield Row("names: gradients of gradients",
              {"graph": node(gradients) + node(b"w"),
               "log": entry(gradients,
                            frame(1, 1, 1)) + entry(b"w", frame(1, 1, 1)) + text(1, b"f")},
              shows=b"gradients/", commands=("scope", "code", "save"))  # fmt: skip
    collection = part(1, b"trainable_variables"), part(2, part(2, part(1, part(1, b":" * 100_000))))
    yield Row("names: of variables that are only colons",
              {"graph": part(1, part(4, b"t")) + part(2, node(b"w")) + part(4, *collection)},
              shows=b"  w (")  # fmt: skip


ROWS: Final = [*(_everywhere(*one) for one in NAMES.items()), *_long(), *_kinds()]
