"""The head of an HLO text: the module's attributes and the tables of call stacks.

    HloModule jit_step, input_output_alias={ {0}: (1, {}, may-alias) }, num_partitions=4

    FileNames                                  StackFrames
    1 "train.py"                               1 {file_location_id=1 parent_frame_id=1}
    FunctionNames                              2 {file_location_id=2 parent_frame_id=2}
    1 "step"
    FileLocations
    1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=4 end_column=20}

The text adds 1 to the number of a parent frame: 1 means none.
"""

from __future__ import annotations

import re
from typing import Final

from tfprof.read.hlo.text_shapes import encode_bytes, packed, scalar
from tfprof.read.hlo.text_syntax import (
    HloTextError,
    attributes,
    blanks,
    closed,
    integer,
    integers,
    pairs_in,
    string_end,
    unquoted,
)

_MODULE: Final = re.compile(rb"HloModule\s+%?([^\s,:]+):?")
_TABLE: Final = re.compile(rb"(FileNames|FunctionNames|FileLocations|StackFrames)\b")
_ENTRY: Final = re.compile(rb"\s*([0-9]{1,10})\s*(?=[\"{])")
_ALIAS: Final = re.compile(
    rb"\{([0-9, ]*)\}\s*:\s*\(\s*([0-9]+)\s*"
    rb"(?:,\s*\{([0-9, ]*)\}\s*)?(?:,\s*(may|must)-alias\s*)?\)"
)
_DONOR: Final = re.compile(rb"\(\s*([0-9]+)\s*,\s*\{([0-9, ]*)\}\s*\)")
_KINDS: Final = {b"may": 1, b"must": 2, None: 1}
_STRINGS: Final = {b"FileNames": 1, b"FunctionNames": 2}
# Tables of numbers: their field, and the fields of their entries.
_NUMBERS: Final = {
    b"FileLocations": (3, {
        b"file_name_id": 1, b"function_name_id": 2, b"line": 3, b"column": 4, b"end_line": 5,
        b"end_column": 6,
    }),
    b"StackFrames": (4, {b"file_location_id": 1, b"parent_frame_id": 2}),
}  # fmt: skip
_PARENT: Final = b"parent_frame_id"


def module_header(data: bytes, at: int) -> tuple[bytes, int]:
    """(the fields of HloModuleProto that the first line gives, its end)."""
    match = _MODULE.match(data, at)
    if match is None:
        raise HloTextError('expected "HloModule" and a name', at)
    pairs, end = attributes(data, match.end())
    by_key = dict(pairs)
    fields = [encode_bytes(1, match[1])]
    if value := by_key.get(b"input_output_alias"):
        aliases = [_alias(each) for each in _ALIAS.finditer(value)]
        fields.append(encode_bytes(8, b"".join(aliases)))
    # A DeviceAssignment: so many replicas of a program in so many partitions.
    counts = [integer(by_key.get(key, b"1")) for key in (b"replica_count", b"num_partitions")]
    fields.append(encode_bytes(15, scalar(1, counts[0]) + scalar(2, counts[1])))
    if value := by_key.get(b"buffer_donor"):
        donors = [
            encode_bytes(1, scalar(1, integer(each[1])) + packed(2, integers(each[2])))
            for each in _DONOR.finditer(value)
        ]
        fields.append(encode_bytes(18, b"".join(donors)))
    return b"".join(fields), end


def _alias(match: re.Match[bytes]) -> bytes:
    output, parameter, inside, kind = match.groups()
    entry = packed(1, integers(output)) + scalar(2, integer(parameter))
    return encode_bytes(1, entry + packed(3, integers(inside or b"")) + scalar(4, _KINDS[kind]))


def stack_tables(data: bytes, at: int) -> tuple[bytes, int]:
    """(the field of HloModuleProto with the tables of call stacks, their end)."""
    fields: list[bytes] = []
    while match := _TABLE.match(data, at := blanks(data, at)):
        entries, at = _entries(data, match.end())
        try:
            fields += _table_fields(match[1], entries)
        except HloTextError as problem:
            raise HloTextError(str(problem), match.start()) from None
    return encode_bytes(17, b"".join(fields)) if fields else b"", at


def _table_fields(title: bytes, entries: list[bytes]) -> list[bytes]:
    """The fields of StackFrameIndexProto that a table gives."""
    if title in _STRINGS:
        return [encode_bytes(_STRINGS[title], unquoted(entry)) for entry in entries]
    number, names = _NUMBERS[title]
    rows = [{key: integer(value) for key, value in pairs_in(entry)} for entry in entries]
    # A text that adds 1 has no parent 0.
    less = int(all(row.get(_PARENT) != 0 for row in rows))
    fields = []
    for row in rows:
        if _PARENT in row:
            row[_PARENT] -= less
        inner = [scalar(names[key], value) for key, value in row.items() if key in names]
        fields.append(encode_bytes(number, b"".join(inner)))
    return fields


def _entries(data: bytes, at: int) -> tuple[list[bytes], int]:
    """(the strings or braces of a table, its end); they are numbered from 1."""
    entries: list[bytes] = []
    while match := _ENTRY.match(data, at):
        if int(match[1]) != len(entries) + 1:
            raise HloTextError(f"expected entry {len(entries) + 1} of this table", match.start(1))
        begin = match.end()
        at = string_end(data, begin) if data.startswith(b'"', begin) else closed(data, begin)
        entries.append(data[begin:at])
    return entries, at
