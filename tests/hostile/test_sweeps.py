"""Every sample cut off at every byte and with each bit flipped: a result or one sentence.

What is small is damaged everywhere, what is large at places all over it, those of its structure
first. Whatever comes: nothing but InputError is raised, and its sentence begins with the file;
what is read answers every view and can be saved; what has a checksum is refused, or says what it
said before. How many damaged files each test tries stands in TRIED and LARGE, 54,000 in all: they
are not to become less.
"""

from __future__ import annotations

import gzip
from collections import Counter
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import pytest

import sampling
import sweeps
from case import VIEWS
from profiles import PROFILES
from sampling import amount
from sweeps import NAME, Damage, Sample, everywhere, is_sentence, or_refusal, some, source, spread
from tfprof import cli
from tfprof.errors import InputError, UsageError
from tfprof.io.open_files import open_source
from tfprof.query.answer import answer
from tfprof.query.query import Query
from tfprof.tables.options import OPTIONS
from tfprof.writers.classic_text import text
from tfprof.writers.columnar import columnar
from tfprof.writers.saved import saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tfprof.model import Profile

# A sample tries so many of what is damaged everywhere, and a part of what is damaged in places.
SOME: Final = 44
TRIED: Final = {
    "graph in wire format, everywhere": 4_221,
    "meta_graph in wire format, everywhere": 2_295,
    "run in wire format, everywhere": 1_872,
    "log in wire format, everywhere": 2_412,
    "graph in text, everywhere": 8_190,
    "run in text, everywhere": 9_630,
    "log in text, everywhere": 5_373,
    "saved, everywhere": 4_914,
    "a handmade file": 300,
    "a file of TensorFlow 2": 300,
    "a gzip file": 240,
    "small gzip files": 8_000,
    "a converted profile": 800,
    "by the command": 248,
}
ALL_FIELDS: Final = [name for name in OPTIONS["select"].choices if name != "tensor_value"]
BY_RULE: Final = {"select": ["float_ops"], "flops": "all"}


@pytest.fixture(autouse=True)
def _silent(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert capfd.readouterr() == ("", "")


def profile_of(sample: Sample, damage: Damage) -> Profile | None:
    """What a damaged file is read as; None where it is refused in one sentence that names it."""
    read = or_refusal(lambda: sample.read(source(damage.data)))
    if isinstance(read, str):
        assert is_sentence(read, NAME), damage.what
        return None
    return read


def is_mistake_in_text(said: str) -> bool:
    """Whether it names the line of a text whose attributes cannot be read; views need none."""
    return is_sentence(said, f"{NAME}:") and said.removeprefix(f"{NAME}:")[:1].isdigit()


def whole(write: Callable[[Profile], Iterable[bytes]], profile: Profile) -> bytes:
    """All that a writer writes."""
    return b"".join(write(profile))


def assert_usable(profile: Profile, what: str) -> None:
    """Every view answers with every field, and the profile can be saved and read again."""
    for view in VIEWS:
        if view != "code" or profile.has_traces:
            assert b"".join(text(answer(profile, view, Query.of({"select": ALL_FIELDS})))), what
        else:
            with pytest.raises(UsageError, match=r"^No code trace information"):
                answer(profile, view, Query())
    # The attributes are opened by who needs them.
    counted = or_refusal(lambda: b"".join(text(answer(profile, "op", Query.of(BY_RULE)))))
    if isinstance(counted, str):
        damaged = is_sentence(counted, f"{NAME}: an attribute of the graph is damaged: ")
        assert damaged or is_mistake_in_text(counted), what
    if not len(profile):
        return
    for write in (saved, columnar):
        data = or_refusal(partial(whole, write, profile))
        if isinstance(data, str):
            assert is_mistake_in_text(data), what
        else:
            assert b"".join(write(sweeps.read_profile(source(data)))) == data, what


def swept(sample: Sample, damages: Iterable[Damage], use_every: int) -> tuple[int, int]:
    """(how many were tried, how many of them were read); of these every so manyth is used."""
    tried = read = 0
    for damage in damages:
        tried += 1
        profile = profile_of(sample, damage)
        if profile is not None:
            read += 1
            if read % use_every == 0:
                assert_usable(profile, damage.what)
    return tried, read


# --- without checksums ---------------------------------------------------------------------------


@cache
def small() -> dict[str, Sample]:
    """Every format, in files of some hundred bytes."""
    node, pair = sweeps.one_node(), sweeps.tiny()
    of_pair, of_node = map(sweeps.in_wire_format, (pair, node))
    text_ = sweeps.in_text(node)
    wire = of_node | {name: of_pair[name] for name in ("graph", "log")}
    return {
        **{f"{name} in wire format": sample for name, sample in wire.items()},
        **{f"{name} in text": text_[name] for name in ("graph", "run", "log")},
        "saved": sweeps.written(node._replace(log=None))["saved"],
    }


# Each in as many parts as take a few seconds.
EVERYWHERE: Final = {
    "graph in wire format": 3,
    "meta_graph in wire format": 2,
    "run in wire format": 1,
    "log in wire format": 1,
    "graph in text": 2,
    "run in text": 2,
    "log in text": 1,
    "saved": 4,
}


def parts(name: str) -> int:
    """How many tests a file is for."""
    return EVERYWHERE[name] if sampling.is_whole() else 1


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "part"), [(name, part) for name in EVERYWHERE for part in range(parts(name))]
)
def test_a_small_file_damaged_anywhere_is_read_or_refused(name: str, part: int) -> None:
    sample = small()[name]
    all_damages = everywhere(sample.data)
    assert len(all_damages) == TRIED[f"{name}, everywhere"]
    numbers = all_damages[part :: parts(name)]
    damages = some(sample.data, numbers, SOME, name)
    tried, read = swept(sample, damages, use_every=amount(200, SOME // 15))
    assert tried == amount(len(numbers), SOME)
    assert 0 < read < tried


@cache
def middling() -> dict[str, Sample]:
    """The model that one can read, in every format; also with its text in another layout."""
    inputs = sweeps.whole("handmade")
    files = PROFILES["handmade"]
    forms = sweeps.in_wire_format, sweeps.in_text, sweeps.written
    wire, text_, made = (form(inputs) for form in forms)
    told = {"graph": files.graph, "run": files.runs[0], "log": files.op_log}
    as_it_is = {
        f"{name} as it is": text_[name]._replace(data=path.read_bytes())
        for name, path in told.items()
    }
    second = text_["run"]._replace(data=files.runs[1].read_bytes())
    return {
        **{f"{name} in wire format": sample for name, sample in wire.items()},
        **as_it_is,
        "second run as it is": second,
        "meta_graph in text": text_["meta_graph"],
        "saved": made["saved"],
    }


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name",
    [
        "graph in wire format", "meta_graph in wire format", "run in wire format",
        "log in wire format", "graph as it is", "run as it is", "log as it is",
        "second run as it is", "meta_graph in text", "saved",
    ],
)  # fmt: skip
def test_a_handmade_file_damaged_here_and_there_is_read_or_refused(name: str) -> None:
    damaged_here_and_there(middling()[name], TRIED["a handmade file"])


def damaged_here_and_there(sample: Sample, count: int) -> None:
    """Some of so many damaged files are read, some are refused."""
    places = amount(count // 2, 50)
    tried, read = swept(sample, sample.spread(places), use_every=amount(50, 15))
    assert tried == 2 * places
    assert 0 < read < tried


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name",
    [
        "functions", "saved model", "saved model in text", "chunked saved model", "trace",
        "events", "hdf5", "lite", "profile with functions",
    ],
)  # fmt: skip
def test_a_file_of_tensorflow_2_damaged_here_and_there_is_read_or_refused(name: str) -> None:
    damaged_here_and_there(sweeps.of_tensorflow_2()[name], TRIED["a file of TensorFlow 2"])


# A damaged text of megabytes is read by the slowest reader, which knows what is wrong.
LARGE: Final = {
    "resnet": {"graph": 3, "log": 30, "run_0": 30, "run_1": 30, "saved": 12},
    "seq2seq": {"graph": 2, "log": 20, "run_0": 20, "saved": 8},
}
IN_LARGE: Final = [(profile, name) for profile, names in LARGE.items() for name in names]


@pytest.mark.sampled
@pytest.mark.parametrize(("profile", "name"), IN_LARGE)
def test_a_large_file_damaged_here_and_there_is_read_or_refused(profile: str, name: str) -> None:
    if name == "saved":
        sample = sweeps.written(sweeps.whole(profile))[name]
    else:
        _, sample = sweeps.packed(profile)[name]
    places = amount(LARGE[profile][name], 2)
    tried, read = swept(sample, sample.spread(places), use_every=20)
    assert tried == 2 * places
    assert read < tried


# --- with checksums ------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("profile", "name"), [sample for sample in IN_LARGE if "saved" not in sample]
)
def test_a_damaged_gzip_file_is_refused_or_unpacks_the_same(
    profile: str, name: str, tmp_path: Path
) -> None:
    packed, sample = sweeps.packed(profile)[name]
    places = amount(TRIED["a gzip file"] // 2, 40)
    damages = spread(packed, sweeps.gzip_places(packed), places)
    tried = sum(1 for damage in damages if gzip_is_safe(packed, sample, damage, tmp_path / "file"))
    assert tried == 2 * places


@pytest.mark.sampled
def test_a_small_gzip_file_damaged_anywhere_is_refused_or_unpacks_the_same(tmp_path: Path) -> None:
    tried = 0
    for name, sample in small().items():
        packed = gzip.compress(sample.data, mtime=0)
        for damage in some(packed, everywhere(packed)[::2], SOME // 2, name):
            assert gzip_is_safe(packed, sample, damage, tmp_path / "file"), damage.what
            tried += 1
    assert tried >= amount(TRIED["small gzip files"], len(small()) * SOME // 2)


def gzip_is_safe(packed: bytes, sample: Sample, damage: Damage, path: Path) -> bool:
    """Whether the file is refused, by name; or unpacks the same, if it was not cut off."""
    path.write_bytes(damage.data)
    try:
        opened = open_source(str(path), "a file")
        if opened.data.tobytes() == sample.data:
            return len(damage.data) == len(packed)
        sample.read(opened)  # what says it is no gzip file is taken for another
    except InputError as refusal:
        return is_sentence(str(refusal), str(path))
    return False


def again(sample: Sample, damage: Damage) -> bytes:
    """What is read, converted once more: for that, all of it has to be read."""
    return b"".join(columnar(sample.read(source(damage.data))))


@pytest.mark.sampled
@pytest.mark.parametrize("profile", ["tiny", "handmade", "resnet", "seq2seq"])
def test_a_damaged_converted_profile_is_refused_or_says_the_same(profile: str) -> None:
    inputs = sweeps.tiny() if profile == "tiny" else sweeps.whole(profile)
    sample = sweeps.written(inputs)["converted"]
    tried = harmless = 0
    places = amount(TRIED["a converted profile"] // 2, 100)
    for damage in sample.spread(places):
        tried += 1
        said = or_refusal(lambda: again(sample, damage))  # noqa: B023
        if isinstance(said, str):
            assert is_sentence(said, NAME), damage.what
        else:
            harmless += 1
            assert said == sample.data, damage.what
            assert len(damage.data) == len(sample.data), damage.what
    assert tried == 2 * places
    assert harmless < places / 4


# --- by the command ------------------------------------------------------------------------------


def test_the_command_ends_as_documented_whatever_is_damaged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    flags = {"graph": "graph_path", "meta_graph": "graph_path", "run": "run_meta_path"}
    flags |= {"log": "op_log_path", "saved": "profile_path"}
    codes: Counter[int] = Counter()
    for name, sample in small().items():
        # First what is not damaged: of code view, which it has no call stacks for, exit code 2.
        for number, damage in enumerate([Damage("nothing", sample.data), *sample.spread(15)]):
            path = tmp_path / f"{name} {number}"
            path.write_bytes(damage.data)
            view = VIEWS[number % len(VIEWS) - 1]
            code = cli.run([view, f"--{flags[name.split()[0]]}={path}", "--select=params"])
            told = capfd.readouterr()
            codes[code] += 1
            if not code:
                assert told.out, damage.what
                continue
            expected = f"tfprof: {path}" if code == 3 else "tfprof: No code trace information"
            *notes, sentence = told.err.splitlines()
            assert told.out == "", damage.what
            assert sentence.startswith(expected), damage.what
            assert code == 2 or not notes, damage.what
    assert codes.total() == TRIED["by the command"]
    assert codes.keys() == {0, 2, 3}
