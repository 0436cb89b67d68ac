"""A fleet where a command takes files: named alone, it stands for graph and runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError, UsageError
from tfprof.foundation.arguments import expand_home
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.tables.command_checks import check_answers_fleets
from tfprof.tables.command_options import STAT, WORKER
from tfprof.tables.eras import NOW
from tfprof.tables.formats import INPUTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.cli.request import Request
    from tfprof.results.fleet import Fleet
    from tfprof.tables.commands import Command

FLEET: Final = "fleet"  # the path of a fleet, among the options of a request


def fleet_among(words: Sequence[str], options: Mapping[str, Any]) -> str | None:
    """The word that names a fleet; raises UsageError where there are other files as well."""
    fleet = next(filter(names_fleet, words), None)
    others = [*words, *(f"--{name}" for name in INPUTS if options.get(name))]
    if fleet is not None and len(others) > 1:
        other = next(word for word in others if word != fleet or others.count(word) > 1)
        raise UsageError(f"{fleet} is a fleet, with a graph and runs of its own: leave out {other}")
    return fleet


def names_fleet(path: str) -> bool:
    """Whether *path* is a fleet; raises InputError for an unfinished one.

    Also for a URL that is none: it is nothing else.
    """
    folder = expand_home(path.removeprefix("file://"))
    if "://" not in folder and not os.path.isdir(folder):  # noqa: PTH112 - most reports need no Path
        return False
    from tfprof.fleet.dataset import check_finished, is_fleet  # noqa: PLC0415 - few words are URLs
    from tfprof.fleet.storage import Storage, is_url  # noqa: PLC0415 - or folders

    if not is_url(path):
        return is_fleet(path) or check_finished(Storage.at(path))
    reason = "there is no manifest.json"
    try:
        if is_fleet(path):
            return True
    except (InputError, UsageError) as problem:
        text = str(problem)
        reason = text.partition(": ")[2] if text.startswith(path) else text
    raise InputError(f"{path} is no fleet, and tfprof opens no other URLs: {reason}")


def refuse_fleets(command: Command, words: Sequence[str]) -> None:
    """Raise UsageError where *words* name a fleet for which *command* does not answer."""
    if any(map(names_fleet, words)):
        check_answers_fleets(command)


def load_fleet(request: Request) -> Fleet:
    """The fleet that *request* names, with the workers and the statistic that it asks for."""
    from tfprof.api import open_fleet  # noqa: PLC0415 - few commands are about a fleet

    check_answers_fleets(request.command)
    options = request.options
    fleet = open_fleet(options[FLEET])
    fleet = fleet.chosen(options.get(WORKER.name), options.get(STAT.name))
    return replace(fleet, era=options.get("era") or NOW.name)
