"""The rows of a summary beside the layers that Keras lists."""

from __future__ import annotations

from typing import Any


def outer(report: Any) -> list[dict[str, Any]]:
    """The rows of layers, without the rest."""
    return [row for row in report.rows if row["depth"] == 1 and row["name"] != "(other)"]


def check_rows(
    rows: list[dict[str, Any]], layers: list[dict[str, Any]], *, recorded: bool = True
) -> None:
    """Each row has the output and the parameters of its layer."""
    for row, layer in zip(rows, layers, strict=True):
        if layer["shape"] is not None:
            assert row["output_shape"] == layer["shape"], row["name"]
        expected = {name: layer[name] for name in ("trainable", "non_trainable")}
        assert row["parameters"] == sum(expected.values()), row["name"]
        assert {name: row.get(name) for name in expected} == (
            expected if recorded else dict.fromkeys(expected)
        ), row["name"]
