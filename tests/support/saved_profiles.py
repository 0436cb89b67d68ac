"""Saved profiles: written by the command, and read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.read import Source
from tfprof.read.saved import profile as read
from tfprof.writers.saved import saved

if TYPE_CHECKING:
    from tfprof.model import Profile


def save(profile: Profile) -> bytes:
    return b"".join(saved(profile))


def reread(data: bytes) -> Profile:
    return read(Source("the saved profile", np.frombuffer(data, np.uint8)))
