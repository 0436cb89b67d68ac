"""Has XLA print programs as HLO text in many forms, and read them again as protos.

    python tests/data/make/hlo_texts.py          (needs jax; half a minute)

Writes data/hlo/text_forms.json.gz: {name: {"text": …, "proto": base64 of a HloModuleProto}}. The
proto is what XLA's own parser makes of the text. Programs are compiled ones, printed with other
options than `compiled.as_text()` has, and the texts below, which are written by hand.
"""

from __future__ import annotations

import base64
import gzip
import json
import os
from pathlib import Path
from typing import Any, Final

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, PartitionSpec
from jaxlib import _hlo

# Folders of this machine are no part of a test.
jax.config.update("jax_hlo_source_file_canonicalization_regex", r".*/tests/")

FILE: Final = Path(__file__).parents[1] / "hlo" / "text_forms.json.gz"
FORMS: Final[dict[str, dict[str, Any]]] = {
    "plain": {},
    "bare_names": {"print_percent": False},
    "operand_shapes": {"print_operand_shape": True},
    "bare_operand_shapes": {"print_operand_shape": True, "print_percent": False},
    "no_metadata": {"print_metadata": False},
    "no_layouts": {"include_layout_in_shapes": False},
    "no_signatures": {"print_program_shape": False},
}
EVERY_FORM: Final = ("training",)
SOME_FORMS: Final = ("bare_operand_shapes", "no_metadata")

BY_HAND: Final = {
    # Comments before the module and in it; names that two computations have; several on a line.
    "compact": """// a comment
/* another,
   * on two lines */
HloModule compact

add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }

ENTRY main {
  a = f32[3, 4] parameter(0)  // the input
  zero = f32[] constant(0)
  ROOT r = f32[3] reduce(a,
      zero), dimensions={1},
      to_apply=
        add
}
""",
    "no_entry": """HloModule no_entry
f {
  a = f32[64,9] parameter(0)
  ROOT d = f32[64,9] add(f32[64,9] a, f32[64,9]{1,0} a)
}
g {
  b = f32[64,9]{1,0:T(8,128)(2,1)S(1)} parameter(0)
  ROOT e = f32[64,9] call(b), to_apply=f
}
""",
    "shapes": r"""HloModule shapes
ENTRY e {
  a = (f32[<=64,9]{1,0}, (s4[], pred[2], (token[])), /*index=2*/bf16[0,3]) parameter(0)
  b = f8e4m3fn[2,?] parameter(1)
  c = (f32[2], b(f32[4]{0})) custom-call(b), custom_call_target="x\"y\n\303\251\\"
  ROOT g = (s4[], pred[2], (token[])) get-tuple-element(a), index=1
}
""",
    "shardings": """HloModule shardings, buffer_donor={ (0, {}), (6, {1}) }
ENTRY e {
  a = f32[4,8] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  b = f32[4,8] parameter(1), sharding={devices=[2,1]0,1}
  c = f32[4,8] parameter(2), sharding={replicated}
  d = f32[4,8] parameter(3), sharding={manual}
  f = f32[4,8] parameter(4), sharding={maximal device=3}
  g = f32[4,8] parameter(5), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dims={manual}}
  h = (f32[4],f32[4],f32[2]) parameter(6), sharding={{devices=[2]<=[2]}, {replicated}, {manual}}
  ROOT t = f32[4,8] add(a, b), control-predecessors={c, d}
}
""",
    "windows": """HloModule windows
ENTRY e {
  x = f32[8,3,9,9] parameter(0)
  w = f32[16,3,3,4] parameter(1)
  c = f32[8,16,5,15] convolution(x, w), window={size=3x4 stride=2x1 pad=-1_2x0_0 lhs_dilate=1x2
    rhs_dilate=1x1 rhs_reversal=1x1}, dim_labels=bf01_oi01->bf01, batch_group_count=1
  ROOT d = f32[8,16,16,8,16] dot(c, x), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={}, rhs_contracting_dims={}
}
""".replace("f32[8,16,16,8,16] dot(c, x)", "f32[8,16,5,15,3,9,9] dot(c, x)"),
    "ragged_dot": """HloModule ragged
ENTRY main {
  a = f32[64,9] parameter(0)
  b = f32[2,9,8] parameter(1)
  c = s64[2] parameter(2)
  ROOT d = f32[64,8] ragged-dot(a, b, c), lhs_contracting_dims={1}, rhs_contracting_dims={1},
    lhs_ragged_dims={0}, rhs_group_dims={0}
}
""",
    "asynchronous": """HloModule asynchronous
wrapped {
  p = f32[10] parameter(0)
  ROOT c = f32[20] custom-call(p), custom_call_target="foo"
}
ENTRY main {
  x = f32[10] parameter(0)
  cs = ((f32[10]), f32[20], s32[]) async-start(x), calls=wrapped
  cu = ((f32[10]), f32[20], s32[]) async-update(cs)
  ROOT cd = f32[20] async-done(cu)
}
""",
    "asynchronous_short": """HloModule asynchronous_short
ENTRY main {
  x = f32[10] parameter(0)
  cs = ((f32[10]), f32[20], s32[]) custom-call-start(x), custom_call_target="foo"
  cu = ((f32[10]), f32[20], s32[]) custom-call-update(cs)
  cd = f32[20] custom-call-done(cu)
  s = (f32[20], f32[20], u32[]) copy-start(cd)
  ROOT d = f32[20] copy-done(s)
}
""",
    "metadata": r"""HloModule metadata
ENTRY main {
  x = f32[10] parameter(0), metadata={op_type="Arg" op_name="x" source_file="/a b.py" source_line=7}
  ROOT y = f32[10] negate(x), metadata={op_name="a/{b}[\"c, d\"]/neg" source_file="é.py"
    source_line=12}, backend_config="{\"known_trip_count\":{\"n\":\"9\"}}"
}
""",
}


def training(w: Any, x: Any) -> Any:
    y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    y = lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    return jnp.sum(jax.nn.log_softmax(y.reshape(4, -1)))


def loops(p: Any, x: Any, w: Any) -> Any:
    y, sums = lax.scan(lambda c, each: (jnp.tanh(c @ each), jnp.sum(c)), x, w)
    return lax.cond(p, lambda y: y @ y.T, lambda y: y[:, :4] + 1, y), sums


def library(x: Any) -> Any:
    return (
        jnp.fft.irfft(jnp.fft.rfft(x)),
        jnp.argsort(x),
        jnp.linalg.cholesky(x),
        x[::2].at[1].add(3),
    )


def collective(x: Any) -> Any:
    total = lax.psum(x, "d") + lax.ppermute(x, "d", [(0, 1), (1, 0)])
    return total, lax.all_gather(x, "d")


def programs() -> dict[str, tuple[Any, tuple[Any, ...]]]:
    mesh = Mesh(jax.devices(), ("d",))
    split = PartitionSpec("d")
    mapped = jax.shard_map(collective, mesh=mesh, in_specs=split, out_specs=split)
    loop_arguments = (True, jnp.ones((4, 8)), jnp.ones((5, 8, 8)))
    donating = jax.jit(lambda x, y: (x + y, y * 2), donate_argnums=(0, 1))
    return {
        "training": (
            jax.grad(training, (0, 1)),
            (jnp.ones((3, 3, 3, 8)), jnp.ones((4, 16, 16, 3))),
        ),
        "loops": (loops, loop_arguments),
        "library": (library, (jnp.eye(8),)),
        "collective": (mapped, (jnp.ones((8, 4)),)),
        "donating": (donating, (jnp.ones(3), jnp.ones(3))),
    }


def texts() -> dict[str, str]:
    found = dict(BY_HAND)
    for name, (function, arguments) in programs().items():
        compiled = jax.jit(function).lower(*arguments).compile()
        module = compiled.runtime_executable().hlo_modules()[0]
        for form in FORMS if name in EVERY_FORM else SOME_FORMS:
            options = _hlo.HloPrintOptions()
            for key, value in FORMS[form].items():
                setattr(options, key, value)
            found[f"{name}_{form}"] = module.to_string(options)
    return found


def main() -> None:
    recorded = {}
    for name, text in texts().items():
        proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        recorded[name] = {"text": text, "proto": base64.b64encode(proto).decode()}
    data = json.dumps(recorded, indent=1)
    FILE.write_bytes(gzip.compress(data.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
