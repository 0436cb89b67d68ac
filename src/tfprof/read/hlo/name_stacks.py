"""What the name of an HLO instruction in its framework says: scope, primitive and phase.

    jit(step)/jvp(Model)/proj/dot_general               Model/proj   dot_general   forward
    jit(step)/transpose(jvp(Model))/proj/dot_general    Model/proj   dot_general   backward
    …/checkpoint/rematted_computation/blk/tanh          blk          tanh          recomputation
    jit(f)/jvp(Model)/while/body/closed_call/attn/add   Model/attn   add           forward

JAX wraps the scopes of a name in the transformations that it applied. These are taken off; what is
in the brackets stays, except for the name of a function that was compiled. TensorFlow's names are
those of nodes, and their type stands beside them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import combined

if TYPE_CHECKING:
    from tfprof.columns.strings import I64, Bool

FORWARD, BACKWARD, RECOMPUTATION = b"forward", b"backward", b"recomputation"
PHASES: Final = (b"", FORWARD, BACKWARD, RECOMPUTATION)
# What JAX adds where it traces loops, conditionals and calls.
_TRACED: Final = re.compile(
    rb"(?:(?<=/)|^)(?:while/(?:body|cond)|cond/branch_\d+_fun|closed_call|core_call|checkpoint"
    rb"|remat2?|rematted_computation|custom_[jv][vj]p_call(?:_jaxpr)?|pjit|shard_map|xla_pmap)(?=/|$)"
)
# Parts of a stack that may mean something else after others.
_ODD: Final = (b"body", b"cond", b"branch_", b"closed_call", b"core_call", b"checkpoint", b"remat",
               b"custom_", b"pjit", b"shard_map", b"xla_pmap")  # fmt: skip
_COMPILED: Final = (b"jit", b"pjit")
_PART: Final = re.compile(rb"([^/()]*)([/()]|$)")
_PRIMITIVE: Final = re.compile(rb"[\w-]+")
_MOST_BYTES: Final = 10_000


class NameStacks(NamedTuple):
    """What the names of instructions say."""

    scope: I64  # of each instruction: a row of the scopes
    scopes: list[bytes]  # the first is empty
    primitive: I64  # a row of the primitives, of which the first is empty
    primitives: list[bytes]
    phase: I64  # a row of PHASES


def name_stacks(op_name: Strings, op_type: Strings) -> NameStacks:
    """What the names of instructions in their framework say; each different part is read once."""
    name, first = op_name.intern()
    if op_type.length.any():
        name, first = combined(name, op_type.intern()[0])
    op_name, op_type = op_name.take(first), op_type.take(first)
    typed = op_type.length > 0
    around, last = _at_last_slash(op_name)
    last = last.before(b"[")
    is_primitive = last.which(_is_primitive) & ~typed
    stack = Strings(
        op_name.blob, op_name.start, np.where(is_primitive, around.length, op_name.length)
    )
    number, first = combined(stack.intern()[0], typed.astype(np.int64))
    text, phase = _scopes(stack.take(first), typed[first])
    texts = Strings.concat([Strings.of([b""]), text])  # the first scope is none
    scope, distinct = texts.intern()
    number = number[name]
    primitive = Strings.concat([Strings.of([b""]), last.where(is_primitive), op_type])
    kind, first = primitive.intern()
    place = 1 + np.arange(len(last)) + np.where(typed, len(last), 0)
    return NameStacks(
        scope[1 + number],
        texts.take(distinct).tolist(),
        kind[place][name],
        primitive.take(first).tolist(),
        phase[number],
    )


def _at_last_slash(names: Strings) -> tuple[Strings, Strings]:
    """(what is before the last slash of each, what is after it)."""
    around = names.around()
    skipped = around.length.copy()
    has = np.flatnonzero(names.length)
    skipped[has] += names.blob[names.start[has] + skipped[has]] == b"/"[0]
    return around, Strings(names.blob, names.start + skipped, names.length - skipped)


def _is_primitive(text: bytes) -> bool:
    return bool(_PRIMITIVE.fullmatch(text)) and not _TRACED.fullmatch(text)


def _scopes(stack: Strings, is_node: Bool) -> tuple[Strings, I64]:
    """(scope, phase) of each name stack, or name of a node.

    Most stacks are those of a layer in a model. What is before the layer is read once.
    """
    around, last = _at_last_slash(stack)
    head, first = around.intern()
    heads = [_head(text) for text in around.take(first).tolist()]
    has_head = np.array([bool(each) for each in heads], np.bool_)[head]
    is_plain = last.which(_is_plain) & ~is_node & has_head
    phase = np.array([each[1] if each else 0 for each in heads], np.int64)[head]
    prefix = Strings.of(each[0] if each else b"" for each in heads).take(head)
    others = np.flatnonzero(~is_plain)
    texts = []
    for row, text in zip(others.tolist(), stack.take(others).tolist(), strict=True):
        scope, phase[row] = (text.strip(b"/"), 0) if is_node[row] else _read(text)
        texts.append(scope)
    place = np.arange(len(stack))
    place[others] = len(stack) + np.arange(others.size)
    plain = Strings.beside([prefix.where(is_plain), last.where(is_plain)])
    return Strings.concat([plain, Strings.of(texts)]).take(place), phase


def _is_plain(part: bytes) -> bool:
    """Whether the last part of a stack is a name, whatever is before it."""
    if b"(" in part or b")" in part or len(part) > _MOST_BYTES:
        return False
    return bool(part) and not part.startswith(_ODD)


def _head(around: bytes) -> tuple[bytes, int] | None:
    """(what scopes begin with, phase); None if a name after it may be in brackets."""
    if len(around) > _MOST_BYTES or around.count(b"(") != around.count(b")"):
        return None
    scope, phase = _read(around)
    return scope + b"/" if scope else b"", phase


@lru_cache(maxsize=65_536)
def _read(stack: bytes) -> tuple[bytes, int]:
    phase = 0
    if b"jvp(" in stack:
        phase = PHASES.index(BACKWARD if b"transpose(" in stack else FORWARD)
    if b"rematted_computation" in stack:
        phase = PHASES.index(RECOMPUTATION)
    if len(stack) > _MOST_BYTES:
        return stack, phase
    parts: list[bytes] = []
    wrappers: list[bytes] = []
    for match in _PART.finditer(_TRACED.sub(b"", stack)):
        word, sign = match.groups()
        if sign == b"(":
            wrappers.append(word)
            continue
        if word and not any(wrapper in _COMPILED for wrapper in wrappers):
            parts.append(word)
        if sign == b")" and wrappers:
            wrappers.pop()
    return b"/".join(parts), phase
