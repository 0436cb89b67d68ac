"""What TensorFlow 2 writes, given to its readers: functions, SavedModels, traces, archives.

Each check reads its input as one target of targets.py does, and holds what comes back to the laws;
what infers shapes, counts turns of loops and sums up by layer is asked as well.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from chunked_models import riegeli
from fuzz import agreement, archives
from fuzz.laws import hold, source
from fuzz.parts import parted
from tfprof.errors import TfprofError
from tfprof.io.open_files import open_source
from tfprof.ops.symbols import symbols
from tfprof.ops.with_float_ops import with_float_ops
from tfprof.read import load
from tfprof.read.detect import RIEGELI_MAGIC
from tfprof.results.loaded import Loaded

if TYPE_CHECKING:
    from fuzz.laws import Pick
    from tfprof.model import Profile

_SIGNATURES: Final = (None, None, "serving_default", "chosen", "nested", "loop", "\udcff")
_WEIGHTS: Final = (None, None, "w", ".*", "params.*")
_TAGS: Final = (None, None, None, "serve", ",", "\udcff")
_SIZES: Final = (1, 7, 2**31, 2**63 - 1)


def functions(data: bytes, pick: Pick) -> None:
    """A graph with functions."""
    agreement.graph(data)
    _hold(load(source(data)), pick)


def saved_model(data: bytes, pick: Pick) -> None:
    """A SavedModel or a model of TensorFlow Lite, all of it or one signature or graph."""
    _hold(load(source(data), signature=pick.one(_SIGNATURES), tag=pick.one(_TAGS)), pick)


def program(data: bytes, pick: Pick) -> None:
    """A program of XLA, in wire format or as text, with its weights by name or by a regex."""
    _hold(load(source(data), weights=pick.one(_WEIGHTS)), pick)


def chunked(data: bytes, pick: Pick) -> None:
    """A chunked SavedModel: a file as it is, or its records, which are put into one."""
    file = data if data.startswith(RIEGELI_MAGIC) else riegeli(parted(data))
    _hold(load(source(file), tag=pick.one(_TAGS)), pick)


def archived(data: bytes, pick: Pick) -> None:
    """A SavedModel in an archive, opened as a file is."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "it"
        file.write_bytes(data)
        hold(load(open_source(str(file), "a graph"), tag=pick.one(_TAGS)), pick)


def debug_info(data: bytes, pick: Pick) -> None:
    """A SavedModel and what says where its functions were made."""
    graph, debug, *_ = [*parted(data), b"", b""]
    hold(load(source(graph), debug=source(debug)), pick)


def trace(data: bytes, pick: Pick) -> None:
    """A trace alone, or with the graph that ran."""
    ran, graph, *_ = [*parted(data), b"", b""]
    hold(load(source(graph) if graph else None, traces=[source(ran)]), pick)


def function_run(data: bytes, pick: Pick) -> None:
    """A graph with functions and a run of it."""
    graph, run, *_ = [*parted(data), b"", b""]
    _hold(load(source(graph), [source(run)]), pick)


def keras(data: bytes, pick: Pick) -> None:
    """A Keras archive."""
    _hold(load(source(data)), pick)


def events(data: bytes, pick: Pick) -> None:
    """An event file."""
    _hold(load(source(data)), pick)


def hdf5(data: bytes, pick: Pick) -> None:
    """An HDF5 file of Keras, or the JSON that one is made of."""
    _hold(load(source(archives.hdf5_file(data))), pick)


def _hold(profile: Profile, pick: Pick) -> None:
    """The laws, and what only graphs with functions and layers come to."""
    hold(profile, pick)
    for what in pick((_sized, _summed_up)):
        with suppress(TfprofError):
            what(profile, pick)


def _sized(profile: Profile, pick: Pick) -> None:
    """Every open dimension can be given a size, and no count goes beyond 64 bits."""
    dims = {one.name: pick.one(_SIZES) for one in symbols(profile)}
    counted, counts = with_float_ops(profile, "all", dims)
    assert counts.counted <= counts.ops
    often = counted.times
    assert often.size in (0, len(profile))
    assert not often.size or int(often.min()) >= 0


def _summed_up(profile: Profile, _: Pick) -> None:
    """A model has a summary."""
    assert str(Loaded(profile).summary())
