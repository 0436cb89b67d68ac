"""Several programs in a trace: weights that they share, and programs of the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import ours
import tfprof
from case import Case
from hlo_events import held, marker, notes, ran, read, with_programs
from tfprof.ops.classes import with_type
from tfprof.ops.counting import lower_bound_nodes
from tfprof.ops.program_runs import programs
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import load
from tfprof.read.hlo.text import to_wire
from tfprof.read.saved_model import MODEL, TRAINABLE
from xplane_traces import counts, micros, plane, source

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.model import Profile
    from xplane_traces import Event

TRAIN: Final = """HloModule jit_train
ENTRY main {
  w = f32[8,8] parameter(0), metadata={op_name="params['a']['kernel']"}
  s = f32[8] parameter(1), metadata={op_name="params['a']['scale']"}
  x = f32[4,8] parameter(2), metadata={op_name="x"}
  dot.1 = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b.1 = f32[4,8] broadcast(s), dimensions={1}
  ROOT add.1 = f32[4,8] add(dot.1, b.1)
}
"""
EVAL: Final = """HloModule jit_eval
ENTRY main {
  w = f32[8,8] parameter(0), metadata={op_name="params['a']['kernel']"}
  x = f32[4,8] parameter(1), metadata={op_name="x"}
  ROOT dot.1 = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def trace(texts: dict[int, str], *events: Event) -> bytes:
    """A trace with programs by their numbers, and these events."""
    programs = [
        held(number, text.split()[1], to_wire(text.encode(), "x")) for number, text in texts.items()
    ]
    return with_programs(programs, events)


def loaded(folder: Path, data: bytes) -> tfprof.Loaded:
    file = folder / "t.xplane.pb"
    file.write_bytes(data)
    return tfprof.load(trace=file)


# --- weights ----------------------------------------------------------------------------------


def both_ran(train: str, evaluation: str) -> bytes:
    runs = ran(3, "jit_eval", "dot.1", 0, 5), ran(4, "jit_train", "dot.1", 10, 7)
    return trace({3: evaluation, 4: train}, *runs)


def parameters_of(folder: Path, train: str, evaluation: str) -> int:
    return int(loaded(folder, both_ran(train, evaluation)).summary().total["parameters"])


WIDE: Final = EVAL.replace("w = f32[8,8]", "w = f32[8,9]").replace("1 = f32[4,8]", "1 = f32[4,9]")
IN_STATE: Final = TRAIN.replace("params['a']", "state.params['a']")
"""The weights of the program for training are in a state."""
ACTOR: Final = IN_STATE.replace("state", "actor")
CRITIC: Final = (
    IN_STATE.replace("state", "critic").replace("jit_train", "jit_eval").replace("scale", "bias")
)
TEACHER: Final = (
    "  t = f32[8,8] parameter({}), metadata={{op_name=\"teacher.params['a']['kernel']\"}}\n  ROOT"
)


@pytest.mark.parametrize(
    ("train", "evaluation", "expected"),
    [
        (TRAIN, EVAL, 8 * 8 + 8),
        (TRAIN, EVAL.replace("['a']", "['b']"), 8 * 8 + 8 + 8 * 8),
        (TRAIN, WIDE, 8 * 8 + 8 + 8 * 9),
        (IN_STATE, EVAL, 8 * 8 + 8),
        (IN_STATE, EVAL.replace("params['a']", "variables['params']['a']"), 8 * 8 + 8),
        (IN_STATE, EVAL.replace("['kernel']", "['other']"), 8 * 8 + 8 + 8 * 8),
        (IN_STATE, EVAL.replace("w = f32[8,8]", "w = bf16[8,8]"), 8 * 8 + 8 + 8 * 8),
        # Each trained by its own program, they differ in the last layer.
        (ACTOR, CRITIC, 2 * (8 * 8 + 8)),
        # Two models of one program are two.
        (IN_STATE.replace("  ROOT", TEACHER.format(3)), EVAL, 8 * 8 + 8 + 8 * 8),
        (TRAIN, EVAL.replace("  ROOT", TEACHER.format(2)), 8 * 8 + 8 + 8 * 8),
    ],
    ids=[
        *("the same", "another name", "another shape", "in a state", "in variables"),
        *("another weight", "a copy of another type", "actor and critic"),
        *("a teacher in training", "a teacher in evaluation"),
    ],
)
def test_a_weight_of_two_programs_counts_once(
    tmp_path: Path, train: str, evaluation: str, expected: int
) -> None:
    assert parameters_of(tmp_path, train, evaluation) == expected


def test_very_many_collections_take_no_time(tmp_path: Path) -> None:
    """20,000 collections with one weight each; pairs of them would take minutes."""
    weights = (
        f"  v{at} = f32[2] parameter({at + 2}), metadata={{op_name=\"m{at}.params['a']['b']\"}}"
        for at in range(20_000)
    )
    many = EVAL.replace("  ROOT", "\n".join([*weights, "  ROOT"]))
    assert parameters_of(tmp_path, TRAIN, many) == 8 * 8 + 8 + 2 * 20_000


def test_such_a_weight_is_of_the_larger_program() -> None:
    profile = read(both_ran(TRAIN, EVAL))
    for kind in (MODEL, TRAINABLE):
        names = [*profile.nodes.name.take(with_type(profile, kind)).texts()]
        assert [name.partition("/")[0] for name in names] == ["jit_train", "jit_train"]
    # The other is a node as before.
    assert sum(name.startswith("jit_eval/") for name in profile.nodes.name.texts()) == 3


def kernel(name: str, instruction: str, start: float, long: float) -> Event:
    return ran(7, "jit_f", instruction, start, long)._replace(name=name)


def test_several_kernels_of_an_instruction_are_one_run() -> None:
    """Each product of 64 × 64 matrices is 2 × 64³ float operations."""
    text = """HloModule jit_f
ENTRY main {
  a = f32[64,64] parameter(0)
  gemm.1 = f32[64,64] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT gemm.2 = f32[64,64] dot(gemm.1, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
    kernels = []
    for start in (0, 100):  # two runs of the program
        kernels += [
            kernel("sgemm_splitK", "gemm.1", start, 10),
            kernel("splitKreduce_kernel", "gemm.1", start + 11, 3),
            kernel("sgemm_splitK", "gemm.2", start + 20, 10),
            kernel("splitKreduce_kernel", "gemm.2", start + 31, 4),
        ]
    data = trace({7: text}) + plane("/device:GPU:0", {"Stream #13(Compute)": kernels})
    profile = read(data)
    last = {name.rpartition("/")[2]: count for name, count in counts(profile, 0).items()}
    assert last == {"gemm.1": 2, "gemm.2": 2}
    took = {name.rpartition("/")[2]: us for name, us in micros(profile).items()}
    assert took == {"gemm.1": 26, "gemm.2": 28}
    counted, _ = with_float_ops(profile, "all", {})
    assert int(counted.values("float_ops", None).sum()) == 2 * 2 * 2 * 64**3 == 2_097_152


# --- programs of the same name ----------------------------------------------------------------

LARGE: Final = EVAL.replace("jit_eval", "jit_f")
SMALL: Final = LARGE.replace("[4,8]", "[2,8]")
"""The same program, compiled for a smaller batch."""
DOT: Final = "_not_in_graph/jit_f/dot.1"


def with_file(text: str, data: bytes) -> Profile:
    return load(graph=source(to_wire(text.encode(), "x"), "program"), traces=[source(data)])


def in_graph(profile: Profile) -> dict[str, int]:
    """The times by instruction; other programs have names of their own."""
    took = micros(profile)
    return {n if n.startswith("_not") else n.rpartition("/")[2]: us for n, us in took.items()}


TWO_RAN: Final = ran(7, "jit_f", "dot.1", 0, 5), ran(8, "jit_f", "dot.1", 10, 70)


@pytest.mark.parametrize(("text", "own", "other"), [(LARGE, 5, 70), (SMALL, 70, 5)])
def test_a_file_takes_the_times_of_the_program_with_its_instructions(
    text: str, own: int, other: int
) -> None:
    profile = with_file(text, trace({7: LARGE, 8: SMALL}, *TWO_RAN))
    assert in_graph(profile) == {"dot.1": own, DOT: other}
    assert f"{other} us ({100 * other / 75:.1f} %), are not of nodes in the graph" in notes(profile)


@pytest.mark.parametrize(
    ("texts", "events", "expected"),
    [
        ({7: LARGE, 8: LARGE}, TWO_RAN, {"dot.1": 75}),
        ({7: LARGE}, TWO_RAN, {"dot.1": 5, DOT: 70}),
        ({}, TWO_RAN, {"dot.1": 75}),
        # A file may say less than the trace, or be from another day.
        ({8: SMALL}, TWO_RAN[1:], {"dot.1": 70}),
    ],
    ids=["compiled twice", "one without HLO", "none with HLO", "one of the name"],
)
def test_programs_of_a_trace_are_told_from_that_of_the_file(
    texts: dict[int, str], events: tuple[Event, ...], expected: dict[str, int]
) -> None:
    profile = with_file(LARGE, trace(texts, *events))
    assert in_graph(profile) == expected
    said = "2 programs in the trace are named 'jit_f'; all count for"
    assert (said in notes(profile)) == (not texts)


# --- instructions without events --------------------------------------------------------------

PRODUCT: Final = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
TWO_DOTS: Final = TRAIN.replace(
    "ROOT add.1 = f32[4,8] add(dot.1, b.1)",
    f"""dot.2 = f32[4,8] dot(x, w), {PRODUCT}
  ROOT add.1 = f32[4,8] add(dot.1, dot.2)""",
)
LOOP: Final = f"""HloModule jit_train
body {{
  p = (s32[], f32[4,8], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  y = f32[4,8] get-tuple-element(p), index=1
  v = f32[8,8] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  dot.2 = f32[4,8] dot(y, v), {PRODUCT}
  ROOT t = (s32[], f32[4,8], f32[8,8]) tuple(next, dot.2, v)
}}
cond {{
  q = (s32[], f32[4,8], f32[8,8]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  n = s32[] constant(12)
  ROOT less = pred[] compare(j, n), direction=LT
}}
ENTRY main {{
  w = f32[8,8] parameter(0), metadata={{op_name="params['a']['kernel']"}}
  x = f32[4,8] parameter(1), metadata={{op_name="x"}}
  zero = s32[] constant(0)
  dot.1 = f32[4,8] dot(x, w), {PRODUCT}
  start = (s32[], f32[4,8], f32[8,8]) tuple(zero, dot.1, w)
  while.1 = (s32[], f32[4,8], f32[8,8]) while(start), condition=cond, body=body
  ROOT y = f32[4,8] get-tuple-element(while.1), index=1
}}
"""
"""The product in the loop runs 12 times."""
DOT_OPS: Final = 2 * 4 * 8 * 8
"""Float operations of one product in these programs."""


def dots(profile: Profile, step: int | None = None) -> tuple[dict[str, int], set[str]]:
    """(float operations of each product, those that may be more)."""
    counted, counts = with_float_ops(profile, "all", {}, step)
    lower = lower_bound_nodes(counted, counts, counted.nodes.float_ops, step)
    names = [name.rpartition("/")[2] for name in counted.nodes.name.texts()]
    values = counted.values("float_ops", step).tolist()
    own = {name: ops for name, ops in zip(names, values, strict=True) if name.startswith("dot.")}
    unsure = {name for name, is_lower in zip(names, lower.tolist(), strict=True) if is_lower}
    return own, unsure & own.keys()


def often(instruction: str, times: int, start: float = 10) -> list[Event]:
    return [ran(4, "jit_train", instruction, start + 10 * at, 7) for at in range(times)]


def test_an_instruction_without_events_runs_as_often_as_its_program() -> None:
    """A command buffer of a GPU runs many instructions and records one."""
    profile = read(trace({4: TWO_DOTS}, *often("dot.1", 10)))
    assert dots(profile) == ({"dot.1": 10 * DOT_OPS, "dot.2": 10 * DOT_OPS}, set())
    assert "1 instruction has no events in the trace" in notes(profile)
    both = [*often("dot.1", 10), *often("dot.2", 10, 200)]
    assert "no events" not in notes(read(trace({4: TWO_DOTS}, *both)))


def test_a_loop_without_events_runs_as_often_as_its_program() -> None:
    profile = read(trace({4: LOOP}, *often("dot.1", 10)))
    assert dots(profile) == ({"dot.1": 10 * DOT_OPS, "dot.2": 12 * 10 * DOT_OPS}, set())


def test_runs_of_a_program_that_left_events_in_loops_only_are_a_lower_bound() -> None:
    own, lower = dots(read(trace({4: LOOP}, *often("dot.2", 24))))
    assert own == {"dot.1": DOT_OPS, "dot.2": 24 * DOT_OPS}
    assert lower == {"dot.1"}


def test_instructions_that_disagree_leave_a_lower_bound() -> None:
    """`b.1` and `add.1` ran ten times, so `dot.1`, which has one event, and `dot.2` may have."""
    events = [*often("dot.1", 1), *often("b.1", 10, 200), *often("add.1", 10, 400)]
    own, lower = dots(read(trace({4: TWO_DOTS}, *events)))
    assert own == {"dot.1": DOT_OPS, "dot.2": 10 * DOT_OPS}
    assert lower == {"dot.1", "dot.2"}


def test_steps_that_differ_leave_a_lower_bound() -> None:
    markers = [marker(0, 0, 100), marker(1, 200, 100)]
    events = [*often("dot.1", 3), *often("dot.1", 5, 210)]
    profile = read(trace({4: TWO_DOTS}, *markers, *events))
    for step, runs in ((0, 3), (1, 5)):
        own = {"dot.1": runs * DOT_OPS, "dot.2": 3 * DOT_OPS}
        assert dots(profile, step) == (own, {"dot.2"})


def test_inputs_that_a_graph_lacks_connect_nothing() -> None:
    """They are negative rows, and may be more than there are nodes."""
    record = 'step_stats { dev_stats { device: "/cpu:0" node_stats { node_name: "a" } } }'
    case = Case.from_text(
        "scope",
        graph="""node { name: "a" op: "dot" input: "x" input: "y" input: "z" }
            node { name: "b" op: "dot" input: "u" input: "v" input: "w" }
            node { name: "c" op: "dot" input: "b" }""",
        steps=[(0, record)],
    )
    assert programs(ours.load(case)).tolist() == [0, 1, 1]


def test_a_program_counts_nothing_in_a_step_without_it() -> None:
    """What is in a fusion has no events of its own."""
    product = f"d = f32[4,8] dot(a, b), {PRODUCT}"
    fused = f"""HloModule jit_eval
fused {{
  a = f32[4,8] parameter(0)
  b = f32[8,8] parameter(1)
  ROOT {product.replace("d =", "dot.3 =")}
}}
ENTRY main {{
  w = f32[8,8] parameter(0), metadata={{op_name="params['a']['kernel']"}}
  x = f32[4,8] parameter(1), metadata={{op_name="x"}}
  ROOT fusion.1 = f32[4,8] fusion(x, w), kind=kOutput, calls=fused
}}
"""
    markers = [marker(0, 0, 100), marker(1, 200, 100)]
    events = [*often("dot.1", 1), ran(3, "jit_eval", "fusion.1", 50, 7), *often("dot.1", 1, 210)]
    profile = read(trace({3: fused, 4: TRAIN}, *markers, *events))
    assert dots(profile, 0) == ({"dot.1": DOT_OPS, "dot.3": DOT_OPS}, set())
    assert dots(profile, 1) == ({"dot.1": DOT_OPS, "dot.3": 0}, set())


def test_an_overview_counts_instructions_without_events(tmp_path: Path) -> None:
    """Per run: 2 products and 32 sums; or 1 + 12 products, 12 sums and 13 comparisons."""
    for text, once in ((TWO_DOTS, 2 * DOT_OPS + 32), (LOOP, 13 * DOT_OPS + 12 + 13)):
        program = loaded(tmp_path, trace({4: text}, *often("dot.1", 10)))
        assert program.overview().total["float_ops"] == 10 * once
        assert program.summary().total["float_ops"] == 10 * once


def test_an_overview_shows_what_may_be_more(tmp_path: Path) -> None:
    for events, sign in ((often("dot.1", 10), ""), (often("dot.2", 24), "≥")):
        report = loaded(tmp_path, trace({4: LOOP}, *events)).overview()
        assert ("float_ops" in report.total_incomplete) == bool(sign)
        assert ("Float ops    ≥" in str(report)) == bool(sign)


def test_an_explanation_says_how_often_it_runs(tmp_path: Path) -> None:
    text = str(loaded(tmp_path, trace({4: TWO_DOTS}, *often("dot.1", 10))).explain(op="dot"))
    assert "10, as often as other instructions of its program" in text
    assert "how often its program ran" not in text


def test_an_explanation_says_that_it_may_have_run_more_often(tmp_path: Path) -> None:
    """Events of the loop's body alone: the program may have run once, or many times."""
    report = loaded(tmp_path, trace({4: LOOP}, *often("dot.2", 24))).explain(op="dot")
    assert "how often its program ran in each step" in str(report)
