"""An engine of this process, for tests of what runs on engines."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from tfprof.fleet.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class HereEngine(Engine):
    """Runs tasks here, the last one first; they and their results are pickled as elsewhere."""

    def __init__(self) -> None:
        self.ran: list[str] = []  # names of functions

    def run(
        self, function: Callable[[Any], Any], tasks: Sequence[Any]
    ) -> Iterator[tuple[int, Any]]:
        for number, task in reversed([*enumerate(tasks)]):
            self.ran.append(function.__name__)
            called, sent = _sent((function, task))
            yield number, _sent(called(sent))

    def close(self) -> None:
        pass


def _sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own
