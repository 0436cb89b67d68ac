"""A real Dask cluster of several processes on this machine."""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from distributed import LocalCluster

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def cluster(workers: int, threads: int = 1) -> Iterator[Any]:
    """A scheduler with so many processes, of so many threads each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Creating scratch directories")  # on a busy disk
        made = LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=workers,
            threads_per_worker=threads,
            dashboard_address="127.0.0.1:0",  # any port: several may run
            silence_logs=logging.CRITICAL,
        )
    with made:
        yield made
