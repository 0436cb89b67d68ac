"""A ProfileContext profiles sessions by itself: it traces runs, runs queries and writes files.

    with tfprof.ProfileContext("train_dir") as context:
        context.add_auto_profiling("op", options, [15, 50, 100])
        train()
    context.get_profiles("op")[50]

Steps are the runs of all sessions inside the context, counted from 0. Traced runs are added to
`context.profiler`; queries and dumps happen right after the run of their step.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture import session_runs
from tfprof.capture.profiler import Profiler
from tfprof.capture.run_query import ViewQuery, view_query
from tfprof.capture.step_plan import MOST_TRACED, Due, StepPlan
from tfprof.compat.classic import write_op_log
from tfprof.console.stdio import print_notes
from tfprof.errors import TfprofError, UsageError
from tfprof.foundation.arguments import Options, path, steps
from tfprof.io.write_files import check_folder, make_folder, write_file
from tfprof.model import Note

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator

    from tfprof.capture.session_runs import Run

_DUMPED_BY_DEFAULT: Final = (100,)


class ProfileContext:
    """Traces, profiles and dumps runs of sessions while it is entered."""

    def __init__(  # noqa: PLR0913 - the original's arguments, and one of ours
        self,
        profile_dir: str | os.PathLike[str] | None = None,
        trace_steps: Iterable[int] | None = None,
        dump_steps: Iterable[int] | None = None,
        enabled: bool = True,  # noqa: FBT001, FBT002
        debug: bool = False,  # noqa: FBT001, FBT002
        *,
        source: bool = True,
    ) -> None:
        """Trace the runs of *trace_steps*, and dump them into *profile_dir* after *dump_steps*.

        If *trace_steps* is None, the context chooses; None for *dump_steps* is step 100. Without
        any argument it traces and dumps only what its methods request. If not *enabled*, it does
        nothing and checks no argument. Without *source*, dumps have no source text and no absolute
        path of a source file.
        """
        self._enabled, self._debug, self._source = enabled, debug, source
        self._folder: Path | None = None
        self._plan = StepPlan((), (), chooses=False)
        has_arguments = (profile_dir, trace_steps, dump_steps) != (None, None, None)
        if enabled and (has_arguments or debug):
            self._folder = _folder("profile_dir", "" if profile_dir is None else profile_dir)
            self._plan = _planned(trace_steps, dump_steps)
        self._entered = False
        self._printed: set[str] = set()
        self._steps = 0
        self._counting = Lock()
        self._tracing = Lock()
        self._making = Lock()
        self._profiler: Profiler | None = None
        self._captured: Any = None
        self._auto: list[tuple[ViewQuery, frozenset[int]]] = []
        self._file_dumps: list[tuple[Path, frozenset[int]]] = []
        self._profiles: dict[str, dict[int, Any]] = {}

    def __enter__(self) -> ProfileContext:  # noqa: PYI034 - Self is not in Python 3.10
        if self._enabled:
            # The folders of all dumps, so that errors come before the first run.
            for folder in filter(None, (self._folder, *(dump for dump, _ in self._file_dumps))):
                check_folder(str(folder))
            session_runs.begin(self, self._watch)
        self._entered = True
        return self

    def __exit__(self, *problem: object) -> None:
        if not self._entered:
            raise UsageError("this ProfileContext was not entered: use it in a with statement")
        if self._enabled:
            session_runs.end(self)

    @property
    def profiler(self) -> Profiler | None:
        """The Profiler of all traced runs, first of the default graph; None if not enabled."""
        if not self._enabled:
            return None
        return self._made_profiler(session_runs.default_graph)

    def add_auto_profiling(self, cmd: str, options: Options, profile_steps: Iterable[int]) -> None:
        """Trace *profile_steps*, and after each run the command on all traced runs so far."""
        if self._enabled:
            listed = frozenset(steps("profile_steps", profile_steps))
            self._auto.append((view_query(cmd, options), listed))
            self._plan.listed.update(listed)

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """The results of an auto-profiled command, by step."""
        if cmd not in self._profiles:
            raise UsageError(f"No autoprofiler for command: {cmd}, was run")
        return dict(self._profiles[cmd])

    def trace_next_step(self) -> None:
        """Trace the next run."""
        self._plan.requests.add("trace")

    def dump_next_step(self) -> None:
        """Dump the traced runs so far after the next run, which this does not trace."""
        if self._enabled and self._folder is None:
            raise UsageError(
                "there is no directory to dump into: give ProfileContext a profile_dir"
            )
        self._plan.requests.add("dump")

    def capture_next_run_meta(self) -> None:
        """Keep the RunMetadata of the next run, with a full trace, for `run_meta()`."""
        self._plan.requests.add("capture")

    def run_meta(self) -> Any:  # a message of the wheel
        """The RunMetadata of the last captured run."""
        if self._captured is None:
            raise UsageError("no run was captured: call capture_next_run_meta() before a run")
        return self._captured

    def add_auto_profile_dump(
        self, outdir: str | os.PathLike[str], dump_steps: Iterable[int]
    ) -> None:
        """Trace these steps, and write graph.pbtxt, run_meta and tfprof_log of each to *outdir*."""
        if not self._enabled:
            return
        folder, listed = _folder("outdir", outdir), frozenset(steps("dump_steps", dump_steps))
        if self._entered:
            check_folder(str(folder))
        self._file_dumps.append((folder, listed))
        self._plan.listed.update(listed)

    def _watch(self, run: Run) -> Any:  # the fetched values
        """The fetched values of *run*; one run at a time is traced or dumped, others just run."""
        with self._counting:
            step = self._steps
            self._steps += 1
        if not self._tracing.acquire(blocking=False):
            return run.plain()
        try:
            due = self._plan.due(step, lambda: self._fetches(run), self._coverage)
            if due.trace or due.capture or due.dump:
                return self._carry_out(run, due)
        finally:
            self._tracing.release()
        return run.plain()

    def _carry_out(self, run: Run, due: Due) -> Any:  # the fetched values
        if not (due.trace or due.capture):
            values = run.plain()
        else:
            self._print_debug(f"tracing step: {due.step}")
            values, run_metadata = run.traced()
            if due.capture:
                self._captured = run_metadata
            if due.trace:
                with self._printed_if_it_fails():
                    self._add(run, due.step, run_metadata)
        if due.dump and self._folder is not None:
            self._print_debug(f"dumping file at step: {due.step}")
            with self._printed_if_it_fails():
                loaded = self._profiler_of(run.session.graph)._recorded  # noqa: SLF001 - of ours
                make_folder(str(self._folder))
                loaded.save(self._folder / f"profile_{due.step}", source=self._source)
        return values

    @contextmanager
    def _printed_if_it_fails(self) -> Iterator[None]:
        """Print errors after a run, each once: the caller gets the fetched values anyway."""
        try:
            yield
        except TfprofError as problem:
            sentence = f"tfprof: {problem}"
            if sentence not in self._printed:
                self._printed.add(sentence)
                print_notes([Note(sentence)])

    def _add(self, run: Run, step: int, run_metadata: Any) -> None:
        """Add a traced run to the profiler, and run the dumps and queries of its step."""
        graph = run.session.graph
        if self._debug and self._folder is not None:
            with self._printed_if_it_fails():
                _write(self._folder, f"run_meta_{step}", str(run_metadata).encode())
        profiler = self._profiler_of(graph)
        profiler.add_step(step, run_metadata)
        for folder, listed in self._file_dumps:
            if step in listed:
                self._print_debug(f"dumping file at step: {step}")
                with self._printed_if_it_fails():
                    _write(folder, "graph.pbtxt", str(graph.as_graph_def(add_shapes=True)).encode())
                    _write(folder, "run_meta", run_metadata.SerializeToString())
                    write_op_log(graph, folder, run_meta=run_metadata, source=self._source)
        for asked, listed in self._auto:
            if step in listed:
                self._print_debug(f"profiling {asked.cmd} step: {step}")
                with self._printed_if_it_fails():
                    result = profiler._run(asked)  # noqa: SLF001 - add_auto_profiling has checked it
                    self._profiles.setdefault(asked.cmd, {})[step] = result

    def _profiler_of(self, graph: Any) -> Profiler:  # a tf.Graph
        """The profiler of runs of *graph*; sessions of several graphs share it."""
        profiler = self._made_profiler(lambda: graph)
        profiler._switch_graph(graph)  # noqa: SLF001 - only a context has several graphs
        return profiler

    def _made_profiler(self, graph: Callable[[], Any]) -> Profiler:
        """The profiler; if there is none yet, one of this graph."""
        with self._making:
            if self._profiler is None:
                self._profiler = Profiler(graph())
            return self._profiler

    def _coverage(self) -> float:
        return 0.0 if self._profiler is None else self._profiler.loaded.profile.coverage

    def _fetches(self, run: Run) -> str:
        names = run.fetch_names()
        self._print_debug(f"trace fetches: {names}")
        return names

    def _print_debug(self, words: str) -> None:
        if self._debug:
            print_notes([Note(f"debug: {words}")])


def _folder(name: str, value: object) -> Path:
    if not (folder := path(name, value)):
        raise UsageError("Must have a directory for profile.")
    return Path(folder)


def _planned(trace_steps: Iterable[int] | None, dump_steps: Iterable[int] | None) -> StepPlan:
    """The plan of a context with arguments; without *trace_steps* it chooses steps."""
    traced = [] if trace_steps is None else steps("trace_steps", trace_steps)
    if len(traced) > MOST_TRACED:
        raise UsageError(f"Only support tracing up to {MOST_TRACED} steps.")
    dumped = _DUMPED_BY_DEFAULT if dump_steps is None else steps("dump_steps", dump_steps)
    return StepPlan(traced, dumped, chooses=trace_steps is None)


def _write(folder: Path, name: str, content: bytes) -> None:
    """Write *content* to a file of *folder*, which is made again if somebody removed it."""
    make_folder(str(folder))
    write_file(str(folder / name), [content])
