"""LIMITS: how much a file may make us do, whatever it says of itself — one row each.

    tfprof scope graph.pb.gz --limit_unpack_ratio=1000  on the command line
    with tfprof.raised_limits(unpack_ratio=1000): …     in Python, for this thread

Everything else grows with the bytes that are there. These are the places where a small file could
ask for much: what is packed, what has no end, what repeats itself when it is written. A file that
goes beyond is refused, and the sentence names the flag that raises the limit.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING

from tfprof.errors import UsageError, nearest
from tfprof.foundation.arguments import INT64_MAX, whole_number
from tfprof.foundation.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(frozen=True)
class Limit:
    """A row of the table."""

    name: str
    default: int
    counts: str  # what the number is of: "at most 200 …"
    help: str
    guards: str  # what would happen without it
    consequence: str  # what happens to what goes beyond it

    @property
    def flag(self) -> str:
        """The option that sets it."""
        return f"--limit_{self.name}"


LIMITS: dict[str, Limit] = {
    limit.name: limit
    for limit in (
        Limit(
            "unpack_ratio",
            200,
            "times its packed size",
            "how many times its size a packed file may unpack to, once that is over 64 MiB",
            "A gzip file of a megabyte can hold a gigabyte of zeros, and a table of a checkpoint "
            "can repeat a long name for every tensor, for which a tenth of the limit holds. Real "
            "graphs, runs and op logs unpack to at most some 60 times their size.",
            "refused, exit code 3",
        ),
        Limit(
            "piped_bytes",
            2 << 30,
            "bytes",
            "how much is read from a pipe or a device, which may have no end",
            "A plain file is mapped and takes no memory of its own; what comes through a pipe is "
            "held, and /dev/zero goes on for ever.",
            "refused, exit code 3",
        ),
        Limit(
            "name_parts",
            100,
            "parts a name",
            "how many parts names may have on the average, once they are a million in all",
            "Every part of a name is a row of scope view: a megabyte of slashes is a million rows, "
            "which take two hundred times as much.",
            "no scope view, exit code 3",
        ),
        Limit(
            "row_bytes",
            1_000,
            "bytes a row",
            "how long the texts that rows share may be on the average, once they are 64 MiB in all",
            "A device, a path or a shape stands in a file once, and every row that has it shows "
            "it: a name of a megabyte on three thousand stats is a report of three gigabytes.",
            "refused, exit code 3",
        ),
        Limit(
            "function_nodes",
            1_000_000,
            "nodes",
            "how many nodes the bodies of functions may have, with one body for each call",
            "A function stands in a graph once and takes part wherever it is called: thirty that "
            "each call the next one twice are a billion nodes.",
            "refused, exit code 3",
        ),
        Limit(
            "steps",
            10_000,
            "steps",
            "how many steps a saved profile may have",
            "A step is a table of its own, even one in which nothing ran: a megabyte of numbers of "
            "steps would be a million tables.",
            "refused, exit code 3",
        ),
        Limit(
            "notes",
            100,
            "notes of a kind for each run",
            "how many notes of a kind are told of a run, before the rest is only counted",
            "A run can have a million stats without a start time, each worth a line.",
            "counted, in one more note",
        ),
        Limit(
            "pprof_frames",
            100_000_000,
            "frames",
            "how many frames the samples of a pprof file may have in all",
            "Every sample spells out its path: a graph drawn ten thousand rows deep would fill a "
            "disk.",
            "refused, exit code 2",
        ),
        Limit(
            "arrows",
            2_000_000,
            "arrows",
            "how many arrows between devices a timeline may have for a step",
            "One node that runs a thousand times and takes another one's output a thousand times "
            "has a million arrows.",
            "refused, exit code 2",
        ),
        Limit(
            "output_bytes",
            16 << 30,
            "bytes",
            "how long a report, a timeline or any other result may become",
            "Every row of a view repeats its name or is set in by its depth: a name of a million "
            "scopes is a megabyte, and the report of them a terabyte.",
            "the result is not written, exit code 4",
        ),
    )
}

_raised: ContextVar[Mapping[str, int]] = ContextVar("raised", default=MappingProxyType({}))


def limit(name: str) -> int:
    """The limit that holds here and now."""
    return _raised.get().get(name, LIMITS[name].default)


def beyond(name: str) -> str:
    """The end of a sentence about something that goes beyond a limit."""
    return f"at most {limit(name):,} {LIMITS[name].counts} ({LIMITS[name].flag} raises this limit)"


@contextmanager
def raised_limits(**raised: int) -> Iterator[None]:
    """Have other limits hold for what is done inside, in this thread; see the table for names.

    >>> import tfprof
    >>> with tfprof.raised_limits(unpack_ratio=1000):
    ...     tfprof.load_sample()
    <Loaded: 5,175 graph nodes, 2 steps>
    """
    for name in raised:
        if name not in LIMITS:
            known = ", ".join(LIMITS)
            raise UsageError(
                f"there is no limit {name}{nearest(name, list(LIMITS))} (there are: {known})"
            )
    checked = {name: whole_number(name, value, least=1) for name, value in raised.items()}
    before = _raised.set({**_raised.get(), **checked})
    try:
        yield
    finally:
        _raised.reset(before)


def unpacked_most(packed: int) -> int:
    """How many bytes *packed* bytes may unpack to."""
    return min(max(64 << 20, packed * limit("unpack_ratio")), INT64_MAX)
