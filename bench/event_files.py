"""Event files: a gigabyte in records of a megabyte, and a million scalars.

The first is compared with reading the bytes, the second with TensorBoard's Python reader.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compare import compared
from inputs import HERE, Inputs
from plan import plan
from rows import Row, Size, take_turns
from worker import Worker

if TYPE_CHECKING:
    from collections.abc import Iterator

IMAGES, SCALARS = 1_000, 1_000_000
AS_BYTES = "event file, images of 1 MB / reading its bytes"
AS_EVENTS = "event file, scalars / TensorBoard's reader"
_GRAPH_NODES = 2


def event_files(out: Path, repeat: int) -> Iterator[Row]:
    """Both rows; their size is the number of images or scalars."""
    pair = Worker(HERE / "event_worker.py"), Worker(HERE / "event_worker.py")
    try:
        yield _row(pair, out, repeat, AS_BYTES, "read_bytes", {"scalars": 0, "images": IMAGES})
        yield _row(pair, out, repeat, AS_EVENTS, "loader", {"scalars": SCALARS, "images": 0})
    finally:
        for worker in pair:
            worker.stop()


def _row(  # noqa: PLR0913, PLR0917 - as few as it needs
    pair: tuple[Worker, Worker],
    out: Path,
    repeat: int,
    name: str,
    command: str,
    counts: dict[str, int],
) -> Row:
    """Ours and another *command* of the worker on a file with so many images and scalars."""
    worker, other = pair
    size = Size(sum(counts.values()))
    files = Inputs(size, out / "data" / "events", out / "answers" / "events")
    path = files.path(f"events.out.tfevents.{size.nodes}")
    if not Path(path).exists():
        files.folder.mkdir(parents=True, exist_ok=True)
        other.fresh().ask("write", path=path, **counts)
    ours, original = files.outs(name)
    # Bytes alone have no answer: there, ours must have found what was written.
    original.write_text(f"{2 + size.nodes} records, {_GRAPH_NODES} nodes\n")
    often = plan(size.nodes, repeat).slow
    turns = take_turns(
        lambda: worker.fresh().ask("ours", path=path, out=str(ours)),
        lambda: other.fresh().ask(command, path=path, out=str(original)),
        often,
    )
    return Row("events", name, size, turns, compared(ours, original, "", often))
