"""The recorded programs of data/hlo, and what JAX said of each when it compiled them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import paths
import tfprof

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.results.fleet import Fleet
    from tfprof.results.loaded import Loaded

DATA: Final = paths.DATA / "hlo"
FORMS: Final = ("hlo.pb", "module.pb", "txt")
"""One program in three forms: after optimizations, the module alone, and text."""
CONTRACTIONS: Final = ("dot", "convolution")

Shapes = dict[str, tuple[int, ...]]


class Facts(NamedTuple):
    """What JAX says of a program; shapes are by its names for the arrays of each argument."""

    params: Shapes
    optimizer: Shapes
    inputs: Shapes
    flops: float
    transcendentals: float
    memory: dict[str, int]


@cache
def facts(folder: Path = DATA) -> dict[str, Facts]:
    """What JAX says of each program."""
    said = json.loads((folder / "facts.json").read_text())
    return {name: _facts(of) for name, of in said.items() if name not in {"versions", "devices"}}


def _facts(said: dict[str, Any]) -> Facts:
    shapes = {
        group: {name: tuple(shape) for name, shape in said[group].items()}
        for group in ("params", "optimizer", "inputs")
    }
    return Facts(**{**said, **shapes})


def elements(shapes: Shapes) -> int:
    return sum(prod(shape) for shape in shapes.values())


def path(name: str, form: str = "hlo.pb", folder: Path = DATA) -> Path:
    return folder / f"{name}.{form}.gz"


@cache
def content(name: str, form: str = "hlo.pb", folder: Path = DATA) -> bytes:
    """The bytes of a file."""
    return gzip.decompress(path(name, form, folder).read_bytes())


@cache
def loaded(name: str, form: str = "hlo.pb", folder: Path = DATA) -> Loaded:
    """What tfprof reads in a file."""
    return tfprof.load(graph=path(name, form, folder))


def by_type(program: Loaded | Fleet, **options: Any) -> dict[str, Any]:
    """The rows of the op view by operation type; `_TFProfRoot` has the total."""
    report = program.op(select=["float_ops", "params"], max_depth=10_000, **options)
    return {row.name: row for row in report.rows}


def contracted(program: Loaded) -> int:
    """The float operations of products and convolutions."""
    rows = by_type(program)
    return sum(rows[kind].own_float_ops for kind in CONTRACTIONS if kind in rows)
