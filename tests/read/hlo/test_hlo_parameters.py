"""Which parameters of a program are weights, in small programs; all figures are by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from hlo_recorded import by_type
from tfprof.compare.measure import Measures
from tfprof.query.query import Query

if TYPE_CHECKING:
    from pathlib import Path

Shapes = dict[str, str]
PARAMETER: Final = '  p{at} = {shape} parameter({at}), metadata={{op_name="{path}"}}'


def program(folder: Path, shapes: Shapes, *lines: str, weights: str | None = None) -> tfprof.Loaded:
    """A program with parameters p0, p1 … of these paths and shapes, and these lines."""
    parameters = [
        PARAMETER.format(at=at, path=path, shape=shape) if path[:1] != "%" else
        f"  {path} = {shape} parameter({at})"
        for at, (path, shape) in enumerate(shapes.items())
    ]  # fmt: skip
    file = folder / "program.txt"
    last = lines or ("ROOT one = s32[] constant(1)",)
    file.write_text("\n".join(["HloModule m", "ENTRY main {", *parameters, *last, "}", ""]))
    return tfprof.load(graph=file, weights=weights)


def counted(loaded: tfprof.Loaded) -> tuple[int, int]:
    """(parameters, those that are trainable)."""
    total = loaded.summary().total
    return total["parameters"], total["trainable"]


def notes(loaded: tfprof.Loaded) -> str:
    return " ".join(note.text for note in loaded.notes)


# --- names ------------------------------------------------------------------------------------

SUMMED: Final = (
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
    'metadata={op_name="jit(f)/Model/Dense_0/dot_general"}'
)
PRODUCTS: Final = (
    f"  d = f32[4,9] dot(p2, p0), {SUMMED}",
    f"  ROOT e = f32[4,8] dot(d, p1), {SUMMED}",
)


def test_two_trees_with_the_same_layers_are_two(tmp_path: Path) -> None:
    shapes = {
        "params['Dense_0']['kernel']": "f32[64,9]",
        "target_params['Dense_0']['kernel']": "f32[9,8]",
        "x": "f32[4,64]",
    }
    loaded = program(tmp_path, shapes, *PRODUCTS)
    assert counted(loaded) == (64 * 9 + 9 * 8, 64 * 9 + 9 * 8)
    assert by_type(loaded)["dot"].own_float_ops == 2 * 4 * 64 * 9 + 2 * 4 * 9 * 8
    names = {row.name for row in loaded.scope(max_depth=10)}
    assert {"Model/Dense_0/kernel", "target_params/Dense_0/kernel"} <= names
    assert "repeat" not in notes(loaded)


def test_no_parameter_has_the_name_of_another_node(tmp_path: Path) -> None:
    """`a.b` and `a['b']` have the same keys; `d` is also an instruction."""
    shapes = {"a.kernel": "f32[3]", "a['kernel']": "f32[5]", "d": "f32[7]"}
    loaded = program(tmp_path, shapes, "  ROOT d = f32[7] negate(p2)")
    assert len(loaded) == 4
    assert counted(loaded)[0] == 3 + 5
    assert "repeat" not in notes(loaded)


ATTENTION: Final = (
    '  d = f32[4,9] dot(p2, p0), {0}, metadata={{op_name="jit(f)/Model/attn/value/dot_general"}}',
    '  ROOT e = f32[4,8] dot(d, p1), {0}, metadata={{op_name="jit(f)/Model/attn/out/dot_general"}}',
)


@pytest.mark.parametrize("wrapper", ["", ".value", ".raw_value"])
def test_a_layer_may_be_called_value(tmp_path: Path, wrapper: str) -> None:
    """Nnx has each weight in a wrapper, whose attribute ends the path."""
    shapes = {
        f"params['attn']['value']['kernel']{wrapper}": "f32[64,9]",
        f"params['attn']['out']['kernel']{wrapper}": "f32[9,8]",
        "x": "f32[4,64]",
    }
    summed = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    loaded = program(tmp_path, shapes, *(line.format(summed) for line in ATTENTION))
    rows = {row["name"]: row["trainable"] for row in loaded.summary(depth=3).rows}
    assert (rows["value"], rows["out"]) == (64 * 9, 9 * 8)
    names = {row.name for row in loaded.scope(max_depth=10)}
    assert {"Model/attn/value/kernel", "Model/attn/out/kernel"} <= names


def test_a_layer_may_be_an_attribute_called_value(tmp_path: Path) -> None:
    shapes = {"model.value.weight": "f32[3,5]", "model.out.weight": "f32[3]", "value": "f32[5]"}
    names = {row.name for row in program(tmp_path, shapes).scope(max_depth=10)}
    assert {"model/value/weight", "model/out/weight", "value"} <= names


# --- layers in loops --------------------------------------------------------------------------

IN_LOOP: Final = """HloModule m

sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b), metadata={{op_name="layers/up/reduce_sum"}}
}}

body {{
  p = (s32[], f32[4,8], f32[6,8,8], f32[6,8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,8] get-tuple-element(p), index=1
  u = f32[6,8,8] get-tuple-element(p), index=2
  d = f32[6,8,8] get-tuple-element(p), index=3
  one = s32[] constant(1)
  zero = s32[] constant(0)
  next = s32[] add(i, one), metadata={{op_name="{around}/add"}}
  su = f32[1,8,8] dynamic-slice(u, i, zero, zero), dynamic_slice_sizes={{1,8,8}}, metadata={{op_name="{around}/dynamic_slice"}}
  sd = f32[1,8,8] dynamic-slice(d, i, zero, zero), dynamic_slice_sizes={{1,8,8}}, metadata={{op_name="{around}/dynamic_slice"}}
  ru = f32[8,8] reshape(su), metadata={{op_name="{around}/squeeze"}}
  rd = f32[8,8] reshape(sd), metadata={{op_name="{around}/squeeze"}}
  y = f32[4,8] dot(x, ru), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_name="{around}/layers/up/dot_general"}}
  z = f32[4,8] dot(y, rd), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_name="{around}/layers/down/dot_general"}}
  ROOT t = (s32[], f32[4,8], f32[6,8,8], f32[6,8,8]) tuple(next, z, u, d)
}}

cond {{
  p = (s32[], f32[4,8], f32[6,8,8], f32[6,8,8]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(6)
  ROOT c = pred[] compare(i, n), direction=LT
}}

ENTRY main {{
  p0 = f32[6,8,8] parameter(0), metadata={{op_name="params['layers']['up']['kernel']"}}
  p1 = f32[6,8,8] parameter(1), metadata={{op_name="params['layers']['down']['kernel']"}}
  p2 = f32[8,3] parameter(2), metadata={{op_name="params['head']['kernel']"}}
  p3 = f32[4,8] parameter(3), metadata={{op_name="x"}}
  zero = s32[] constant(0)
  nil = f32[] constant(0)
  t = (s32[], f32[4,8], f32[6,8,8], f32[6,8,8]) tuple(zero, p3, p0, p1)
  loop = (s32[], f32[4,8], f32[6,8,8], f32[6,8,8]) while(t), condition=cond, body=body, metadata={{op_name="{outer}/while"}}
  e = f32[4,8] get-tuple-element(loop), index=1
  h = f32[4,3] dot(e, p2), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_name="{outer}/head/dot_general"}}
  ROOT s = f32[] reduce(h, nil), dimensions={{0,1}}, to_apply=sum, metadata={{op_name="{outer}/reduce_sum"}}
}}
"""  # noqa: E501 - one line per instruction


@pytest.mark.parametrize("outer", ["jit(f)/T", "jit(f)/jvp(T)"])
def test_weights_of_a_loop_are_in_its_layers(tmp_path: Path, outer: str) -> None:
    """JAX names what a sum applies to single elements without the scopes around it."""
    file = tmp_path / "program.txt"
    file.write_text(IN_LOOP.format(outer=outer, around=f"{outer}/while/body/closed_call"))
    loaded = tfprof.load(graph=file)
    rows = {row["name"]: row for row in loaded.summary(depth=3).rows}
    assert {name: row["trainable"] for name, row in rows.items() if row["trainable"]} == {
        "layers": 2 * 6 * 8 * 8, "up": 6 * 8 * 8, "down": 6 * 8 * 8, "head": 8 * 3,
    }  # fmt: skip
    assert rows["up"]["float_ops"] == rows["down"]["float_ops"] == 6 * 2 * 4 * 8 * 8
    scopes = {row.name: row for row in loaded.scope(max_depth=10)}
    assert "T/layers" not in scopes
    assert scopes["T/loop/body/layers/up/kernel"].own_params == 6 * 8 * 8
    assert scopes["T/head/kernel"].own_params == 8 * 3


TWO_LOOPS: Final = """HloModule m

forward {
  p = (f32[8,8], f32[8,8]) parameter(0)
  x = f32[8,8] get-tuple-element(p), index=0
  w = f32[8,8] get-tuple-element(p), index=1
  y = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/jvp(T)/while/body/up/dot_general"}
  ROOT t = (f32[8,8], f32[8,8]) tuple(y, w)
}

backward {
  p = (f32[8,8], f32[8,8]) parameter(0)
  x = f32[8,8] get-tuple-element(p), index=0
  w = f32[8,8] get-tuple-element(p), index=1
  y = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}, metadata={op_name="jit(f)/transpose(jvp(T))/while/body/up/dot_general"}
  z = f32[8,8] dot(y, w), lhs_contracting_dims={0}, rhs_contracting_dims={1}, metadata={op_name="jit(f)/transpose(jvp(T))/while/body/up/dot_general"}
  ROOT t = (f32[8,8], f32[8,8]) tuple(z, w)
}

more {
  p = (f32[8,8], f32[8,8]) parameter(0)
  ROOT c = pred[] constant(true)
}

ENTRY main {
  p0 = f32[8,8] parameter(0), metadata={op_name="params['up']['kernel']"}
  p1 = f32[8,8] parameter(1), metadata={op_name="x"}
  s = (f32[8,8], f32[8,8]) tuple(p1, p0)
  back = (f32[8,8], f32[8,8]) while(s), condition=more, body=backward, metadata={op_name="jit(f)/transpose(jvp(T))/while"}
  ROOT there = (f32[8,8], f32[8,8]) while(back), condition=more, body=forward, metadata={op_name="jit(f)/jvp(T)/while"}
}
"""  # noqa: E501 - one line per instruction


def test_a_weight_is_in_the_loop_forward(tmp_path: Path) -> None:
    """The gradients have more work, and come first in this file."""
    file = tmp_path / "program.txt"
    file.write_text(TWO_LOOPS)
    names = [row.name for row in tfprof.load(graph=file).scope(max_depth=10)]
    assert [name for name in names if name.endswith("kernel")] == ["T/there/body/up/kernel"]


MOVED: Final = """
  c = f32[8,8] concatenate(p0, p1), dimensions={1}, metadata={op_name="jit(f)/scan_fn/cell/concatenate"}
  d = f32[4,8] dot(p2, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/WAY/rnn/scan_fn/cell/dot_general"}
  ROOT e = f32[4,8] tanh(d), metadata={op_name="jit(f)/WAY/other/tanh"}
"""  # noqa: E501 - one line per instruction
CELL: Final = {
    "params['cell']['hi']['kernel']": "f32[8,3]",
    "params['cell']['hf']['kernel']": "f32[8,5]",
    "x": "f32[4,8]",
}


def scopes_of(folder: Path, **replaced: str) -> set[str]:
    lines = MOVED
    for old, new in replaced.items():
        lines = lines.replace(old, new)
    return {row.name for row in program(folder, CELL, lines).scope(max_depth=10)}


def test_what_gradients_move_out_of_a_loop_stays_in_its_layer(tmp_path: Path) -> None:
    """JAX then leaves out the outer scopes and the transformation."""
    names = scopes_of(tmp_path, WAY="jvp(R)")
    cell = "R/rnn/scan_fn/cell"
    assert {f"{cell}/c", f"{cell}/d", f"{cell}/hi/kernel", f"{cell}/hf/kernel"} <= names
    assert not any(name.startswith("scan_fn") for name in names)


@pytest.mark.parametrize("replaced", [{"WAY": "R"}, {"WAY": "jvp(R)", "other": "b/scan_fn/cell"}])
def test_a_scope_that_may_be_its_own_stays(tmp_path: Path, replaced: dict[str, str]) -> None:
    """Without gradients, and where two scopes end alike."""
    assert "scan_fn/cell/c" in scopes_of(tmp_path, **replaced)


def test_what_has_no_scope_gets_none_from_an_argument(tmp_path: Path) -> None:
    """Such as one whose path has slashes, in a program with gradients and a moved instruction."""
    bare = "  bare = f32[4] iota(), iota_dimension=0"
    moved = MOVED.replace("p2", "p3").replace("p1", "p2").replace("p0", "p1")
    lines = f"{bare}\n{moved}".replace("WAY", "jvp(R)")
    loaded = program(tmp_path, {"data/x/y": "f32[4]", **CELL}, lines)
    names = {row.name for row in loaded.scope(max_depth=10)}
    assert {"bare", "R/rnn/scan_fn/cell/c"} <= names


# --- weights ----------------------------------------------------------------------------------

EQUINOX: Final = {
    "model.layers[0].weight": "f32[64,32]", "model.layers[0].bias": "f32[64]",
    "model.layers[1].weight": "f32[10,64]", "model.layers[1].bias": "f32[10]", "x": "f32[32]",
}  # fmt: skip
NNX: Final = {
    "st['l1']['bias'].value": "f32[64]",
    "st['l1']['kernel'].value": "f32[64,64]",
    "st['lora_a'].value": "f32[64,4]",
    "st['lora_b'].value": "f32[4,64]",
    "st['pos'].value": "f32[16,64]",
    "st['dropout']['count'].value": "u32[]",
    "x": "f32[2,16,64]",
    "labels": "f32[2,10]",
    "batch['image']": "f32[2,16]",
}


def test_floats_in_an_argument_with_layers_are_weights(tmp_path: Path) -> None:
    layer, free = 64 * 64 + 64, 2 * 64 * 4 + 16 * 64
    loaded = program(tmp_path, NNX)
    assert counted(loaded) == (layer + free, layer + free)
    (caveat,) = (note.text for note in loaded.notes if note.caveat)
    names = ("st['lora_a'].value", "st['lora_b'].value", "st['pos'].value")
    listed = ", ".join(f'"{name}"' for name in names)
    assert caveat == (
        f"Counted as weights, since others of the same argument are: {listed}; "
        "if some are data, --weights=REGEX says which are weights"
    )
    assert "weight" not in notes(program(tmp_path, NNX, weights="st.*"))


def test_statistics_and_caches_in_an_argument_with_layers(tmp_path: Path) -> None:
    shapes = {
        "st['bn']['scale'].value": "f32[8]", "st['bn']['mean'].value": "f32[8]",
        "st['bn']['var'].value": "f32[8]", "st['attention']['cached_key'].value": "f32[2,50,8]",
        "st['opt_state'][0]['w']": "f32[100]", "st['batch_stats']['w']": "f32[9]",
    }  # fmt: skip
    loaded = program(tmp_path, shapes)
    assert counted(loaded) == (8 + 8 + 8 + 9, 8)


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        # Attributes called weight.
        (EQUINOX, 2_762),  # (64 * 32 + 64) + (10 * 64 + 10)
        ({"linear.weight": "f32[3,5]", "linear.bias": "f32[3]", "x": "f32[5]"}, 3 * 5 + 3),
        # One argument of several positions, as of `def f(*args)`.
        ({"args[0]['l']['kernel']": "f32[4,3]", "args[1]": "f32[4,4]"}, 12),
        ({"a[1][0].l.weight": "f32[4,3]", "a[1][0].pos": "f32[5]", "a[1][1]": "f32[4,4]"}, 17),
        # Items of an argument that are in no layer say nothing of those beside them.
        ({"batch['scale']": "f32[2]", "batch['image']": "f32[2,9]"}, 2),
        ({"p['l']['kernel']": "f32[4,3]", "batch['weight']": "f32[2]", "weight": "f32[2]"}, 12),
        # The collection `params` says which are weights.
        ({"v['params']['l']['kernel']": "f32[4,3]", "v['cache']['l']['k']": "f32[2,9]"}, 12),
        # Moving averages are no parameters.
        *(
            ({"params['d']['kernel']": "f32[8,8]", f"{name}['d']['kernel']": "f32[8,8]"}, 64)
            for name in ("ema_params", "params_ema", "ema")
        ),
    ],
)
def test_weights_are_told_from_data(tmp_path: Path, shapes: Shapes, expected: int) -> None:
    assert counted(program(tmp_path, shapes))[0] == expected


def test_a_user_says_which_are_weights_of_any_type(tmp_path: Path) -> None:
    shapes = {"q['w']": "s8[64,9]", "q['scale']": "f32[9]", "x": "s8[4,64]"}
    loaded = program(tmp_path, shapes, weights="q.*")
    assert counted(loaded) == (64 * 9 + 9, 64 * 9 + 9)
    assert loaded.summary().total["parameter_bytes"] == 64 * 9 + 4 * 9


# --- notes ------------------------------------------------------------------------------------


def test_a_note_names_floats_beside_weights_that_do_not_count(tmp_path: Path) -> None:
    shapes = {"q['w']": "f32[64,9]", "q['scale']": "f32[9]", "q['step']": "s32[]", "x": "f32[4,64]"}
    loaded = program(tmp_path, shapes)
    assert counted(loaded)[0] == 9
    (caveat,) = (note.text for note in loaded.notes if note.caveat)
    assert caveat == (
        "Not counted as weights, though others of the same argument are: \"q['w']\"; "
        "--weights=REGEX says which are"
    )
    assert "weights" not in notes(program(tmp_path, shapes, weights=".*scale.*"))


def test_parameters_without_a_name_may_be_weights(tmp_path: Path) -> None:
    shapes = {"%a": "f32[64,9]", "%b": "f32[]", "%c": "s64[2]"}
    loaded = program(tmp_path, shapes)
    (caveat,) = (note.text for note in loaded.notes if note.caveat)
    assert caveat == (
        "No parameter of the program looks like a weight; --weights=REGEX says which are: 'a', 'c'"
    )
    assert counted(program(tmp_path, shapes, weights="a"))[0] == 64 * 9
    assert "are: 'c'" in notes(program(tmp_path, {"%b": "f32[]", "%c": "s64[2]"}))
    assert not notes(program(tmp_path, {"%b": "f32[]", "step": "s32[]"}))


# --- no weight --------------------------------------------------------------------------------

DENSE: Final = (
    "  d = f32[4,9] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "  ROOT e = f32[4,9] tanh(d)",
)


def test_parameters_are_unknown_if_no_argument_looks_like_a_weight(tmp_path: Path) -> None:
    loaded = program(tmp_path, {"x": "f32[4,64]", "w": "f32[64,9]"}, *DENSE)
    summary, overview = loaded.summary(), loaded.overview()
    assert summary.total["parameters"] is None
    assert "parameters" in summary.total_incomplete
    assert "Parameters        ?" in str(summary)
    assert "shape of" not in str(summary)
    assert "parameters" in overview.total_incomplete
    assert "Parameters   ?" in str(overview)
    for report in (summary, overview):
        assert "--weights=REGEX" in str(report)
    named = program(tmp_path, {"x": "f32[4,64]", "w": "f32[64,9]"}, *DENSE, weights="w")
    assert counted(named)[0] == 64 * 9
    assert "parameters" not in named.summary().total_incomplete
    assert "Parameters   576" in str(named.overview())


def test_views_diffs_and_budgets_do_not_take_unknown_parameters_for_none(tmp_path: Path) -> None:
    loaded = program(tmp_path, {"x": "f32[4,64]", "w": "f32[64,9]"}, *DENSE)
    for view in ("scope", "op"):
        root = loaded.report(view, Query.of({"select": ["params"]})).rows[0]
        assert "total_params" in root.incomplete
    lines = str(loaded.diff(loaded, "scope", select=["params"])).splitlines()
    assert "params ?," in lines[0]
    measures = Measures(loaded.profile)
    for table in ("model", "scope"):
        column = measures.column(table, "params")
        assert column.lower[0]
        assert column.reason.startswith("no argument of the program looks like a weight")
    named = program(tmp_path, {"x": "f32[4,64]", "w": "f32[64,9]"}, *DENSE, weights="w")
    assert not Measures(named.profile).column("scope", "params").lower[0]
    assert not named.report("scope", Query.of({"select": ["params"]})).rows[0].incomplete


# --- types of weights -------------------------------------------------------------------------


def test_quantized_weights_count(tmp_path: Path) -> None:
    """8-bit and 4-bit kernels with scales; indices and seeds are wider."""
    shapes = {
        "params['d']['kernel']": "s8[64,32]",
        "params['d']['scale']": "f32[32]",
        "params['e']['kernel']": "u4[32,10]",
        "params['e']['table']": "s32[7]",
        "batch['image']": "u8[4,64]",
    }
    loaded = program(tmp_path, shapes)
    assert counted(loaded)[0] == 64 * 32 + 32 + 32 * 10
    assert loaded.summary().total["parameter_bytes"] == 64 * 32 + 32 * 4 + 32 * 10 // 2


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("f8e4m3fnuz[64,32]", 2048), ("f8e5m2fnuz[64,32]", 2048), ("f8e8m0fnu[64,32]", 2048),
        ("f8e4m3b11fnuz[64,32]", 2048), ("f8e4m3[64,32]", 2048), ("f8e3m4[64,32]", 2048),
        ("f4e2m1fn[64,32]", 1024), ("s2[64,32]", 512), ("u1[64,32]", 256),
    ],
)  # fmt: skip
def test_bytes_of_narrow_weights(shape: str, size: int, tmp_path: Path) -> None:
    loaded = program(tmp_path, {"params['d']['kernel']": shape, "x": "f32[4,64]"})
    assert counted(loaded)[0] == 2048
    assert loaded.summary().total["parameter_bytes"] == size


def test_a_converted_program_has_unknown_parameters_as_well(tmp_path: Path) -> None:
    loaded = program(tmp_path, {"x": "f32[4,64]", "w": "f32[64,9]"}, *DENSE)
    loaded.convert(tmp_path / "p.tfprof")
    again = tfprof.load(profile=tmp_path / "p.tfprof")
    assert again.summary().total["parameters"] is None
    assert "--weights=REGEX" in str(again.summary())


@pytest.mark.parametrize("shapes", [{}, {"lr": "f32[]"}, {"opt_state[0].mu": "f32[9]"}])
def test_a_program_without_arrays_has_no_parameters(tmp_path: Path, shapes: Shapes) -> None:
    loaded = program(tmp_path, shapes)
    assert loaded.summary().total["parameters"] == 0
    assert "parameters" not in loaded.summary().total_incomplete
    assert "Parameters   0" in str(loaded.overview())
