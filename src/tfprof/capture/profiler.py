"""A Profiler: a profile that steps are added to, and that can be asked at any time.

profiler = tfprof.Profiler(graph)
profiler.add_step(0, run_meta)
profiler.profile_operations(options)

It holds a frozen profile and replaces it with each step, so any number of Profilers may live at
once, in any thread, and what was asked earlier stays as it was.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from tfprof.capture.asking import advice, ask, question
from tfprof.capture.given import paths, run_of
from tfprof.capture.model import Model, as_given, baked, with_step
from tfprof.capture.streams import tell
from tfprof.checkers import CHECKERS
from tfprof.errors import UsageError
from tfprof.foundation.arguments import path, whole_number
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.io.files import write_apart
from tfprof.read.merge_op_log import with_op_log
from tfprof.results.loaded import Loaded
from tfprof.writers.saved import saved

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from tfprof.capture.asking import Checkers, Question
    from tfprof.foundation.arguments import Options
    from tfprof.model import Profile
    from tfprof.tables.options import Flops

ALL_ADVICE: Mapping[str, Mapping[str, Any]] = {name: {} for name in CHECKERS}


class Profiler:
    """Profiles a model over several steps."""

    def __init__(
        self,
        graph: Any = None,  # noqa: ANN401 - any of the forms
        op_log: Any = None,  # noqa: ANN401 - likewise
        *,
        flops: Flops = "tensorflow",
    ) -> None:
        """A profiler of *graph*, the default one if None, and of what *op_log* adds to it.

        Each is a live object, a message, its bytes or the path of a file. *flops* says which
        operations are counted by rule: those that TensorFlow counts ("tensorflow"), all that
        tfprof can count ("all"), or none ("log": only what *op_log* says).
        """
        self._inputs = paths(graph, op_log)
        self._flops = flops
        self._model = Model(graph, op_log, baked(flops))
        self._models = [self._model]
        self._growing = Lock()
        reading = self._model.read()
        self._profile = with_op_log(replace(reading.graph, notes=reading.notes), reading.log)
        tell(self._profile.notes)

    @property
    def loaded(self) -> Loaded:
        """The profile so far, ready to be asked; later steps do not change it.

        Its float operations are those that the program itself gives; the rest is counted by the
        rules that each question names.
        """
        with self._growing:
            return Loaded(as_given(self._profile, self._models), None, self._inputs)

    @property
    def _coverage(self) -> float:
        """The share of the graph's nodes that the steps have stats of."""
        return self._profile.coverage

    def add_step(self, step: int, run_meta: Any) -> None:  # noqa: ANN401 - any of the forms
        """Add what a run recorded; what the graph has grown by is added, too.

        A step that was added before gets the numbers of both runs.
        """
        number = whole_number("step", step, least=0)
        run = run_of(run_meta)
        if run is None:
            raise UsageError("add_step needs what a run recorded: a RunMetadata, not None")
        with self._growing:
            before = self._profile
            # The user's log counts once: what the graph says now goes over its float operations,
            # as in the original.
            reading = self._model.read(run, with_users=False)
            self._profile = grown = with_step(before, number, reading, run)
            self._inputs += paths(run_meta)
        tell(grown.notes[len(before.notes) :])

    def _turn_to(self, graph: Any) -> None:  # noqa: ANN401 - a tf.Graph
        """Take the steps to come for runs of *graph*; what is known of other graphs stays."""
        with self._growing:
            known = [model for model in self._models if model.is_of(graph)]
            if not known:
                known = [self._model.beside(graph)]
                self._models += known
            self._model = known[0]

    def profile_name_scope(self, options: Options) -> Any:  # noqa: ANN401 - a message
        """The graph nodes by name scope, as a GraphNodeProto."""
        return self._ask("scope", options)

    def profile_graph(self, options: Options) -> Any:  # noqa: ANN401
        """The graph nodes below those that consume them, as a GraphNodeProto."""
        return self._ask("graph", options)

    def profile_operations(self, options: Options) -> Any:  # noqa: ANN401
        """The operation types, as a MultiGraphNodeProto."""
        return self._ask("op", options)

    def profile_python(self, options: Options) -> Any:  # noqa: ANN401
        """The lines of Python that made the graph nodes, as a MultiGraphNodeProto."""
        return self._ask("code", options)

    profile_python_codes = profile_python  # its name in tf.contrib.tfprof

    def advise(self, options: Checkers | None = ALL_ADVICE) -> Any:  # noqa: ANN401
        """What checkers, each with its options, find; as an AdviceProto."""
        return advice(self._profile, options)

    def serialize_to_string(self) -> bytes:
        """The profile as a ProfileProto in wire format."""
        return b"".join(saved(self._counted()))

    def _write_profile(self, filename: str | os.PathLike[str]) -> None:
        """Write the profile as a file that `--profile_path` reads."""
        write_apart(path("filename", filename), saved(self._counted()), self._inputs)

    def _ask(self, cmd: str, options: Options) -> Any:  # noqa: ANN401
        return self._answer(question(cmd, options))

    def _answer(self, asked: Question) -> Any:  # noqa: ANN401
        flops = asked.flops or self._flops
        if flops == baked(self._flops):  # they are part of the profile
            return ask(Loaded(self._profile, None, self._inputs), asked.counted_by("log"))
        return ask(self.loaded, asked.counted_by(flops))

    def _counted(self) -> Profile:
        """The profile with its float operations."""
        return self.loaded.counted("all") if self._flops == "all" else self._profile
