"""What we do differently from the original on purpose, as docs/parity.md lists it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import ours
from case import Case, GraphDef
from oracle import OracleCrashed
from sampling import sampled
from tfprof.errors import UsageError
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.writers.classic_text import text

if TYPE_CHECKING:
    from oracle import Oracle

TRACED = Case.from_text(
    "code",
    graph='node { name: "a" op: "Add" } node { name: "b" op: "Mul" input: "a" }',
    op_log="""
      log_entries {
        name: "a" float_ops: 3 code_def { traces { file_id: 1 lineno: 7 function_id: 2 } }
      }
      log_entries {
        name: "b" float_ops: 4 code_def { traces { file_id: 1 lineno: 8 function_id: 2 } }
      }
      id_to_string { key: 1 value: "/home/model.py" }
      id_to_string { key: 2 value: "build" }
    """,
)


def rows(case: Case, **options: Any) -> list[str]:
    """The lines of the report, without what stands before them."""
    query = Query.of({"select": ["float_ops"], **options})
    report = b"".join(text(answer(ours.load(case), case.view, query))).decode()
    return report.split("Profile:\n")[1].splitlines()[1:]


def crashes(oracle: Oracle, case: Case, **options: Any) -> None:
    oracle.load(case.graph, case.op_log)
    with pytest.raises(OracleCrashed):
        oracle.ask(case.view, options)


@pytest.mark.parametrize("options", [{"max_depth": 0}, {"trim_name_regexes": [".*"]}])
def test_code_view_cut_at_the_root_is_the_root(oracle: Oracle, options: dict[str, Any]) -> None:
    crashes(oracle, TRACED, **options)
    assert rows(TRACED, **options) == ["_TFProfRoot (--/7 flops)"]


def test_code_view_of_empty_stacks_is_the_root(oracle: Oracle) -> None:
    case = Case.from_text(
        "code", graph='node { name: "a" }', op_log='log_entries { name: "a" code_def { } }'
    )
    crashes(oracle, case)
    assert rows(case) == ["_TFProfRoot (--/0 flops)"]


def test_code_view_without_stacks_says_what_to_give() -> None:
    case = Case.from_text("code", graph='node { name: "a" }')
    with pytest.raises(UsageError, match=r"No code trace information.*--op_log_path"):
        rows(case)


CALLED_LIKE_THE_ROOT = {
    "scope": """_TFProfRoot (--/111 flops)
  _TFProfRoot (1/101 flops)
    _TFProfRoot/x (100/100 flops)
  a (10/10 flops)""",
    "graph": """_TFProfRoot (--/111 flops)
  _TFProfRoot (1/11 flops)
    a (10/10 flops)
  _TFProfRoot/x (100/100 flops)""",
    "op": """Add                      110 float_ops (100.00%, 99.10%)
_TFProfRoot                  1 float_ops (0.90%, 0.90%)""",
}


@pytest.mark.parametrize("view", CALLED_LIKE_THE_ROOT)
def test_a_node_may_be_called_like_the_root(oracle: Oracle, view: str) -> None:
    case = Case.from_text(
        view,
        graph="""
          node { name: "_TFProfRoot" op: "_TFProfRoot" input: "a" }
          node { name: "_TFProfRoot/x" op: "Add" } node { name: "a" op: "Add" }
        """,
        op_log="""
          log_entries { name: "_TFProfRoot" float_ops: 1 } log_entries { name: "a" float_ops: 10 }
          log_entries { name: "_TFProfRoot/x" float_ops: 100 }
        """,
    )
    crashes(oracle, case)
    assert rows(case) == CALLED_LIKE_THE_ROOT[view].split("\n")


def test_function_names_are_cut_between_characters() -> None:
    log = Case.from_text(
        "code",
        op_log="""
          log_entries { name: "a" code_def { traces { file_id: 1 lineno: 7 function_id: 2 } } }
          id_to_string { key: 1 value: "model.py" }
          id_to_string { key: 2 value: "xxxxxxxxxxxxxxxxäöüäöü" }
        """,
    ).op_log
    case = Case("code", TRACED.graph, log)
    assert rows(case)[1] == "  model.py:7:xxxxxxxxxxxxxxxx... (0/0 flops)"


def test_depth_is_not_cut_to_32_bits(oracle: Oracle) -> None:
    case = Case.from_text("scope", graph='node { name: "a/b" }')
    oracle.load(case.graph, case.op_log)
    theirs = oracle.ask("scope", {"max_depth": 2**32 + 1}).report.decode()
    assert theirs.endswith("node name | \n_TFProfRoot ()\n")
    assert len(rows(case, max_depth=2**32 + 1)) == 3


def test_nodes_of_a_later_run_are_in_every_view(oracle: Oracle) -> None:
    run = 'step_stats { dev_stats { device: "/cpu:0" node_stats { node_name: "late" } } }'
    case = Case.from_text("scope", graph='node { name: "a" }', steps=[(0, run)])
    oracle.load(case.graph, b"")
    oracle.ask("scope", {})
    oracle.add_step(0, case.steps[0][1])
    assert b"late" not in oracle.ask("scope", {}).report
    before = ours.load(Case("scope", case.graph))
    answer(before, "scope", Query())
    assert rows(case)[1:] == ["  a (0/0 flops)", "  late (0/0 flops)"]


@pytest.mark.sampled
@pytest.mark.parametrize("view", sampled(["scope", "graph", "op", "code"], 1, "chain"))
def test_a_chain_of_100_000_nodes_and_a_cycle(view: str) -> None:
    count = 100_000
    graph = GraphDef()
    for node in range(count):
        graph.node.add(name=f"s/s/n{node}", op="Add", input=[f"s/s/n{node + 1}"])
    graph.node.add(name="c1", op="Add", input=["c2"])
    graph.node.add(name="c2", op="Add", input=["c1"])
    case = Case(view, graph.SerializeToString() + TRACED.graph, TRACED.op_log)
    everything = answer(ours.load(case), view, Query.of({"max_depth": 10**9}))
    # The cycle is in no view of the graph; a and b are the two nodes with call stacks.
    expected = {"scope": 1 + 2 + count + 2 + 2, "graph": 1 + count + 2, "op": 1 + 2, "code": 1 + 2}
    assert len(everything) == expected[view]
    deepest = {"scope": 4, "graph": count + 1, "op": 3, "code": 2}
    assert everything.tree.depth.max() == deepest[view]
    assert everything.total("float_ops")[0] == 7
    assert len(rows(case, max_depth=5)) <= 1 + 2 + count + 4
