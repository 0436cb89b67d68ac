"""With a cache, every command says what it says without one."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Final

import pytest

import tfprof
from profiles import DATA, PROFILES
from sampling import sampled
from tfprof.cache.folder import entries
from tfprof.views import VIEWS
from uncached import without_cache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cached import Asking

_REGEXES: Final = ("--show_name_regexes=.*unit_1.*", "--account_type_regexes=.*")
COMMANDS: Final = (
    *((view,) for view in VIEWS),
    *((view, "--era=original", "--select=micros,bytes", "--order_by=micros") for view in VIEWS),
    *((view, "--era=2017") for view in VIEWS),
    ("scope", *_REGEXES),
    ("scope", "--select=float_ops,params", "--max_depth=3"),
    ("scope", "--select=input_shapes,device,op_types,occurrence", "--max_depth=4"),
    ("graph", "--format=json", "--max_depth=4"),
    ("op", "--format=csv", "--select=micros,occurrence"),
    ("code", "--frames=all", "--max_depth=5"),
    ("code", "--format=html", "--max_depth=4"),
    ("summary",),
    ("summary", "--depth=1", "--format=md"),
    ("summary", "--training"),
    ("overview",),
    ("explain", "--op=MatMul|Conv2D", "--most=2"),
    ("advise",),
    ("scope", "--step=1"),
)
WRITTEN: Final = {
    "timeline": ("graph", "--step=0", "--output=timeline:outfile={}"),
    "pprof": ("code", "--select=micros", "--output=pprof:outfile={}"),
    "proto": ("scope", "--select=micros", "--output=proto:outfile={}"),
    "save": ("save", "-o", "{}"),
    "convert": ("convert", "-o", "{}"),
    "page": ("page", "-o", "{}"),
}


def holds(asking: Asking, words: tuple[str, ...], files: list[str]) -> None:
    """The same without the cache, into it, from it, and from an entry that others made."""
    expected = without_cache(asking, *words, *files)
    for _ in range(2):
        assert asking.ask(*words, *files) == expected, words
    if expected.code == 0:
        assert asking.reads == 0, words  # the entry had all that was needed


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROFILES)
def test_every_command_says_the_same(name: str, asking: Asking) -> None:
    files = PROFILES[name].flags()
    always = COMMANDS[0], COMMANDS[len(VIEWS)]  # one of each entry
    others = [words for words in COMMANDS if words not in always]
    for words in (*always, *sampled(others, 6, f"cached commands of {name}")):
        holds(asking, words, files)
    assert len([file for file in asking.files() if file.suffix == ".profile"]) == 2  # by functions


def models(folder: Callable[[str], Path]) -> list[list[str]]:
    forms = folder("saved_model_forms")
    summary = folder("summary")
    traces = sorted(map(str, DATA.glob("xplane/*/*.xplane.pb*")))
    return [
        [str(summary / "conv")],
        [str(summary / "conv.keras")],
        [str(forms / "keras2")],
        [str(folder("tflite") / "control.tflite")],
        [str(folder("hdf5") / "images-2.h5")],
        [str(summary / "conv"), "--signature=serving_default"],
        *([file] for file in traces),
    ]


@pytest.mark.parametrize("number", range(6))
def test_every_format_says_the_same(
    number: int, asking: Asking, model_folder: Callable[[str], Path]
) -> None:
    files = models(model_folder)[number]
    for words in (("scope",), ("op", "--select=float_ops"), ("summary",), ("graph",), ("code",)):
        holds(asking, words, files)
    assert asking.files()


@pytest.mark.sampled
def test_traces_say_the_same(asking: Asking, model_folder: Callable[[str], Path]) -> None:
    traces = models(model_folder)[6:]
    assert len(traces) > 2
    for files in sampled(traces, 3, "cached traces"):
        for words in (("scope", "--max_depth=4"), ("op", "--select=micros"), ("overview",)):
            holds(asking, words, files)


@pytest.mark.parametrize("form", WRITTEN)
def test_files_have_the_same_bytes(form: str, asking: Asking, tmp_path: Path) -> None:
    files = PROFILES["resnet"].flags()
    written: list[bytes] = []
    for cache in ("off", asking.folder, asking.folder):
        asking.use(cache)
        out = tmp_path / "out"
        assert asking.ask(*(word.format(out) for word in WRITTEN[form]), *files).code == 0
        made = sorted(tmp_path.glob("out*"))
        written.append(b"".join(file.read_bytes() for file in made))
        for file in made:
            file.unlink()
    assert asking.reads == 0
    assert written[0] == written[1] == written[2] != b""


def test_one_command_spares_another_the_files(asking: Asking) -> None:
    files = PROFILES["seq2seq"].flags()
    asking.ask("scope", *files)
    assert asking.reads == 1
    asking.ask("op", *files)
    asking.ask("graph", *files)
    assert asking.reads == 0
    (entry,) = entries(str(asking.folder))
    assert len(entry.files) == len(asking.files())


def test_what_an_entry_lacks_is_read_from_the_files_once(asking: Asking) -> None:
    files = PROFILES["resnet"].flags()
    asking.ask("op", *files)
    expected = without_cache(asking, "summary", *files)
    assert asking.ask("summary", *files) == expected
    assert asking.reads == 1  # its attributes
    assert asking.ask("summary", *files) == expected
    assert asking.reads == 0


def test_diff_check_and_the_shell_use_it(asking: Asking, tmp_path: Path) -> None:
    (tmp_path / "budget.toml").write_text('[model]\nparams = "<= 400K"\n')
    graph = str(PROFILES["resnet"].graph)
    for words in (
        ("diff", graph, str(PROFILES["seq2seq"].graph), "--view=op"),
        ("check", str(tmp_path / "budget.toml"), graph),
    ):
        expected = without_cache(asking, *words)
        assert asking.ask(*words) == asking.ask(*words) == expected
        assert asking.reads == 0


def test_without_the_cache(asking: Asking) -> None:
    words = ("scope", *PROFILES["handmade"].flags())
    asking.ask(*words, "--no-cache")
    assert asking.files() == []
    asking.ask(*words)
    assert asking.files()
    asking.ask(*words, "--no_cache")
    assert asking.reads == 1


def test_small_files_are_not_kept(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfprof.cache.key.SMALLEST", 1 << 30)
    asking.ask("scope", *PROFILES["resnet"].flags())
    assert asking.files() == []


def test_errors_are_not_kept(asking: Asking, tmp_path: Path) -> None:
    broken = tmp_path / "graph.pb"
    broken.write_bytes(b"\x0a\xff\xff\xff\xff")
    said = asking.ask("scope", f"--graph_path={broken}")
    assert said.code == 3
    assert asking.files() == []
    assert asking.ask("scope", f"--graph_path={broken}") == said


def test_an_error_of_a_question_is_the_same(asking: Asking) -> None:
    words = ("scope", "--step=9", *PROFILES["handmade"].flags())
    expected = without_cache(asking, *words)
    assert expected.code == 2
    assert asking.ask(*words) == asking.ask(*words) == expected
    assert asking.reads == 0


def test_limits_that_change_what_is_read_have_an_entry_of_their_own(asking: Asking) -> None:
    files = PROFILES["resnet"].flags()
    asking.ask("scope", *files)
    asking.ask("scope", *files, "--limit_notes=1")
    assert asking.reads == 1


# --- profiles in Python ---------------------------------------------------------------------------


def loaded(name: str) -> tfprof.Loaded:
    files = PROFILES[name]
    return tfprof.load(files.graph, list(files.runs), files.op_log)


def test_a_profile_of_the_cache_pickles(asking: Asking) -> None:
    asking.ask("scope", *PROFILES["resnet"].flags())
    expected = loaded("resnet").summary().text()
    asking.reads = 0
    profile = loaded("resnet")
    assert asking.reads == 0
    scopes = set()
    for each in (profile, pickle.loads(pickle.dumps(profile))):  # noqa: S301 - our own
        scopes.add(each.scope(select=["micros", "params"]).text())
        assert each.summary().text() == expected
    assert len(scopes) == 1


def test_a_pickle_outlives_its_entry(asking: Asking) -> None:
    asking.ask("scope", *PROFILES["resnet"].flags())
    data = pickle.dumps(loaded("resnet"))
    for file in asking.files():
        file.unlink()
    again = pickle.loads(data)  # noqa: S301 - our own
    asking.use("off")
    assert again.summary().text() == loaded("resnet").summary().text()


def test_columns_are_read_only(asking: Asking) -> None:
    asking.ask("scope", *PROFILES["resnet"].flags())
    asking.reads = 0
    profile = loaded("resnet").profile
    assert asking.reads == 0
    step = profile.steps[0]
    for column in (profile.nodes.op, profile.edges.source, profile.stacks.line, step.us):
        assert not column.flags.writeable
    assert not profile.nodes.name.blob.flags.writeable
    with pytest.raises(AttributeError):
        profile.nodes.no_such_column  # type: ignore[attr-defined]  # noqa: B018
