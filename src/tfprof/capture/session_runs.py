"""Looking on while sessions run: `run` of TensorFlow's sessions is replaced while somebody does.

Every session, whenever it was made, finds `run` on one class, and what wraps a session
(MonitoredSession, a debugger) ends up there. That one attribute is replaced when the first
watcher comes and put back when the last one goes; nothing else of TensorFlow is touched.

A run is shown to the watcher that came from its own thread; from a thread without one, to the
watcher that came first. It is never shown to two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from itertools import chain
from threading import Lock, Thread, current_thread
from typing import Any, Final, NamedTuple

from tfprof.capture.needed import tensorflow
from tfprof.errors import UsageError


def _tensorflow() -> Any:  # noqa: ANN401 - a module without types
    return tensorflow("a ProfileContext")


class Run(NamedTuple):
    """One call of `session.run`: what the caller gave, and how to go on with it."""

    session: Any
    fetches: Any
    feed_dict: Any
    options: Any
    run_metadata: Any
    carry_out: Callable[..., Any]

    def as_asked(self) -> Any:  # noqa: ANN401 - values of whatever is fetched
        """The fetched values, with nothing added to the run."""
        return self._ran(self.options, self.run_metadata)

    def traced(self) -> tuple[Any, Any]:
        """(fetched values, RunMetadata with a full trace).

        The caller's options are honoured but for the trace level, and not changed; the caller's
        own run_metadata is filled with the same.
        """
        v1 = _tensorflow().compat.v1
        options = v1.RunOptions()
        if self.options is not None:
            options.CopyFrom(self.options)
        options.trace_level = v1.RunOptions.FULL_TRACE
        run_metadata = v1.RunMetadata()
        values = self._ran(options, run_metadata)
        if self.run_metadata is not None:
            self.run_metadata.CopyFrom(run_metadata)
        return values, run_metadata

    def _ran(self, options: Any, run_metadata: Any) -> Any:  # noqa: ANN401 - messages of the wheel
        return self.carry_out(
            self.session,
            self.fetches,
            feed_dict=self.feed_dict,
            options=options,
            run_metadata=run_metadata,
        )

    def fetch_names(self) -> str:
        """The names of all that is fetched, each once, sorted and joined by dashes."""
        return "-".join(sorted({self._name(leaf) for leaf in _leaves(self.fetches)}))

    def _name(self, leaf: Any) -> str:  # noqa: ANN401 - whatever can be fetched
        try:
            return str(self.session.graph.as_graph_element(leaf).name)
        except (TypeError, ValueError, KeyError):  # what cannot be fetched is refused by the run
            return str(getattr(leaf, "name", type(leaf).__name__))


def _leaves(fetches: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever can be fetched
    """What a fetch consists of; keys need no order, those of a MonitoredSession have none."""
    if isinstance(fetches, Mapping):
        yield from chain.from_iterable(map(_leaves, fetches.values()))
    elif isinstance(fetches, (list, tuple)):
        yield from chain.from_iterable(map(_leaves, fetches))
    else:
        yield from _tensorflow().nest.flatten(fetches, expand_composites=True)


Watcher = Callable[[Run], Any]


class _Watch:
    """Who looks on, by thread in the order they came, and what `run` was before."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._watchers: dict[Thread, Watcher] = {}
        self._home: Any = None
        self._before: Any = None
        self._hook: Any = None

    def begin(self, watcher: Watcher) -> None:
        """Show runs to *watcher* from now on; refused where this thread has one already."""
        with self._lock:
            if current_thread() in self._watchers:
                raise UsageError(
                    "Already in context: a ProfileContext is entered in this thread and not left"
                )
            if watcher in self._watchers.values():
                raise UsageError(
                    "Already in context: this ProfileContext is entered in another thread"
                )
            if not self._watchers:
                kinds = _tensorflow().compat.v1.Session.__mro__
                self._home = next(kind for kind in kinds if "run" in vars(kind))
                self._before = vars(self._home)["run"]
                self._hook = self._shown(self._before)
                self._home.run = self._hook
            self._watchers[current_thread()] = watcher

    def end(self, watcher: Watcher) -> None:
        """Show *watcher* nothing more."""
        with self._lock:
            self._watchers = {
                thread: other for thread, other in self._watchers.items() if other != watcher
            }
            # Whoever replaced `run` after us keeps it: the hook below theirs lets all pass.
            if not self._watchers and vars(self._home)["run"] is self._hook:
                self._home.run = self._before

    def _shown(self, carry_out: Callable[..., Any]) -> Callable[..., Any]:
        """A `run` that shows each call to a watcher, and without one is *carry_out*."""

        @wraps(carry_out)
        def run(
            self: Any,  # noqa: ANN401 - a session
            fetches: Any,  # noqa: ANN401
            feed_dict: Any = None,  # noqa: ANN401
            options: Any = None,  # noqa: ANN401
            run_metadata: Any = None,  # noqa: ANN401
        ) -> Any:  # noqa: ANN401
            call = Run(self, fetches, feed_dict, options, run_metadata, carry_out)
            watcher = watching()
            return watcher(call) if watcher else call.as_asked()

        def watching() -> Watcher | None:
            watchers = self._watchers
            return watchers.get(current_thread()) or next(iter(watchers.values()), None)

        return run


_WATCH: Final = _Watch()
begin: Final = _WATCH.begin
end: Final = _WATCH.end
