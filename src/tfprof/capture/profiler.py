"""A Profiler: a profile that grows step by step and answers queries at any time.

profiler = tfprof.Profiler(graph)
profiler.add_step(0, run_meta)
profiler.profile_operations(options)

It holds a frozen profile and replaces it with each step. So any number of Profilers may exist at
once, in any thread, and earlier results never change.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from tfprof.capture.coerce import paths, run_of
from tfprof.capture.model import Model, recorded_flops, with_program_flops, with_step
from tfprof.capture.run_query import Checkers, ViewQuery, run_checkers, run_query, view_query
from tfprof.checkers import CHECKERS
from tfprof.console.stdio import print_notes
from tfprof.errors import UsageError
from tfprof.foundation.arguments import Options, path, whole_number
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io.write_files import write_file
from tfprof.read.op_log import with_op_log
from tfprof.results.loaded import Loaded
from tfprof.writers.saved import saved

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from tfprof.model import Profile
    from tfprof.tables.options import Flops

ALL_ADVICE: Mapping[str, Mapping[str, Any]] = {name: {} for name in CHECKERS}


class Profiler:
    """Profiles a model over several steps."""

    def __init__(
        self, graph: Any = None, op_log: Any = None, *, flops: Flops = "tensorflow"
    ) -> None:
        """A profiler of *graph* (None: the default graph), with the entries of *op_log*.

        Each is a live object, a message, its bytes or the path of a file. *flops* chooses the op
        types that rules count: those that TensorFlow counts ("tensorflow"), all that tfprof can
        count ("all"), or none ("log": only what *op_log* has).
        """
        self._inputs = paths(graph, op_log)
        self._flops = flops
        self._model = Model(graph, op_log, recorded_flops(flops))
        self._models = [self._model]
        self._growing = Lock()
        reading = self._model.read()
        self._profile = with_op_log(replace(reading.graph, notes=reading.notes), reading.log)
        print_notes(self._profile.notes)

    @property
    def loaded(self) -> Loaded:
        """The profile so far, ready for queries; later steps do not change it."""
        with self._growing:
            return Loaded(with_program_flops(self._profile, self._models), None, self._inputs)

    @property
    def _coverage(self) -> float:
        """The share of the graph's nodes that ran in some step."""
        return self._profile.coverage

    def add_step(self, step: int, run_meta: Any) -> None:  # any of the forms
        """Add the run of a step (twice: both add up), and the new nodes of the graph."""
        number = whole_number("step", step, least=0)
        run = run_of(run_meta)
        if run is None:
            raise UsageError("add_step needs a RunMetadata, not None")
        with self._growing:
            before = self._profile
            # parity: the user's log counts once; later the graph's float operations replace it.
            reading = self._model.read(run, with_users=False)
            self._profile = grown = with_step(before, number, reading, run)
            self._inputs += paths(run_meta)
        print_notes(grown.notes[len(before.notes) :])

    def _switch_graph(self, graph: Any) -> None:  # a tf.Graph
        """Treat the next steps as runs of *graph*; the steps of other graphs stay."""
        with self._growing:
            known = [model for model in self._models if model.is_of(graph)]
            if not known:
                known = [self._model.beside(graph)]
                self._models += known
            self._model = known[0]

    def profile_name_scope(self, options: Options) -> Any:  # a message
        """The graph nodes by name scope, as a GraphNodeProto."""
        return self._run(view_query("scope", options))

    def profile_graph(self, options: Options) -> Any:
        """The graph nodes below those that consume them, as a GraphNodeProto."""
        return self._run(view_query("graph", options))

    def profile_operations(self, options: Options) -> Any:
        """The operation types, as a MultiGraphNodeProto."""
        return self._run(view_query("op", options))

    def profile_python(self, options: Options) -> Any:
        """The lines of Python that created the graph nodes, as a MultiGraphNodeProto."""
        return self._run(view_query("code", options))

    profile_python_codes = profile_python  # its name in tf.contrib.tfprof

    def advise(self, options: Checkers | None = ALL_ADVICE) -> Any:
        """The advice of the checkers, each with its options, as an AdviceProto."""
        return run_checkers(self._profile, options)

    def serialize_to_string(self) -> bytes:
        """The profile as a ProfileProto in wire format."""
        return b"".join(saved(self._counted()))

    @property
    def _recorded(self) -> Loaded:
        """The profile so far, with the float operations that its files record."""
        return Loaded(self._counted(), None, self._inputs)

    def _write_profile(self, filename: str | os.PathLike[str]) -> None:
        """Write the profile as a file that `--profile_path` reads."""
        write_file(path("filename", filename), saved(self._counted()), self._inputs)

    def _run(self, asked: ViewQuery) -> Any:
        flops = asked.flops or self._flops
        if flops == recorded_flops(self._flops):  # the profile has them
            return run_query(Loaded(self._profile, None, self._inputs), asked.counted_by("log"))
        return run_query(self.loaded, asked.counted_by(flops))

    def _counted(self) -> Profile:
        return self.loaded.counted("all") if self._flops == "all" else self._profile
