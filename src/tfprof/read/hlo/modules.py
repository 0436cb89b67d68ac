"""Decodes HLO modules into columns: one row per instruction of all computations of all modules.

    HloProto ─┬─ module ─┬─ computation* ─► id, root, instruction* ─► name, opcode, shape, metadata,
              │          │                                            operands, called computations
              │          ├─ stack frames, device assignment
              │          └─ entry computation
              └─ buffer assignment                  (`buffers`)

A file may also be the module alone; then its first field is a name and not a message. Operands are
ids in their computation. Values of constants are never read.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from tfprof.columns.shapes import Shapes
from tfprof.columns.strings import I64, U8, Bool, Strings
from tfprof.columns.unique import unique
from tfprof.read.columns import runs
from tfprof.read.hlo.devices import device_counts
from tfprof.wire.decode import BYTES, VARINT, Field, scan
from tfprof.wire.maps import packed, repeated

PARAMETER: Final = b"parameter"
TUPLE: Final = 13
_NO_ARRAY: Final = (TUPLE, 14, 17)  # tuples, opaque handles and tokens
_FIRST_TAGS: Final = (10, 18, 26)  # of the names in a module, and of its computations
_INSTRUCTION: Final = {
    1: BYTES, 2: BYTES, 3: BYTES, 7: BYTES, 9: VARINT, 13: VARINT, 35: VARINT, 36: BYTES, 38: BYTES,
}  # fmt: skip


class Modules(NamedTuple):
    """Several modules; computations and instructions are in file order."""

    buffer: U8
    name: Strings  # of each module
    start: I64  # where each module is in the buffer
    end: I64
    entry: I64  # the entry computation of each module, -1: none
    devices: I64  # how many devices run each module, each a part of the work
    sharding: Field  # of each parameter of each module, where it is divided; message: the module
    computation_module: I64
    computation_name: Strings
    first: I64  # the instructions of computation c are first[c]:first[c + 1]
    root: I64  # the instruction that each computation returns
    instruction: Field  # where each instruction is; message: its computation
    instruction_name: Strings
    opcode: Strings
    kind: I64  # the opcode as a row of the kinds
    kinds: list[bytes]
    op_name: Strings  # the framework's name stack and primitive; empty where XLA made it up
    op_type: Strings  # TensorFlow's operation type; JAX leaves it empty
    frame: I64  # of the stack frames of its module; 0: none
    file: Strings  # of the program, where older files have no frame; empty: unknown
    line: I64
    number: I64  # of a parameter
    index: I64  # type: ignore[assignment]  # which element of a tuple a get-tuple-element reads
    operand_of: I64  # the instruction of each operand, ascending
    operand: I64  # the instruction that it is, -1: none has this id
    calls_of: I64  # the instruction that calls each computation, ascending
    called: I64  # the computation, -1: none has this id
    output_of: I64  # the instruction of each output, ascending
    output: Shapes
    element_type: I64  # of each output

    @property
    def is_entry(self) -> Bool:
        """Whether each computation is the entry of its module."""
        result = np.zeros(self.computation_module.size, np.bool_)
        result[self.entry[self.entry >= 0]] = True
        return result

    def opcodes(self, *names: bytes) -> Bool:
        """Which instructions have one of these opcodes."""
        is_one = np.array([kind in names for kind in self.kinds], np.bool_)
        return is_one[self.kind]

    def fusions(self) -> tuple[I64, I64]:
        """(fusion, the computation that it calls) of all fusions."""
        call = np.flatnonzero(self.opcodes(b"fusion")[self.calls_of] & (self.called >= 0))
        return self.calls_of[call], self.called[call]

    def fusion_of(self) -> I64:
        """The fusion that calls each computation; -1: none."""
        fusion, called = self.fusions()
        result = np.full(self.computation_module.size, -1, np.int64)
        result[called] = fusion
        return result


def module_slices(buffer: U8, start: I64, end: I64) -> tuple[I64, I64]:
    """(start, end) of the module in each of these protos, which may be modules themselves."""
    begin, length = scan(buffer, start, end, {1: BYTES})[1].last_slice(start.size)
    # A module begins with its name, which begins with none of these bytes. In an HloProto the first
    # field is a module.
    is_proto = (length > 1) & np.isin(buffer[np.where(length > 1, begin, 0)], _FIRST_TAGS)
    return np.where(is_proto, begin, start), np.where(is_proto, begin + length, end)


def read_modules(buffer: U8, start: I64, end: I64) -> Modules:
    """The modules in these slices; raises WireError."""
    wanted = {1: BYTES, 2: BYTES, 3: BYTES, 6: VARINT, 7: BYTES, 14: BYTES, 15: BYTES}
    module = scan(buffer, start, end, wanted)
    of_module = module[3].message
    part = scan(buffer, module[3].start, module[3].end, {1: BYTES, 2: BYTES, 5: VARINT, 6: VARINT})
    count = of_module.size
    computations = Ids(of_module, part[5].last(count))
    instruction = _scheduled(buffer, module[7], part[2], computations)
    rows, called_by = _instructions(buffer, instruction)
    instructions = Ids(instruction.message, rows.pop("id"))
    operand_of, operand_id = rows.pop("operands")
    calls_of, called = called_by
    return Modules(
        buffer=buffer,
        name=Strings(buffer, *module[1].last_slice(start.size)),
        start=start,
        end=end,
        entry=computations.find(np.arange(start.size), module[6].last(start.size)),
        devices=device_counts(buffer, module, start.size),
        sharding=module[14],
        computation_module=of_module,
        computation_name=Strings(buffer, *part[1].last_slice(count)),
        first=np.searchsorted(instruction.message, np.arange(count + 1)),
        root=instructions.find(np.arange(count), part[6].last(count)),
        instruction=instruction,
        operand_of=operand_of,
        operand=instructions.find(instruction.message[operand_of], operand_id),
        calls_of=calls_of,
        called=computations.find(of_module[instruction.message[calls_of]], called),
        **rows,
    )


def _scheduled(buffer: U8, schedule: Field, instruction: Field, computations: Ids) -> Field:
    """The instructions in the order in which XLA schedules them, where it does."""
    entry = scan(buffer, schedule.start, schedule.end, {1: BYTES})[1]
    count = entry.start.size
    if not count:
        return instruction
    part = scan(buffer, entry.start, entry.end, {1: VARINT, 2: BYTES})
    computation = computations.find(schedule.message[entry.message], part[1].last(count))
    begin, length = part[2].last_slice(count)
    sequence, wanted = repeated(buffer, begin, begin + length, 1)
    total = instruction.start.size
    ids = scan(buffer, instruction.start, instruction.end, {35: VARINT})[35].last(total)
    row = Ids(instruction.message, ids).find(computation[sequence], wanted)
    # What is in no schedule stays in the order of the file.
    place = row.size + np.arange(total)
    place[row[row >= 0]] = np.flatnonzero(row >= 0)
    order = np.lexsort((place, instruction.message))
    return Field(*(column[order] for column in instruction))


class Ids:
    """Finds rows by their ids, which are unique for each owner, and often for all of them."""

    def __init__(self, owner: I64, ids: I64) -> None:
        order = np.argsort(ids, kind="stable")
        self._distinct = ids[order]
        self._owner = None
        if not (self._distinct[1:] == self._distinct[:-1]).any():
            self._owner, self._order = owner, order
            return
        self._distinct = unique(ids)
        key = self._keys(owner, np.searchsorted(self._distinct, ids))
        self._order = np.argsort(key, kind="stable")
        self._key = key[self._order]

    def _keys(self, owner: I64, place: I64) -> I64:
        """One number per pair; ids that do not exist have the place of the next that does."""
        return owner * (self._distinct.size + 1) + place

    def find(self, owner: I64, ids: I64) -> I64:
        """The row of each pair, the first of several; -1: there is none."""
        place = np.searchsorted(self._distinct, ids)
        if self._owner is not None:
            row = np.append(self._order, -1)[place]
            is_id = np.append(self._distinct, 0)[place] == ids
            return np.where(is_id & (np.append(self._owner, -1)[row] == owner), row, -1)
        wanted = self._keys(owner, place)
        at = np.searchsorted(self._key, wanted)
        found = np.append(self._key, -1)[at] == wanted
        found &= place < self._distinct.size
        found[found] = self._distinct[place[found]] == ids[found]
        return np.where(found, np.append(self._order, -1)[at], -1)


def _instructions(buffer: U8, instruction: Field) -> tuple[dict[str, Any], tuple[I64, I64]]:
    """(columns of instructions, (instruction, id) of the computations that they call)."""
    count = instruction.start.size
    part = scan(buffer, instruction.start, instruction.end, _INSTRUCTION)
    at, length = part[7].last_slice(count)
    metadata = scan(buffer, at, at + length, {1: BYTES, 2: BYTES, 3: BYTES, 4: VARINT, 15: VARINT})
    output_of, output, element_type = _outputs(buffer, *part[3].last_slice(count))
    opcode = Strings(buffer, *part[2].last_slice(count))
    kind, first = opcode.intern()
    columns = {
        "instruction_name": Strings(buffer, *part[1].last_slice(count)),
        "opcode": opcode,
        "kind": kind,
        "kinds": opcode.take(first).tolist(),
        "op_name": Strings(buffer, *metadata[2].last_slice(count)),
        "op_type": Strings(buffer, *metadata[1].last_slice(count)),
        "frame": metadata[15].last(count),
        "file": Strings(buffer, *metadata[3].last_slice(count)),
        "line": metadata[4].last(count).astype(np.int32).astype(np.int64),
        "number": part[9].last(count),
        "index": part[13].last(count),
        "output_of": output_of,
        "output": output,
        "element_type": element_type,
        "id": part[35].last(count),
        "operands": packed(buffer, part[36]),
    }
    return columns, packed(buffer, part[38])


def _outputs(buffer: U8, start: I64, length: I64) -> tuple[I64, Shapes, I64]:
    """(instruction, shape, element type) of each output: the elements of a tuple, or the one."""
    # Many instructions have the same shape; each different one is read once.
    same, first = Strings(buffer, start, length).intern()
    owner, shapes, kind = _distinct_outputs(buffer, start[first], length[first])
    begin = np.append(0, np.cumsum(np.bincount(owner, minlength=first.size)))
    row, at = runs(begin[same], np.diff(begin)[same])
    return row, shapes.take(at), kind[at]


def _distinct_outputs(buffer: U8, start: I64, length: I64) -> tuple[I64, Shapes, I64]:
    shape = scan(buffer, start, start + length, {2: VARINT, 4: BYTES})
    element, kind = shape[4], shape[2].last(start.size)
    is_tuple = kind == TUPLE
    element = Field(*(column[is_tuple[element.message]] for column in element))
    single = np.flatnonzero(~is_tuple)
    owner = np.append(single, element.message)
    order = np.argsort(owner, kind="stable")
    begin = np.append(start[single], element.start)[order]
    end = np.append((start + length)[single], element.end)[order]
    inner = scan(buffer, element.start, element.end, {2: VARINT})[2].last(element.start.size)
    kind = np.append(kind[single], inner)[order]
    dim_of, dim = repeated(buffer, begin, end, 3)
    return owner[order], Shapes.of(owner.size, dim_of, dim, np.isin(kind, _NO_ARRAY)), kind
