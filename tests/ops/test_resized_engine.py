"""An engine for other sizes keeps what does not depend on them, and infers the rest anew."""

from __future__ import annotations

import gzip
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import paths
from sampling import sampled
from tfprof.ops.engine import ITEM, SHAPE, TRIPS, VALUE, Engine
from tfprof.ops.symbols import bound, symbols
from tfprof.read import Source, load
from tfprof.summary.build_summary import summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tfprof.model import Profile

DATA: Final = paths.DATA
SIZES: Final = (1, 7, 32)


def read(path: Path) -> Profile:
    data = path.read_bytes()
    content = gzip.decompress(data) if path.suffix == ".gz" else data
    return load(Source(path.name, np.frombuffer(content, np.uint8)))


def sized(profile: Profile, size: int) -> dict[int, dict[int, int]]:
    return bound(profile, {symbol.name: size for symbol in symbols(profile)})


def engine(profile: Profile, size: int) -> Engine:
    inputs = (node for symbol in symbols(profile) for node, _ in symbol.places)
    return Engine(profile, sized(profile, size), inputs)


def settled(given: Engine, profile: Profile) -> list[Any]:
    """Everything that an engine knows, in one order for all engines."""
    nodes = range(len(profile))
    loops = sorted({int(call) for call in profile.regions.call})
    kinds = [(SHAPE, nodes), (VALUE, nodes), (ITEM, nodes), (TRIPS, loops)]
    return [*(given.settle(kind, rows) for kind, rows in kinds), sorted(given.loops.may_end_sooner)]


def same(profile: Profile) -> None:
    last = engine(profile, SIZES[0])
    settled(last, profile)
    for size in (*SIZES[1:], SIZES[0]):
        last = last.resized(sized(profile, size))
        expected = settled(engine(profile, size), profile)
        assert repr(settled(last, profile)) == repr(expected)


@pytest.mark.parametrize("name", ["conv", "gru_saved_model", "lstm_saved_model"])
def test_a_resized_engine_knows_what_a_new_one_does(name: str) -> None:
    same(read(DATA / "tf2" / f"{name}.pb.gz"))


@pytest.mark.sampled
@pytest.mark.parametrize("recorded", ["loops", "open_functions"])
def test_so_it_does_with_loops_and_functions(
    model_folder: Callable[[str], Path], recorded: str
) -> None:
    files = sampled(sorted(model_folder(recorded).rglob("*.pb")), 12, recorded)
    profiles = [profile for profile in map(read, files) if symbols(profile)]
    assert profiles
    for profile in profiles:
        same(profile)


def test_what_does_not_depend_on_sizes_is_inferred_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula takes many points: the rule of a constant runs once, that of a product at each."""
    profile, ran = read(DATA / "tf2" / "conv.pb.gz"), Counter[str]()
    ruled = Engine._ruled

    def counted(self: Engine, kind: int, node: int) -> list[Any]:
        ran[profile.nodes.name[node].decode()] += 1
        return ruled(self, kind, node)

    monkeypatch.setattr(Engine, "_ruled", counted)
    assert summary(profile).symbols == ("batch",)
    assert ran["net_1/fc_1/MatMul"] > len(SIZES)
    assert ran["net_1/flatten_1/strided_slice/stack"] == 1
