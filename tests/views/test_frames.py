"""Code view folds the frames of libraries, and no number is lost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

import tfprof as api
from profiles import PROFILES
from tfprof.foundation.stack_files import library_of
from tfprof.results.result import deliver
from tfprof.tables.eras import ERAS, NOW
from tfprof.tables.outputs import Output

if TYPE_CHECKING:
    from command import Command
    from tfprof.results.loaded import Loaded
    from tfprof.results.report import Report

METRICS = ("params", "micros", "float_ops")


@pytest.fixture(scope="module", params=["resnet", "seq2seq"])
def loaded(request: pytest.FixtureRequest) -> Loaded:
    files = PROFILES[request.param]
    return api.load(files.graph, list(files.runs), files.op_log)


def code(loaded: Loaded, **options: object) -> Report:
    return loaded.code(select=METRICS, max_depth=1000, flops="log", **options)


def by_lines(report: Report, libraries: set[str]) -> dict[tuple[str, ...], Counter[str]]:
    """The own numbers of each path of the user's lines, added up over all rows below it."""
    sums: dict[tuple[str, ...], Counter[str]] = {}
    path: list[str] = []
    for row in report.rows[1:]:
        path[row.depth - 2 :] = [row.name]
        lines = tuple(name for name in path if name.partition(":")[0] not in libraries)
        counts = sums.setdefault(lines, Counter())
        for metric in METRICS:
            counts[metric] += getattr(row, f"own_{metric}")
    return sums


def test_numbers_of_libraries_count_for_the_line_that_calls_them(loaded: Loaded) -> None:
    every, folded = code(loaded, frames="all"), code(loaded, frames="fold")
    stacks = loaded.profile.stacks
    text = dict(zip(stacks.text_id.tolist(), stacks.text, strict=True))
    files = {text[number].decode() for number in stacks.file.tolist()}
    # The files of TensorFlow in these logs have paths relative to the wheel.
    libraries = {file.rpartition("/")[2] for file in files if file.startswith("tensorflow/")}
    assert len(libraries) > 30
    users = {file.rpartition("/")[2] for file in files} - libraries
    assert {row.name.partition(":")[0] for row in folded.rows[1:]} == users
    assert len(folded) < len(every) / 10
    expected = {path: sums for path, sums in by_lines(every, libraries).items() if path}
    assert by_lines(folded, set()) == expected
    for metric in METRICS:
        total = f"total_{metric}"
        assert getattr(folded.rows[0], total) == getattr(every.rows[0], total)


def test_folding_says_so(loaded: Loaded) -> None:
    note = "frames of tensorflow are folded: --frames=all shows them"
    assert note in map(str, code(loaded, frames="fold").own_notes)
    for frames in ("all", "auto"):
        assert note not in map(str, code(loaded, frames=frames).own_notes)


def test_where_frames_are_folded(loaded: Loaded) -> None:
    folded, every = (code(loaded, frames=frames) for frames in ("fold", "all"))
    auto = code(loaded)
    # In files, pipes, data and Python nothing is folded.
    assert str(auto) == str(every)
    assert b"".join(deliver(auto, Output()).stdout) == b"".join(every.pieces("text"))

    def on_terminal(report: Report) -> bytes:
        return b"".join(deliver(report, Output(), columns=80).stdout)

    assert on_terminal(auto) == b"".join(folded.pieces("text"))
    assert on_terminal(every) == b"".join(every.pieces("text"))
    tables = [deliver(r, Output("table")).stdout for r in (auto, folded, every)]
    auto_table, folded_table, every_table = (b"".join(pieces) for pieces in tables)
    assert auto_table == folded_table != every_table
    assert auto._repr_html_() == folded._repr_html_() != every._repr_html_()
    for era in ERAS.values():
        if era is not NOW:
            options = {"era": era.name, "account_type_regexes": [".*"]}
            in_era = code(loaded, **options)
            assert on_terminal(in_era) == b"".join(in_era.pieces("text"))
            assert str(in_era) == str(code(loaded, **options, frames="all"))
            assert str(in_era) != str(code(loaded, **options, frames="fold"))


@pytest.mark.parametrize(
    ("file", "library"),
    [
        ("/usr/lib/python3/dist-packages/tensorflow/python/ops/math_ops.py", "tensorflow"),
        ("/venv/lib/python3.11/site-packages/keras/src/layers/layer.py", "keras"),
        (r"C:\Python311\Lib\site-packages\tf_keras\src\layers\core.py", "tf_keras"),
        ("tensorflow/python/ops/math_ops.py", "tensorflow"),
        ("/build/org_tensorflow/tensorflow/python/ops/math_ops.py", "tensorflow"),
        ("/venv/lib/python3.11/site-packages/ipykernel/kernelapp.py", "ipykernel"),
        ("/usr/lib/python3.11/runpy.py", "python"),
        ("/usr/lib/python3.11/importlib/__init__.py", "python"),
        ("<frozen importlib._bootstrap>", "python"),
        ("/home/__autograph_generated_filez1.py", "python"),
        ("/home/ada/tensorflow/train.py", ""),
        ("/home/ada/keras/model.py", ""),
        ("/home/ada/python3/model.py", ""),
        ("/venv/lib/python3.11/site-packages/my_models/resnet.py", ""),
        ("runpy.py", ""),
        ("train.py", ""),
        ("<ipython-input-3-f00>", ""),
        ("", ""),
    ],
)
def test_files_of_libraries(file: str, library: str) -> None:
    assert library_of(file) == library


def test_only_code_view_has_frames(tfprof: Command) -> None:
    files = PROFILES["handmade"].flags()
    assert tfprof("code", *files, "--frames=fold") == 0
    assert tfprof("scope", *files, "--frames=fold") == 2
    assert "scope takes no --frames (code, diff and " in tfprof.err
    assert tfprof("code", *files, "--frames=some") == 2
    assert "frames has no 'some'" in tfprof.err


@pytest.mark.parametrize("view", ["scope", "graph", "op"])
def test_python_rejects_frames_as_the_command_line_does(view: str, tfprof: Command) -> None:
    handmade = PROFILES["handmade"]
    assert tfprof(view, *handmade.flags(), "--frames=all") == 2
    with pytest.raises(api.UsageError) as error:
        getattr(api.load(handmade.graph), view)(frames="all")
    assert tfprof.err == f"tfprof: {error.value}\n"
