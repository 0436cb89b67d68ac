"""Hostile texts: nested, endless, wrongly spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hostile import Row
from hostile_kinds import GRAPH_TEXT, LOG_TEXT, RUN_TEXT
from hostile_parts import GRAPH

if TYPE_CHECKING:
    from collections.abc import Iterator

_NODE: Final = b'node { name: "n" op: "NoOp" %s }\n'


def _graph(name: str, text: bytes, **expected: object) -> Row:
    return Row(
        f"text: {name}",
        {"graph": text},
        commands=("scope", "advise", "save"),
        **expected,  # type: ignore[arg-type]
    )


def _nesting() -> Iterator[Row]:
    for depth in (1_000, 50_000):
        function = b"value { func { attr { key: 'k' " * depth + b"} } }" * depth
        listed = b"value { list { func { attr { key: 'k' " * depth + b"} } } }" * depth
        anything = b"x {" * depth + b"}" * depth
        lists = b"x [" * depth + b"]" * depth
        for name, inside in {
            "functions": b"attr { key: 'shape' " + function + b"}",
            "lists of functions": b"attr { key: '_output_shapes' " + listed + b"}",
        }.items():
            # Attributes are read, and protobuf itself takes no message that is nested so deeply.
            yield _graph(f"{depth:,} {name} deep", GRAPH_TEXT + _NODE % inside,
                         refused="graph: messages are nested too deeply")  # fmt: skip
        yield _graph(
            f"{depth:,} unknown messages deep", GRAPH_TEXT + _NODE % anything, shows=b"  n ("
        )
        yield _graph(f"{depth:,} unknown lists deep", GRAPH_TEXT + _NODE % lists, refused="graph:")
        yield _graph(f"{depth:,} braces", b"node {" * depth, refused="graph:")
        yield _graph(f"{depth:,} closing braces", GRAPH_TEXT + b"}" * depth, refused="graph:5:1")
        yield _graph(f"{depth:,} brackets", GRAPH_TEXT + b"node [" * depth, refused="graph:")


def _spelling() -> Iterator[Row]:
    dims = {
        "a dim of many digits": b"9" * 100_000,
        "a dim that is 2^63": b"9223372036854775808",
        "a dim that is a float": b"1e308",
        "a dim in hexadecimal without end": b"0x" + b"f" * 100_000,
        "a dim in octal without end": b"0" + b"7" * 100_000,
        "a dim with many signs": b"-" * 100_000 + b"1",
    }
    shape = b'attr { key: "shape" value { shape { dim { size: %s } } } }'
    for name, dim in dims.items():
        yield _graph(name, GRAPH_TEXT + _NODE % (shape % dim), refused="graph:5:")
    known = {"a negative dim": b"-9223372036854775808", "2^63-1": b"0x7fffffffffffffff"}
    for name, dim in known.items():
        yield _graph(name, GRAPH_TEXT + _NODE % (shape % dim), shows=b"  n (")
    refused = {
        "no UTF-8": (b'node { name: "\xff\xfe" }', "graph:5:15: expected text in UTF-8"),
        "escapes that are no UTF-8": (b'node { name: "\\377" }', "graph:5:"),
        "a string without end": (b'node { name: "' + b"x" * 1_000_000, "graph:5:"),
        "50,000 strings": (b"node { name: " + b'"" ' * 50_000, "graph:"),
        "a million backslashes": (b'node { name: "' + b"\\" * 300_001 + b'" }', "graph:5:"),
        "separators": (b"; , " * 100_000, "graph:5:3"),
        "a name of a field without end": (b"a" * 1_000_000, "graph:5:"),
        "extensions": (b"[a.b.c] { }", "graph:5:"),
        "a name twice in a node": (_NODE % b'name: "m"', 'expected only one "name"'),
        "NUL": (b"\0", "graph:5:1"),
        "binary behind it": (GRAPH, "expected text in UTF-8"),
    }
    for name, (text, says) in refused.items():
        yield _graph(name, GRAPH_TEXT + text, refused=says)
    yield _graph("blanks and then nothing of the kind", b" " * 1_000_000 + b"!", refused="graph")
    shows = {
        "a million escapes": (b'node { name: "' + b"\\n" * 300_000 + b'" }', b"  w"),
        "an unknown enum": (_NODE % b'attr { key: "T" value { type: DT_999 } }', b"  n ("),
        "unknown fields": (_NODE % b'later: 7 more { x: "y" }' + b"future { }", b"  n ("),
        "strings in many pieces": (b"node { name: " + b"'a' " * 30_000 + b"}", b"  w ("),
        "a list of many": (_NODE % (b"input: [" + b"'w', " * 30_000 + b"'w']"), b"  n ("),
    }
    for name, (text, piece) in shows.items():
        yield _graph(name, GRAPH_TEXT + text, shows=piece)
    yield _graph("comments", b"# c\n" * 100_000 + GRAPH_TEXT + b"#" * 1_000_000, shows=b"  w (")
    yield _graph("blanks", b" \n\t" * 100_000 + GRAPH_TEXT + b" " * 1_000_000, shows=b"  w (")


def _others() -> Iterator[Row]:
    """Runs and logs, which the same reader reads."""
    for kind, text in {"run": RUN_TEXT, "log": LOG_TEXT}.items():
        deep = text + b"later { x {" + b"x {" * 100_000 + b"}" * 100_000 + b"} }"
        yield Row(f"text: {kind}, 100,000 deep", {"graph": GRAPH, kind: deep}, shows=b"  w (",
                  commands=("scope", "info"))  # fmt: skip
        for name, more in {
            "a brace that is not closed": b"later {",
            "a number that is none": b"later: 1x",
            "no UTF-8": b'later: "\xff"',
        }.items():
            yield Row(f"text: {kind} with {name}", {"graph": GRAPH, kind: text + more},
                      refused=f"{kind}:", blames=f"/{kind}",
                      commands=("scope", "info"))  # fmt: skip


ROWS: Final = [*_nesting(), *_spelling(), *_others()]
