"""Joins the user's op log with the one of the graph; neither changes.

    entry of both           the user's numbers and stack if it has any, the types of both
    of the user alone       as it is; of entries with the same name the last counts
    of the graph alone      after the user's

The user's texts stay (Q22): they get new numbers, or those of equal texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.capture.traces import NO_STACK
from tfprof.columns.strings import I64, Strings
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.read.columns import OpLogColumns

if TYPE_CHECKING:
    from tfprof.capture.traces import Texts


def renumbered(log: OpLogColumns, texts: Texts) -> OpLogColumns:
    """*log* with the numbers of *texts*; a text that it refers to but lacks becomes `none`."""
    ids, row = np.unique(log.string_id, return_index=True)
    number = np.array([texts.number(text) for text in log.string.take(row).texts()], np.int64)

    def new_number(old: I64) -> I64:
        result = np.zeros(old.size, np.int64)
        known = np.isin(old, ids)
        result[known] = number[np.searchsorted(ids, old[known])]
        return result

    return replace(
        log,
        frame_file=new_number(log.frame_file),
        frame_function=new_number(log.frame_function),
        frame_source=new_number(log.frame_source),
    )


def joined(user: OpLogColumns, own: OpLogColumns) -> OpLogColumns:
    """Both logs as one, with the text numbers of *own*."""
    ids, first = user.name.intern()
    last = np.zeros(first.size, np.int64)
    np.maximum.at(last, ids, np.arange(ids.size))
    names = user.name.take(first)
    entry = names.find(own.name)
    new = np.flatnonzero(entry < 0)
    entry[new] = first.size + np.arange(new.size)

    float_ops = np.concatenate([user.float_ops[last], np.zeros(new.size, np.int64)])
    uncounted = float_ops[entry] == 0
    float_ops[entry[uncounted]] = own.float_ops[uncounted]

    stack = np.concatenate([user.stack[last], np.full(new.size, NO_STACK, np.int64)])
    frames = np.append(np.diff(user.stack_start), 0)[stack]
    taken = (frames[entry] == 0) & (own.stack >= 0)
    stack[entry[taken]] = own.stack[taken] + user.stack_start.size - 1

    type_entry, types = _types(user, last, own, entry)
    return OpLogColumns(
        name=Strings.concat([names, own.name.take(new)]),
        float_ops=float_ops,
        type_entry=type_entry,
        type=types,
        stack=stack,
        stack_start=np.concatenate([user.stack_start, user.stack_start[-1] + own.stack_start[1:]]),
        frame_file=np.concatenate([user.frame_file, own.frame_file]),
        frame_line=np.concatenate([user.frame_line, own.frame_line]),
        frame_function=np.concatenate([user.frame_function, own.frame_function]),
        frame_function_line=np.concatenate([user.frame_function_line, own.frame_function_line]),
        frame_source=np.concatenate([user.frame_source, own.frame_source]),
        string_id=own.string_id,
        string=own.string,
    )


def _types(user: OpLogColumns, last: I64, own: OpLogColumns, entry: I64) -> tuple[I64, Strings]:
    """(entry, type) of all types that count, by entry, the user's first."""
    place = np.full(len(user.name), -1, np.int64)
    place[last] = np.arange(last.size)
    counts = np.flatnonzero(place[user.type_entry] >= 0)
    owner = np.concatenate([place[user.type_entry[counts]], entry[own.type_entry]])
    types = Strings.concat([user.type.take(counts), own.type])
    order = np.argsort(owner, kind="stable")
    return owner[order], types.take(order)
