"""The computations of an HLO text as HloComputationProto.

    %name (x: f32[2]) -> f32[2] {            ENTRY main {
      %x = f32[2]{0} parameter(0)              ROOT y = f32[2] negate(x), metadata={…}
      ROOT %y = f32[2]{0} negate(%x)         }
    }

Instructions and computations are numbered from 1, when first mentioned; so one pass is enough.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.read.hlo.text_attributes import ATTRIBUTES, CALLS, DOT, RAGGED_DOT, literal, names_in
from tfprof.read.hlo.text_shapes import Shapes, encode_bytes, packed, scalar, tuple_elements
from tfprof.read.hlo.text_syntax import (
    HloTextError,
    attributes,
    blanks,
    closed,
    elements,
    integer,
    quoted,
    without_comments,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = rb'[^\s=,(){}\[\]"%]+'
_SHAPE: Final = rb"b?\([^()]*\)|[a-z]\w*\[[^\]]*\](?:\s*\{[^{}]*\})?"
_HEAD: Final = re.compile(
    rb"\s*(ROOT\s+)?%?(" + _NAME + rb")\s*=\s*(" + _SHAPE + rb")\s*([a-z][\w-]*)\(([^()\"]*)\)"
)
_HEAD_NAME: Final = re.compile(rb"(ROOT\s+)?%?(" + _NAME + rb")\s*=\s*")
_HEAD_ARRAY: Final = re.compile(rb"[a-z]\w*\[[^\]]*\]")
_HEAD_OPCODE: Final = re.compile(rb"\s*([a-z][\w-]*)\s*(?=\()")
_COMPUTATION: Final = re.compile(rb"(ENTRY\s+)?%?(" + _NAME + rb")\s*")
_OPERAND: Final = re.compile(rb"%(" + _NAME + rb")")
_SUFFIX: Final = re.compile(rb"\.[0-9]+\Z")
_CACHED: Final = 1 << 10  # values up to this length are encoded once for all their occurrences
# "custom-call-start" stands for an async-start of a computation with a custom call; these do not.
_ASYNC: Final = re.compile(rb"([a-z][\w-]*)-(start|update|done)")
_OWN_OPCODES: Final = {
    b"all-gather", b"all-reduce", b"async", b"collective-permute", b"copy", b"recv", b"send"
}  # fmt: skip
# What async-start calls runs once; older texts repeat it.
_AFTER_START: Final = (b"async-update", b"async-done")
_Pairs = list[tuple[bytes, bytes]]


class _Instruction(NamedTuple):
    """An instruction as it is written."""

    root: bytes | None  # "ROOT", where it is one
    name: bytes
    shape: bytes  # a ShapeProto
    opcode: bytes
    operands: bytes
    pairs: _Pairs


class _Body:
    """The instructions of one computation so far."""

    def __init__(self) -> None:
        self.ids: dict[bytes, int] = {}
        self.awaited: dict[bytes, int] = {}  # operands not defined so far, and where they are used
        self.encoded: list[bytes] = []
        self.parameters: list[tuple[int, bytes, bytes]] = []  # number, name, shape
        self.root = self.last = (0, b"")  # id and shape


class Computations:
    """Reads computations and encodes them."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._shapes = Shapes()
        self._fields: dict[tuple[bytes, bytes], bytes] = {}
        self._count = 0
        self._names: set[bytes] = set()
        self._next_suffix: dict[bytes, int] = {}
        self._ids: dict[bytes, int] = {}
        self._awaited: dict[bytes, int] = {}
        self._fused: set[int] = set()
        self._done: dict[int, tuple[bytes, bytes]] = {}  # id → name, encoded
        self._wrapped_count = 0
        self._entry = 0
        self.begin = 0  # of the instruction that is being read

    def read(self, at: int) -> int:
        """Read one computation from *at* on; returns its end."""
        data, self.begin = self._data, at
        match = _COMPUTATION.match(data, at)
        if match is None:
            raise HloTextError("expected a computation")
        if match[2] == b"HloModule":
            raise HloTextError("expected one module in a file; another one begins here")
        brace = self._signature_end(match.end())
        if not data.startswith(b"{", brace):
            raise HloTextError("expected a computation and its {")
        name = match[2]
        if name in self._ids and name not in self._awaited:
            raise HloTextError(f"expected only one computation {quoted(name)}")
        if match[1] and self._entry:
            raise HloTextError("expected only one ENTRY")
        self._awaited.pop(name, None)
        number, at = self._body(name, brace + 1)
        if match[1]:
            self._entry = number
        return attributes(data, at)[1]

    def _body(self, name: bytes, at: int) -> tuple[int, int]:
        """(the number of the computation whose instructions begin at *at*, the end of its })."""
        data, body = self._data, _Body()
        while not data.startswith(b"}", at := blanks(data, at)):
            if at == len(data):
                raise HloTextError(f"expected }} at the end of computation {quoted(name)}", at)
            at = self._instruction(at, body)
        if not body.encoded:
            raise HloTextError(f"expected instructions in computation {quoted(name)}")
        for operand, offset in body.awaited.items():
            problem = f"expected operand {quoted(operand)} in computation {quoted(name)}"
            raise HloTextError(problem, offset)
        return self._finish(name, body), at + 1

    def _signature_end(self, at: int) -> int:
        """The end of "(x: f32[2]) -> f32[2]" at *at*, if it is there."""
        data = self._data
        if not data.startswith(b"(", at):
            return at
        at = blanks(data, closed(data, at))
        if not data.startswith(b"->", at):
            raise HloTextError("expected -> and a shape after the parameters")
        _, at = self._shape_text(blanks(data, at + 2))
        return blanks(data, at)

    def module_fields(self) -> bytes:
        """The fields of HloModuleProto with the computations and the entry."""
        for name, offset in self._awaited.items():
            raise HloTextError(f"expected a computation {quoted(name)}", offset)
        if not self._done:
            raise HloTextError("expected a computation", len(self._data))
        entry = self._entry or [*self._done][-1]
        fields = [encode_bytes(2, self._done[entry][0]), scalar(6, entry)]
        for number, (_, encoded) in self._done.items():
            fused = scalar(7, int(number in self._fused))
            fields.append(encode_bytes(3, encoded + fused))
        return b"".join(fields)

    # --- instructions ----------------------------------------------------------------------------

    def _instruction(self, at: int, body: _Body) -> int:
        self.begin = at
        match = _HEAD.match(self._data, at)
        if match is not None:
            root, name, shape, opcode, operands = match.groups()
            end = match.end()
        else:
            root, name, shape, opcode, operands, end = self._any_head(at)
        pairs, end = attributes(self._data, end)
        try:
            shape_proto = self._shapes[shape]
            instruction = _Instruction(root, name, shape_proto, opcode, operands, pairs)
            self._add(self._without_sugar(instruction), body)
        except HloTextError as problem:
            raise HloTextError(str(problem), blanks(self._data, at)) from None
        return end

    def _any_head(self, at: int) -> tuple[bytes | None, bytes, bytes, bytes, bytes, int]:
        """As _HEAD matches, for nested tuples, tiled layouts and comments, too."""
        data = self._data
        match = _HEAD_NAME.match(data, at)
        if match is None:
            raise HloTextError("expected an instruction, or } at the end of a computation")
        shape, at = self._shape_text(blanks(data, match.end()))
        opcode = _HEAD_OPCODE.match(data, blanks(data, at))
        if opcode is None:
            raise HloTextError("expected an opcode and its operands after the shape")
        end = closed(data, opcode.end())
        return match[1], match[2], shape, opcode[1], data[opcode.end() + 1 : end - 1], end

    def _shape_text(self, at: int) -> tuple[bytes, int]:
        data = self._data
        if data.startswith((b"(", b"b("), at):
            end = closed(data, data.index(b"(", at))
        else:
            match = _HEAD_ARRAY.match(data, at)
            if match is None:
                raise HloTextError("expected a shape and an opcode after =")
            end = match.end()
            if data.startswith(b"{", end) and data[end + 1 : end + 2] in b"0123456789:}":
                end = closed(data, end)
        return data[at:end], end

    def _add(self, instruction: _Instruction, body: _Body) -> None:
        """Encode an instruction, as part of *body*."""
        root, name, shape, opcode, operands, pairs = instruction
        number = body.ids.get(name, 0)
        if number and body.awaited.pop(name, -1) < 0:
            raise HloTextError(f"expected only one instruction {quoted(name)} in a computation")
        if not number:
            number = body.ids[name] = self._next_id()
        unique = self._unique(name)
        fields = [
            encode_bytes(1, unique),
            encode_bytes(2, opcode),
            encode_bytes(3, shape),
            scalar(35, number),
        ]
        if opcode == b"parameter":
            place = integer(without_comments(operands))
            body.parameters.append((place, unique, shape))
            fields.append(scalar(9, place))
        elif opcode == b"constant":
            fields.append(literal(shape, operands))
        elif operands:
            ids = [self._operand(each, body) for each in operand_names(operands)]
            fields.append(packed(36, ids))
        if pairs:
            fields += self._encode(opcode, pairs)
            fields += self._references(opcode, pairs, body)
        body.encoded.append(encode_bytes(2, b"".join(fields)))
        body.last = number, shape
        if root:
            body.root = body.last

    def _encode(self, opcode: bytes, pairs: _Pairs) -> Iterator[bytes]:
        """The fields of an instruction's attributes."""
        inside: dict[int, bytes] = {DOT: b""} if opcode.endswith(b"dot") else {}
        for key, value in pairs:
            row = ATTRIBUTES.get(key)
            if row is None:
                continue
            encoded = self._fields.get((key, value))
            if encoded is None:
                encoded = row.encode(row.number, value)
                if len(value) <= _CACHED:
                    self._fields[key, value] = encoded
            if row.inside:
                inside[row.inside] = inside.get(row.inside, b"") + encoded
            else:
                yield encoded
        if RAGGED_DOT in inside:
            inside[RAGGED_DOT] += encode_bytes(1, inside.pop(DOT, b""))
        for number, content in inside.items():
            yield encode_bytes(number, content)

    def _references(self, opcode: bytes, pairs: _Pairs, body: _Body) -> Iterator[bytes]:
        """The fields with the numbers of computations and of instructions that run before."""
        called: list[tuple[int, int]] = []
        for key, value in pairs:
            if key == b"control-predecessors":
                yield packed(37, [self._operand(name, body) for name in names_in(value)])
            elif (call := CALLS.get(key)) and opcode not in _AFTER_START:
                called += [(call.turn, self._called(name)) for name in names_in(value)]
        if called:
            numbers = [number for _, number in sorted(called, key=lambda each: each[0])]
            yield packed(38, numbers)
            if opcode == b"fusion":
                self._fused.update(numbers)

    def _operand(self, name: bytes, body: _Body) -> int:
        number = body.ids.get(name)
        if number is None:
            number = body.ids[name] = self._next_id()
            body.awaited[name] = self.begin
        return number

    def _called(self, name: bytes) -> int:
        number = self._ids.get(name)
        if number is None:
            number = self._ids[name] = len(self._ids) + 1
            self._awaited[name] = self.begin
        return number

    def _finish(self, name: bytes, body: _Body) -> int:
        """Encode a computation; returns its id."""
        number = self._ids.setdefault(name, len(self._ids) + 1)
        root, result = body.root if body.root[0] else body.last
        parameters = sorted(body.parameters)
        program = [encode_bytes(1, shape) for _, _, shape in parameters]
        program.append(encode_bytes(2, result))
        program += [encode_bytes(3, parameter) for _, parameter, _ in parameters]
        fields = [encode_bytes(1, name), *body.encoded, encode_bytes(4, b"".join(program))]
        self._done[number] = name, b"".join([*fields, scalar(5, number), scalar(6, root)])
        return number

    def _next_id(self) -> int:
        self._count += 1
        return self._count

    def _unique(self, name: bytes) -> bytes:
        """*name*, with another suffix if an instruction of the module has it."""
        if name in self._names:
            base = _SUFFIX.sub(b"", name)
            suffix = self._next_suffix.get(base, 1)
            while (name := b"%s.%d" % (base, suffix)) in self._names:
                suffix += 1
            self._next_suffix[base] = suffix + 1
        self._names.add(name)
        return name

    # --- asynchronous instructions ---------------------------------------------------------------

    def _without_sugar(self, instruction: _Instruction) -> _Instruction:
        """As "async-start" that calls a computation, for "custom-call-start" and the like."""
        match = _ASYNC.fullmatch(instruction.opcode)
        if match is None or match[1] in _OWN_OPCODES:
            return instruction
        opcode = b"async-" + match[2]
        if match[2] != b"start":
            return instruction._replace(opcode=opcode)
        wrapped = self._wrapped(instruction, match[1])
        kept = [pair for pair in instruction.pairs if pair[0] == b"metadata"]
        return instruction._replace(opcode=opcode, pairs=[*kept, (b"calls", wrapped)])

    def _wrapped(self, instruction: _Instruction, opcode: bytes) -> bytes:
        """The name of a new computation with the instruction that runs asynchronously."""
        wrapped, count = b"async_wrapped", self._wrapped_count
        while wrapped in self._ids:
            count += 1
            wrapped = b"async_wrapped.%d" % count
        self._wrapped_count = count
        shapes = tuple_elements(instruction.shape)
        if len(shapes) < 2:  # noqa: PLR2004 - operands and result
            raise HloTextError("expected the shapes of operands and result in a tuple")
        body = _Body()
        inputs = tuple_elements(shapes[0])
        names = [
            b"async_param" + (b".%d" % place if place else b"") for place in range(len(inputs))
        ]
        for place, (name, shape) in enumerate(zip(names, inputs, strict=True)):
            number = b"%d" % place
            self._add(_Instruction(None, name, shape, b"parameter", number, []), body)
        inner = instruction._replace(
            root=b"ROOT", name=opcode, shape=shapes[1], opcode=opcode, operands=b", ".join(names)
        )
        self._add(inner, body)
        self._ids[wrapped] = len(self._ids) + 1
        self._finish(wrapped, body)
        return wrapped


def operand_names(operands: bytes) -> list[bytes]:
    """The names of operands, each of which may have its shape before it."""
    if b"%" in operands:
        return _OPERAND.findall(operands)
    if b"[" not in operands and b"(" not in operands:
        content = without_comments(operands)
        names = [name.strip() for name in content.split(b",")] if content else []
    else:
        names = [(each.split() or [b""])[-1] for each in elements(operands)]
    for name in names:
        if not re.fullmatch(_NAME, name):
            raise HloTextError(f"expected the name of an operand, found {quoted(name)}")
    return names
