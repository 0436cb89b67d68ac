"""What XLA compiles for TensorFlow: the node that each instruction is of, named by XLA or not."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import keras
import numpy as np
import pytest

import tfprof
from hlo_events import held, ran, read
from hlo_recorded import content
from tfprof.read.hlo.text import HloTextSource
from xplane_oracle import instruction_runs
from xplane_traces import environment, micros, plane, source

if TYPE_CHECKING:
    from tfprof.model import Profile

MODULE: Final = "a_inference_step_12__.4"
PROGRAM: Final = 7
# XLA writes a name on what it makes of one node, and none on parts, mixtures and copies.
# ruff: noqa: E501 - lines of HLO are long
TEXT: Final = f"""\
HloModule {MODULE}

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}}

mixed {{
  p = f32[8,64] parameter(0)
  q = f32[64,64] parameter(1)
  small = f32[8,64] tanh(p), metadata={{op_type="Tanh" op_name="net/one/Tanh"}}
  ROOT large = f32[8,64] dot(small, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_type="MatMul" op_name="net/two/MatMul"}}
}}

moved {{
  p = f32[8,64] parameter(0)
  t = f32[64,8] transpose(p), dimensions={{1,0}}
  ROOT u = f32[64,8] copy(t)
}}

update {{
  g = f32[64] parameter(0)
  h = f32[64] negate(g), metadata={{op_type="Neg" op_name="net/loss/grad"}}
  ROOT w = f32[64] multiply(h, h), metadata={{op_type="AssignSub" op_name="adam/update"}}
}}

ENTRY main {{
  x = f32[8,64] parameter(0), metadata={{op_name="XLA_Args"}}
  k = f32[64,64] parameter(1), metadata={{op_name="XLA_Args"}}
  zero = f32[] constant(0)
  product = f32[8,64] fusion(x, k), kind=kOutput, calls=mixed
  turned = f32[64,8] fusion(product), kind=kLoop, calls=moved
  part = f32[64,2] reduce-window(turned, zero), window={{size=1x4 stride=1x4}}, to_apply=add
  whole = f32[64] reduce(part, zero), dimensions={{1}}, to_apply=add, metadata={{op_type="Sum" op_name="net/loss/Sum"}}
  gradient = f32[64] sine(whole)
  moved_on = f32[64] copy(gradient)
  updated = f32[64] fusion(gradient), kind=kLoop, calls=update, metadata={{op_type="AssignSub" op_name="adam/update"}}
  ROOT all = (f32[64], f32[64]) tuple(updated, moved_on), metadata={{op_name="XLA_Retvals"}}
}}
"""
TOOK: Final = {
    "product": (1, "net/two/MatMul"),  # it has more work than the other
    "turned": (2, "_xla/copy"),
    "part": (4, "net/loss/Sum"),  # by what reads it
    "whole": (8, "net/loss/Sum"),
    "gradient": (16, "net/loss/grad"),  # by what reads it in the fusion
    "moved_on": (32, "_xla/copy"),
    "updated": (64, "adam/update"),
}


def made(device: str = "/host:CPU", line: str = "python") -> Profile:
    """Of a trace in which each instruction takes its own number of microseconds."""
    program = HloTextSource(source(TEXT.encode(), "text"), "HloProto").data.tobytes()
    events = [
        ran(PROGRAM, MODULE, name, 100 * at, long)
        for at, (name, (long, _)) in enumerate(TOOK.items())
    ]
    programs = plane("/host:metadata", {}, [held(PROGRAM, MODULE, program)])
    return read(programs + plane(device, {line: events}) + environment())


def expected() -> dict[str, int]:
    sums = Counter[str]()
    for long, node in TOOK.values():
        sums[node] += long
    return sums


@pytest.mark.parametrize(
    ("device", "line"), [("/host:CPU", "python"), ("/device:GPU:0", "Stream #1(Compute)")]
)
def test_instructions_and_kernels_without_a_name_have_a_node(device: str, line: str) -> None:
    assert micros(made(device, line)) == expected()


def test_programs_of_tensorflow_are_no_graph() -> None:
    profile = made()
    assert not profile.in_graph.any()
    assert len(profile) == len(expected())


def test_a_program_of_jax_keeps_its_own_names() -> None:
    assert "_xla/" not in " ".join(micros(read(content("flax_linen", "xplane.pb"))))


def test_the_time_of_a_compiled_fit_is_of_the_model(tmp_path: Path) -> None:
    layers = keras.layers
    model = keras.Sequential([
        keras.Input((16, 16, 3)),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.BatchNormalization(),
        layers.Flatten(),
        layers.Dense(64, activation="gelu"),
        layers.LayerNormalization(),
        layers.Dense(10),
    ])  # fmt: skip
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, jit_compile=True)
    x, y = np.ones((128, 16, 16, 3), "float32"), np.zeros(128, "int64")
    model.fit(x, y, batch_size=64, verbose=0)
    with tfprof.capture(tmp_path / "log"):
        model.fit(x, y, batch_size=64, verbose=0)
    (trace,) = Path(tmp_path, "log").rglob("*.xplane.pb")
    own = sum(run.own for run in instruction_runs(trace.read_bytes())) / 1e6
    took = micros(tfprof.load(tmp_path / "log").profile)
    of_model = sum(us for name, us in took.items() if "/StatefulPartitionedCall/" in name)
    added = {name: us for name, us in took.items() if name.startswith("_not_in_graph/_xla/")}
    assert of_model + sum(added.values()) >= 0.97 * own
    # How long copies take depends on what else the machine does.
    assert added.keys() <= {"_not_in_graph/_xla/copy"}
    assert of_model > 0
