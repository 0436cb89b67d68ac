"""The run of a graph with functions: stats under the runtime's names land on the bodies' nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import paths
import tfprof
from tfprof.wire.decode import BYTES, scan, whole
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDER: Final = paths.DATA / "tf2" / "session"
_RunMetadata: Final[Any] = message("tensorflow.RunMetadata")
_LOOPS: Final = 5


@pytest.fixture(scope="module")
def loaded() -> tfprof.Loaded:
    return tfprof.load(FOLDER / "graph.pb", FOLDER / "run_meta.pb")


@pytest.fixture(scope="module")
def stats() -> list[Any]:
    run = _RunMetadata.FromString((FOLDER / "run_meta.pb").read_bytes())
    return [stat for device in run.step_stats.dev_stats for stat in device.node_stats]


def runs(loaded: tfprof.Loaded) -> dict[str, int]:
    return values(loaded, "occurrence")


def values(loaded: tfprof.Loaded, metric: str) -> dict[str, int]:
    column = loaded.profile.values(metric, None).tolist()
    return dict(zip(loaded.profile.nodes.name.texts(), column, strict=True))


def test_every_stat_is_of_a_node_of_the_graph(loaded: tfprof.Loaded) -> None:
    alone = tfprof.load(FOLDER / "graph.pb").profile
    assert set(loaded.profile.nodes.name.texts()) <= set(alone.nodes.name.texts())


def test_a_body_ran_as_often_as_its_loop(loaded: tfprof.Loaded) -> None:
    count = runs(loaded)
    assert count["loop/body/mm_0"] == _LOOPS
    assert count["loop/cond/Less"] == _LOOPS + 1


def test_the_branch_that_was_not_taken_did_not_run(loaded: tfprof.Loaded) -> None:
    count = runs(loaded)
    assert count["choice/else/add_0"] == 1
    assert count["choice/then/then_product_0"] == 0


def test_what_ran_under_its_bare_name_inside_of_a_call_is_of_its_body(
    loaded: tfprof.Loaded,
) -> None:
    count = runs(loaded)
    kept = [name for name, ran in count.items() if name.endswith("/kept_product") and ran]
    assert kept == ["StatefulPartitionedCall_1/kept_product"]


def test_no_time_is_counted_twice(loaded: tfprof.Loaded, stats: list[Any]) -> None:
    """All of it is at most what the top of the graph took: the calls, and what is in none."""
    counted = int(loaded.profile.values("micros", None).sum())
    calls = {stat.node_name: stat for stat in stats if _label_op(stat).endswith("PartitionedCall")}
    outside = [stat for stat in stats if not _inside(stat, calls.values())]
    # No time at all counts as a microsecond, for each that has none.
    none = sum(stat.op_end_rel_micros == 0 for stat in stats)
    assert counted <= sum(stat.op_end_rel_micros for stat in outside) + none
    kept = values(loaded, "micros")["StatefulPartitionedCall_1"]
    assert 0 < kept < calls["StatefulPartitionedCall_1"].op_end_rel_micros


def _label_op(stat: Any) -> str:
    return str(stat.timeline_label.partition(" = ")[2].partition("(")[0])


def _inside(stat: Any, calls: Iterable[Any]) -> bool:
    begin, end = stat.all_start_micros, stat.all_start_micros + stat.op_end_rel_micros
    return any(
        call is not stat
        and call.all_start_micros <= begin
        and end <= call.all_start_micros + call.op_end_rel_micros
        for call in calls
    )


def test_float_operations_are_those_of_what_ran(loaded: tfprof.Loaded) -> None:
    product = 2 * 32 * 64 * 64
    report = loaded.op(select=["float_ops"], account_type_regexes=["MatMul"])
    # Twice in one function, in the loop, in the one that is kept; not in the branch beside.
    assert report.rows[0].total_float_ops == product * (2 + _LOOPS + 1)


def test_an_optimisers_name_is_what_the_partition_graph_says_it_was(tmp_path: Path) -> None:
    data = (FOLDER / "run_meta.pb").read_bytes()
    # Of the same length, so all else stays where it is: a name that nobody could guess.
    renamed = data.replace(b"loop/body/_1/mm_0", b"optimised/mul_317")
    assert renamed != data
    path = tmp_path / "run_meta.pb"
    path.write_bytes(renamed)
    count = runs(tfprof.load(FOLDER / "graph.pb", path))
    assert count["loop/body/mm_0"] == _LOOPS
    assert "optimised/mul_317" not in count


def test_without_partition_graphs_the_names_tell_nearly_all(
    tmp_path: Path, loaded: tfprof.Loaded
) -> None:
    data = np.frombuffer((FOLDER / "run_meta.pb").read_bytes(), np.uint8)
    step_stats = scan(data, *whole(data), {1: BYTES})[1]
    path = tmp_path / "run_meta.pb"
    made = _RunMetadata.FromString(data.tobytes())
    assert step_stats.start.size == 1
    path.write_bytes(made.SerializeToString())  # our schema has no partition graphs
    assert runs(tfprof.load(FOLDER / "graph.pb", path)) == runs(loaded)
