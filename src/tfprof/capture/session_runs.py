"""Hooks `run` of TensorFlow's session class, and passes every `session.run` to a watcher.

All sessions, also those created earlier, inherit `run` from one class, and what wraps a session
(MonitoredSession, a debugger) calls it. The hook is set for the first watcher and removed with the
last one. Meanwhile the class has the context that came first as `profile_context`. Nothing else of
TensorFlow changes.

A run is shown to the watcher of its own thread; without one, to the watcher that came first. It is
never shown to two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from threading import Lock, Thread, current_thread
from typing import Any, Final, NamedTuple

from tfprof.capture import tensorflow_internals
from tfprof.capture.tensorflow_internals import MethodHook, Part
from tfprof.errors import UsageError


def _tensorflow(*parts: Part) -> Any:  # a module without types
    return tensorflow_internals.require_tensorflow("a ProfileContext", *parts)


class Run(NamedTuple):
    """One call of `session.run`: the caller's arguments, and the method that carries it out."""

    session: Any
    fetches: Any
    feed_dict: Any
    options: Any
    run_metadata: Any
    carry_out: Callable[..., Any]

    def plain(self) -> Any:  # values of whatever is fetched
        """The fetched values; the run is exactly the caller's."""
        return self._run(self.options, self.run_metadata)

    def traced(self) -> tuple[Any, Any]:
        """(fetched values, RunMetadata with a full trace), all else as the caller asked."""
        v1 = _tensorflow().compat.v1
        options = v1.RunOptions()
        if self.options is not None:
            options.CopyFrom(self.options)
        options.trace_level = v1.RunOptions.FULL_TRACE
        run_metadata = v1.RunMetadata()
        values = self._run(options, run_metadata)
        if self.run_metadata is not None:
            self.run_metadata.CopyFrom(run_metadata)
        return values, run_metadata

    def _run(self, options: Any, run_metadata: Any) -> Any:  # TensorFlow's messages
        return self.carry_out(self.session, self.fetches, self.feed_dict, options, run_metadata)

    def fetch_names(self) -> str:
        """The names of all fetches, each once, sorted and joined by dashes."""
        return "-".join(sorted({self._name(leaf) for leaf in _leaves(self.fetches)}))

    def _name(self, leaf: Any) -> str:  # whatever can be fetched
        try:
            return str(self.session.graph.as_graph_element(leaf).name)
        except (TypeError, ValueError, KeyError):  # the run itself rejects what it cannot fetch
            return str(getattr(leaf, "name", type(leaf).__name__))


def _leaves(fetches: Any) -> Iterator[Any]:  # whatever can be fetched
    """The single fetches; the keys of a MonitoredSession cannot be sorted, as nest would."""
    if isinstance(fetches, Mapping):
        yield from chain.from_iterable(map(_leaves, fetches.values()))
    elif isinstance(fetches, (list, tuple)):
        yield from chain.from_iterable(map(_leaves, fetches))
    else:
        yield from _tensorflow().nest.flatten(fetches, expand_composites=True)


Watcher = Callable[[Run], Any]


def default_graph() -> Any:  # a tf.Graph
    """The graph that new operations of TensorFlow 1 go to, also in eager execution."""
    return _tensorflow(Part.GRAPHS).compat.v1.get_default_graph()


class _Watchers:
    """The watchers by thread, in the order they came, and the hook while there are any."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._active: dict[Thread, tuple[object, Watcher]] = {}  # contexts with their watchers
        self._hook: MethodHook | None = None

    def begin(self, context: object, watcher: Watcher) -> None:
        """Show runs to *watcher* from now on; raises UsageError where this thread has a context."""
        _tensorflow(Part.SESSIONS, Part.GRAPHS)
        with self._lock:
            if current_thread() in self._active:
                raise UsageError(
                    "Already in context: this thread is inside a ProfileContext; leave it first"
                )
            if any(context is entered for entered, _ in self._active.values()):
                raise UsageError("Already in context: another thread is inside this ProfileContext")
            if self._hook is None:
                self._hook = MethodHook(*tensorflow_internals.session_run(), self._show)
            self._active[current_thread()] = context, watcher
            self._name_first()

    def end(self, context: object) -> None:
        with self._lock:
            left = {thread: a for thread, a in self._active.items() if a[0] is not context}
            has_left = len(left) < len(self._active)
            self._active = left
            if has_left:
                self._name_first()
            if not left and self._hook is not None:
                self._hook.remove()
                self._hook = None

    def _name_first(self) -> None:
        """Let programs see the context that came first."""
        first = next((context for context, _ in self._active.values()), None)
        tensorflow_internals.set_active_context(first)

    def _show(  # noqa: PLR0913, PLR0917 - the arguments of `run`
        self,
        original: Callable[..., Any],
        session: Any,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Show a call to a watcher; without one, carry it out."""
        run = Run(session, fetches, feed_dict, options, run_metadata, original)
        contexts = self._active
        active = contexts.get(current_thread()) or next(iter(contexts.values()), None)
        return active[1](run) if active else run.plain()


_WATCHERS: Final = _Watchers()
begin: Final = _WATCHERS.begin
end: Final = _WATCHERS.end
