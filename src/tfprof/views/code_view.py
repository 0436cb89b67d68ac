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
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.tree import Tree
from tfprof.columns.unique import first_rows
from tfprof.errors import UsageError
from tfprof.model import Note
from tfprof.views.drawing import Drawing, under_root

if TYPE_CHECKING:
    from tfprof.model import Profile, Stacks

_GRADIENTS, _GRAD, _TAPE = b"gradients/", b"_grad/", b"gradient_tape/"
GRADIENT_MARK = b" (gradient)"
UNKNOWN_TEXT = b"<unknown>"
# parity: a function name of _LONG_NAME bytes or more is cut, and "..." follows.
_LONG_NAME, _CUT_NAME = 20, 17


def draw(profile: Profile, *, source_text: bool = False, gradient_rows: bool = True) -> Drawing:
    """The tree of call stacks; raises UsageError where there are none.

    Without *gradient_rows*, gradients are counted under the line that asked for them.
    """
    if not profile.has_traces:
        raise UsageError(
            "No code trace information: code view needs an op log with call stacks (--op_log_path)"
        )
    stacks = profile.stacks
    traced = profile.by_name[profile.nodes.stack[profile.by_name] >= 0]
    traced = traced[np.diff(stacks.start)[profile.nodes.stack[traced]] > 0]
    none = np.empty(0, np.int64)
    plain, gradient, forward, lost = (
        _split_gradients(profile, traced) if gradient_rows else (traced, none, none, 0)
    )
    trie = _Trie(_frame_names(stacks, source_text=source_text))
    owner = np.full(len(profile), -1, np.int64)
    owner[plain] = _insert(trie, stacks, profile.nodes.stack[plain], mark=0)
    owner[gradient] = _insert(trie, stacks, profile.nodes.stack[forward], mark=1)
    entry, depth = trie.rows()
    row = np.zeros(len(trie.label), np.int64)
    row[entry] = np.arange(entry.size)
    owner[owner >= 0] = row[owner[owner >= 0]]
    return Drawing(
        Tree.from_depth(depth),
        owner,
        under_root(Strings.of(trie.label[number] for number in entry[1:].tolist())),
        frame=np.array(trie.frame, np.int64)[entry],
        gradient=np.array(trie.gradient, np.int64)[entry],
        notes=(Note(f"{lost} gradient nodes not accounted"),) if lost else (),
    )


def _split_gradients(profile: Profile, traced: I64) -> tuple[I64, I64, I64, int]:
    """(plain nodes, gradient nodes, the forward node of each, number of unknown forward names).

    *traced* and the plain nodes are in name order; gradients are in order of forward name.
    """
    traced, taped = _without_taped(profile, traced)
    names = profile.nodes.name.take(traced).tolist()
    forward_name = [_forward_name(name) if _GRADIENTS in name else None for name in names]
    is_gradient = np.fromiter((name is not None for name in forward_name), np.bool_, len(names))
    plain, gradient = traced[~is_gradient], traced[is_gradient]
    wanted = Strings.of(name for name in forward_name if name is not None)
    forward = profile.nodes.name.find(wanted)
    is_plain = np.zeros(len(profile) + 1, np.bool_)
    is_plain[plain] = True
    known = is_plain[forward]
    order = wanted.order()
    order = order[known[order]]
    lost = len({bytes(name) for name in wanted.take(~known)})
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


def _forward_name(name: bytes) -> bytes | None:
    """The name of the node that *name* is the gradient of; None if it is not a gradient."""
    begin, end = name.find(_GRADIENTS), name.find(_GRAD)
    if begin < 0 or end < 0:
        return None
    begin += len(_GRADIENTS)
    if begin == end:
        return None
    # parity Q12: if "_grad/" comes first, everything after "gradients/" is the name.
    return name[begin:end] if end > begin else name[begin:]


def _frame_names(stacks: Stacks, *, source_text: bool) -> list[bytes]:
    """The label of each frame: file, line and function; with *source_text* its text as well."""
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))
    labels: dict[tuple[int, ...], bytes] = {}
    names = []
    columns = [stacks.file, stacks.line, stacks.function]
    if source_text:
        columns.append(stacks.source)
    for key in zip(*(column.tolist() for column in columns), strict=True):
        if key not in labels:
            file, line, function, *source = key
            base = text.get(file, UNKNOWN_TEXT).rpartition(b"/")[2]
            label = b"%b:%d:%b" % (base, line, _cut(text.get(function, UNKNOWN_TEXT)))
            parts = [label, *(_cut(text.get(number, UNKNOWN_TEXT)) or b"none" for number in source)]
            labels[key] = b":".join(parts)
        names.append(labels[key])
    return names


def _cut(function: bytes) -> bytes:
    if len(function) < _LONG_NAME:
        return function
    # Never inside a character. The original cuts one in two, so its output is not UTF-8 (Q43).
    return function[:_CUT_NAME].decode("utf-8", "ignore").encode() + b"..."


def _insert(trie: _Trie, stacks: Stacks, stack: I64, mark: int) -> I64:
    """The trie's entry of each stack's last frame; stacks are added in order."""
    distinct, first = first_rows(stack)
    entry = np.full(stacks.start.size, -1, np.int64)
    for number in distinct[np.argsort(first, kind="stable")].tolist():
        low, high = stacks.start[number : number + 2].tolist()
        entry[number] = trie.add(range(low, high), mark)
    return entry[stack]


class _Trie:
    """Paths of frame labels; entry 0 is the root, children are in order of creation."""

    def __init__(self, names: list[bytes]) -> None:
        self._names = names
        self._children: list[dict[bytes, int]] = [{}]
        self.frame, self.label, self.gradient = [-1], [b""], [0]

    def add(self, frames: range, mark: int) -> int:
        """The entry at the end of this path, created if it is new."""
        at = 0
        for frame in frames:
            label = self._names[frame] + GRADIENT_MARK if mark else self._names[frame]
            children = self._children[at]
            at = children.get(label, 0)
            if not at:
                at = children[label] = len(self._children)
                self._children.append({})
                self.frame.append(frame)
                self.label.append(label)
                self.gradient.append(mark)
        return at

    def rows(self) -> tuple[I64, I64]:
        """(entry, depth) of each row, depth first from the root."""
        entries: list[int] = []
        depths: list[int] = []
        waiting = [(0, 1)]
        while waiting:
            entry, depth = waiting.pop()
            entries.append(entry)
            depths.append(depth)
            below = self._children[entry].values()
            waiting += [(child, depth + 1) for child in reversed(below)]
        return np.array(entries, np.int64), np.array(depths, np.int64)
