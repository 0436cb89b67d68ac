"""The names of instructions as nodes: their scope, then their own name.

    Model/proj/dot.5            by the framework's name stack
    Model/proj/fusion.2         a fusion: the scope with most of the work that it fused
    train.py#L31/add.7          no scope: the line of the program
    jit_step/Model/proj/dot.5   the program first, if there are several

Weights are below the layer that has them (`parameters`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import combined
from tfprof.read.hlo.inherited import name_rows
from tfprof.read.hlo.modules import PARAMETER
from tfprof.read.hlo.name_stacks import NameStacks, name_stacks
from tfprof.read.hlo.parameters import EntryParameters, entry_parameters
from tfprof.read.hlo.weight_scopes import CONTRACTIONS, with_weight_scopes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tfprof.read.hlo.frames import Frames
    from tfprof.read.hlo.modules import Modules
    from tfprof.read.hlo.parameters import F64

_LONGEST: Final = 1_000  # bytes of a scope


class Names(NamedTuple):
    """The names of instructions and what else their name stacks say."""

    name: Strings  # with the scope
    scope_length: I64
    stacks: NameStacks
    call_stack: I64  # of each instruction; -1: none
    parameters: EntryParameters
    mixed: int  # fusions of several scopes


def names(
    modules: Modules, frames: Frames, is_weight: Callable[[bytes], object] | None = None
) -> Names:
    """The names of all instructions."""
    stacks = name_stacks(modules.op_name, modules.op_type)
    named_by = name_rows(modules)
    stacks = stacks._replace(scope=stacks.scope[named_by], phase=stacks.phase[named_by])
    stacks = stacks._replace(scope=_with_outer_scopes(modules, stacks))
    call_stack = frames.of_row[named_by]
    work = rough_work(modules)
    parameters = entry_parameters(modules, stacks, work, is_weight)
    scope, scopes = with_weight_scopes(modules, stacks.scope, stacks.scopes, parameters, call_stack)
    scope, mixed = _of_fusions(modules, scope, Strings.of(scopes).rank(), work)
    scope = scope.copy()
    by_line = np.flatnonzero((scope == 0) & (call_stack >= 0))
    lines = list(dict.fromkeys(frames.line))
    place = {text: len(scopes) + at for at, text in enumerate(lines)}
    place[b""] = 0
    line_scope = np.array([place[text] for text in frames.line], np.int64)
    scope[by_line] = line_scope[call_stack[by_line]]
    slashed = [each + b"/" if each else b"" for each in (*scopes, *lines)]
    # The name of a parameter has its scope in it.
    is_own = np.ones(scope.size, np.bool_)
    is_own[parameters.row] = False
    scope[parameters.row] = len(slashed) + np.arange(parameters.row.size)
    column = Strings.of([*slashed, *parameters.name]).take(scope)
    own = modules.instruction_name.where(is_own)
    program = _programs(modules).take(modules.computation_module[modules.instruction.message])
    name = Strings.beside([program, column, own])
    return Names(
        name, program.length + column.length * is_own, stacks, call_stack, parameters, mixed
    )


def _with_outer_scopes(modules: Modules, stacks: NameStacks) -> I64:
    """The scope of each instruction, also of those that JAX moved out of a loop for gradients.

    Of these, it leaves out the outer scopes and the transformation: cell/mul, not jvp(Model/cell).
    Such a scope is completed if one scope of the program ends so, and only one.
    """
    in_phase = stacks.phase > 0
    # The name of an argument is its path, and no scope.
    is_path = modules.opcodes(PARAMETER) & modules.is_entry[modules.instruction.message]
    if not in_phase.any() or (in_phase | is_path | (stacks.scope == 0)).all():
        return stacks.scope
    module = modules.computation_module[modules.instruction.message]
    scopes = np.where(is_path, 0, stacks.scope)
    pair, first = combined(module, scopes)
    has_phase = np.bincount(pair, in_phase, minlength=first.size) > 0
    keys = [*zip(module[first].tolist(), scopes[first].tolist(), strict=True)]
    bare = {
        (of, stacks.scopes[scope]): at
        for at, (of, scope) in enumerate(keys)
        if scope and not has_phase[at]
    }
    longer: dict[int, set[int]] = {}
    for at in np.flatnonzero(has_phase).tolist() if bare else ():
        of, scope = keys[at]
        for end in _ends(stacks.scopes[scope]):
            if (of, end) in bare:
                longer.setdefault(bare[of, end], set()).add(scope)
    completed = scopes[first]
    for at, ending in longer.items():
        if len(ending) == 1:
            (completed[at],) = ending
    return np.where(is_path, stacks.scope, completed[pair])


def _ends(scope: bytes) -> Iterator[bytes]:
    """What follows each slash of a scope; nothing of a very long one, which would take long."""
    end = scope.partition(b"/")[2] if len(scope) <= _LONGEST else b""
    while end:
        yield end
        end = end.partition(b"/")[2]


def _programs(modules: Modules) -> Strings:
    """What the names of each module begin with: nothing if there is one module."""
    if len(modules.name) == 1:
        return Strings.of([b""])
    known: dict[bytes, int] = {}
    texts = []
    for name in modules.name.tolist():
        known[name] = known.get(name, 0) + 1
        texts.append(name + (b"(%d)/" % known[name] if known[name] > 1 else b"/"))
    return Strings.of(texts)


def _of_fusions(modules: Modules, scope: I64, rank: I64, work: F64) -> tuple[I64, int]:
    """(the scope of each instruction, that of fusions by their work; fusions of several scopes).

    Of scopes with equal work, a fusion stays in its own, or else is in the last by name.
    """
    computation = modules.fusion_of()
    row = np.flatnonzero((computation[modules.instruction.message] >= 0) & (scope > 0))
    if not row.size:
        return scope, 0
    fused = modules.instruction.message[row]
    pair, first = combined(fused, scope[row])
    held_work = np.bincount(pair, work[row], minlength=first.size)
    owner, held = fused[first], scope[row][first]
    is_own = held == scope[computation[owner]]
    order = np.lexsort((rank[held], is_own, held_work, owner))
    last = np.append(owner[order][1:] != owner[order][:-1], True)
    most = order[last]
    result = scope.copy()
    of_computation = np.zeros(computation.size, np.int64)
    of_computation[owner[most]] = held[most]
    fusion, called = modules.fusions()
    inside = of_computation[called]
    result[fusion] = np.where(inside > 0, inside, scope[fusion])
    return result, int(np.count_nonzero(np.bincount(owner) > 1))


def rough_work(modules: Modules) -> F64:
    """A rough measure of the work of each instruction, to compare scopes by."""
    count = len(modules.opcode)
    elements = np.ones(count, np.float64)
    np.maximum.at(elements, modules.output_of, modules.output.elements().astype(np.float64))
    work = elements.copy()
    # A product of matrices: the summed dimension is the root of left · right / output.
    contracts = np.flatnonzero(modules.opcodes(*CONTRACTIONS)[modules.operand_of])
    contracts = contracts[modules.operand[contracts] >= 0]
    factor = np.zeros(count)
    sizes = np.log(elements[modules.operand[contracts]])
    np.add.at(factor, modules.operand_of[contracts], sizes)
    heavy = np.flatnonzero(modules.opcodes(*CONTRACTIONS))
    root = (factor[heavy] - np.log(elements[heavy])) / 2
    work[heavy] *= 2 * np.exp(np.clip(root, 0, 40))
    return work
