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
    for name, dim in {
        "a negative dim": b"-9223372036854775808",
        "2^63-1": b"0x7fffffffffffffff",
    }.items():
        yield _graph(name, GRAPH_TEXT + _NODE % (shape % dim), shows=b"  n (")
    yield _graph("no UTF-8", GRAPH_TEXT + b'node { name: "\xff\xfe" }',
                 refused="graph:5:15: expected text in UTF-8")  # fmt: skip
    yield _graph(
        "escapes that are no UTF-8", GRAPH_TEXT + b'node { name: "\\377" }', refused="graph:5:"
    )
    yield _graph("a string without end", GRAPH_TEXT + b'node { name: "' + b"x" * 1_000_000,
                 refused="graph:5:")  # fmt: skip
    yield _graph(
        "50,000 strings", GRAPH_TEXT + b"node { name: " + b'"" ' * 50_000, refused="graph:"
    )
    yield _graph("a million escapes", GRAPH_TEXT + b'node { name: "' + b"\\n" * 300_000 + b'" }',
                 shows=b"  w")  # fmt: skip
    yield _graph("a million backslashes", GRAPH_TEXT + b'node { name: "' + b"\\" * 300_001 + b'" }',
                 refused="graph:5:")  # fmt: skip
    yield _graph("comments", b"# c\n" * 100_000 + GRAPH_TEXT + b"#" * 1_000_000, shows=b"  w (")
    yield _graph("blanks", b" \n\t" * 100_000 + GRAPH_TEXT + b" " * 1_000_000, shows=b"  w (")
    yield _graph("blanks and then nothing of the kind", b" " * 1_000_000 + b"!", refused="graph")
    yield _graph("separators", GRAPH_TEXT + b"; , " * 100_000, refused="graph:5:3")
    yield _graph("a name of a field without end", GRAPH_TEXT + b"a" * 1_000_000, refused="graph:5:")
    yield _graph(
        "an unknown enum",
        GRAPH_TEXT + _NODE % b'attr { key: "T" value { type: DT_999 } }',
        shows=b"  n (",
    )
    yield _graph("unknown fields", GRAPH_TEXT + _NODE % b'later: 7 more { x: "y" }' + b"future { }",
                 shows=b"  n (")  # fmt: skip
    yield _graph("extensions", GRAPH_TEXT + b"[a.b.c] { }", refused="graph:5:")
    yield _graph("a name twice in a node", GRAPH_TEXT + _NODE % b'name: "m"',
                 refused='expected only one "name"')  # fmt: skip
    yield _graph("NUL", GRAPH_TEXT + b"\0", refused="graph:5:1")
    yield _graph("binary behind it", GRAPH_TEXT + GRAPH, refused="expected text in UTF-8")
    yield _graph("strings in many pieces", GRAPH_TEXT + b"node { name: " + b"'a' " * 30_000 + b"}",
                 shows=b"  w (")  # fmt: skip
    yield _graph("a list of many", GRAPH_TEXT + _NODE % (b"input: [" + b"'w', " * 30_000 + b"'w']"),
                 shows=b"  n (")  # fmt: skip


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
            yield Row(
                f"text: {kind} with {name}",
                {"graph": GRAPH, kind: text + more},
                refused=f"{kind}:",
                blames=f"/{kind}",
                commands=("scope", "info"),
            )


ROWS: Final = [*_nesting(), *_spelling(), *_others()]
