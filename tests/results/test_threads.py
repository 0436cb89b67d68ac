"""Several threads at once get what each would get alone: loading, asking, writing, listening."""

from __future__ import annotations

import asyncio
import gzip
import os
import random
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import pytest

import tfprof
from ours import files_loaded
from profiles import DATA, PROFILES, SAMPLE, content
from random_options import make_options
from sampling import amount
from tfprof.checkers import advise
from tfprof.errors import TfprofError
from tfprof.foundation.progress_events import Stage, announce, listening
from tfprof.io.write_files import write_file
from tfprof.query.query import Query
from tfprof.results.report import Report
from tfprof.tables.limits import limit, raised_limits
from tfprof.tables.options import OPTIONS
from tfprof.tables.outputs import kinds
from tfprof.writers import advice
from tfprof.writers.columnar import columnar
from tfprof.writers.saved import saved
from tfprof.writers.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from tfprof.results.loaded import Loaded

THREADS: Final = 8
WRITES: Final = 20


@pytest.fixture(autouse=True)
def in_turns() -> Iterator[None]:
    """Have threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """What each job returns; all begin together, each in its own thread."""
    gate = threading.Barrier(len(jobs))

    def begun(job: Callable[[], Any]) -> Any:
        gate.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(begun, jobs))


# --- asking ---------------------------------------------------------------------------------------

Asked = tuple[str, str, Query]  # a form, a view, and what is asked


def questions(name: str, count: int) -> list[Asked]:
    """Random questions of all views, each in one of all forms."""
    choice = random.Random(f"threads {name}")  # noqa: S311 - any will do
    profile = files_loaded(PROFILES[name])
    names = [one.decode("utf-8", "replace") for one in profile.nodes.name.take(slice(0, 60))]
    types = [one.decode("utf-8", "replace") for one in profile.types]
    forms = (*kinds(Report.offers), "table", "html", "timeline", "saved", "converted", "advice")
    made: list[Asked] = []
    for at in range(count):
        view = choice.choice(["scope", "graph", "op", "code"])
        options = make_options(choice, view, names, types, [0, 1])
        options = {key: value for key, value in options.items() if key in OPTIONS}
        options |= {"output": "stdout", "flops": choice.choice(["log", "tensorflow", "all"])}
        if options["order_by"] not in ("", "name", *OPTIONS["select"].choices):
            options["order_by"] = "name"
        made.append((forms[at % len(forms)], view, Query.of(options)))
    return made


def answered(loaded: Loaded, asked: Asked) -> str:
    """What came of a question: a digest, or the sentence it is refused with."""
    form, view, query = asked
    try:
        pieces = [str(note).encode() for note in loaded.notes]
        pieces += _pieces(loaded, form, view, query)
    except TfprofError as problem:
        return str(problem)
    return sha256(b"\0".join(pieces)).hexdigest()


def _pieces(loaded: Loaded, form: str, view: str, query: Query) -> Sequence[bytes]:
    of_profile: dict[str, Callable[[], Iterable[bytes]]] = {
        "saved": lambda: saved(loaded.counted(query.flops)),
        "converted": lambda: columnar(loaded.profile),
        "advice": lambda: advice.text(advise(loaded.profile)),
    }
    if form in of_profile:
        return [b"".join(of_profile[form]())]
    report = loaded.report(view, query)
    told = [str(note).encode() for note in report.own_notes]
    if form == "table":
        return [repr(report.to_dict()).encode(), repr(report.rows[:50]).encode(), *told]
    if form == "html":
        return [report._repr_html_().encode()]
    if form == "timeline":
        drawn = view == "scope" or (view == "graph" and query.step is not None)
        return [*timeline(report.answer).pieces(), *told] if drawn else told
    return [*report.pieces(form), *told]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "count"), [("handmade", amount(104, 52)), ("resnet", amount(26, 12))]
)
def test_one_profile_asked_by_many(name: str, count: int) -> None:
    files, share = PROFILES[name], count // (2 if name == "handmade" else 6)

    def load() -> Loaded:
        return tfprof.load(files.graph, list(files.runs), files.op_log)

    asked = questions(name, count)
    alone = load()
    expected = [answered(alone, one) for one in asked]
    assert len(set(expected)) > count // 2
    shared = load()  # nothing is known of it yet

    def job(seed: int) -> dict[int, str]:
        order = random.Random(seed).sample(range(count), share)  # noqa: S311 - as above
        return {at: answered(shared, asked[at]) for at in order}

    for got in at_once(*(lambda seed=seed: job(seed) for seed in range(THREADS))):
        for at, one in got.items():
            assert one == expected[at], asked[at]


def test_one_profiler_fed_and_asked_by_many() -> None:
    """Steps may come in any order; whoever asks sees some of them, each whole."""
    files = PROFILES["handmade"]
    options = {**tfprof.ProfileOptionBuilder.time_and_memory(), "output": "none"}

    def asked(profiler: tfprof.Profiler) -> bytes:
        return bytes(profiler.profile_name_scope(options).SerializeToString())

    expected, ends = set(), set()
    for steps in ((), (0,), (1,), (0, 1), (1, 0)):
        profiler = tfprof.Profiler(files.graph, files.op_log)
        for step in steps:
            profiler.add_step(step, files.runs[step])
        expected.add(asked(profiler))
        if len(steps) == 2:
            ends.add(asked(profiler))

    def fed_and_asked() -> None:
        shared = tfprof.Profiler(files.graph, files.op_log)
        seen = at_once(
            lambda: shared.add_step(0, files.runs[0]),
            lambda: shared.add_step(1, files.runs[1]),
            *[lambda: [asked(shared) for _ in range(4)]] * 4,
        )
        assert {one for each in seen[2:] for one in each} <= expected
        assert asked(shared) in ends

    for _ in range(5):
        fed_and_asked()


# --- loading --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What load() takes, in every format."""
    folder = tmp_path_factory.mktemp("sources")
    handmade, golden = PROFILES["handmade"], DATA / "checkpoints" / "golden"
    packed = folder / "graph.pbtxt.gz"
    packed.write_bytes(gzip.compress(content(handmade.graph)))
    other = folder / "other.pbtxt"  # a layout that another reader takes
    other.write_bytes(content(handmade.graph).replace(b"\n", b"\n\n"))
    whole = tfprof.load(handmade.graph, list(handmade.runs), handmade.op_log)
    whole.save(folder / "saved")
    whole.convert(folder / "converted")
    return {
        "text": {"graph": handmade.graph, "run_meta": list(handmade.runs)},
        "other text": {"graph": other, "op_log": handmade.op_log},
        "gzip": {"graph": packed},
        "binary": {"graph": golden / "graph.pb", "checkpoint": golden / "ck"},
        "checkpoint": {"graph": SAMPLE / "graph.pbtxt.gz", "checkpoint": SAMPLE / "model.ckpt"},
        "saved": {"profile": folder / "saved"},
        "converted": {"profile": folder / "converted"},
    }


def digest(source: dict[str, Any]) -> str:
    """All that is read of a source."""
    loaded = tfprof.load(**source)
    fields = ["params", "micros", "bytes", "occurrence", "float_ops", "device", "op_types"]
    if loaded.checkpoint is not None and len(loaded) < 1000:
        fields.append("tensor_value")
    report = loaded.report("scope", Query.of({"select": fields, "max_depth": 10_000}))
    told = [str(note).encode() for note in report.notes]
    pieces = [*columnar(loaded.profile), *report.pieces("text"), *told]
    return sha256(b"\0".join(pieces)).hexdigest()


def test_files_loaded_by_many(sources: dict[str, dict[str, Any]]) -> None:
    expected = {name: digest(source) for name, source in sources.items()}
    assert len(set(expected.values())) >= len(expected) - 2  # the same profile in several forms
    turns = [*sources, *[name for name in sources if name != "checkpoint"] * 2]
    random.Random(3).shuffle(turns)  # noqa: S311 - as above
    assert len(turns) > 2 * THREADS
    for first in range(0, len(turns), THREADS):
        names = turns[first : first + THREADS]
        got = at_once(*(lambda name=name: digest(sources[name]) for name in names))
        assert got == [expected[name] for name in names]


# Nothing is imported or known yet when the threads begin.
COLD: Final = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
sys.setswitchinterval(1e-6)
import tfprof
graph, run, op_log = sys.argv[1:]
gate = threading.Barrier(8)

def job(number):
    gate.wait()
    loaded = tfprof.load(graph, run, op_log)
    report = getattr(loaded, ("scope", "graph", "op", "code")[number % 4])(select=["float_ops"])
    return report.proto(), str(report)

with ThreadPoolExecutor(8) as pool:
    made = list(pool.map(job, range(8)))
for (message, text), (again, same) in zip(made[:4], made[4:]):
    assert message == again and type(message) is type(again) and text == same
assert {type(message) for message, _ in made} == {
    tfprof.GraphNodeProto, tfprof.MultiGraphNodeProto
}
assert len({id(message.DESCRIPTOR.file.pool) for message, _ in made}) == 1
"""

# Each time as if none was made yet.
MESSAGES: Final = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from tfprof.wire import schema
sys.setswitchinterval(1e-6)
names = ["GraphDef", "RunMetadata", "tfprof.OpLogProto", "tfprof.GraphNodeProto"]
for _ in range(40):
    schema.pool.cache_clear()
    schema.message.cache_clear()
    gate = threading.Barrier(4)

    def job(name):
        gate.wait()
        return schema.message(f"tensorflow.{name}")

    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(job, names))
    assert len({id(one.DESCRIPTOR.file.pool) for one in made}) == 1
"""


def test_messages_are_of_one_kind_whoever_makes_them() -> None:
    subprocess.run([sys.executable, "-c", MESSAGES], check=True, timeout=60)


def test_the_first_of_everything_by_many() -> None:
    files = PROFILES["handmade"]
    for _ in range(3):
        line: list[Any] = [sys.executable, "-c", COLD, files.graph, files.runs[0], files.op_log]
        subprocess.run(line, check=True, timeout=60)


# --- writing --------------------------------------------------------------------------------------


def test_files_written_by_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that all write is whole, of one of them; all are for those whom the mask lets."""
    contents = [bytes([number]) * 3_000 for number in range(THREADS)]
    shared = tmp_path / "shared"
    before = os.umask(0o027)
    try:

        def job(number: int) -> None:
            pieces = [contents[number][:1_000]] * 3
            for at in range(WRITES):
                write_file(str(tmp_path / f"{number} {at}"), pieces)
                write_file(str(shared), pieces)
                assert shared.read_bytes() in contents

        with monkeypatch.context() as change:
            # To read the mask is to set it, for all threads; who does so may leave another one.
            change.setattr(os, "umask", pytest.fail)
            at_once(*(lambda number=number: job(number) for number in range(THREADS)))
    finally:
        os.umask(before)
    paths = list(tmp_path.iterdir())
    assert len(paths) == 1 + WRITES * THREADS
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o640}
    assert all(path.read_bytes() in contents for path in paths)


# --- listening ------------------------------------------------------------------------------------


def test_who_listens_hears_what_is_done_in_the_same_thread() -> None:
    def job(number: int) -> list[str]:
        heard: list[str] = []
        with listening(heard.append), raised_limits(unpack_ratio=1000 + number):
            for at in range(200):
                announce(Stage(f"{number} {at}"))
                assert limit("unpack_ratio") == 1000 + number
        announce(Stage("nobody hears"))
        return heard

    before = limit("unpack_ratio")
    heard = at_once(*(lambda number=number: job(number) for number in range(THREADS)))
    assert heard == [[f"{number} {at}" for at in range(200)] for number in range(THREADS)]
    assert limit("unpack_ratio") == before


def test_who_listens_in_a_task_hears_what_the_task_awaits() -> None:
    files = PROFILES["handmade"]

    async def task(path: Path) -> list[str]:
        heard: list[str] = []
        with listening(heard.append):
            await asyncio.sleep(0)
            # load() tells its own listener; ours hears what comes after.
            loaded = await asyncio.to_thread(tfprof.load, path)
            await asyncio.to_thread(announce, Stage(f"{path} has {len(loaded)} nodes"))
        return heard

    nodes = {files.graph: 11, SAMPLE / "graph.pbtxt.gz": 5174}

    async def tasks() -> list[list[str]]:
        return await asyncio.gather(*map(task, nodes))

    assert asyncio.run(tasks()) == [[f"{path} has {n} nodes"] for path, n in nodes.items()]
