"""The releases of Python and TensorFlow that tests run tfprof with."""

from __future__ import annotations

from typing import Final

from tfprof.capture.tensorflow_internals import NEWEST, OLDEST

VERSIONS: Final = ("3.10", "3.11", "3.12", "3.13")
RELEASES: Final = (OLDEST, "2.16", NEWEST)
