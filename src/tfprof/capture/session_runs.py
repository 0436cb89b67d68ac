"""Hooks `run` of TensorFlow's session class, and passes every `session.run` to a watcher.

All sessions, also those created earlier, inherit `run` from one class, and what wraps a session
(MonitoredSession, a debugger) calls it. The hook is set for the first watcher and removed with the
last one; nothing else of TensorFlow changes.

A run is shown to the watcher of its own thread; without one, to the watcher that came first. It is
never shown to two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from threading import Lock, Thread, current_thread
from typing import Any, Final, NamedTuple

from tfprof.capture.tensorflow_internals import MethodHook, Part, require_tensorflow, session_run
from tfprof.errors import UsageError


def _tensorflow(*parts: Part) -> Any:  # noqa: ANN401 - a module without types
    return require_tensorflow("a ProfileContext", *parts)


class Run(NamedTuple):
    """One call of `session.run`: the caller's arguments, and the method that carries it out."""

    session: Any
    fetches: Any
    feed_dict: Any
    options: Any
    run_metadata: Any
    carry_out: Callable[..., Any]

    def plain(self) -> Any:  # noqa: ANN401 - values of whatever is fetched
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

    def _run(self, options: Any, run_metadata: Any) -> Any:  # noqa: ANN401 - TensorFlow's messages
        return self.carry_out(self.session, self.fetches, self.feed_dict, options, run_metadata)

    def fetch_names(self) -> str:
        """The names of all fetches, each once, sorted and joined by dashes."""
        return "-".join(sorted({self._name(leaf) for leaf in _leaves(self.fetches)}))

    def _name(self, leaf: Any) -> str:  # noqa: ANN401 - whatever can be fetched
        try:
            return str(self.session.graph.as_graph_element(leaf).name)
        except (TypeError, ValueError, KeyError):  # the run itself rejects what it cannot fetch
            return str(getattr(leaf, "name", type(leaf).__name__))


def _leaves(fetches: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever can be fetched
    """The single fetches; the keys of a MonitoredSession cannot be sorted, as nest would."""
    if isinstance(fetches, Mapping):
        yield from chain.from_iterable(map(_leaves, fetches.values()))
    elif isinstance(fetches, (list, tuple)):
        yield from chain.from_iterable(map(_leaves, fetches))
    else:
        yield from _tensorflow().nest.flatten(fetches, expand_composites=True)


Watcher = Callable[[Run], Any]


class _Watchers:
    """The watchers by thread, in the order they came, and the hook while there are any."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._watchers: dict[Thread, Watcher] = {}
        self._hook: MethodHook | None = None

    def begin(self, watcher: Watcher) -> None:
        """Show runs to *watcher* from now on; raises UsageError where this thread has one."""
        _tensorflow(Part.SESSIONS, Part.GRAPHS)
        with self._lock:
            if current_thread() in self._watchers:
                raise UsageError(
                    "Already in context: this thread is inside a ProfileContext; leave it first"
                )
            if watcher in self._watchers.values():
                raise UsageError("Already in context: another thread is inside this ProfileContext")
            if self._hook is None:
                self._hook = MethodHook(*session_run(), self._show)
            self._watchers[current_thread()] = watcher

    def end(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers = {
                thread: other for thread, other in self._watchers.items() if other != watcher
            }
            if not self._watchers and self._hook is not None:
                self._hook.remove()
                self._hook = None

    def _show(  # noqa: PLR0913, PLR0917 - the arguments of `run`
        self,
        original: Callable[..., Any],
        session: Any,  # noqa: ANN401
        fetches: Any,  # noqa: ANN401
        feed_dict: Any = None,  # noqa: ANN401
        options: Any = None,  # noqa: ANN401
        run_metadata: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Show a call to a watcher; without one, carry it out."""
        run = Run(session, fetches, feed_dict, options, run_metadata, original)
        watchers = self._watchers
        watcher = watchers.get(current_thread()) or next(iter(watchers.values()), None)
        return watcher(run) if watcher else run.plain()


_WATCHERS: Final = _Watchers()
begin: Final = _WATCHERS.begin
end: Final = _WATCHERS.end
