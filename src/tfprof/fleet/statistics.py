"""The statistics of tables/statistics.py over vectors of whole numbers, one vector per sample.

Sum  Mean  Least  Most     keep one vector
Percentile                 keeps a block of samples; full blocks go to a temporary file

             samples ►                     A block stands transposed in the file, so that the
     ┌───────┬───────┬────┐                numbers of some rows in all samples are one piece per
rows │       │       │    │ ◄ a chunk      block. They are read by chunks of rows, and each chunk
   ▼ │block 0│block 1│ …  │   of rows      goes to np.percentile. Memory depends on neither the
     └───────┴───────┴────┘                number of samples nor that of rows.
"""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from tfprof.errors import OutputError

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.tables.statistics import Statistic

_BLOCK_BYTES: Final = 16 << 20  # of samples in memory, and of a chunk of rows
_LOW_HALF: Final = (1 << 32) - 1
_NOT_EXACT: Final = 2.0**53  # from there on, float64 has not every whole number
_NARROW: Final = (np.uint8, np.uint16, np.uint32)


class Gathering(Protocol):
    """Takes the vectors of all samples, then gives the statistic of each row; not Sum and Mean."""

    def add(self, sample: I64) -> None:
        """Take the numbers of one sample; the vector is not used afterwards."""

    def result(self) -> Any:  # noqa: ANN401 - int64 or float64
        """The statistic of each row; 0 where there was no sample."""


class Sum:
    """The sum of each row; those of nodes come in two halves, as totals of them may be larger."""

    def __init__(self, statistic: Statistic, rows: int) -> None:
        del statistic, rows

    def add(self, low: I64, high: I64, samples: int) -> None:
        """Take the sums over all samples: high * 2**32 + low."""
        self._low, self._high, self._samples = low & _LOW_HALF, high + (low >> 32), samples

    def result(self) -> Any:  # noqa: ANN401
        """The sums; raises OverflowError where one does not fit into 64 bits."""
        if bool((self._high != self._high.astype(np.int32)).any()):
            raise OverflowError
        return (self._high << 32) | self._low


class Mean(Sum):
    """The mean of each row."""

    def result(self) -> Any:  # noqa: ANN401
        """The means, as float64: each the nearest to the exact one."""
        sums = self._high * 2.0**32 + self._low
        means = sums / max(self._samples, 1)
        for row in np.flatnonzero(abs(sums) >= _NOT_EXACT).tolist():
            means[row] = ((int(self._high[row]) << 32) + int(self._low[row])) / self._samples
        return means


def add_to_halves(low: I64, high: I64, row: I64, numbers: I64) -> None:
    """Add *numbers* to the sums high * 2**32 + low of each *row*; low stays below 2**32."""
    np.add.at(low, row, numbers & _LOW_HALF)
    np.add.at(high, row, numbers >> 32)
    high += low >> 32
    low &= _LOW_HALF


class Least:
    """The smallest number of each row."""

    _choose: Any = np.minimum

    def __init__(self, statistic: Statistic, rows: int) -> None:
        del statistic
        self._extreme, self._is_first = np.zeros(rows, np.int64), True

    def add(self, sample: I64) -> None:
        """Take the numbers of one sample."""
        self._extreme = sample if self._is_first else self._choose(self._extreme, sample)
        self._is_first = False

    def result(self) -> Any:  # noqa: ANN401
        """The extremes."""
        return self._extreme


class Most(Least):
    """The largest number of each row."""

    _choose: Any = np.maximum


class _Block(NamedTuple):
    """A block in the file."""

    place: int
    samples: int
    kind: Any  # the type of its numbers; None: all are 0, and nothing is stored


class Percentile:
    """A percentile of each row, exactly as np.percentile has it."""

    def __init__(self, statistic: Statistic, rows: int) -> None:
        self._percent, self._rows = statistic.percent, rows
        self._most = max(_BLOCK_BYTES // (8 * max(rows, 1)), 1)
        self._block = np.empty((self._most, rows), np.int64)
        self._used = self._samples = self._end = 0
        self._blocks: list[_Block] = []
        self._file: IO[bytes] | None = None

    def add(self, sample: I64) -> None:
        """Take the numbers of one sample."""
        if self._used == self._most:
            self._spill()
        self._block[self._used] = sample
        self._used += 1
        self._samples += 1

    def _spill(self) -> None:
        """Write the block of samples to the file, in the smallest type that holds its numbers."""
        block = self._block[: self._used].T
        least, most = int(block.min(initial=0)), int(block.max(initial=0))
        narrow = (kind for kind in _NARROW if least >= 0 and most <= np.iinfo(kind).max)
        kind: Any = next(narrow, np.int64) if least or most else None
        try:
            if self._file is None:
                self._file = TemporaryFile()  # noqa: SIM115 - result() closes it
            data = b"" if kind is None else block.astype(kind).tobytes()
            self._file.write(data)
        except OSError as problem:
            reason = f"{problem.strerror}; TMPDIR names the folder"
            raise OutputError(f"the temporary file of a percentile failed: {reason}") from None
        self._blocks.append(_Block(self._end, self._used, kind))
        self._end += len(data)
        self._used = 0

    def result(self) -> Any:  # noqa: ANN401
        """The percentiles, as float64."""
        result = np.zeros(self._rows, np.float64)
        rows = max(_BLOCK_BYTES // (8 * max(self._samples, 1)), 1)
        for first in range(0, self._rows if self._samples else 0, rows):
            here = slice(first, min(first + rows, self._rows))
            result[here] = np.percentile(self._chunk(here), self._percent, axis=1)
        if self._file is not None:
            self._file.close()
        return result

    def _chunk(self, rows: slice) -> I64:
        """The numbers of *rows* in all samples."""
        chunk = np.zeros((rows.stop - rows.start, self._samples), np.int64)
        first = 0
        for block in self._blocks:
            if block.kind is not None:
                assert self._file is not None
                size = np.dtype(block.kind).itemsize * block.samples
                self._file.seek(block.place + rows.start * size)
                data = np.frombuffer(self._file.read(size * len(chunk)), block.kind)
                chunk[:, first : first + block.samples] = data.reshape(-1, block.samples)
            first += block.samples
        chunk[:, first:] = self._block[: self._used, rows].T
        return chunk
