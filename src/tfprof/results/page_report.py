"""PageReport: a profile as a page to look at, in a file or in a notebook."""

from __future__ import annotations

from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.console.stdio import print_notes
from tfprof.errors import UsageError
from tfprof.foundation.arguments import path as path_of
from tfprof.foundation.lazy_dataclasses import dataclass, field
from tfprof.foundation.stack_files import is_absolute
from tfprof.foundation.units import first_few, plural
from tfprof.model import own_notes
from tfprof.results.overview_report import Naming
from tfprof.results.result import SharedFile, deliver
from tfprof.tables.limits import beyond, limit
from tfprof.tables.outputs import OUTPUTS, Output

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tfprof.fleet.worker_times import WorkerTimes
    from tfprof.model import Note, Profile
    from tfprof.results.workers_report import WorkersReport

_MOST_NAMES: Final = 3  # of files, in the title
_PEAKS: Final = ("flops", "bandwidth")  # as a Profile has them


class FleetNumbers(NamedTuple):
    """What a page of a fleet shows besides the graph."""

    times: WorkerTimes
    workers: WorkersReport

    @property
    def what(self) -> str:
        """How many workers and steps."""
        workers, steps = len(self.times.workers), len(self.times.steps)
        return f"{plural(workers, 'worker')}, {plural(steps, 'step')}"


@dataclass(frozen=True, eq=False, repr=False)
class PageReport(SharedFile):
    """A page with the whole profile on it; the last value of a notebook's cell shows it there.

    >>> import tfprof
    >>> tfprof.load_sample().page()
    <PageReport: graph.pbtxt.gz, run_meta_0.gz, run_meta_1.gz and 2 more>
    """

    loaded: Any  # a Loaded, which makes these
    dims: Mapping[str, int] = field(default_factory=dict)  # of open dimensions, as the user says
    peaks: Mapping[str, float] = field(default_factory=dict)  # of the machine: flops, bandwidth
    source: bool = True  # with source text and absolute paths
    is_served: bool = False  # by our own server, which a large profile does not bother
    fleet: FleetNumbers | None = None  # of the workers whose graph the profile is
    naming: Naming = Naming()  # how a command line names the files
    base: Any = None  # a Loaded, which the page compares with
    base_names: tuple[str, ...] = ()  # how a command line names its files
    source_off: str = "source=False"
    name: str = "the page"
    offers = ("page",)

    @property
    def profile(self) -> Profile:  # type: ignore[override]  # it is one that never changes
        """The profile on the page."""
        profile: Profile = self.loaded.profile
        return profile

    @property
    def machine(self) -> dict[str, float]:
        """What the machine can do in a second, as the user says, else as a trace does."""
        traced = dict(zip(_PEAKS, self.profile.peaks, strict=False))
        return {**{name: peak for name, peak in traced.items() if peak}, **self.peaks}

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of open dimensions on the page; as in an overview, an open batch is 1."""
        from tfprof.ops.symbols import BATCH, symbols  # noqa: PLC0415 - a command line needs none

        is_open = not self.profile.steps and any(s.name == BATCH for s in symbols(self.profile))
        return {**({BATCH: 1} if is_open else {}), **self.dims}

    @property
    def own_notes(self) -> tuple[Note, ...]:
        """What the page says about the machine that the program ran on, and what it folds."""
        folded = own_notes([self.fold_note] if self.fold_note else [])
        return (*super().own_notes, *folded)

    @property
    def fold_note(self) -> str:
        """What a page in a file does with small scopes, if it has too many nodes; else ""."""
        if self.is_served or len(self.profile) <= limit("page_nodes"):
            return ""
        return (
            f"small scopes of the {len(self.profile):,} graph nodes are folded, one node per "
            f"operation type; totals are the same: a page in a file has {beyond('page_nodes')}"
        )

    @property
    def embedded(self) -> str:
        """What the page says about the machine, as a phrase."""
        if not self.source:
            return ""
        paths = [path for path in self._paths() if is_absolute(path)]
        inputs = f"the paths of {plural(len(paths), 'input')}" if paths else ""
        stacks = super().embedded
        return (", " if " and " in stacks else " and ").join(filter(None, [inputs, stacks]))

    def _paths(self) -> Iterator[str]:
        """The paths of inputs as the page's command lines have them."""
        yield from _named_paths(self.naming.after)
        yield from self.base_names

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files of both sides."""
        return (*self.loaded.inputs, *(self.base.inputs if self.base else ()))

    @property
    def title(self) -> str:
        """The names of the files; of two sides, those that only one has."""
        if self.base is None:
            return _title(self.loaded.inputs)
        sides = self.base_names, [*_named_paths(self.naming.after)] or self.loaded.inputs
        pairs = zip(sides, reversed(sides), strict=True)
        base, new = ([path for path in side if path not in other] or side for side, other in pairs)
        parts = 2 if self.source and _title(base) == _title(new) else 1
        return f"{_title(base, parts)} → {_title(new, parts)}"

    def pieces(self, form: str = "page") -> Iterable[bytes]:
        """The page as the bytes of an HTML file, in pieces."""
        if form not in self.offers:
            raise UsageError(f"a page has no {form}")
        return chain.from_iterable(file.pieces for file in self.files(OUTPUTS["file"], self.name))

    def save(self, path: str | os.PathLike[str], inputs: Sequence[str] = ()) -> None:
        """Write the page to a file, never over one of *inputs*; notes go to stderr."""
        output = Output("file", path_of("path", path))
        print_notes(deliver(self, output, inputs or self.inputs).notes)

    def text(self) -> str:
        """The page, as HTML."""
        return b"".join(self.pieces()).decode()

    def _repr_html_(self) -> str:
        """The page in a frame of a notebook: its scripts run, and reach nothing outside of it."""
        from html import escape  # noqa: PLC0415 - only notebooks

        style = "width:100%;height:720px;border:1px solid #8888"
        # All ASCII: the policy's hashes hold in whatever encoding the notebook has.
        page = escape(self.text()).encode("ascii", "xmlcharrefreplace").decode()
        frame = f'<iframe title="tfprof" sandbox="allow-scripts" style="{style}"'
        return f'{frame} srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        return f"<PageReport: {self.title}>"


def file_name(path: str) -> str:
    """*path* without its folders."""
    return PurePath(path).name or "."


def _named_paths(words: Iterable[str]) -> Iterator[str]:
    """The paths that words and flags of a command line name."""
    for word in words:
        flag = word.startswith("--") and "=" in word
        yield from word.partition("=")[2].split(",") if flag else [word]


def _title(paths: Sequence[str], parts: int = 1) -> str:
    """The last *parts* of some paths."""
    names = ["/".join(PurePath(path).parts[-parts:]) or "." for path in paths]
    return first_few(names, _MOST_NAMES) or "a profile"
