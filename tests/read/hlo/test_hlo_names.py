"""Names, scopes and bounds of loops in small programs that are written by hand."""

from __future__ import annotations

import pytest

from hlo_made import computation, instruction, module, parameter, proto
from hlo_recorded import by_type, contracted
from tfprof.columns.strings import Strings
from tfprof.errors import InputError
from tfprof.read import load
from tfprof.read.hlo.name_stacks import PHASES, name_stacks
from tfprof.results.loaded import Loaded
from xplane_traces import source

_LOOP = """HloModule loop

body {{
  p = (s32[], f32[4,8], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,8] get-tuple-element(p), index=1
  w = f32[8,8] get-tuple-element(p), index=2
  step = s32[] constant({step})
  next = s32[] {change}(i, step)
  y = f32[4,8] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT t = (s32[], f32[4,8], f32[8,8]) tuple(next, y, w)
}}

cond {{
  p = (s32[], f32[4,8], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant({bound})
  ROOT c = pred[] compare(i, n), direction={direction}
}}

ENTRY main {{
  x = f32[4,8] parameter(0)
  w = f32[8,8] parameter(1)
  first = s32[] constant({first})
  t = (s32[], f32[4,8], f32[8,8]) tuple(first, x, w)
  l = (s32[], f32[4,8], f32[8,8]) while(t), condition=cond, body=body
  ROOT r = f32[4,8] get-tuple-element(l), index=1
}}
"""
_TURN = 2 * 4 * 8 * 8


def loaded(program: bytes | str) -> Loaded:
    data = program.encode() if isinstance(program, str) else program
    return Loaded(load(graph=source(data, "program")))


@pytest.mark.parametrize(
    ("first", "direction", "bound", "change", "step"),
    [
        (0, "LT", 7, "add", 1), (0, "LE", 7, "add", 1), (-3, "LT", 7, "add", 4),
        (9, "GT", 2, "subtract", 3), (9, "GE", 0, "add", -3), (5, "LT", 5, "add", 1),
    ],
)  # fmt: skip
def test_a_counter_bounds_a_loop(
    first: int, direction: str, bound: int, change: str, step: int
) -> None:
    goes_on = {"LT": int.__lt__, "LE": int.__le__, "GT": int.__gt__, "GE": int.__ge__}[direction]
    turns, counter = 0, first
    while goes_on(counter, bound):
        turns, counter = turns + 1, counter + (step if change == "add" else -step)
    program = _LOOP.format(first=first, direction=direction, bound=bound, change=change, step=step)
    assert contracted(loaded(program)) == turns * _TURN


@pytest.mark.parametrize(
    ("direction", "change"), [("NE", "add"), ("LT", "multiply"), ("LT", "subtract")]
)
def test_other_loops_have_no_bound(direction: str, change: str) -> None:
    program = loaded(_LOOP.format(first=0, direction=direction, bound=7, change=change, step=1))
    assert contracted(program) == _TURN
    assert "total_float_ops" in by_type(program)["_TFProfRoot"].incomplete


def test_a_trace_says_how_often_a_loop_without_a_bound_runs() -> None:
    program = _LOOP.format(first=0, direction="NE", bound=7, change="add", step=1)
    text = str(loaded(program).explain(op="dot"))
    assert "how often loop l runs; give --trace_path: a trace records how often it runs" in text
    assert "run_meta_path" not in text


def test_stacks_of_names() -> None:
    said = {
        "jit(step)/jvp(Model)/proj/dot_general": ("Model/proj", "dot_general", "forward"),
        "jit(step)/transpose(jvp(Model))/proj/dot": ("Model/proj", "dot", "backward"),
        "jit(f)/while/body/closed_call/attn/add": ("attn", "add", ""),
        "jit(f)/jvp(a/b)/checkpoint/c/tanh": ("a/b/c", "tanh", "forward"),
        "jit(f)/cond/branch_0_fun/mul": ("", "mul", ""),
        "jit(f)/vmap(a/b/mul": ("a/b", "mul", ""),
        "a/body/add": ("a/body", "add", ""),
        "jit(f)/while/body/add": ("", "add", ""),
        "jit(f)/dot_general[precision=None]": ("", "dot_general", ""),
        "/add": ("", "add", ""),
        "add": ("", "add", ""),
        "": ("", "", ""),
    }
    count = len(said)
    found = name_stacks(Strings.of(key.encode() for key in said), Strings.of([b""] * count))
    assert {
        key: (
            found.scopes[found.scope[row]].decode(),
            found.primitives[found.primitive[row]].decode(),
            PHASES[found.phase[row]].decode(),
        )
        for row, key in enumerate(said)
    } == said


def test_names_of_nodes_are_scopes_as_they_are() -> None:
    names, kinds = Strings.of([b"model/dense/MatMul", b"jit(f)/a/dot"]), [b"MatMul", b""]
    found = name_stacks(names, Strings.of(kinds))
    assert [found.scopes[at] for at in found.scope] == [b"model/dense/MatMul", b"a"]
    assert [found.primitives[at] for at in found.primitive] == [b"MatMul", b"dot"]


def test_rewritten_instructions_inherit_the_scope_of_their_neighbour() -> None:
    content = module(
        "m", 1,
        computation(
            "main", 1, 6,
            parameter("x", 1, 0, "x"),
            parameter("y", 2, 1, "y"),
            instruction("before", "copy", 3, [1]),
            instruction("middle", "add", 4, [3, 2]),
            instruction("named", "tanh", 5, [4], op_name="jit(f)/jvp(Model)/layer/tanh"),
            instruction("after", "copy", 6, [5]),
        ),
    )  # fmt: skip
    names = {row.name for row in loaded(proto(content)).scope(max_depth=10)}
    expected = {f"Model/layer/{name}" for name in ("before", "middle", "named", "after")}
    assert {*expected, "x", "y"} <= names


def calling(depth: int, each: int) -> bytes:
    """Computations that call the next one *each* times, one below the other."""
    bodies = [
        computation(
            f"c{at}", at, 1000 * at,
            *(
                instruction(f"call.{at}.{k}", "call", 1000 * at + k, [], calls=[at + 1])
                for k in range(each)
            ),
        )
        for at in range(1, depth)
    ]  # fmt: skip
    last = computation("last", depth, 1000 * depth, parameter("p", 1000 * depth))
    return proto(module("m", 1, *bodies, last))


@pytest.mark.parametrize("depth", [40, 400])
def test_too_many_calls_are_counted_without_expanding_them(depth: int) -> None:
    with pytest.raises(InputError, match="have over 1,000,000,000,000 instructions"):
        loaded(calling(depth, 10))


def test_a_cycle_that_nothing_calls_does_no_harm() -> None:
    again = computation("again", 2, 20, instruction("call", "call", 20, [], calls=[2]))
    main = computation("main", 1, 10, instruction("c", "constant", 10))
    assert len(loaded(proto(module("m", 1, again, main)))) == 1
