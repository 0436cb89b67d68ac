"""Profiles and op logs without the source text and the absolute paths of their call stacks.

/home/ada/net/model.py:20:build:x = conv(x)                    ──►  model.py:20:build
/…/site-packages/tensorflow/python/ops/nn_ops.py:9:relu:…      ──►  tensorflow/python/ops/…

Names of functions and lines stay, so code view has the same rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.columns.strings import I64, Strings
from tfprof.columns.unique import unique_inverse
from tfprof.foundation import stack_files
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.foundation.stack_files import short_path
from tfprof.model import Profile, Stacks

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.read.columns import OpLogColumns

_NONE: Final = b"none"  # the text of what is not known
_UNKNOWN: Final = b"<unknown>"


def without_source(profile: Profile) -> Profile:
    """*profile* without the source text and the absolute paths of its stacks."""
    return replace(profile, stacks=_shortened(profile.stacks))


def log_without_source(log: OpLogColumns) -> OpLogColumns:
    """*log* without the source text and the absolute paths of its stacks."""
    stacks = _shortened(stacks_of(log))
    return replace(
        log,
        frame_file=stacks.file,
        frame_function=stacks.function,
        frame_source=stacks.source,
        string_id=stacks.text_id,
        string=stacks.text,
    )


def stacks_of(log: OpLogColumns) -> Stacks:
    """The call stacks of an op log."""
    frames = log.frame_file, log.frame_line, log.frame_function, log.frame_function_line
    return Stacks(log.stack_start, *frames, log.frame_source, log.string_id, log.string)


def embedded(stacks: Stacks) -> str:
    """What *stacks* say about the machine, as a phrase; "" for nothing."""
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))

    def used(column: I64) -> set[bytes]:
        return {text.get(number, _NONE) for number in np.unique(column).tolist()}

    files = (path.decode("utf-8", "replace") for path in used(stacks.file))
    return stack_files.embedded(files, has_text=bool(used(stacks.source) - {_NONE, b""}))


def _shortened(stacks: Stacks) -> Stacks:
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))
    number = {_NONE: 0}

    def renumbered(column: I64, change: Callable[[bytes], bytes]) -> I64:
        ids, rows = unique_inverse(column)
        texts = [change(text.get(old, _UNKNOWN)) for old in ids.tolist()]
        new = [number.setdefault(changed, len(number)) for changed in texts]
        return np.array(new, np.int64)[rows]

    return replace(
        stacks,
        file=renumbered(stacks.file, _short),
        function=renumbered(stacks.function, bytes),
        source=np.zeros(stacks.source.size, np.int64),
        text_id=np.arange(len(number)),
        text=Strings.of(number),
    )


def _short(path: bytes) -> bytes:
    return short_path(path.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
