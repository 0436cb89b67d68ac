"""The base profile in the names and call stacks of the new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import draw
import tfprof
from case import OpLogProto
from tfprof.compare.match_nodes import match_nodes
from tfprof.compare.renamed import renamed, with_new_stacks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tfprof.model import Profile

    Frames = Sequence[tuple[str, int, str]]


def traced(drawing: str, stacks: Mapping[str, Frames]) -> Profile:
    """The drawn profile with call stacks of some nodes: (file, line, function) of each frame."""
    log = OpLogProto()
    number: dict[str, int] = {}
    for name, frames in stacks.items():
        entry = log.log_entries.add(name=name)
        for file, line, function in frames:
            trace = entry.code_def.traces.add(lineno=line)
            trace.file_id = number.setdefault(file, len(number) + 1)
            trace.function_id = number.setdefault(function, len(number) + 1)
    log.id_to_string.update({at: text for text, at in number.items()})
    files = draw.inputs(drawing)
    return tfprof.load(files.graph, list(files.runs), log.SerializeToString()).profile


def stacks_of(profile: Profile) -> dict[str, list[tuple[str, int, str]]]:
    """The same of a profile."""
    stacks = profile.stacks
    text = dict(zip(stacks.text_id.tolist(), stacks.text.texts(), strict=True))
    result = {}
    for name, stack in zip(profile.nodes.name.texts(), profile.nodes.stack.tolist(), strict=True):
        frames = range(*stacks.start[stack : stack + 2].tolist()) if stack >= 0 else ()
        result[name] = [
            (text[int(stacks.file[at])], int(stacks.line[at]), text[int(stacks.function[at])])
            for at in frames
        ]
    return result


def in_names_of(base: Profile, new: Profile) -> Profile:
    matches = match_nodes(base, new)
    return with_new_stacks(renamed(base, new, matches), new, matches)


MODEL = "x op=Placeholder us=3\na/m op=MatMul us=5 < x\na/r op=Relu us=7 < a/m"


def test_nothing_to_rename_is_the_same_object() -> None:
    base = traced(MODEL, {"x": [("main.py", 3, "run")]})
    again = traced(MODEL, {"x": [("main.py", 3, "run")]})
    assert in_names_of(base, base) is base
    assert in_names_of(base, again) is base
    assert in_names_of(base, draw.profile("other op=Neg")) is base


def test_matched_nodes_have_the_new_names_and_their_own_numbers() -> None:
    base = draw.profile(MODEL + "\ngone op=Exp us=9 < a/r")
    new = draw.profile(MODEL.replace("a/", "b/"))
    result = in_names_of(base, new)
    assert [*result.nodes.name] == [b"x", b"b/m", b"b/r", b"gone"]
    assert [*base.nodes.name] == [b"x", b"a/m", b"a/r", b"gone"]
    assert result.values("micros", None).tolist() == [3, 5, 7, 9]
    assert result.nodes.op is base.nodes.op


def test_lines_that_moved_are_no_change() -> None:
    base = traced(
        MODEL + "\ngone op=Exp < a/r",
        {
            "x": [("main.py", 3, "run"), ("net.py", 10, "build")],
            "a/m": [("main.py", 3, "run"), ("net.py", 11, "build")],
            "gone": [("main.py", 3, "run"), ("net.py", 15, "build")],
        },
    )
    new = traced(
        MODEL.replace("a/", "b/"),
        {
            "b/m": [("main.py", 4, "run"), ("net.py", 21, "build")],
            "x": [("main.py", 4, "run"), ("net.py", 20, "build")],
            "b/r": [("main.py", 4, "run"), ("net.py", 22, "build")],
        },
    )
    result = in_names_of(base, new)
    assert stacks_of(result) == {
        "x": [("main.py", 4, "run"), ("net.py", 20, "build")],
        "b/m": [("main.py", 4, "run"), ("net.py", 21, "build")],
        "b/r": [],
        "gone": [("main.py", 4, "run"), ("net.py", 15, "build")],
    }
    assert stacks_of(base)["gone"][0] == ("main.py", 3, "run"), "the base itself has not changed"


def test_a_line_that_became_two_stays() -> None:
    both = [("main.py", 3, "run")]
    base = traced(MODEL, {"x": both, "a/m": both, "a/r": [*both, ("net.py", 1, "f")]})
    new = traced(
        MODEL + "\na/s op=Neg < a/r",
        {"x": [("main.py", 4, "run")], "a/m": [("main.py", 9, "run")], "a/s": both},
    )
    result = stacks_of(in_names_of(base, new))
    assert result["x"] == [("main.py", 4, "run")]
    assert result["a/m"] == [("main.py", 9, "run")]
    assert result["a/r"] == [("main.py", 3, "run"), ("net.py", 1, "f")]


def test_a_side_without_stacks_changes_none() -> None:
    base, new = traced(MODEL, {"x": [("main.py", 3, "run")]}), draw.profile(MODEL)
    assert in_names_of(base, new) is base
    assert in_names_of(new, base) is new
    assert np.array_equal(in_names_of(base, new).nodes.stack, base.nodes.stack)
