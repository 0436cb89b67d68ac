"""LIMITS: how much work and memory a file may cause, one row each.

    tfprof scope graph.pb.gz --limit_unpack_ratio=1000  on the command line
    with tfprof.raised_limits(unpack_ratio=1000): …     in Python, for this thread

All other work grows with the size of the file. A limit guards the cases where a small file could
demand a lot: compressed data, endless streams, and text that is repeated in the output. A file that
exceeds a limit is an error, and the message names the flag that raises the limit.
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
    counts: str  # what the limit counts: "at most 200 …"
    help: str
    guards: str  # what would happen without it
    consequence: str  # what happens when the limit is exceeded

    @property
    def flag(self) -> str:
        """The option that sets the limit."""
        return f"--limit_{self.name}"


# fmt: off
LIMITS: dict[str, Limit] = {
    limit.name: limit
    for limit in (
        Limit("unpack_ratio", 200, "times its packed size",
            "how many times its size a compressed file may unpack to, if that is over 64 MiB; "
            "gzip may unpack to 4 times as much, up to 128 MiB",
            "A gzip file of a megabyte can hold a gigabyte of zeros. A checkpoint's table can "
            "repeat a long name for every tensor; a tenth of the limit applies to it. Real "
            "graphs, runs and op logs mostly unpack to less than 60 times their size, but text of "
            "equal layers or of constants that are zero to 300 times and more.",
            "error, exit code 3"),
        Limit("piped_bytes", 2 << 30, "bytes",
            "how many bytes to read from a pipe or a device, which may be endless",
            "A regular file is memory-mapped; data from a pipe is held in memory, and /dev/zero "
            "never ends.",
            "error, exit code 3"),
        Limit("name_parts", 100, "parts per name",
            "how many parts a name may have on average, if all names have over a million parts",
            "Every part of a name is a row of scope view: a megabyte of slashes is a million rows, "
            "which take two hundred times as much memory.",
            "no scope view, exit code 3"),
        Limit("row_bytes", 1_000, "bytes per row",
            "how long the strings that rows share may be on average, if they exceed 64 MiB in all",
            "A device, a path or a shape is stored in a file once, and every row that has it shows "
            "it: a name of a megabyte on three thousand stats makes a report of three gigabytes.",
            "error, exit code 3"),
        Limit("function_nodes", 1_000_000, "nodes",
            "how many nodes the bodies of functions may have, counting a body once per call",
            "A function is stored in a graph once and expanded at every call: thirty functions "
            "that each call the next one twice are a billion nodes.",
            "error, exit code 3"),
        Limit("steps", 10_000, "steps",
            "how many steps a saved profile may have",
            "Every step is a table, even if nothing ran in it: a megabyte of step numbers would "
            "be a million tables.",
            "error, exit code 3"),
        Limit("notes", 100, "notes of a kind for each run",
            "how many notes of a kind to print for a run; the rest are only counted",
            "A run can have a million stats without a start time, with one note each.",
            "one more note with their number"),
        Limit("pprof_frames", 100_000_000, "frames",
            "how many frames the samples of a pprof file may have in all",
            "Every sample lists its whole path: a graph that is ten thousand rows deep would fill "
            "a disk.",
            "error, exit code 2"),
        Limit("arrows", 2_000_000, "arrows",
            "how many arrows between devices a timeline may have per step",
            "Two connected nodes that both run a thousand times have a million arrows.",
            "error, exit code 2"),
        Limit("page_nodes", 200_000, "nodes",
            "how many graph nodes a page in a file may have; a served page may have any number",
            "A browser unpacks and draws all of them: a file with a million nodes has many "
            "megabytes and takes seconds to open.",
            "small scopes are folded: one node per operation type; a note says so"),
        Limit("part_rows", 50_000_000, "rows",
            "how many rows one file of a fleet may have",
            "A part of a fleet is in memory at once, and a column that repeats one number takes "
            "a few bytes for a billion rows.",
            "error, exit code 3"),
        Limit("output_bytes", 16 << 30, "bytes",
            "how many bytes a report, a timeline or any other result may have",
            "Every row of a view repeats its name or is indented by its depth: a name with a "
            "million scopes is a megabyte, and its report a terabyte.",
            "the result is not written, exit code 4"),
        Limit("cache_bytes", 2 << 30, "bytes",
            "how large the cache of converted files may grow",
            "Every large file that was read once would stay there.",
            "the entries that were not used for longest are removed"),
    )
}
# fmt: on

_raised: ContextVar[Mapping[str, int]] = ContextVar("raised", default=MappingProxyType({}))


def limit(name: str) -> int:
    """The limit in force in this thread."""
    return _raised.get().get(name, LIMITS[name].default)


def beyond(name: str) -> str:
    """The end of a message about an exceeded limit."""
    return f"at most {limit(name):,} {LIMITS[name].counts} ({LIMITS[name].flag} raises this limit)"


@contextmanager
def raised_limits(**raised: int) -> Iterator[None]:
    """Set limits for the block, in this thread; `tfprof help limits` lists their names.

    >>> import tfprof
    >>> with tfprof.raised_limits(unpack_ratio=1000):
    ...     tfprof.load_sample()
    <Loaded: 5,175 graph nodes, 2 steps>
    """
    for name in raised:
        if name not in LIMITS:
            known = ", ".join(LIMITS)
            raise UsageError(
                f"unknown limit {name!r}{nearest(name, list(LIMITS))} (limits: {known})"
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
