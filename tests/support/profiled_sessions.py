"""A small model in a session, and what ProfileContexts make of its runs."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from tf_wheel import piece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ProfileProto: Final[Any] = piece("tensorflow.core.profiler.tfprof_log_pb2").ProfileProto

TIMES: Final = {
    "max_depth": 100,
    "min_bytes": 0,
    "min_micros": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "show_name_regexes": [".*"],
    "select": ["micros", "bytes", "params", "float_ops", "occurrence"],
    "output": "none",
}


class Model:
    """A small graph, its session, and what can be run of it."""

    def __init__(self, unused: int = 0) -> None:
        v1 = tensorflow().compat.v1
        self.graph = v1.Graph()
        with self.graph.as_default():
            self.x = v1.placeholder("float32", [1, 4], name="x")
            weights = v1.get_variable("weights", [4, 3], use_resource=True)
            self.y = v1.matmul(self.x, weights, name="y")
            self.z = v1.square(self.y, name="z")
            v1.constant(2, name="two")
            for number in range(unused):
                v1.constant(number, name=f"unused_{number}")
            start = v1.global_variables_initializer()
        self.session = v1.Session(graph=self.graph)
        self.session.run(start)
        self.graph.finalize()

    def run(self, fetches: Any = None, **more: Any) -> Any:
        wanted = self.y if fetches is None else fetches
        return self.session.run(wanted, {self.x: [[1.0, 2.0, 3.0, 4.0]]}, **more)


def tensorflow() -> Any:
    """TensorFlow, when first needed: collecting tests does not wait for it."""
    return import_module("tensorflow")


def context(*arguments: Any, **named: Any) -> Any:
    return import_module("tfprof.compat.profile_context").ProfileContext(*arguments, **named)


def base_session() -> Any:
    return tensorflow().compat.v1.Session.__mro__[1]


@contextmanager
def sessions_unchanged() -> Iterator[None]:
    """Whatever is done inside, sessions are afterwards as they were."""
    kinds = (*tensorflow().compat.v1.Session.__mro__, tensorflow().compat.v1.InteractiveSession)
    before = [dict(vars(kind)) for kind in kinds]
    yield
    after = [dict(vars(kind)) for kind in kinds]
    assert [list(one) for one in after] == [list(one) for one in before]
    changed = [key for b, a in zip(before, after, strict=True) for key in b if a[key] is not b[key]]
    assert not changed


def steps_of(path: Path) -> list[int]:
    saved = ProfileProto.FromString(path.read_bytes())
    return sorted(saved.steps)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def steps_of_profiler(profiled: Any) -> list[int]:
    return sorted(ProfileProto.FromString(profiled.profiler.serialize_to_string()).steps)


def traced_nodes(run_metadata: Any) -> set[str]:
    return {
        node.node_name for device in run_metadata.step_stats.dev_stats for node in device.node_stats
    }


def all_at_once(works: list[Callable[[], None]]) -> None:
    threads = [Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
