"""Differences of real models before and after one change, calculated by hand.

`data/make/pairs.py` makes the models; what it multiplies is named here as it is there.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from profiles import DATA
from tfprof.compare.match_nodes import match_nodes
from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tfprof.results.loaded import Loaded

PAIRS: Final = DATA / "pairs"
BATCH, FEATURES, CLASSES = 32, 20, 10
MORE: Final = 96 - 64  # units of the first layer
STEPS: Final = 10
ROOT: Final = "_TFProfRoot"
EVERYTHING: Final[Mapping[str, Any]] = {"max_depth": 1_000, "min_occurrence": 0}

# Each node of the widened model whose own numbers differ. A product of m×k and k×n takes 2·m·k·n
# float operations, a sum over the batch one less than the batch, momentum four per parameter.
WIDER_PARAMS: Final = {
    "encoder/hidden/kernel": FEATURES * MORE,
    "encoder/hidden/kernel/Momentum": FEATURES * MORE,
    "encoder/hidden/bias": MORE,
    "encoder/hidden/bias/Momentum": MORE,
    "head/logits/kernel": MORE * CLASSES,
    "head/logits/kernel/Momentum": MORE * CLASSES,
}
WIDER_FLOAT_OPS: Final = {
    "encoder/hidden/MatMul": 2 * BATCH * FEATURES * MORE,
    "encoder/hidden/BiasAdd": BATCH * MORE,
    "encoder/Relu": BATCH * MORE,
    "head/logits/MatMul": 2 * BATCH * MORE * CLASSES,
    "gradients/head/logits/MatMul_grad/MatMul": 2 * BATCH * MORE * CLASSES,
    "gradients/head/logits/MatMul_grad/MatMul_1": 2 * BATCH * MORE * CLASSES,
    "gradients/encoder/Relu_grad/ReluGrad": 2 * BATCH * MORE,
    "gradients/encoder/hidden/BiasAdd_grad/BiasAddGrad": (BATCH - 1) * MORE,
    "gradients/encoder/hidden/MatMul_grad/MatMul": 2 * BATCH * FEATURES * MORE,
    "gradients/encoder/hidden/MatMul_grad/MatMul_1": 2 * BATCH * FEATURES * MORE,
    "Momentum/update_encoder/hidden/kernel/ApplyMomentum": 4 * FEATURES * MORE,
    "Momentum/update_encoder/hidden/bias/ApplyMomentum": 4 * MORE,
    "Momentum/update_head/logits/kernel/ApplyMomentum": 4 * MORE * CLASSES,
    # Random numbers are scaled by a product and moved by a sum.
    **{
        f"{variable}/Initializer/random_uniform{name}": size
        for variable, size in (
            ("encoder/hidden/kernel", FEATURES * MORE),
            ("encoder/hidden/bias", MORE),
            ("head/logits/kernel", MORE * CLASSES),
        )
        for name in ("", "/mul")
    },
}
WIDER: Final = {"params": WIDER_PARAMS, "float_ops": WIDER_FLOAT_OPS}


@cache
def loaded(name: str) -> Loaded:
    return tfprof.load(PAIRS / name)


def rows(base: str, new: str, view: str, *select: str, **options: Any) -> dict[str, dict[str, Any]]:
    """The rows of a difference by name."""
    report = loaded(base).diff(loaded(new), view, select=select, **{**EVERYTHING, **options})
    return {row["name"]: row for row in report.rows}


def differences(found: Mapping[str, Mapping[str, Any]], column: str) -> dict[str, int]:
    """What a column has in each row, where it is not 0."""
    return {name: row[column] for name, row in found.items() if row[column]}


def by_type(base: str, new: str, metric: str) -> dict[str, int]:
    """What differs in op view, which must add up to what the root says."""
    select = "occurrence" if metric == "defined" else metric
    found = differences(rows(base, new, "op", select), f"difference_{metric}")
    assert sum(found.values()) == 2 * found.pop(ROOT, 0)
    return found


def layers(base: str, new: str) -> list[dict[str, Any]]:
    """The rows of a difference of summaries."""
    return loaded(base).diff(loaded(new), "summary").rows


def matched(base: str, new: str) -> dict[str, int]:
    """How many nodes are matched by which rule."""
    return match_nodes(loaded(base).profile, loaded(new).profile).by


def in_scopes(own: Mapping[str, int]) -> dict[str, int]:
    """The totals of the scope view: what each name and each scope around it adds up to."""
    totals: Counter[str] = Counter({ROOT: sum(own.values())})
    for name, number in own.items():
        parts = name.split("/")
        for end in range(1, len(parts) + 1):
            totals["/".join(parts[:end])] += number
    return dict(totals)


@pytest.mark.parametrize("metric", WIDER)
def test_a_widened_layer_in_scope_view(metric: str) -> None:
    found = rows("mlp", "mlp_wide", "scope", metric)
    assert differences(found, f"own_difference_{metric}") == WIDER[metric]
    assert differences(found, f"difference_{metric}") == in_scopes(WIDER[metric])
    assert {*found} == {*in_scopes(WIDER[metric])}


def test_rows_have_base_new_difference_and_ratio() -> None:
    row = rows("mlp", "mlp_wide", "scope", "params", "float_ops")["encoder/hidden/MatMul"]
    base, new = 2 * 32 * 20 * 64, 2 * 32 * 20 * 96
    assert (row["base_float_ops"], row["new_float_ops"]) == (base, new)
    assert (row["difference_float_ops"], row["ratio_float_ops"]) == (new - base, 1.5)
    assert (row["difference_params"], row["ratio_params"]) == (0, None)
    assert row["status"] == "changed"


@pytest.mark.parametrize("metric", WIDER)
def test_a_widened_layer_in_graph_view(metric: str) -> None:
    """Each node counts once, wherever it stands."""
    found = rows("mlp", "mlp_wide", "graph", metric)
    assert differences(found, f"own_difference_{metric}") == WIDER[metric]
    assert found[ROOT][f"difference_{metric}"] == sum(WIDER[metric].values())


def test_a_widened_layer_by_operation_type() -> None:
    types: Counter[str] = Counter()
    other = {"random_uniform": "AddV2", "mul": "Mul"}
    for name, number in WIDER_FLOAT_OPS.items():
        last = name.rpartition("/")[2]
        types[other.get(last, last.removesuffix("_1"))] += number
    assert by_type("mlp", "mlp_wide", "float_ops") == types
    assert by_type("mlp", "mlp_wide", "params") == {"VariableV2": 2 * 992}


def test_a_widened_layer_by_line_of_code() -> None:
    """The model is built by another function, some lines below: that is no change."""
    found = rows("mlp", "mlp_wide", "code", "float_ops")
    total = sum(WIDER_FLOAT_OPS.values())
    assert found[ROOT]["difference_float_ops"] == total
    assert {row["status"] for row in found.values()} == {"changed"}
    gradients = sum(n for name, n in WIDER_FLOAT_OPS.items() if name.startswith("gradients/"))
    by_part = {
        name.rpartition(":")[2]: row["difference_float_ops"]
        for name, row in found.items()
        if ":mlp_wide" in name
    }
    assert by_part == {"mlp_wide": total - gradients, "mlp_wide (gradient)": gradients}


def test_a_widened_layer_in_the_summary() -> None:
    found = {row["name"]: row for row in layers("mlp", "mlp_wide")}
    encoder, head = found["encoder"], found["head"]
    assert encoder["difference_parameters"] == FEATURES * MORE + MORE
    assert head["difference_parameters"] == MORE * CLASSES
    assert encoder["difference_float_ops"] == 2 * BATCH * FEATURES * MORE + 2 * BATCH * MORE
    assert head["difference_float_ops"] == 2 * BATCH * MORE * CLASSES
    assert encoder["difference_multiply_adds"] == BATCH * FEATURES * MORE
    assert head["difference_multiply_adds"] == BATCH * MORE * CLASSES


def test_times_are_those_of_both_reports() -> None:
    """Base, new and difference of every row are what the views of both sides say."""
    found = rows("mlp", "mlp_wide", "scope", "micros")
    sides = [
        {row.name: row.total_micros for row in one.scope(select=["micros"], **EVERYTHING).rows}
        for one in (loaded("mlp"), loaded("mlp_wide"))
    ]
    assert found
    for name, row in found.items():
        base, new = (side[name] for side in sides)
        assert (row["base_micros"], row["new_micros"]) == (base, new)
        assert row["difference_micros"] == new - base


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_a_renamed_scope_is_no_change(view: str) -> None:
    found = rows("mlp", "mlp_renamed", view, "params", "float_ops")
    assert {*found} <= {ROOT}
    for row in found.values():
        assert (row["difference_params"], row["difference_float_ops"]) == (0, 0)


def test_a_renamed_scope_is_matched_node_by_node() -> None:
    """By another rule than their names: the nodes that have the scope somewhere in them."""
    names = loaded("mlp").profile.nodes.name.take(slice(None))
    moved = sum(b"encoder" in name for name in names)
    by = matched("mlp", "mlp_renamed")
    assert by["name"] == len(names) - moved
    assert sum(by.values()) == len(names) == 111  # with two that only runs have


def test_a_removed_layer_in_scope_view() -> None:
    """Its nodes are gone, and with them its 3·3·8·8 weights and 8 biases; the others are there."""
    found = rows("cnn", "cnn_short", "scope", "params")
    own = {"second/kernel_1": -(3 * 3 * 8 * 8), "second/bias_1": -8}
    assert differences(found, "own_difference_params") == own
    assert differences(found, "difference_params") == in_scopes(own)
    assert {found[name]["status"] for name in ("second", *own)} == {"removed"}
    assert found[ROOT]["status"] == "changed"
    assert [found[ROOT][side] for side in ("base_params", "new_params")] == [898, 314]
    assert sum(matched("cnn", "cnn_short").values()) == 25


def test_an_inserted_layer_is_a_removed_one_the_other_way_round() -> None:
    there = rows("cnn", "cnn_short", "scope", "params", "occurrence")
    back = rows("cnn_short", "cnn", "scope", "params", "occurrence")
    assert {*there} == {*back}
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    for name, row in there.items():
        assert back[name]["difference_params"] == -row["difference_params"]
        assert back[name]["status"] == turned[row["status"]]


def test_an_open_batch_leaves_differences_open() -> None:
    """A Keras model counts float operations per example: no number without --dim."""
    row = rows("cnn", "cnn_short", "op", "float_ops")[ROOT]
    assert (row["base_float_ops"], row["new_float_ops"]) == (None, None)
    assert "difference_float_ops" in row["incomplete"]
    assert row["ratio_float_ops"] is None


def test_a_removed_layer_in_the_summary() -> None:
    """A 3×3 convolution of 8 to 8 channels, a bias and a relu, at 16×16 places."""
    (row,) = layers("cnn", "cnn_short")
    places = 16 * 16
    assert (row["name"], row["status"]) == ("second", "removed")
    assert row["difference_parameters"] == -584
    assert row["difference_float_ops"] == f"{-places * 8 * (2 * 3 * 3 * 8 + 2)}*batch"
    assert row["difference_multiply_adds"] == f"{-places * 8 * 3 * 3 * 8}*batch"


def test_a_fused_batch_norm() -> None:
    """Two float operations per element, and per channel an add, a root of two, and three more."""
    elements, channels = 4 * 16 * 16 * 8, 8
    assert by_type("norm_steps", "norm_fused", "float_ops") == {
        "FusedBatchNormV3": 2 * elements + 6 * channels,
        "Mul": -(elements + 2 * channels),
        "AddV2": -(elements + channels),
        "Rsqrt": -2 * channels,
        "Sub": -channels,
    }
    by_name = rows("norm_steps", "norm_fused", "scope", "float_ops")
    assert by_name[ROOT]["difference_float_ops"] == 0
    assert by_name["net/norm/FusedBatchNormV3"]["status"] == "added"
    assert by_name["net/norm/batchnorm"]["status"] == "removed"
    assert not any("conv" in name or "relu" in name for name in by_name)


def test_a_folded_batch_norm() -> None:
    """The convolution has done its work since, wherever the optimizer puts it."""
    elements, channels = 4 * 16 * 16 * 8, 8
    gone = {"FusedBatchNormV3": -(2 * elements + 6 * channels)}
    assert by_type("norm_fused", "norm_folded", "float_ops") == gone
    by_name = rows("norm_fused", "norm_folded", "scope", "float_ops")
    assert by_name[ROOT]["difference_float_ops"] == sum(gone.values())


def test_twins_of_tensorflow_1_and_2() -> None:
    """All that runs is the same; TensorFlow 1 keeps in the graph how variables start."""
    sizes = {"conv/kernel": 3 * 3 * 3 * 8, "conv/bias": 8, "dense/kernel": 20480, "dense/bias": 10}
    params = sum(sizes.values())
    assert by_type("twin_v1", "twin_v2", "params") == {"VariableV2": -params, "VarHandleOp": params}
    # Random numbers times a range plus a start, and one subtraction for the range.
    start = {"Mul": -params, "AddV2": -params, "Sub": -len(sizes)}
    assert by_type("twin_v1", "twin_v2", "float_ops") == start
    by_name = rows("twin_v1", "twin_v2", "scope", "params", "float_ops")
    own = {
        f"{name}/Initializer/random_uniform{end}": -number
        for name, size in sizes.items()
        for end, number in (("", size), ("/mul", size), ("/sub", 1))
    }
    assert differences(by_name, "own_difference_float_ops") == own
    assert differences(by_name, "own_difference_params") == {}


def test_twins_in_the_summary() -> None:
    """The softmax of TensorFlow 1 stands in no scope: five float operations per class."""
    found = {row["name"]: row for row in layers("twin_v1", "twin_v2")}
    assert not any(row["difference_parameters"] for row in found.values())
    moved = {name: row["difference_float_ops"] for name, row in found.items()}
    assert sum(moved.values()) == 0
    assert moved.get("dense", 0) == 5 * 4 * 10


def test_releases_of_tensorflow() -> None:
    """Keras 3.15 adds a bias by BiasAdd where Keras 3.3 adds it by AddV2, in three layers."""
    types = {"AddV2": -3, "BiasAdd": 3, "Squeeze": 1}
    assert by_type("release_2.16", "release_2.21", "defined") == types
    by = matched("release_2.16", "release_2.21")
    assert by["name"] == 147
    # What reads the biases, and the sum before one, have only other names.
    assert sum(by.values()) == 147 + 4
    assert {*rows("release_2.16", "release_2.21", "scope", "params")} == {ROOT}
    assert layers("release_2.16", "release_2.21") == []


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_models_that_have_little_in_common(view: str) -> None:
    """Whatever nodes are matched, each side has the total that a report on it alone has."""
    base, new = tfprof.load_sample(), tfprof.load(DATA / "model_analyzer")
    options = {"select": ["micros", "params"], **EVERYTHING}
    root = base.diff(new, view, **options).rows[0]
    for side, one in (("base", base), ("new", new)):
        answer = one.ask(view, options).answer
        for metric in ("micros", "params"):
            assert root[f"{side}_{metric}"] == answer.counted.total(metric)[0]


@pytest.mark.whole
def test_published_models(model_folder: Callable[[str], Path]) -> None:
    """VGG-19 is VGG-16 and three convolutions; of both, the sizes are published with Keras."""
    base, new = (tfprof.load(model_folder("keras") / f"{name}.pb") for name in ("VGG16", "VGG19"))
    report = base.diff(new, "summary")
    channels = {"block3_conv4": 256, "block4_conv4": 512, "block5_conv4": 512}
    found = {row["name"].removesuffix("_1"): row for row in report.rows}
    assert {name: row["status"] for name, row in found.items()} == dict.fromkeys(channels, "added")
    for name, width in channels.items():
        assert found[name]["difference_parameters"] == 3 * 3 * width * width + width
    total = 143_667_240 - 138_357_544
    assert sum(row["difference_parameters"] for row in found.values()) == total
    assert len(base) == sum(match_nodes(base.profile, new.profile).by.values())


def test_equal_programs_do_not_stand_out() -> None:
    """They ran in turns on a busy machine; float operations are exact and have no interval."""
    base, new = loaded("mlp"), loaded("mlp_renamed")
    report = base.diff(new, select=["micros", "float_ops"], **EVERYTHING)
    assert len(base.steps) == len(new.steps) == STEPS
    assert any(row["difference_micros"] for row in report.rows)
    assert not any(row["stands_out_micros"] for row in report.rows)
    for row in report.rows:
        assert row["low_micros"] <= row["high_micros"]
    assert "low_float_ops" not in report.rows[0]


def test_with_one_step_noise_is_unknown() -> None:
    report = loaded("mlp").diff(loaded("mlp_wide"), select=["micros"], steps="9", **EVERYTHING)
    assert "low_micros" not in report.rows[0]
    assert any("noise is unknown" in str(note) for note in report.notes)
    ran = [loaded(name).scope(select=["micros"], step=9).rows[0] for name in ("mlp", "mlp_wide")]
    root = report.rows[0]
    assert [root["base_micros"], root["new_micros"]] == [row.total_micros for row in ran]


@pytest.mark.parametrize("view", ["scope", "op", "summary"])
def test_a_dimension_of_one_side_is_set_there(view: str) -> None:
    """A graph of a fixed batch against a model of an open one."""
    fixed, open_batch = loaded("twin_v1"), loaded("release_2.21")
    tables = (
        a.diff(b, view, dims={"batch": 4}).table()
        for a, b in ((fixed, open_batch), (open_batch, fixed))
    )
    there, back = ((table.facts or {})["totals"]["float_ops"] for table in tables)
    assert not there["incomplete"]
    assert (there["base"], there["new"]) == (back["new"], back["base"])
    with pytest.raises(UsageError, match=r"called 'bach'; did you mean 'batch'\?"):
        fixed.diff(open_batch, view, dims={"bach": 4})


def test_an_error_names_the_side() -> None:
    with pytest.raises(UsageError, match=r"^base: No code trace information"):
        loaded("release_2.21").diff(loaded("mlp"), "code")
    with pytest.raises(UsageError, match=r"^new: there is no step 1 "):
        loaded("mlp").diff(loaded("twin_v1"), step=1)
