"""Forward, backward and loops: which part of a training step an instruction of a loop is in.

JAX writes `jvp(M)` and `transpose(jvp(M))` into names. XLA merges what both parts share, and before
it optimizes, names inside a loop begin at the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from tfprof.ops.classes import with_type
from tfprof.read.hlo.name_stacks import BACKWARD, FORWARD

if TYPE_CHECKING:
    from pathlib import Path

TRIPS: Final = 6
DOT: Final = 4 * 8 * 8  # multiply-adds of f32[4,8] · f32[8,8]
GRADIENT: Final = 8 * 4 * 8  # of f32[8,4] · f32[4,8]
PRODUCT: Final = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
KNOWN: Final = f'backend_config={{"known_trip_count":{{"n":"{TRIPS}"}}}}'
STATE: Final = "(s32[], f32[4,8], f32[8,8])"
TURN: Final = f"""  p = {STATE} parameter(0)
  i = s32[] get-tuple-element(p), index=0
  y = f32[4,8] get-tuple-element(p), index=1
  v = f32[8,8] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)"""
CONDITION: Final = f"""{{
  q = {STATE} parameter(0)
  j = s32[] get-tuple-element(q), index=0
  n = s32[] constant({TRIPS})
  ROOT less = pred[] compare(j, n), direction=LT
}}"""


def named(name: str) -> str:
    return f'metadata={{op_name="{name}"}}'


def loop(prefix: str, name: str) -> str:
    """A body with one product, and the condition of its loop."""
    return f"""
{name}_body {{
{TURN}
  {name}_dot = f32[4,8] dot(y, v), {PRODUCT}, {named(f"{prefix}layers/dot_general")}
  ROOT t = {STATE} tuple(next, {name}_dot, v)
}}
{name}_cond {CONDITION}"""


def program(forward: str = "", backward: str = "", start: str = "zero") -> str:
    """A loop forward and one backward; a name inside begins with what is given."""
    return f"""HloModule jit_f
{loop(forward, "there")}
{loop(backward, "back")}
ENTRY main {{
  w = f32[8,8] parameter(0), {named("params['layers']['kernel']")}
  x = f32[4,8] parameter(1), {named("x")}
  zero = s32[] constant(0)
  shared = s32[] copy(zero), {named("jit(f)/transpose(jvp(M))/while")}
  first = {STATE} tuple({start}, x, w)
  ahead = {STATE} while(first), condition=there_cond, body=there_body,
      {named("jit(f)/jvp(M)/while")}
  y = f32[4,8] get-tuple-element(ahead), index=1
  second = {STATE} tuple(shared, y, w)
  behind = {STATE} while(second), condition=back_cond, body=back_body,
      {named("jit(f)/transpose(jvp(M))/while")}
  d = f32[4,8] get-tuple-element(behind), index=1
  g = f32[8,8] dot(x, d), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}},
      {named("jit(f)/transpose(jvp(M))/dot_general")}
  ROOT new = f32[8,8] subtract(w, g), {named("jit(f)/sub")}
}}
""".replace(",\n      ", ", ")


def loaded(text: str, tmp_path: Path) -> tfprof.Loaded:
    file = tmp_path / "program.txt"
    file.write_text(text)
    return tfprof.load(str(file))


FULL: Final = ("jit(f)/jvp(M)/while/body/", "jit(f)/transpose(jvp(M))/while/body/")


@pytest.mark.parametrize("prefixes", [FULL, ("", "")], ids=["whole names", "relative names"])
def test_what_is_in_a_loop_is_in_the_part_of_the_loop(
    prefixes: tuple[str, str], tmp_path: Path
) -> None:
    profile = loaded(program(*prefixes), tmp_path).profile
    names = [name.rpartition("/")[2] for name in profile.nodes.name.texts()]
    for kind, dots in ((FORWARD, {"there_dot"}), (BACKWARD, {"back_dot", "g"})):
        chosen = with_type(profile, kind).tolist()
        having = {name for name, has in zip(names, chosen, strict=True) if has}
        assert having & {"there_dot", "back_dot", "g"} == dots, kind


@pytest.mark.parametrize("start", ["zero", "shared"])
@pytest.mark.parametrize("prefixes", [FULL, ("", "")], ids=["whole names", "relative names"])
def test_a_constant_that_both_parts_share_moves_nothing(
    start: str, prefixes: tuple[str, str], tmp_path: Path
) -> None:
    model = loaded(program(*prefixes, start), tmp_path)
    parts = model.summary(training=True)
    assert {row["name"]: row["multiply_adds"] for row in parts.rows} == {
        "forward": TRIPS * DOT,
        "backward": TRIPS * DOT + GRADIENT,
        "optimizer": 0,
    }
    assert model.summary().total["multiply_adds"] == TRIPS * DOT
    assert not parts.total_incomplete


ACCUMULATED: Final = f"""HloModule jit_f
body {{
{TURN}
  d = f32[4,8] dot(y, v), {PRODUCT}, {named("jit(f)/while/body/jvp(M)/dot_general")}
  g = f32[8,8] dot(y, d), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}, {
    named("jit(f)/while/body/transpose(jvp(M))/dot_general")
}
  sum = f32[8,8] add(v, g), {named("jit(f)/while/body/add")}
  ROOT t = {STATE} tuple(next, y, sum)
}}
cond {CONDITION}
ENTRY main {{
  w = f32[8,8] parameter(0), {named("params['layers']['kernel']")}
  x = f32[4,8] parameter(1), {named("x")}
  zero = s32[] constant(0)
  first = {STATE} tuple(zero, x, w)
  all = {STATE} while(first), condition=cond, body=body, {named("jit(f)/while")}, {KNOWN}
  ROOT new = f32[8,8] get-tuple-element(all), index=2
}}
"""


def test_a_loop_around_forward_and_backward_counts_with_its_trips(tmp_path: Path) -> None:
    """Gradients are accumulated, or several steps run in one program."""
    model = loaded(ACCUMULATED, tmp_path)
    report = model.summary()
    assert report.total["multiply_adds"] == TRIPS * DOT
    assert not report.total_incomplete
    assert "no constant bound" not in str(model.overview())


def test_a_loop_around_both_that_nothing_bounds_counts_once(tmp_path: Path) -> None:
    drawn = "m = f32[4,8] get-tuple-element(q), index=1\n  n = s32[] custom-call(m)"
    text = ACCUMULATED.replace(f", {KNOWN}", "").replace(f"n = s32[] constant({TRIPS})", drawn)
    assert "custom-call" in text
    model = loaded(text, tmp_path)
    report = model.summary()
    assert "multiply_adds" in report.total_incomplete
    assert "1 loop has no constant bound, and is counted once" in str(report)


def test_an_overview_says_nothing_of_loops_that_it_does_not_count(tmp_path: Path) -> None:
    """The loop backward is not in the model."""
    assert "no constant bound" not in str(loaded(program(*FULL), tmp_path).overview())
