"""Folders of event files: TensorBoard calls each of them a run.

    logs/train/events.out.tfevents.…         Keras: the graph, the model, scalars
    logs/validation/events.out.tfevents.…    scalars
    logs/events.out.tfevents.…               TensorFlow 1: one more whenever the program starts

The event files of one folder are one input. Those without graph, model and run are left out.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tfprof.errors import UsageError
from tfprof.io.open_files import InputFile, open_source
from tfprof.tables.formats import GRAPH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tfprof.read.events.parts import Contents
    from tfprof.read.source import Source

TRAIN = "train"
_IN_NAMES = ".tfevents."


def event_files_below(folder: str | Path, files: Sequence[Path]) -> list[Path]:
    """The event files in folders inside *folder*; none if there are some among its own *files*."""
    if any(_IN_NAMES in file.name for file in files):
        return []
    found: list[Path] = []
    with suppress(OSError):
        for entry in filter(Path.is_dir, Path(folder).iterdir()):
            with suppress(OSError):  # the others may be readable
                found += [file for file in entry.iterdir() if _IN_NAMES in file.name]
    return found


def without_events(files: Sequence[InputFile]) -> list[InputFile]:
    """The *files* of a folder; if there are other graphs, without event files."""
    others = [file for file in files if not file.file_format.joins]
    return others if any(file.file_format.input is GRAPH for file in others) else [*files]


def one_of_events(graphs: Sequence[InputFile], *, alone: bool) -> list[InputFile]:
    """*graphs* with their event files as one; *alone*: there is no other input.

    Raises UsageError for event files of several runs.
    """
    others = [file for file in graphs if not file.file_format.joins]
    files = [file for file in graphs if file.file_format.joins]
    if not files:
        return others
    from tfprof.read.events import EventFiles  # noqa: PLC0415 - few folders have them
    from tfprof.read.events.parts import contents  # noqa: PLC0415

    runs: dict[Path, list[tuple[Source, Contents]]] = {}
    for file in files:
        source = open_source(file, file.file_format.title)
        held = contents(source)
        if held.parts:
            runs.setdefault(Path(file).parent, []).append((source, held))
    if not runs:
        return [*others, *files[-1:]] if alone else others
    folders = list(runs)
    training = [folder for folder in folders if folder.name == TRAIN]
    if len(folders) > 1 and len(training) != 1:
        first, second = folders[:2]
        raise UsageError(
            f"{first} and {second} hold event files of different runs: name one of them"
        )
    sources = runs[(training or folders)[0]]
    joined = InputFile(sources[-1][0].name, files[0].file_format, EventFiles(sources))
    joined.others = tuple(source.name for source, _ in sources[:-1])
    return [*others, joined]
