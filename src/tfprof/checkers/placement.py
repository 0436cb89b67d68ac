"""Which graph nodes were placed on an accelerator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tfprof.columns.strings import Bool
    from tfprof.model import Profile


def on_accelerator(profile: Profile) -> Bool:
    """Whether each node's own device is an accelerator, judged by its name.

    parity Q33: "gpu" anywhere in the name is enough, so the cpu of a job gpu_worker counts, too.
    """
    device = profile.nodes.device
    used = np.unique(device[device >= 0])
    named_so = [b"gpu" in name for name in profile.types.take(used)]
    return np.isin(device, used[np.array(named_so, np.bool_)])
