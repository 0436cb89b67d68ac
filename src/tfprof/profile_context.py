"""A ProfileContext profiles sessions by itself: which runs, with which commands, into which files.

    with tfprof.ProfileContext("train_dir") as context:
        context.add_auto_profiling("op", options, [15, 50, 100])
        train()
    context.get_profiles("op")[50]

Steps are the runs of all sessions inside the context, counted from 0. A traced run is added to
`context.profiler`; what a step is listed for is done right after its run.
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from tfprof.capture import session_runs
from tfprof.capture.asking import ask, question
from tfprof.capture.profiler import Profiler
from tfprof.capture.step_plan import MOST_TRACED, Due, StepPlan
from tfprof.capture.streams import tell
from tfprof.classic import write_op_log
from tfprof.errors import OutputError, UsageError
from tfprof.files import write_whole
from tfprof.model import Note

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from types import TracebackType

    from tfprof.capture.asking import Options, Question
    from tfprof.capture.session_runs import Run

_DUMPED_BY_DEFAULT: Final = (100,)


class ProfileContext:
    """Traces, profiles and dumps runs of sessions while it is entered."""

    def __init__(
        self,
        profile_dir: str | os.PathLike[str] | None = None,
        trace_steps: Collection[int] | None = None,
        dump_steps: Iterable[int] | None = None,
        enabled: bool = True,  # noqa: FBT001, FBT002
        debug: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        """Dump into *profile_dir* at *dump_steps* (100 if None) what was traced at *trace_steps*.

        With *trace_steps* None the runs to trace are chosen. Without any argument nothing is
        traced or dumped but what is asked for by the methods. Not *enabled*, it does nothing.
        """
        self._enabled, self._debug = enabled, debug
        self._folder = None if profile_dir is None else Path(profile_dir)
        bare = profile_dir is None and trace_steps is dump_steps is None and not debug
        if enabled and not bare and not os.fspath(profile_dir or ""):
            raise UsageError("Must have a directory for profile.")
        if enabled and trace_steps is not None and len(trace_steps) > MOST_TRACED:
            raise UsageError(f"Only support tracing up to {MOST_TRACED} steps.")
        if dump_steps is None:
            dump_steps = () if bare else _DUMPED_BY_DEFAULT
        chooses = trace_steps is None and not bare
        self._plan = StepPlan(trace_steps or (), dump_steps, chooses=chooses)
        self._steps = 0
        self._counting = Lock()
        self._looking = Lock()
        self._profiler: Profiler | None = None
        self._captured: Any = None
        self._auto: list[tuple[Question, frozenset[int]]] = []
        self._file_dumps: list[tuple[Path, frozenset[int]]] = []
        self._profiles: dict[str, dict[int, Any]] = {}

    def __enter__(self) -> ProfileContext:  # noqa: PYI034 - Self is not in Python 3.10
        if self._enabled:
            session_runs.begin(self._watch)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._enabled:
            session_runs.end(self._watch)

    @property
    def profiler(self) -> Profiler | None:
        """The Profiler of all traced runs; None before the first run that is traced or dumped."""
        return self._profiler

    def add_auto_profiling(self, cmd: str, options: Options, profile_steps: Iterable[int]) -> None:
        """Trace *profile_steps*, and after each run the command on all that was traced so far."""
        steps = frozenset(profile_steps)
        self._auto.append((question(cmd, options), steps))
        self._plan.trace(steps)

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """The results of an auto-profiled command, by step."""
        if cmd not in self._profiles:
            raise UsageError(f"No autoprofiler for command: {cmd}, was run")
        return dict(self._profiles[cmd])

    def trace_next_step(self) -> None:
        """Trace the next run."""
        self._plan.ask_of_next("trace")

    def dump_next_step(self) -> None:
        """Dump what was traced so far after the next run, which is not traced for it."""
        if self._enabled and self._folder is None:
            raise UsageError("there is no directory to dump into: give ProfileContext one")
        self._plan.ask_of_next("dump")

    def capture_next_run_meta(self) -> None:
        """Keep the RunMetadata of the next run, with a full trace, for `run_meta()`."""
        self._plan.ask_of_next("capture")

    def run_meta(self) -> Any:  # noqa: ANN401 - a message of the wheel
        """The RunMetadata of the run that was captured last."""
        if self._captured is None:
            raise UsageError("no run was captured: call capture_next_run_meta() before a run")
        return self._captured

    def add_auto_profile_dump(
        self, outdir: str | os.PathLike[str], dump_steps: Iterable[int]
    ) -> None:
        """Trace these steps and leave graph.pbtxt, run_meta and tfprof_log of each in *outdir*."""
        if not os.fspath(outdir):
            raise UsageError("Must have a directory for profile.")
        steps = frozenset(dump_steps)
        self._file_dumps.append((Path(outdir), steps))
        self._plan.trace(steps)

    def _watch(self, run: Run) -> Any:  # noqa: ANN401 - the fetched values
        """The fetched values of *run*; one run at a time is looked at, others just pass."""
        with self._counting:
            step = self._steps
            self._steps += 1
        if not self._looking.acquire(blocking=False):
            return run.as_asked()
        try:
            due = self._plan.due(step, lambda: self._fetches(run), self._coverage)
            if not due.nothing:
                return self._carried_out(run, due)
        finally:
            self._looking.release()
        return run.as_asked()

    def _carried_out(self, run: Run, due: Due) -> Any:  # noqa: ANN401 - the fetched values
        if not (due.trace or due.capture):
            values = run.as_asked()
        else:
            self._say(f"tracing step: {due.step}")
            values, run_metadata = run.traced()
            if due.capture:
                self._captured = run_metadata
            if due.trace:
                self._add(run, due.step, run_metadata)
        if due.dump and self._folder is not None:
            self._say(f"dumping file at step: {due.step}")
            profile = self._profiler_of(run.session.graph).serialize_to_string()
            _write(self._folder, f"profile_{due.step}", profile)
        return values

    def _add(self, run: Run, step: int, run_metadata: Any) -> None:  # noqa: ANN401
        """Add a traced run to the profiler, and do what its step is listed for."""
        graph = run.session.graph
        if self._debug and self._folder is not None:
            _write(self._folder, f"run_meta_{step}", str(run_metadata).encode())
        profiler = self._profiler_of(graph)
        profiler.add_step(step, run_metadata)
        for folder, steps in self._file_dumps:
            if step in steps:
                self._say(f"dumping file at step: {step}")
                _write(folder, "graph.pbtxt", str(graph.as_graph_def(add_shapes=True)).encode())
                _write(folder, "run_meta", run_metadata.SerializeToString())
                write_op_log(graph, os.fspath(folder), run_meta=run_metadata)
        for asked, steps in self._auto:
            if step in steps:
                self._say(f"profiling {asked.cmd} step: {step}")
                self._profiles.setdefault(asked.cmd, {})[step] = ask(profiler.loaded, asked)

    def _profiler_of(self, graph: Any) -> Profiler:  # noqa: ANN401 - a tf.Graph
        """The profiler, made when first needed; sessions of several graphs share it."""
        if self._profiler is None:
            self._profiler = Profiler(graph)
        self._profiler._turn_to(graph)  # noqa: SLF001 - steps are of one graph everywhere else
        return self._profiler

    def _coverage(self) -> float:
        return 0.0 if self._profiler is None else self._profiler.loaded.profile.coverage

    def _fetches(self, run: Run) -> str:
        names = run.fetch_names()
        self._say(f"trace fetches: {names}")
        return names

    def _say(self, words: str) -> None:
        if self._debug:
            tell([Note(f"debug: {words}")])


def _write(folder: Path, name: str, content: bytes) -> None:
    """Leave *content* in a file of *folder*, which is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        reason = problem.strerror or problem
        raise OutputError(f"the folder {folder} cannot be made: {reason}") from None
    write_whole(os.fspath(folder / name), [content])
