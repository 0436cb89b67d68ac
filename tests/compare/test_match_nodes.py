"""Which node is which: equal names, renamed scopes, shifted suffixes, structure.

Expected pairs are drawn by hand, or known because the second graph is the first one in disguise.
"""

from __future__ import annotations

import re
from functools import cache
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

import draw
import sampling
import tfprof
from disguised_graphs import disguised, inner, without_edges
from profiles import DATA, SAMPLE
from random_graphs import make_graph, make_names
from tfprof.columns.strings import Strings
from tfprof.compare.joint_graph import without_suffixes
from tfprof.compare.match_nodes import RULES, Matches, match_nodes
from tfprof.errors import InputError
from tfprof.model import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = (
    *("a", "a_1", "a_1/b_2", "a_12_3/b", "_1", "a__7", "a_", "a_/b_", "a_1b/c", "1_2/_3/4", ""),
    *(
        "a_1",
        "_9/_9/_9",
        "x/",
        "x_1/",
        "/_1",
        "_",
        "a_1_",
        "a-1",
        "a_/1",
        "a_01",
        "b" * 40 + "_123",
    ),
)

LAYERS = """
    x                op=Placeholder
    net/a/kernel     op=VarHandleOp params=3x4
    net/a/read       op=ReadVariableOp                 < net/a/kernel
    net/a/MatMul     op=MatMul                         < x, net/a/read
    net/a/Relu       op=Relu                           < net/a/MatMul
    net/b/kernel     op=VarHandleOp params=4x4
    net/b/read       op=ReadVariableOp                 < net/b/kernel
    net/b/MatMul     op=MatMul                         < net/a/Relu, net/b/read
    net/b/Relu       op=Relu                           < net/b/MatMul
    y                op=Identity                       < net/b/Relu
"""


def matched(base: Profile, new: Profile) -> Matches:
    """The matches, after what holds for all of them."""
    matches, turned = match_nodes(base, new), match_nodes(new, base)
    assert np.array_equal(matches.base_of_new, turned.new_of_base), "both directions are the same"
    assert np.array_equal(matches.new_of_base, turned.base_of_new)
    assert matches.by == turned.by
    assert tuple(matches.by) == RULES
    known = np.flatnonzero(matches.new_of_base >= 0)
    assert np.array_equal(matches.base_of_new[matches.new_of_base[known]], known)
    assert (matches.base_of_new >= 0).sum() == known.size == sum(matches.by.values())
    same_name = 0
    for node in known.tolist():
        other = int(matches.new_of_base[node])
        if base.nodes.name[node] == new.nodes.name[other]:
            same_name += 1
        else:
            assert base.types[int(base.nodes.op[node])] == new.types[int(new.nodes.op[other])]
    names = {*base.nodes.name} & {*new.nodes.name}
    assert same_name == len(names) == matches.by["name"], "equal names are always a pair"
    return matches


def other_names(base: str, new: str) -> tuple[dict[str, str], dict[str, int]]:
    """(new name by base name where they differ, number of pairs by each further rule)."""
    profiles = draw.profile(base), draw.profile(new)
    matches = matched(*profiles)
    before, after = (list(profile.nodes.name.texts()) for profile in profiles)
    pairs = {before[i]: after[j] for i, j in enumerate(matches.new_of_base.tolist()) if j >= 0}
    rules = {rule: matches.by[rule] for rule in RULES[1:] if matches.by[rule]}
    return {name: pairs[name] for name in pairs if pairs[name] != name}, rules


def test_equal_names_are_the_same_node_whatever_they_do() -> None:
    drawings = "a op=Relu\nb op=Add < a", "b op=Mul\nc op=Relu\na op=Add"
    base, new = map(draw.profile, drawings)
    matches = matched(base, new)
    assert matches.new_of_base.tolist() == [2, 0]
    assert matches.base_of_new.tolist() == [1, -1, 0]
    assert matches.by == {"name": 2, "scope renamed": 0, "suffix": 0, "structure": 0}


def test_a_scope_is_renamed() -> None:
    below = ("kernel", "read", "MatMul", "Relu")
    expected = {f"net/a/{name}": f"net/stem/{name}" for name in below}
    found = other_names(LAYERS, LAYERS.replace("/a/", "/stem/"))
    assert found == (expected, {"scope renamed": 4})


def test_everything_moves_into_a_scope() -> None:
    inside = re.sub(r"\b(x|y|net/\S+?)(?=[\s,])", r"model/\1", LAYERS)
    names, rules = other_names(LAYERS, inside)
    assert rules == {"scope renamed": 10}
    assert all(name == f"model/{before}" for before, name in names.items())


def test_a_renamed_scope_may_have_other_shapes_and_nodes() -> None:
    wider = LAYERS.replace("/a/", "/stem/").replace("3x4", "3x9").replace("4x4", "9x4")
    wider = wider.replace("stem/Relu", "stem/Gelu").replace("Relu ", "Gelu ")
    names, rules = other_names(LAYERS, wider)
    assert names == {f"net/a/{n}": f"net/stem/{n}" for n in ("kernel", "read", "MatMul")}
    assert rules == {"scope renamed": 3}


def test_suffixes_shift() -> None:
    shifted = LAYERS.replace("/a/", "/dense_3/").replace("/b/", "/dense_4/")
    again = LAYERS.replace("/a/", "/dense/").replace("/b/", "/dense_1/")
    names, rules = other_names(shifted, again)
    assert rules == {"suffix": 8}
    assert names["net/dense_3/MatMul"] == "net/dense/MatMul"
    assert names["net/dense_4/Relu"] == "net/dense_1/Relu"


def test_structure_needs_no_names() -> None:
    names = dict(zip(re.findall(r"net/\S+?(?=[\s,])", LAYERS), map(str, range(99)), strict=False))
    anonymous = re.sub(r"net/\S+?(?=[\s,])", lambda found: f"n{names[found[0]]}", LAYERS)
    found, rules = other_names(LAYERS, anonymous)
    assert found == {name: f"n{number}" for name, number in names.items()}
    assert rules == {"structure": 8}


def test_an_inserted_node_does_not_hide_its_neighbours() -> None:
    anonymous = LAYERS.replace("net/a/", "p").replace("net/b/", "q")
    grown = anonymous.replace("< pRelu", "< drop").replace(
        "qkernel  ", "drop op=Dropout < pRelu\nqkernel", 1
    )
    found, _ = other_names(LAYERS, grown)
    assert found == {
        f"net/{scope}/{name}": f"{new}{name}"
        for scope, new in (("a", "p"), ("b", "q"))
        for name in ("kernel", "read", "MatMul", "Relu")
    }


def test_what_is_removed_here_and_added_there_is_not_the_same() -> None:
    chain = "x op=Placeholder\na op=Neg < x\nb op=Abs < {}\nc op=Exp < b\nd op=Log < {}"
    base = chain.format("old/Relu", "c") + "\nold/Relu op=Relu < a"
    new = chain.format("a", "added/Relu") + "\nadded/Relu op=Relu < c"
    assert other_names(base, new) == ({}, {})


def test_a_branch_that_is_read_by_others_is_not_the_same() -> None:
    ends = "x op=Placeholder\nz op=Placeholder\na op=Neg < {}\nb op=Exp < {}"
    base, new = (ends.format(*each) for each in (("p", "z"), ("z", "q")))
    assert other_names(base + "\np op=Relu < x", new + "\nq op=Relu < x") == ({}, {})


def test_nodes_that_nothing_distinguishes_are_matched_in_order() -> None:
    three = "x op=Placeholder\nn_8 op=Relu < x\nn_9 op=Relu < x\nn_10 op=Relu < x"
    found, rules = other_names(three, three.replace("n_", "m/n_"))
    assert found == {"n_8": "m/n_8", "n_9": "m/n_9", "n_10": "m/n_10"}
    assert rules == {"scope renamed": 3}
    later = "x op=Placeholder\nn_13 op=Relu < x\nn_11 op=Relu < x\nn_12 op=Relu < x"
    found, rules = other_names(three, later)
    assert found == {"n_8": "n_11", "n_9": "n_12", "n_10": "n_13"}
    assert rules == {"suffix": 3}
    assert other_names(three, later.replace("\nn_12 op=Relu < x", "")) == ({}, {}), "which is gone?"


def test_a_run_without_a_graph_has_names_only() -> None:
    base = "a/m op=MatMul\na/r op=Relu\nb_1 op=Add\nc op=Sub"
    new = "z/m op=MatMul\nz/r op=Relu\nb_4 op=Add\nd op=Sub"
    assert other_names(base, new) == (
        {"a/m": "z/m", "a/r": "z/r", "b_1": "b_4"},
        {"scope renamed": 2, "suffix": 1},
    )


@cache
def real(name: str) -> Profile:
    """A graph of a real model."""
    file = {"resnet": SAMPLE / "graph.pbtxt.gz", "lstm": DATA / "tf2" / "lstm_saved_model.pb.gz"}
    return tfprof.load(file[name]).profile


DISGUISES: dict[str, Callable[[bytes], bytes]] = {
    "a scope": lambda name: re.sub(rb"(^|/)(unit_2_\d|while)/", rb"\1other_\2_name/", name),
    "all inside": lambda name: b"StatefulPartitionedCall/model/" + name,
    "suffixes": lambda name: re.sub(rb"_(\d+)(?=/|$)", lambda n: b"_%d" % (int(n[1]) + 1000), name),
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("model", ["resnet", "lstm"])
def test_real_models_in_disguise(model: str, disguise: str) -> None:
    base, rng = real(model), Random(model + disguise)  # noqa: S311
    order = rng.sample(range(len(base)), len(base))
    matches = matched(base, disguised(base, order, DISGUISES[disguise]))
    wrong = (matches.base_of_new != np.array(order)) & (matches.base_of_new >= 0)
    assert not wrong.any()
    assert (matches.base_of_new >= 0).mean() > 0.97


@pytest.mark.sampled
@pytest.mark.parametrize("number", sampling.numbers(12, 2))
def test_real_models_in_disguise_and_cut(number: int) -> None:
    rng = Random(number)  # noqa: S311
    base = real(rng.choice(["resnet", "lstm"]))
    gone = {int(node) for node in inner(base) if rng.random() < 0.03}
    kept = [node for node in range(len(base)) if node not in gone]
    rng.shuffle(kept)
    matches = matched(base, disguised(base, kept, DISGUISES["all inside"]))
    assert np.array_equal(matches.base_of_new, kept)


@pytest.mark.sampled
@pytest.mark.parametrize("number", sampling.numbers(100, 6))
def test_shuffled_graphs_without_names(number: int) -> None:
    """Each pair has the same inputs; where all surroundings differ, everything is matched."""
    rng = Random(number)  # noqa: S311
    unique = number % 2 == 0
    size = rng.randrange(2, 60)
    ops = [f"Op{node if unique else rng.randrange(3)}" for node in range(size)]
    reads = [sorted(rng.sample(range(at), min(at, rng.randrange(1, 4)))) for at in range(size)]
    inputs = (", ".join(f"n{i}" for i in each) for each in reads)
    lines = (f"n{at} op={op} < {of}" for at, (op, of) in enumerate(zip(ops, inputs, strict=True)))
    base = draw.profile("\n".join(line.removesuffix(" < ") for line in lines))
    order = rng.sample(range(size), size)
    named = rng.choice([b"x", b"x/y/z", b""])
    new = disguised(base, order, lambda _: b"%b_%d" % (named, rng.randrange(10**15)))
    matches = matched(base, new)
    for other, node in enumerate(matches.base_of_new.tolist()):
        if node >= 0:
            before = base.edges.source[base.edges.start[node] : base.edges.start[node + 1]]
            after = new.edges.source[new.edges.start[other] : new.edges.start[other + 1]]
            images = matches.new_of_base[before]
            assert (images == after)[images >= 0].all()
    if unique:
        assert matches.base_of_new.tolist() == order


@pytest.mark.sampled
@pytest.mark.parametrize("number", sampling.numbers(100, 8))
def test_any_two_graphs_can_be_matched(number: int) -> None:
    rng = Random(number)  # noqa: S311
    try:
        graphs = [make_graph(rng, make_names(rng)).SerializeToString() for _ in range(2)]
        base, new = (tfprof.load(graph).profile for graph in graphs)
    except InputError:
        base, new = Profile(), Profile()
    for pair in ((base, new), (base, Profile()), (without_edges(base), new), (base, base)):
        matched(*pair)
    renamed = disguised(base, rng.sample(range(len(base)), len(base)), lambda name: b"new/" + name)
    matched(base, renamed)


@pytest.mark.sampled
@pytest.mark.parametrize("number", sampling.numbers(100, 6))
def test_edited_graphs_have_the_same_pairs_in_both_directions(number: int) -> None:
    rng = Random(number)  # noqa: S311
    size = rng.randrange(20, 80)
    lines = [
        f"{rng.choice('abc')}/{rng.choice('xyz')}/n_{at} op=Op{rng.randrange(4)}"
        for at in range(size)
    ]
    names = [line.split()[0] for line in lines]
    for at in range(1, size):
        reads = rng.choices(names[max(0, at - 6) : at], k=rng.randrange(1, 3))
        lines[at] += f" < {', '.join(reads)}"
    base = draw.profile("\n".join(lines))
    kept = [0, *(node for node in range(1, size) if rng.random() < 0.9)]
    rng.shuffle(kept)
    parts = (b"a", b"b", b"c", b"x", b"y", b"z")
    other = {part: rng.choice([part, b"new_" + part]) for part in parts}

    def rename(name: bytes) -> bytes:
        return b"/".join(other.get(part, part) for part in name.split(b"/"))

    matched(base, disguised(base, kept, rename))


def test_a_part_is_found_whatever_became_of_both_ends() -> None:
    middle = "?a op=Neg < ?in\n?b op=Exp < ?a\n?c op=Log < ?b\n?d op=Abs < ?c\n?e op=Sin < ?d\n"
    base = f"?in op=Placeholder\n{middle}?out op=Identity < ?e".replace("?", "p")
    new = f"?in op=Const\n{middle}?out op=NoOp < ?e".replace("?", "q")
    found, rules = other_names(base, new)
    assert found == {f"p{name}": f"q{name}" for name in "abcde"}
    assert rules == {"structure": 5}


# --- numbers that make names unique ---------------------------------------------------------------


def test_suffixes_are_those_of_a_regex() -> None:
    rng = Random(sampling.seed())  # noqa: S311 - repeatable, not secret
    drawn = ["".join(rng.choices("ab_/19", k=rng.randrange(9))) for _ in range(500)]
    for names in ([*NAMES, *drawn], ["_1"], ["a"], []):
        expected = [re.sub(r"_[0-9]+(?=/|\Z)", "", name).encode() for name in names]
        ours = without_suffixes(Strings.of(name.encode() for name in names))
        assert ours.tolist() == expected


def test_no_number_of_many_digits_makes_a_name_unique() -> None:
    """It takes no longer than others, either."""
    names = [b"a_" + b"1" * 20, b"a_" + b"1" * 21, b"a_" + b"1" * 1_000_000 + b"/b_2"]
    assert without_suffixes(Strings.of(names)).tolist() == [b"a", names[1], names[2][:-2]]
