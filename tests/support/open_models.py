"""Models with open dimensions: what tfprof says of them, and of the same with fixed sizes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.ops.dtypes import DTYPES
from tfprof.ops.output_dtypes import output_dtypes
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import Source, load
from tfprof.summary.build_summary import Summary, summary
from tfprof.summary.model_nodes import model_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tfprof.model import Profile

KNOWN_TO_VARY: Final = "no constant bound"


class OpenModel(NamedTuple):
    """A model that is saved with open dimensions, and the sizes at which it is compared."""

    name: str
    folder: Path

    @property
    def sizes(self) -> dict[str, int]:
        sizes: dict[str, dict[str, int]] = json.loads((self.folder / "sizes.json").read_text())
        return sizes[self.name]

    @property
    def open(self) -> Profile:
        return _read(self.folder / self.name / "saved_model.pb")

    @property
    def fixed(self) -> Profile:
        """The same, as TensorFlow traces it with these sizes."""
        return _read(self.folder / f"{self.name}.pb")


def _read(path: Path) -> Profile:
    return load(Source(path.name, np.fromfile(path, np.uint8)))


def multiply_adds(sums: Summary) -> int | None:
    """The multiply-adds of a model without open dimensions."""
    return None if sums.total.multiply_adds is None else sums.total.multiply_adds.constant


def is_incomplete(sums: Summary) -> bool:
    """Whether the summary says that its numbers do not cover everything."""
    return bool(sums.counts.uncounted) or any(KNOWN_TO_VARY in text for text in sums.sentences)


def float_ops_by_type(profile: Profile, dims: Mapping[str, int]) -> dict[str, int]:
    """The float operations of each operation type in one run, of those that make floats.

    With open dimensions, a graph computes shapes as it runs, in integers.
    """
    counted, _ = with_float_ops(profile, "all", dims)
    makes_floats = [DTYPES[dtype].is_of_weights for dtype in output_dtypes(counted).tolist()]
    is_counted = np.array(makes_floats) & model_nodes(profile, ())
    amount = np.where(is_counted, counted.values("float_ops", None), 0)
    types = [*counted.types.texts()]
    totals = np.zeros(len(types) + 1, np.int64)
    np.add.at(totals, counted.nodes.op, amount)
    return {op: total for op, total in zip(types, totals.tolist(), strict=False) if total}


def check_with_sizes(
    model: OpenModel, figures: tuple[int, int], fixed_figure: int | None = None, *, partly: bool
) -> None:
    """The model has these multiply-adds and parameters; TensorFlow's own shapes give the same.

    *fixed_figure*: what TensorFlow traces with these sizes has others; *partly*: something else is
    uncertain.
    """
    sums, fixed = summary(model.open, dims=model.sizes), summary(model.fixed)
    assert (multiply_adds(sums), sums.total.parameters) == figures
    assert multiply_adds(fixed) == (fixed_figure or figures[0])
    assert is_incomplete(sums) == is_incomplete(fixed) == partly, sums.counts.uncounted
    if fixed_figure is None:
        both = (float_ops_by_type(model.open, model.sizes), float_ops_by_type(model.fixed, {}))
        # With other sizes, Keras may take another operation for the same product.
        assert sum(both[0].values()) == sum(both[1].values()), both


def check_formula(model: OpenModel, multiply_adds: int, *, has_formula: bool) -> None:
    """The formula gives the same; there is none where no polynomial fits."""
    formula = summary(model.open).total.multiply_adds
    assert (formula is not None) == has_formula
    if formula is not None:
        assert formula.at(model.sizes) == multiply_adds
