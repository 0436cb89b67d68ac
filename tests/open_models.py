"""Models with open dimensions: what tfprof says of them, and of the same with fixed sizes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import Source, load
from tfprof.summary import Summary, summary

if TYPE_CHECKING:
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


def costs(sums: Summary) -> tuple[int | None, int | None]:
    """(multiply-adds, float operations) of a model without open dimensions."""
    both = sums.total.multiply_adds, sums.total.float_ops
    first, second = (None if cost is None else cost.constant for cost in both)
    return first, second


def is_incomplete(sums: Summary) -> bool:
    """Whether the summary says that its numbers do not cover everything."""
    return bool(sums.counts.uncounted) or any(KNOWN_TO_VARY in text for text in sums.sentences)


def float_ops_by_type(model: OpenModel) -> dict[str, int]:
    """The float operations of each operation type in one run."""
    counted, _ = with_float_ops(model.open, "all", model.sizes)
    values, types = counted.values("float_ops", None), [*counted.types.texts()]
    totals = np.zeros(len(types) + 1, np.int64)
    np.add.at(totals, counted.nodes.op, values)
    return dict(zip(types, totals.tolist(), strict=False))


def check_with_sizes(model: OpenModel, figures: tuple[int, int]) -> None:
    """The model has these multiply-adds and parameters; TensorFlow's own shapes give the same."""
    sums = summary(model.open, dims=model.sizes)
    fixed = summary(model.fixed)
    assert not is_incomplete(sums), sums.counts.uncounted
    assert not is_incomplete(fixed), fixed.counts.uncounted
    assert (costs(sums)[0], sums.total.parameters) == figures
    assert costs(sums) == costs(fixed)


def check_formula(model: OpenModel, multiply_adds: int, *, has_formula: bool) -> None:
    """The formula gives the same; there is none where no polynomial fits."""
    formula = summary(model.open).total.multiply_adds
    assert (formula is not None) == has_formula
    if formula is not None:
        assert formula.at(model.sizes) == multiply_adds
