"""What a capture left in its folder, for tests; TensorFlow is imported with this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorflow.tsl.profiler.protobuf import xplane_pb2

from live_functions import Folder

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path) -> Folder:
    lines = folder / "debug" / "saved_model_debug_info.pb"
    return Folder.parsed((folder / "saved_model.pb").read_bytes(), lines.read_bytes())


def trace(folder: Path) -> Any:
    (file,) = (folder / "plugins" / "profile").glob("*/*.xplane.pb")
    return xplane_pb2.XSpace.FromString(file.read_bytes())


def plane(space: Any, name: str) -> Any:
    (found,) = [one for one in space.planes if one.name == name]
    return found


def events(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """(name, numbers) of what happened on the host."""
    host = plane(trace(folder), "/host:CPU")
    name = {number: one.name for number, one in host.event_metadata.items()}
    told = {number: one.name for number, one in host.stat_metadata.items()}
    every = [event for line in host.lines for event in line.events]
    numbers = [{told[stat.metadata_id]: stat.int64_value for stat in one.stats} for one in every]
    return [(name[one.metadata_id], of) for one, of in zip(every, numbers, strict=True)]


def steps(folder: Path) -> list[int]:
    """The steps that the capture marked; Keras 2 marks the batches of an epoch as `train`."""
    return sorted(stats["step_num"] for name, stats in events(folder) if name == "step")


def calls(folder: Path) -> list[str]:
    return list(read(folder).nodes("StatefulPartitionedCall"))
