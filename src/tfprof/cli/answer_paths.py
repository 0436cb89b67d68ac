"""`tfprof PATH…` without a command: the files decide which command answers.

graph.pbtxt                 summary     what a command needs of files is in its row (`answers`)
graph.pbtxt run_meta_0      overview
model.ckpt                  info
fleet/                      workers
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.cli.fleet_inputs import FLEET, fleet_among
from tfprof.cli.request import make_request, run_request
from tfprof.cli.result_commands import load_files
from tfprof.console.progress import Progress
from tfprof.console.stdio import print_command
from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io.find_inputs import choose_inputs, exists, is_folder
from tfprof.io.open_files import InputFile
from tfprof.tables.commands import COMMANDS, answering
from tfprof.tables.formats import FORMATS, INPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.console.outcome import Outcome


def answer_paths(words: Sequence[str], options: Mapping[str, Any]) -> Outcome:
    """What the command shows that fits the files at *words*."""
    for word in words[1:]:
        if word in COMMANDS and not exists(word):
            raise UsageError(
                f"{word!r} is a command: name it first, as in tfprof {word} {words[0]}"
            )
    if fleet_among(words, options):
        return run_request(make_request(answering([FLEET]), words, options, load_files))
    try:
        with Progress():
            chosen = {**choose_inputs(words, options), **options}
    except UsageError:
        if not any(map(is_folder, words)):
            raise
        chosen = {}  # two models in a folder: `info` lists them
    command = answering(_may_give(chosen))
    request = make_request(command, words, options, load_files)
    if command.files != "load":
        return run_request(request)
    loaded = load_files(replace(request, options={**request.options, **chosen}))
    given = {"run": bool(loaded.steps), "nodes": len(loaded) > 0}
    command = answering(name for name, is_there in given.items() if is_there)
    request = make_request(command, words, options, lambda _: loaded)
    if not command.is_quiet:
        print_command(command.name, chosen)
    return run_request(replace(request, options={**request.options, **chosen}))


def _may_give(options: Mapping[str, Any]) -> set[str]:
    """What the files may give (GIVES), by their formats."""
    gives: set[str] = set()
    for name, row in INPUTS.items():
        value = options.get(name) or ()
        for path in [value] if isinstance(value, str) else value:
            formats = FORMATS.values() if not isinstance(path, InputFile) else [path.file_format]
            gives = gives.union(*(form.gives for form in formats if form.input is row))
    return gives
