"""Instructions that XLA hands to other threads, and the launches that they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from hlo_events import ran
from tfprof.read.xplane.launches import function_of
from xplane_traces import Event, host, trace

if TYPE_CHECKING:
    from collections.abc import Sequence


MODULE: Final = "a_inference_f_12__.4"


def instruction(name: str, start: float, *, program: int = 7, module: str = MODULE) -> Event:
    return ran(program, module, name, start, 1)


def told(*events: Event, **lines: Sequence[Event]) -> list[tuple[str, str]]:
    """(name, function) of the instructions on other threads, by name."""
    columns = trace(host(*events, **lines))
    pairs = zip(columns.events.name.texts(), columns.events.function.texts(), strict=True)
    line = columns.events.line.tolist()
    return sorted(pair for pair, of in zip(pairs, line, strict=True) if of == max(line))


def test_what_runs_elsewhere_is_of_the_launch_that_goes_on() -> None:
    assert told(
        Event("one:StatefulPartitionedCall", 0, 10),
        instruction("dot", 1),
        Event("two:StatefulPartitionedCall", 20, 10),
        instruction("dot", 21),
        elsewhere=[instruction("a", 5), instruction("b", 25)],
    ) == [("one/a", ""), ("two/b", "")]


def test_a_launch_all_of_which_runs_elsewhere_is_known_by_its_node() -> None:
    assert told(
        Event("one:StatefulPartitionedCall", 0, 10),
        instruction("dot", 1),
        Event("two:StatefulPartitionedCall", 20, 10),
        instruction("dot", 21, program=8),
        Event("two:StatefulPartitionedCall", 40, 10),
        elsewhere=[instruction("a", 45, program=8), instruction("b", 60, program=8)],
    ) == [("two/a", ""), ("two/b", "")]


def test_of_two_launches_at_a_time_none_is_guessed() -> None:
    assert told(
        Event("one:StatefulPartitionedCall", 0, 10),
        instruction("dot", 1),
        between=[Event("two:StatefulPartitionedCall", 4, 20), instruction("dot", 5)],
        elsewhere=[instruction("a", 6), instruction("b", 12), instruction("c", 2)],
    ) == [("__inference_f_12/a", ""), ("one/c", ""), ("two/b", "")]


@pytest.mark.parametrize("of_other_programs", [0, 9])
def test_of_two_launches_at_a_time_it_is_the_one_that_did_not_run_it_itself(
    of_other_programs: int,
) -> None:
    others = [
        event
        for row in range(of_other_programs)
        for event in (
            Event("other:StatefulPartitionedCall", 100 + 10 * row, 9),
            instruction("dot", 101 + 10 * row, program=1),
        )
    ]
    assert told(
        Event("one:StatefulPartitionedCall", 0, 10),
        instruction("dot", 1),
        instruction("a", 7),
        *others,
        between=[Event("two:StatefulPartitionedCall", 4, 20), instruction("dot", 5)],
        elsewhere=[instruction("a", 6)],
    ) == [("two/a", "")]


def test_what_runs_more_often_than_its_program_tells_no_launch() -> None:
    assert (
        told(
            Event("one:StatefulPartitionedCall", 0, 10),
            instruction("dot", 1),
            instruction("a", 7),
            between=[Event("two:StatefulPartitionedCall", 4, 20), instruction("dot", 5)],
            elsewhere=[instruction("a", 6), instruction("a", 8)],
        )
        == [("__inference_f_12/a", "")] * 2
    )


def test_without_a_launch_the_module_tells_the_function() -> None:
    assert told(
        Event("one:StatefulPartitionedCall", 0, 10),
        instruction("dot", 1),
        elsewhere=[instruction("a", 5, program=9)],
    ) == [("a", "__inference_f_12")]


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("a_inference_f_12__.4", "__inference_f_12"),
        (
            "a_inference_f_12__XlaMustCompile_true_config_proto_13_executor_type_1_.4",
            "__inference_f_12",
        ),
        ("a_inference___backward_f_7_9__.1", "__inference___backward_f_7_9"),
        ("cluster_0__XlaCompiledKernel_true__.3", ""),
        ("", ""),
    ],
)
def test_modules_are_named_after_functions(module: str, function: str) -> None:
    assert function_of(module.encode()) == function.encode()
