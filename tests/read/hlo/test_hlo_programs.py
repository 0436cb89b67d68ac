"""Programs that JAX compiled have the parameters that JAX says, and hand-counted float operations.

The programs are those of hlo_models.py; hlo_figures.py has their float operations, and facts.json
what JAX itself says. Where XLA's own cost analysis is right, its number must come out, too.

Those of JAX 0.4.30, which is of 2024, count as those of today. Its names hold the arguments of
primitives, its metadata source lines instead of stack frames, its text the shapes of operands.
"""

from __future__ import annotations

import re
from collections import Counter
from math import prod
from typing import TYPE_CHECKING, Any, Final

import pytest

import hlo_figures as figures
import hlo_oracle
import tfprof
from hlo_recorded import DATA, FORMS, by_type, content, contracted, elements, facts, loaded, path

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from pathlib import Path

ALL: Final = sorted(figures.CONTRACTIONS)
OLD: Final = DATA / "jax_0_4"
OF_OLD: Final = ("flax_linen", "plain", "half", "branches", "library", "sharded")
# The bound of this loop is an argument.
OPEN: Final = "runtime_loop"
# Before optimizations, no loop says how often it runs; the second reader reads no conditions.
LOOPS_BEFORE: Final = "scanned_grad"
# Their parameters are called `w`, which no framework does.
UNNAMED: Final = {"nested", "runtime_loop", "branches", "mapped"}
# A device has a part of each weight: test_hlo_devices.py has them.
DIVIDED: Final = {"grid"}
WEIGHTS: Final[Any] = {"select": ["params"], "account_type_regexes": ["_trainable_variables"]}
PRODUCTS: Final[Any] = {"select": ["float_ops"], "account_type_regexes": ["dot", "convolution"]}


def added(pairs: Iterable[tuple[Hashable, int]]) -> dict[Hashable, int]:
    """The sum of the numbers of each key."""
    sums: Counter[Hashable] = Counter()
    for key, number in pairs:
        sums[key] += number
    return dict(sums)


def of_releases(today: Iterable[str], old: Iterable[str]) -> list[Any]:
    """Programs, each with the folder of its release."""
    named = [(name, DATA, name) for name in sorted(today)]
    named += [(name, OLD, f"{name} of JAX 0.4") for name in old]
    return [pytest.param(name, folder, id=text) for name, folder, text in named]


def test_every_program_is_recorded() -> None:
    assert sorted(facts()) == ALL
    for name in ALL:
        assert all(path(name, form).exists() for form in FORMS)
    before = {file.name.partition(".")[0] for file in path("x").parent.glob("*.before.pb.gz")}
    assert before == {*figures.BEFORE}
    assert sorted(facts(OLD)) == sorted([*OF_OLD, "nested"])
    for name, old in facts(OLD).items():
        assert old[:3] == facts()[name][:3]  # the same arguments as today


# --- the figures against a second reader ------------------------------------------------------


@pytest.mark.parametrize(("name", "folder"), of_releases(ALL, OF_OLD))
def test_a_second_reader_finds_the_figures(name: str, folder: Path) -> None:
    for form in ("hlo.pb", "module.pb"):
        found = hlo_oracle.contractions(content(name, form, folder), unknown=figures.TURNS)
        assert found == figures.total(figures.CONTRACTIONS[name])


@pytest.mark.parametrize("name", sorted({*figures.BEFORE} - {LOOPS_BEFORE}))
def test_a_second_reader_finds_the_figures_before_optimizations(name: str) -> None:
    expected = figures.total(figures.BEFORE[name])
    assert hlo_oracle.contractions(content(name, "before.pb")) == expected


@pytest.mark.parametrize("name", ALL)
def test_a_second_reader_finds_the_arguments(name: str) -> None:
    said = facts()[name]
    arguments = {**said.params, **said.optimizer, **said.inputs}
    parameters = hlo_oracle.module(content(name)).parameters()
    if name in {"sharded", "mapped", *DIVIDED}:  # a device has a part of what is split
        assert {*parameters} == {*arguments}
    else:
        assert parameters == arguments


# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("name", "folder"),
    of_releases({*ALL} - UNNAMED - DIVIDED, ("flax_linen", "plain", "half", "sharded")),
)
def test_parameters_are_those_of_the_pytree(name: str, folder: Path, form: str) -> None:
    # Where no argument is a weight, as in functions of x, none can be told from data: unknown.
    expected = elements(facts(folder)[name].params) or None
    assert loaded(name, form, folder).summary().total["parameters"] == expected


@pytest.mark.parametrize("name", sorted({*ALL} - UNNAMED - DIVIDED))
def test_each_array_of_the_pytree_is_a_parameter(name: str) -> None:
    rows = loaded(name).scope(**WEIGHTS, max_depth=1000)
    found = sorted(row.own_params for row in rows if row.own_params)
    assert found == sorted(prod(shape) for shape in facts()[name].params.values())


@pytest.mark.parametrize("name", sorted(UNNAMED))
def test_a_user_says_which_parameters_are_weights(name: str) -> None:
    assert by_type(loaded(name))["_TFProfRoot"].total_params is None
    program = tfprof.load(graph=path(name), weights="w")
    shape = hlo_oracle.module(content(name)).parameters()["w"]  # of one device
    assert program.summary().total["parameters"] == prod(shape)


@pytest.mark.parametrize(("name", "each"), [("flax_linen", 4), ("scanned", 4), ("half", 2)])
def test_parameters_have_the_bytes_of_their_type(name: str, each: int) -> None:
    total = loaded(name).summary().total
    assert total["parameter_bytes"] == each * elements(facts()[name].params)


def test_a_mapped_function_keeps_its_scopes() -> None:
    assert {scope.split("/")[0] for scope, _ in by_phase("half")} == {"layer"}


def test_the_state_of_the_optimizer_counts_apart() -> None:
    said = facts()["flax_linen"]
    everything = by_type(loaded("flax_linen"))["_TFProfRoot"].total_params
    assert everything == elements(said.params) + elements(said.optimizer)
    state = by_type(loaded("flax_linen"), account_type_regexes=["_optimizer_state"])
    assert state["_TFProfRoot"].total_params == elements(said.optimizer)


def test_layers_have_their_own_parameters() -> None:
    said = facts()["flax_linen"].params
    rows = loaded("flax_linen").scope(**WEIGHTS, max_depth=3)
    found = {row.name: row.total_params for row in rows if row.depth == 3}
    assert found == added(("Net/" + name.split("'")[1], prod(of)) for name, of in said.items())


def test_layers_of_a_summary_have_their_own_parameters() -> None:
    rows = {row["path"]: row["parameters"] for row in loaded("flax_linen").summary().rows}
    # Conv_0: 3 by 3 by 3 to 8, a bias each; dense layers likewise.
    assert rows["Net/Conv_0"] == 3 * 3 * 3 * 8 + 8
    assert rows["Net/proj"] == 512 * 32 + 32
    for block in ("Net/block0", "Net/block1"):
        assert rows[block] == (32 * 64 + 64) + (64 * 32 + 32)
    assert rows["Net/head"] == 32 * 10 + 10


# --- float operations -------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "folder"), of_releases({*ALL} - {OPEN}, (*OF_OLD, "nested")))
def test_products_and_convolutions_are_exact(name: str, folder: Path, form: str) -> None:
    assert contracted(loaded(name, form, folder)) == figures.total(figures.CONTRACTIONS[name])


@pytest.mark.parametrize("name", sorted(figures.BEFORE))
def test_they_are_before_optimizations(name: str) -> None:
    assert contracted(loaded(name, "before.pb")) == figures.total(figures.BEFORE[name])


@pytest.mark.parametrize("form", ["hlo.pb", "txt"])
def test_a_loop_without_a_bound_counts_once_and_says_so(form: str) -> None:
    program = loaded(OPEN, form)
    assert contracted(program) == figures.TURN
    assert "total_float_ops" in by_type(program)["_TFProfRoot"].incomplete
    assert "no constant bound" in " ".join(note.text for note in program.op().notes)


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_left_out(name: str) -> None:
    counted = loaded(name).op(select=["float_ops"]).flops
    assert counted is not None
    assert counted.uncounted == ()


FUNCTIONS: Final = [
    (name, kind, of) for name, parts in figures.ELEMENTWISE.items() for kind, of in parts.items()
]


@pytest.mark.parametrize(("name", "kind", "expected"), FUNCTIONS)
def test_mathematical_functions_count_once_per_element(name: str, kind: str, expected: int) -> None:
    assert hlo_oracle.elements(content(name), kind) == expected
    assert by_type(loaded(name))[kind].own_float_ops == expected


def test_windows_count_what_they_compare_and_add() -> None:
    before = by_type(loaded("pooling", "before.pb"))
    assert before["reduce-window"].own_float_ops == sum(figures.WINDOWS.values())
    # Each of 2·6·6·4 windows: its 3 comparisons; then the gradient is added in one place.
    windows = 2 * 6 * 6 * 4
    assert before["select-and-scatter"].own_float_ops == windows * (2 * 2 - 1) + windows


def test_library_calls_have_the_textbook_formulas() -> None:
    rows = by_type(loaded("library"))
    assert rows["fft"].own_float_ops == figures.LIBRARY["fft"]
    routines = sum(figures.LIBRARY.values()) - figures.LIBRARY["fft"]
    assert rows["custom-call"].own_float_ops == routines
    assert rows["sort"].own_float_ops == 0  # by convention: its work depends on the data


def test_a_summary_has_the_forward_pass() -> None:
    parts = figures.CONTRACTIONS["flax_linen"].items()
    forward = sum(ops for part, ops in parts if part.endswith("forward"))
    assert 2 * loaded("flax_linen").summary().total["multiply_adds"] == forward == 309_760


def test_a_training_step_has_its_parts() -> None:
    parts = figures.CONTRACTIONS["flax_linen"].items()
    expected = {
        phase: sum(ops for part, ops in parts if part.endswith(phase))
        for phase in ("forward", "backward", "optimizer")
    }
    rows = loaded("flax_linen").summary(training=True).rows
    assert {row["name"]: 2 * row["multiply_adds"] for row in rows} == expected


# --- XLA's own cost analysis ------------------------------------------------------------------


def as_xla_counts(name: str) -> int:
    """Our total as XLA counts it: choosing and casting are one per element, and so is a clamp."""
    total = by_type(loaded(name))["_TFProfRoot"].total_float_ops
    choices, casts, clamps = (
        hlo_oracle.elements(content(name), kind) for kind in ("select", "convert", "clamp")
    )
    return int(total) + choices + casts - clamps


@pytest.mark.parametrize("name", ["flax_nnx", "plain", "remat", "branches", "sharded", "mapped"])
def test_the_total_is_xlas_where_xla_is_right(name: str) -> None:
    said = facts()[name]
    assert as_xla_counts(name) == said.flops + said.transcendentals


def test_the_total_is_xlas_but_for_padding() -> None:
    said = facts()["flax_linen"]
    # Of 8 by 8 windows of 3 by 3 taps, the last in each direction has one tap on padding.
    taps, inside = (8 * 3) ** 2, (8 * 3 - 1) ** 2
    padding = 2 * (4 * 8) * 3 * (taps - inside)
    forward_and_backward = 2 * padding
    assert as_xla_counts("flax_linen") - forward_and_backward == said.flops + said.transcendentals


@pytest.mark.parametrize("name", ["scanned", "scanned_grad", "remat_scanned", "nested"])
def test_xla_counts_a_loop_once_and_we_every_turn(name: str) -> None:
    assert facts()[name].flops < 0.5 * figures.total(figures.CONTRACTIONS[name])


# --- scopes -----------------------------------------------------------------------------------


def by_phase(name: str, form: str = "hlo.pb") -> dict[tuple[str, str], int]:
    """Float operations of products and convolutions by scope and phase."""
    rows = loaded(name, form).scope(select=["float_ops", "op_types"], max_depth=1000)
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        phase = [kind for kind in ("forward", "backward", "recomputation") if kind in row.op_types]
        if row.own_float_ops and {"dot", "convolution"} & {*row.op_types}:
            found[row.name.rpartition("/")[0], " ".join(phase)] += row.own_float_ops
    return dict(found)


def test_products_before_optimizations_stand_below_their_modules() -> None:
    parts = {(*part.split(),): ops for part, ops in figures.CONTRACTIONS["flax_linen"].items()}
    expected = {(f"Net/{layer}", phase): ops for (layer, phase), ops in parts.items()}
    assert by_phase("flax_linen", "before.pb") == expected


@pytest.mark.parametrize("form", ["before.pb", "hlo.pb"])
def test_convolutions_have_their_scopes(form: str) -> None:
    """Also those that XLA rewrote."""
    parts = figures.CONTRACTIONS["convolutions"].items()
    assert by_phase("convolutions", form) == {(*part.split(),): ops for part, ops in parts}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("folder", [DATA, OLD], ids=["today", "JAX 0.4"])
def test_modules_have_their_float_operations(folder: Path, form: str) -> None:
    rows = loaded("flax_linen", form, folder).scope(**PRODUCTS, max_depth=3)
    found = {of.name: of.total_float_ops for of in rows if of.total_float_ops and of.depth == 3}
    parts = figures.CONTRACTIONS["flax_linen"].items()
    assert found == added((f"Net/{part.split()[0].split('/')[0]}", ops) for part, ops in parts)


@pytest.mark.parametrize(("name", "form"), [("remat", "before.pb"), ("remat_scanned", "hlo.pb")])
def test_what_is_computed_again_is_told_apart(name: str, form: str) -> None:
    parts = {**figures.CONTRACTIONS, "remat": figures.BEFORE["remat"]}[name]
    found = by_phase(name, form).items()
    assert added((phase, ops) for (_, phase), ops in found) == parts


@pytest.mark.parametrize("name", ["scanned", "scanned_grad"])
def test_named_scopes_in_a_scan_have_all_its_turns(name: str) -> None:
    def part_of(scope: str) -> str:
        return next((word for word in ("attention", "mlp") if word in scope.split("/")), "head")

    totals = added((part_of(scope), ops) for (scope, _), ops in by_phase(name).items())
    parts = figures.CONTRACTIONS[name].items()
    assert totals == added((part.split()[0].split("/")[0], ops) for part, ops in parts)


def test_layers_without_modules_are_named_by_their_weights() -> None:
    parts = figures.CONTRACTIONS["flax_nnx"].items()
    expected = added((part.split()[0], ops) for part, ops in parts)

    def layer_of(scope: str) -> Hashable:
        return next((word for word in expected if word in scope.split("/")), scope)

    found = by_phase("flax_nnx").items()
    assert added((layer_of(scope), ops) for (scope, _), ops in found) == expected


def test_products_of_no_single_weight_stand_at_their_line() -> None:
    every = added((scope.split("/")[0], ops) for (scope, _), ops in by_phase("plain").items())
    by_line = {layer: ops for layer, ops in every.items() if layer != "layers"}
    assert all(re.fullmatch(r"hlo_models\.py#L\d+", str(layer)) for layer in by_line)
    # One line has the gradients of all three matrices of layers; `head` is in no layer.
    layers, head = 3 * figures.dense(7, 12, 12), 2 * figures.dense(7, 12, 20)
    assert sorted(by_line.values()) == sorted([layers, head])


def test_what_xla_rewrote_has_the_line_of_its_consumer() -> None:
    rows = loaded("convolutions").code(
        select=["float_ops"], account_type_regexes=["convolution"], max_depth=100
    )
    found = sum(row.own_float_ops for row in rows if row.own_float_ops)
    assert found == figures.total(figures.CONTRACTIONS["convolutions"])


def test_lines_of_code_have_what_they_call() -> None:
    rows = loaded("flax_linen").code(**PRODUCTS, max_depth=100)
    found = sorted((row.name.split(":")[2], row.own_float_ops) for row in rows if row.own_float_ops)
    parts = figures.CONTRACTIONS["flax_linen"]
    ops = {
        layer: parts[f"{layer} forward"] + parts[f"{layer} backward"]
        for layer in ("Conv_0", "proj", "block0/up", "block0/down", "head")
    }
    blocks = 2 * (ops["block0/up"] + ops["block0/down"])  # one line for both layers of both
    lines = [("Net.__call__", ops[layer]) for layer in ("Conv_0", "proj", "head")]
    assert found == sorted([("Block.__call__", blocks), *lines])


@pytest.mark.parametrize("name", ["sharded", "mapped"])
def test_figures_of_many_devices_are_of_one_and_say_so(name: str) -> None:
    assert "4 devices" in " ".join(note.text for note in loaded(name).notes)


def test_primitives_are_named_without_their_arguments() -> None:
    rows = loaded("plain", folder=OLD).scope(select=["op_types"], max_depth=1000)
    kinds = {kind for row in rows for kind in row.op_types}
    assert {"dot", "dot_general", "tanh"} <= kinds
    assert not [kind for kind in kinds if "[" in kind]
