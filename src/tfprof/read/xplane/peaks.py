"""What an accelerator can do in a second, as its plane in a trace says.

peak_teraflops_per_second            float operations, in 10^12
peak_hbm_bw_gigabytes_per_second     bytes of its memory, in 10^9
memory_bandwidth                     bytes, of GPUs without the others
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.read.xplane.planes import Space

# The stats of each amount and their units; the first that a plane has counts.
_AMOUNTS: Final = (
    {b"peak_teraflops_per_second": 1e12},
    {b"peak_hbm_bw_gigabytes_per_second": 1e9, b"memory_bandwidth": 1.0},
)
_FRACTIONS_FROM: Final = 1 << 52  # the bits of any fraction that is not almost 0
_MOST: Final = 1e18


def peaks(space: Space) -> tuple[float, ...]:
    """(float operations, bytes) per second of the fastest device, in whole numbers.

    0: unknown; empty: both are.
    """
    stats, found = space.plane_stats, []
    for units in _AMOUNTS:
        amounts = [
            float(round(float(amount) * unit))
            for stat, unit in units.items()
            for amount in _numbers(stats.number[stats.named(stat)])[:1]
        ]
        found.append(next((amount for amount in amounts if 0 < amount < _MOST), 0.0))
    return tuple(found) if any(found) else ()


def _numbers(bits: I64) -> list[float]:
    """The largest first: fractions are stored by their bits, integers as they are."""
    values = np.where(bits >= _FRACTIONS_FROM, bits.view(np.float64), bits.astype(np.float64))
    return sorted(values[np.isfinite(values)].tolist(), reverse=True)
