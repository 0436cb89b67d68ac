"""What a fleet holds, as facts for `tfprof info`; only its manifest is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.fleet.dataset import Dataset

if TYPE_CHECKING:
    from tfprof.read.describe import Value


def describe_fleet(path: str) -> tuple[dict[str, Value], list[str]]:
    """(facts about the fleet at *path*, a line per file that was skipped)."""
    dataset = Dataset.open(path)
    manifest, steps = dataset.manifest, dataset.manifest.steps
    facts: dict[str, Value] = {
        "workers": dataset.workers,
        "steps": [str(step) for step in sorted(set[int]().union(*steps.values()))],
        "worker_steps": sum(map(len, steps.values())),
        "rows": manifest.rows,
        "graphs": len(manifest.graphs),
        "nodes": sum(graph["nodes"] for graph in manifest.graphs.values()),
        "bytes": sum(file["bytes"] for file in manifest.files.values()),
    }
    notes = {f"note_{number}": note for number, note in enumerate(manifest.notes)}
    return {**facts, **notes}, [_sentence(**entry) for entry in manifest.skipped]


def _sentence(path: str, reason: str, **_: object) -> str:
    """Why a file was skipped, with its path."""
    return reason if path in reason else f"{path}: {reason}"
