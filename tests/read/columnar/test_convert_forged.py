"""Forged converted profiles, whose checksums fit: what cannot be is refused in a sentence."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import draw
from case import VIEWS
from converted import SELECT, convert, known, reread, source, unharmed
from forged import Column, is_text, put_together, small, small_file, taken_apart, wide, with_number
from sampling import amount
from tfprof.checkers import advise
from tfprof.errors import InputError
from tfprof.model import ACCELERATOR_RUN
from tfprof.query.query import Query
from tfprof.read import load
from tfprof.results.loaded import Loaded
from tfprof.writers import advice
from tfprof.writers.saved import saved
from tfprof.writers.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Iterator


MAY_GROW = ("edges.unknown.length", "stacks.start")
INT64 = (-(2**63), 2**63 - 1)
ANYTHING = (*INT64, -5, -2, -1, 0, 1, 3, 255, 2**31, 2**40)
# Numbers that look something up, each with the least it may be.
LOOKS_UP = {
    "nodes.op": 0, "nodes.device": -1, "nodes.stack": -1, "typed_node": 0, "typed_as": 0,
    "edges.slot": -1, "steps.0.node": 0, "steps.0.device": 0, "steps.0.counts_as": 0,
    "steps.0.memory_node": 0, "steps.0.allocation_node": 0, "steps.0.output_row": 0,
    "attributes.node": 0, "attributes.text": 0,
}  # fmt: skip


def test_the_small_file_can_be_taken_apart_and_put_together() -> None:
    assert put_together(taken_apart(small_file())) == small_file()
    stored = taken_apart(small_file())
    everything_wide = {
        name: column if is_text(name) else wide(column.numbers) for name, column in stored.items()
    }
    assert unharmed(put_together(everything_wide), small())


@pytest.mark.parametrize(("name", "least"), LOOKS_UP.items())
def test_a_number_that_looks_up_nothing_is_refused(name: str, least: int) -> None:
    column = name.replace(".0.", ".")
    said = rf"it is damaged: the column {column} (has an index out of range|has an output)"
    for place in (0, -1):
        for number in (least - 1, -5, *INT64, 10**6):
            if name == "edges.slot" and number > 0:
                continue  # an output that a node does not have may be asked for
            with pytest.raises(InputError, match=said):
                known(reread(with_number(name, place, number)))


def test_the_first_number_that_looks_up_nothing_is_refused() -> None:
    profile, step = small(), small().steps[0]
    count = {
        "nodes.op": len(profile.types), "nodes.device": len(profile.types),
        "nodes.stack": profile.stacks.start.size - 1, "typed_node": len(profile),
        "typed_as": len(profile.types), "steps.0.node": len(profile),
        "steps.0.device": len(step.devices), "steps.0.counts_as": ACCELERATOR_RUN + 1,
        "steps.0.memory_node": len(profile), "steps.0.allocation_node": len(profile),
        "steps.0.output_row": step.memory_node.size, "attributes.node": len(profile),
    }  # fmt: skip
    for name, bound in count.items():
        with pytest.raises(InputError, match="has an index out of range"):
            known(reread(with_number(name, -1, bound)))


def test_edges_to_names_that_are_not_there_are_refused() -> None:
    unknown = len(small().edges.unknown)
    for number in (-1 - unknown, len(small()), *INT64):
        with pytest.raises(InputError, match=r"the column edges.source has an index out of range"):
            reread(with_number("edges.source", 0, number))


@pytest.mark.parametrize("name", [n for n in taken_apart(small_file()) if n.endswith("start")])
def test_lists_that_do_not_divide_their_table_are_refused(name: str) -> None:
    stored = taken_apart(small_file())
    right = stored[name].numbers
    total, count = right[-1], len(right) - 1
    assert total
    assert count > 1
    # Differences that wrap around 64 bits, each of them positive.
    around = [0, 2**62, 2**63 - 1, -(2**62), *[total] * (count - 3)]
    for wrong in (
        [1, *right[1:]], [*right[:-1], total + 1], [*right[:-1], total - 1],
        [0, total + 5, *right[2:]], [0, -1, *right[2:]], [*right, total + 1],
        [*right[:-2], total + 1], [], around[: count + 1],
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"does not divide its table|not as long as its table"):
            known(reread(put_together({**stored, name: wide(wrong)})))


@pytest.mark.parametrize(
    "name",
    # There are no functions in it.
    [n for n in taken_apart(small_file()) if n.endswith(".length") and "regions" not in n],
)
def test_lengths_that_do_not_fit_the_text_are_refused(name: str) -> None:
    stored = taken_apart(small_file())
    right = stored[name].numbers
    for wrong in (
        [right[0] + 1, *right[1:]], [-1, right[0] + 1, *right[1:]],
        [2**62, 2**62, 2**62, 2**62, *right], [-(2**63), -(2**63), *right], [],
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"the lengths of .* do not match its text"):
            known(reread(put_together({**stored, name: wide(wrong)})))


def test_every_column_is_as_long_as_its_table() -> None:
    stored = taken_apart(small_file())
    for name, column in stored.items():
        numbers = column.numbers
        for wrong in (numbers[:-1], [*numbers, *numbers[-1:]]):
            # One more unknown name and one more empty stack are nobody's, and no harm.
            if not numbers or (name in MAY_GROW and len(wrong) > len(numbers)):
                continue
            forged = Column("u1", 0, bytes(wrong)) if is_text(name) else wide(wrong)
            with pytest.raises(InputError, match=r"^it is damaged: "):
                known(reread(put_together({**stored, name: forged})))


def test_truths_are_true_or_false() -> None:
    for name in ("covered", "has_traces", "steps.0.on_host", "attributes.described"):
        for number in (2, -1, 256):
            with pytest.raises(InputError, match=f"{name} has values other than 0 and 1"):
                reread(with_number(name, 0, number))


def test_names_that_are_looked_up_stand_there_once() -> None:
    few = draw.profile("aa op=A us=1\nab op=B us=1")
    many = draw.profile("\n".join(f"n{i:04d} op=A us=1" for i in range(500)))
    for profile, one, other in ((few, b"aa", b"ab"), (many, b"n0007", b"n0300")):
        stored = taken_apart(convert(profile))
        text = stored["nodes.name.text"]
        stored["nodes.name.text"] = replace(text, stored=text.stored.replace(one, other))
        with pytest.raises(InputError, match=r"the column nodes.name has a repeated string"):
            reread(put_together(stored))
    stored = taken_apart(convert(few))
    text = stored["types.text"]
    stored["types.text"] = replace(text, stored=text.stored.replace(b"A", b"B"))
    with pytest.raises(InputError, match="the column types has a repeated string"):
        reread(put_together(stored))


def test_texts_of_code_have_a_number_each() -> None:
    numbers = taken_apart(small_file())["stacks.text_id"].numbers
    assert len(numbers) > 1
    for number in numbers[:-1]:
        with pytest.raises(InputError, match=r"the column stacks.text_id has a repeated number"):
            reread(with_number("stacks.text_id", -1, number))


def test_steps_are_in_order() -> None:
    stored = taken_apart(convert(draw.profile("a us=1+2+3")))
    assert len(reread(put_together(stored)).steps) == 3
    for number in (0, 2, 7, -1):
        with pytest.raises(InputError, match="its steps are not in order"):
            reread(put_together({**stored, "steps.1.number": wide([number])}))
    for count in (-1, -(2**63)):
        with pytest.raises(InputError, match="the number of steps is"):
            reread(put_together({**stored, "steps": wide([count])}))
    for count in (4, 10**18):
        with pytest.raises(InputError, match=r"there is no column steps\.3\."):
            reread(put_together({**stored, "steps": wide([count])}))


def test_attributes_are_in_order_and_of_nodes_that_have_some() -> None:
    stored = taken_apart(small_file())
    node = stored["attributes.node"].numbers
    described = stored["attributes.described"].numbers
    described[node[0]] = 0
    assert node[0] < node[-1]
    for name, wrong in (("node", node[::-1]), ("described", described)):
        with pytest.raises(InputError, match="its attributes are not in the order of their nodes"):
            known(reread(put_together({**stored, f"attributes.{name}": wide(wrong)})))


@pytest.mark.sampled
def test_whatever_a_number_is_nothing_but_a_sentence_comes_of_it() -> None:
    """Everything can be asked of whatever is read."""
    assert sum(map(usable, forgeries())) > amount(20, 10)


def usable(data: bytes) -> bool:
    """Whether the file is read, and then can be asked everything."""
    try:
        profile = reread(data)
        assert profile.with_run_shapes
        assert profile.attributes
    except InputError:
        return False
    loaded = Loaded(profile)
    for view in VIEWS:
        report = loaded.report(view, Query.of({"select": SELECT, "flops": "all"}))
        assert b"".join([*report.pieces("text"), *report.pieces("pprof")])
    for step in loaded.steps[:1]:
        assert [*timeline(loaded.report("graph", Query(step=step)).answer).pieces()]
    assert b"".join(advice.text(advise(profile)))
    return bool(b"".join(saved(profile)))


def forgeries() -> Iterator[bytes]:
    """Files with one number that is another; their checksums fit."""
    rng = random.Random(11)  # noqa: S311  repeatable, not secret
    for name, column in taken_apart(small_file()).items():
        if column.stored and not is_text(name):
            for number in rng.sample(ANYTHING, amount(2, 1)):
                yield with_number(name, rng.choice((0, -1)), number)


def test_a_long_attribute_is_not_shared() -> None:
    """Or a small file would become a large profile."""
    stored = taken_apart(convert(draw.profile("a params=3x4\nb params=3x4\nc params=3x4")))
    assert stored["attributes.text"].numbers == [0, 0, 0]
    text = stored["attributes.texts.text"]
    for size, fits in ((256, True), (257, False)):
        stored["attributes.texts.text"] = replace(text, stored=b"x" * size)
        stored["attributes.texts.length"] = wide([size])
        profile = reread(put_together(stored))
        if fits:
            assert profile.attributes[1].length.tolist() == [256] * 3
            continue
        with pytest.raises(InputError, match="share a text that is too long to be shared"):
            _ = profile.attributes


def test_what_is_used_is_bounded_by_the_size_of_the_file() -> None:
    data = convert(draw.profile("\n".join(f"n{i} op=A us=1" for i in range(3_000))))
    tracemalloc.start()
    try:
        load(saved=source(data))
        assert tracemalloc.get_traced_memory()[1] < 40 * len(data)
    finally:
        tracemalloc.stop()
