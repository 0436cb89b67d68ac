"""A report as columns of plain values: what JSON, CSV and Markdown are all written from.

    row  parent  depth  name          accounted  shape   own_params  total_params  …
    0    None    1      _TFProfRoot   False      None    0           24
    1    0       2      w             True       [3, 4]  12          24

Numbers are the report's own, whole and without a unit; the name of a column tells it. A column
gives the values of a run of rows when asked, so a million rows never stand in memory as text.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tfprof.foundation import units
from tfprof.query.counted import DEFINED
from tfprof.tables.fields import FIELDS
from tfprof.writers.node_texts import NodeTexts
from tfprof.writers.numbers import chunks
from tfprof.writers.text import columns as shown_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.columns.strings import I64
    from tfprof.query.counted import Answer

# number  a whole number or None        texts   a list of texts         inputs  a shape an input
# flag    True or False                 shape   dimensions or None      groups  see InputGroup
Kind = Literal["number", "flag", "text", "texts", "shape", "inputs", "groups"]
Dims = list[int] | None  # None: unknown


class Column(NamedTuple):
    """A column: its name, what its values are, and the values of a run of rows."""

    name: str
    kind: Kind
    values: Callable[[slice], list[Any]]
    unit: units.Format | None = None  # how people write its numbers


class InputGroup(NamedTuple):
    """Nodes of one operation type that take inputs of the same shapes."""

    shapes: list[Dims]
    runs: int
    defined: int
    micros: int


def columns(answer: Answer) -> list[Column]:
    """The columns of *answer*: where each row stands, and what was selected."""
    parent, depth = answer.tree.parent, answer.tree.depth
    label, accounted = answer.label, answer.accounted
    made = [
        Column("row", "number", lambda rows: list(range(*rows.indices(len(answer))))),
        Column(
            "parent", "number", lambda rows: [p if p >= 0 else None for p in parent[rows].tolist()]
        ),
        Column("depth", "number", lambda rows: depth[rows].tolist()),
        Column("name", "text", lambda rows: [_plain(name) for name in label.take(rows)]),
        Column("accounted", "flag", lambda rows: accounted[rows].tolist()),
    ]
    attributes = _group_columns(answer) if answer.view.groups else _node_columns(answer)
    for name in shown_fields(answer):
        if name in attributes:
            made.append(attributes[name])
        elif name == "occurrence":
            if answer.view.name != "code":
                made += [*_numbers(answer, name, "runs"), *_numbers(answer, DEFINED, DEFINED)]
        elif FIELDS[name].unit:
            if name == "params" and "shape" in attributes:
                made.append(attributes["shape"])
            made += _numbers(answer, name, name)
    return made


def runs_of_rows(table: list[Column], answer: Answer) -> Iterator[list[list[Any]]]:
    """The values of each column for one run of the rows of *answer* after the other."""
    for rows in chunks(len(answer), answer.label.length):
        yield [column.values(rows) for column in table]


class PrintedColumn(NamedTuple):
    """A column as people read it."""

    name: str
    right: bool  # it is of numbers, which stand at the right


class Printed(NamedTuple):
    """A run of rows as people read them: the columns, and (depth, name, cells) of each row."""

    columns: list[PrintedColumn]
    rows: list[tuple[int, str, tuple[str, ...]]]


def printed(table: list[Column], rows: slice, *, chain: bool) -> Printed:
    """The *rows* of a table with units to their numbers; the rows of a list stand side by side."""
    told = [column for column in table if column.name not in _PLACES]
    place = {column.name: column.values(rows) for column in table if column.name in _PLACES}
    cells = [_cells(column, column.values(rows), place["accounted"]) for column in told]
    depths = [1] * len(place["depth"]) if chain else place["depth"]
    texts = zip(*cells, strict=True) if cells else ((),) * len(depths)
    return Printed(
        [PrintedColumn(column.name.replace("_", " "), column.unit is not None) for column in told],
        list(zip(depths, place["name"], texts, strict=True)),
    )


# These tell where a row stands; for the eye, the order of rows and the indent do.
_PLACES = ("row", "parent", "depth", "name", "accounted")


def _cells(column: Column, values: list[Any], accounted: list[bool]) -> list[str]:
    if column.unit is None:
        return [flat(column.kind, value) for value in values]
    known = {value: column.unit(value) for value in set(values)}
    texts = [known[value] for value in values]
    if not column.name.startswith("own_"):
        return texts
    return [text if counts else "--" for text, counts in zip(texts, accounted, strict=True)]


def flat(kind: Kind, value: Any) -> str:  # noqa: ANN401 - each kind has its own type
    """A value as one text, for formats whose cells hold nothing else; None is no text."""
    return "" if value is None else _FLAT[kind](value)


def _group_text(group: InputGroup) -> str:
    shapes = _inputs_text(group.shapes, ",")
    return f"{shapes} runs={group.runs} defined={group.defined} micros={group.micros}".lstrip()


def _inputs_text(shapes: list[Dims], between: str) -> str:
    return between.join(
        f"{at}:{'unknown' if dims is None else units.shape(dims)}" for at, dims in enumerate(shapes)
    )


_FLAT: dict[Kind, Callable[[Any], str]] = {
    "number": str,
    "flag": lambda value: "true" if value else "false",
    "text": str,
    "texts": "|".join,
    "shape": units.shape,
    "inputs": lambda shapes: _inputs_text(shapes, "|"),
    "groups": lambda groups: "; ".join(map(_group_text, groups)),
}


def _numbers(answer: Answer, metric: str, name: str) -> list[Column]:
    own, total = answer.own(metric), answer.total(metric)
    unit = FIELDS[metric].unit if metric in FIELDS else units.count
    return [
        Column(f"own_{name}", "number", lambda rows: own[rows].tolist(), unit),
        Column(f"total_{name}", "number", lambda rows: total[rows].tolist(), unit),
    ]


def _node_columns(answer: Answer) -> dict[str, Column]:
    """What is told of a graph node besides numbers, where a row is one at most."""
    nodes, node, shapes = (
        NodeTexts(answer.profile, answer.drawing.filler),
        answer.node,
        answer.profile.nodes.shape,
    )

    def each(told: Callable[[int], Any]) -> Callable[[slice], list[Any]]:
        return lambda rows: [told(one) for one in node[rows].tolist()]

    def devices(one: int) -> list[str]:
        device = nodes.device(one)
        return [] if device is None else [_clean(device)]

    return {
        "shape": Column("shape", "shape", each(lambda one: (one >= 0 and shapes[one]) or None)),
        "device": Column("devices", "texts", each(devices)),
        "op_types": Column(
            "op_types", "texts", each(lambda one: list(map(_clean, nodes.type_list(one))))
        ),
        "input_shapes": Column(
            "input_shapes", "inputs", each(lambda one: list(map(_dims, nodes.inputs(one))))
        ),
    }


def _group_columns(answer: Answer) -> dict[str, Column]:
    """What is told of the graph nodes of a row besides numbers, where a row may hold many."""
    nodes = NodeTexts(answer.profile, answer.drawing.filler)
    start, member = answer.members()

    def each(told: Callable[[I64], Any]) -> Callable[[slice], list[Any]]:
        return lambda rows: [
            told(member[start[row] : start[row + 1]]) for row in range(*rows.indices(len(answer)))
        ]

    made = {
        "device": Column(
            "devices", "texts", each(lambda held: list(map(_clean, nodes.device_list_of(held))))
        ),
        "op_types": Column(
            "op_types", "texts", each(lambda held: list(map(_clean, nodes.type_list_of(held))))
        ),
    }
    if answer.view.chain:
        runs = answer.profile.values("occurrence", answer.query.step)
        micros = answer.profile.values("micros", answer.query.step)
        made["input_shapes"] = Column(
            "input_shape_groups", "groups", each(lambda held: _groups(nodes, held, runs, micros))
        )
    return made


def _groups(nodes: NodeTexts, held: I64, runs: I64, micros: I64) -> list[InputGroup]:
    """The nodes *held* by the shapes they take, the most run first, as the text lists them."""
    sums: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for node in held.tolist():
        entry = sums[tuple(nodes.inputs(node))]
        entry[0] += int(runs[node])
        entry[1] += 1
        entry[2] += int(micros[node])
    ordered = sorted(sums.items(), key=lambda item: (-item[1][0], ",\t".join(item[0])))
    return [InputGroup(list(map(_dims, shapes)), *sum_) for shapes, sum_ in ordered]


@lru_cache(1 << 14)
def _dims(numbered: str) -> Dims:
    """The dimensions in "0:3x4"; None in "0:unknown"."""
    dims = numbered.partition(":")[2]
    return None if dims == "unknown" else [int(dim) for dim in dims.split("x")]


def _plain(name: bytes) -> str:
    """A name as text that can be written anywhere; bytes that are no UTF-8 are replaced."""
    return name.decode("utf-8", "replace")


def _clean(text: str) -> str:
    """Likewise, of text that holds such bytes as surrogates."""
    return text if text.isascii() else _plain(text.encode("utf-8", "surrogateescape"))
