"""Code view: a trie of call stacks, outermost frame first.

    stacks   main.py:8 > model.py:20        rows   _TFProfRoot
             main.py:8 > model.py:31               └─ main.py:8:<module>
                                                      ├─ model.py:20:build     nodes created there
                                                      └─ model.py:31:build
                                                   └─ main.py:8:<module> (gradient)
                                                      └─ model.py:20:build (gradient)

A node is counted under the last frame of its stack. Gradients are recognised by name. They are
counted under the stack of their forward node, in rows marked "(gradient)" (parity Q12, Q48).
Gradients that a tape recorded in a function are marked too, under their own stack.
Rows are in the order they are first needed: nodes by name, then gradients by forward name.

What is drawn of a stack:

    all     its frames, as the original does
    auto    the same, and below them the layers of Keras that the nodes belong to
    fold    the user's frames and layers; what a library creates counts for the line that calls it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.tree import Tree
from tfprof.columns.unique import first_rows, unique, unique_inverse
from tfprof.errors import UsageError
from tfprof.foundation.named_tuples import NamedTuple
from tfprof.foundation.stack_files import LAYER, library_of
from tfprof.model import Note
from tfprof.views.drawing import Drawing, under_root
from tfprof.views.graph_view import visit_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Profile, Stacks
    from tfprof.tables.options import Frames

_GRADIENTS, _GRAD, _TAPE = b"gradients/", b"_grad/", b"gradient_tape/"
GRADIENT_MARK = b" (gradient)"
UNKNOWN_TEXT = b"<unknown>"
# parity: a function name of _LONG_NAME bytes or more is cut, and "..." follows.
_LONG_NAME, _CUT_NAME = 20, 17
_TOGETHER = 64  # frames; few stacks have more


def draw(
    profile: Profile,
    *,
    source_text: bool = False,
    gradient_rows: bool = True,
    frames: Frames = "auto",
) -> Drawing:
    """The tree of call stacks; raises UsageError where there are none.

    Without *gradient_rows*, gradients are counted under the line that asked for them.
    """
    if not profile.has_traces:
        raise UsageError(
            "No code trace information: code view needs an op log with call stacks (--op_log_path)"
        )
    stacks = profile.stacks
    drawn, libraries = _drawn(stacks, frames)
    traced = profile.by_name[profile.nodes.stack[profile.by_name] >= 0]
    traced = traced[np.diff(drawn.start)[profile.nodes.stack[traced]] > 0]
    none = np.empty(0, np.int64)
    plain, gradient, forward, lost = (
        _split_gradients(profile, traced) if gradient_rows else (traced, none, none, 0)
    )
    of_frame, texts = _frame_labels(stacks, source_text=source_text)
    labels = [text + mark for mark in (b"", GRADIENT_MARK) for text in texts]
    distinct: dict[bytes, int] = {}
    number = np.array([distinct.setdefault(text, len(distinct)) for text in labels], np.int64)
    trie = _trie(
        drawn,
        number.reshape(2, -1)[:, of_frame],
        profile.nodes.stack[np.append(plain, forward)],
        np.repeat([0, 1], [plain.size, forward.size]),
    )
    owner = np.full(len(profile), -1, np.int64)
    owner[np.append(plain, gradient)] = trie.row[trie.end]
    notes = [Note(f"{lost} gradient nodes not accounted")] if lost else []
    if libraries:
        text = f"frames of {', '.join(libraries)} are folded: --frames=all shows them"
        notes.append(Note(text, ours=True))
    names = [*distinct]
    return Drawing(
        Tree.from_depth(trie.depth),
        owner,
        under_root(Strings.of(map(names.__getitem__, trie.label))),
        frame=trie.frame,
        gradient=trie.mark,
        notes=tuple(notes),
    )


class _Drawn(NamedTuple):
    """The frames that are drawn, of all stacks; those of stack i are frame[start[i]:start[i+1]]."""

    start: I64
    frame: I64


def _drawn(stacks: Stacks, frames: Frames) -> tuple[_Drawn, list[str]]:
    """(the frames to draw, the libraries whose frames are left out)."""
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))
    files = {number: _file_name(text, number) for number in unique(stacks.file).tolist()}
    without: dict[int, str] = {}
    if frames == "fold":
        without = {n: library for n, file in files.items() if (library := library_of(file))}
    elif frames == "all":
        without = {n: "" for n, file in files.items() if file == LAYER}
    left_out = np.isin(stacks.file, list(without))
    # A stack of nothing but libraries is drawn as its innermost line.
    count = np.append(0, np.cumsum(~left_out))
    empty = (count[stacks.start[1:]] == count[stacks.start[:-1]]) & (np.diff(stacks.start) > 0)
    if frames == "fold":
        left_out[stacks.start[1:][empty] - 1] = False
    count = np.append(0, np.cumsum(~left_out))
    libraries = {without[number] for number in unique(stacks.file[left_out]).tolist()}
    return _Drawn(count[stacks.start], np.flatnonzero(~left_out)), sorted(libraries - {""})


def _file_name(text: Mapping[int, bytes], number: int) -> str:
    return text.get(number, UNKNOWN_TEXT).decode("utf-8", "replace")


def _split_gradients(profile: Profile, traced: I64) -> tuple[I64, I64, I64, int]:
    """(plain nodes, gradient nodes, the forward node of each, number of unknown forward names).

    *traced* and the plain nodes are in name order; gradients are in order of forward name.
    """
    traced, taped = _without_taped(profile, traced)
    row, wanted = _forward_names(profile.nodes.name.take(traced))
    is_gradient = np.zeros(traced.size, np.bool_)
    is_gradient[row] = True
    plain, gradient = traced[~is_gradient], traced[is_gradient]
    forward = profile.nodes.name.find(wanted)
    is_plain = np.zeros(len(profile) + 1, np.bool_)
    is_plain[plain] = True
    known = is_plain[forward]
    order = wanted.order()
    order = order[known[order]]
    lost = len(wanted.take(~known).distinct())
    return plain, np.append(gradient[order], taped), np.append(forward[order], taped), lost


def _without_taped(profile: Profile, traced: I64) -> tuple[I64, I64]:
    """(*traced* without gradients that a tape recorded inside functions, these gradients)."""
    # They have stacks of their own, whatever their names.
    inside = profile.regions.of_node
    in_function = np.flatnonzero(np.append(inside, -1)[np.minimum(traced, inside.size)] >= 0)
    names = profile.nodes.name.take(traced[in_function])
    is_taped = np.fromiter((_TAPE in name for name in names), np.bool_, len(names))
    taped = np.zeros(traced.size, np.bool_)
    taped[in_function[is_taped]] = True
    return traced[~taped], traced[taped]


def _forward_names(names: Strings) -> tuple[I64, Strings]:
    """(the rows that are names of gradients, the name of the forward node of each)."""
    row = np.flatnonzero(names.first(_GRADIENTS) >= 0)
    names = names.take(row)
    begin, end = names.first(_GRADIENTS) + len(_GRADIENTS), names.first(_GRAD)
    # parity Q12: if "_grad/" comes first, everything after "gradients/" is the name.
    length = np.where(end > begin, end, names.length) - begin
    is_gradient = (end >= 0) & (end != begin)
    forward = Strings(names.blob, names.start + begin, length).take(is_gradient)
    return row[is_gradient], forward


def _frame_labels(stacks: Stacks, *, source_text: bool) -> tuple[I64, list[bytes]]:
    """(which label each frame has, the labels: file, line and function; with *source_text* that).

    Labels of different lines may be the same.
    """
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))
    columns = [stacks.file, stacks.line, stacks.function]
    if source_text:
        columns.append(stacks.source)
    of_frame = np.zeros(stacks.file.size, np.int64)
    for column in columns:
        distinct, number = unique_inverse(column)
        of_frame = unique_inverse(of_frame * max(distinct.size, 1) + number)[1]
    first = first_rows(of_frame)[1]
    labels = []
    for file, line, function, *source in zip(*(c[first].tolist() for c in columns), strict=True):
        path, name = (text.get(number, UNKNOWN_TEXT) for number in (file, function))
        label = b"%b:%d:%b" % (path.rpartition(b"/")[2], line, _cut(name))
        parts = [label, *(_cut(text.get(number, UNKNOWN_TEXT)) or b"none" for number in source)]
        labels.append(b"layer " + name if path == LAYER.encode() else b":".join(parts))
    return of_frame, labels


def _cut(function: bytes) -> bytes:
    if len(function) < _LONG_NAME:
        return function
    # Never inside a character. The original cuts one in two, so its output is not UTF-8 (Q43).
    return function[:_CUT_NAME].decode("utf-8", "ignore").encode() + b"..."


class _Trie(NamedTuple):
    """Paths of frame labels. Entry 0 is the root."""

    end: I64  # the entry at the end of each path
    row: I64  # the row of each entry, depth first
    depth: I64  # of each row, and so on
    label: list[int]
    frame: I64  # of the first path with this entry
    mark: I64


def _trie(drawn: _Drawn, labels: I64, stack: I64, mark: I64) -> _Trie:
    """The trie of the paths of these stacks; labels[mark, frame] are the numbers of labels.

    All paths advance together, one frame per step; what few long ones have more is added one by
    one. Children are in the order of the first path that has them.
    """
    # Many nodes have the same stack.
    _, first_node = first_rows(stack * 2 + mark)
    path = np.sort(first_node)
    at, low = np.zeros(path.size, np.int64), drawn.start[stack[path]]
    size = drawn.start[stack[path] + 1] - low
    most = int(labels.max(initial=0)) + 1
    none = np.full(1, -1, np.int64)
    steps: list[tuple[I64, ...]] = [(none, none, none, np.zeros(1, np.int64), none)]
    count = 1
    for depth in range(min(int(size.max(initial=0)), _TOGETHER)):
        live = np.flatnonzero(size > depth)
        frame = drawn.frame[low[live] + depth]
        label = labels[mark[path[live]], frame]
        key = at[live] * most + label
        first, inverse = first_rows(key)[1], unique_inverse(key)[1]
        steps.append((at[live[first]], label[first], frame[first], mark[path[live[first]]], first))
        at[live] = count + inverse
        count += first.size
    rest: list[tuple[int, ...]] = []
    known: dict[int, int] = {}
    for number in np.flatnonzero(size > _TOGETHER).tolist():
        here, of_path = int(at[number]), int(mark[path[number]])
        frames = drawn.frame[low[number] + _TOGETHER : low[number] + size[number]]
        for frame, label in zip(frames.tolist(), labels[of_path, frames].tolist(), strict=True):
            inner = known.setdefault(here * most + label, count + len(rest))
            if inner == count + len(rest):
                rest.append((here, label, frame, of_path, number))
            here = inner
        at[number] = here
    steps.append(tuple(np.array(rest, np.int64).reshape(-1, 5).T))
    count += len(rest)
    parent, text, of_frame, of_mark, first = map(np.concatenate, zip(*steps, strict=True))
    children = np.lexsort((first, parent))[1:]
    start = np.searchsorted(parent[children], np.arange(count + 1))
    entry, deep = visit_inputs(count, children, start, np.zeros(1, np.int64))
    row = np.empty(count, np.int64)
    row[entry] = np.arange(count)
    end = np.empty(drawn.start.size * 2, np.int64)
    end[stack[path] * 2 + mark[path]] = at
    shown = text[entry[1:]].tolist()
    return _Trie(end[stack * 2 + mark], row, deep - 1, shown, of_frame[entry], of_mark[entry])
