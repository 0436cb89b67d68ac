"""One call, made twice: with `tfprof`, and with the profiler inside of TensorFlow.

    same(lambda profiler, out: profiler.profile(graph, cmd="op", options=...))

Ours comes first, since the original writes shapes into the graph it is given. What each printed,
returned and wrote has to be equal; what docs/parity.md lists is put right before.
"""

from __future__ import annotations

import contextlib
import ctypes
import gzip
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tensorflow.compat.v1 as tf

import tfprof
from tfprof.foundation.units import count
from tfprof.views import VIEWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pytest

Call = Callable[[Any, Path], Any]
OUT: Final = "out"
LINES_TOLD: Final = 40
# The original cannot read its own answer of more than a hundred levels; it then returns nothing.
# What is odd about an op log; the original leaves such entries out without a word.
_OURS_ALONE = re.compile(r"(?m)^\d+ of \d+ entries of the op log name nodes that .*\n")
_UNREAD: Final = re.compile(r"(?m)^Cannot parse returned proto: .*MaxDepth.*\n")
_END: Final = "\n======================End of Report"
_NUMBERS: Final = re.compile(r"(--|[\d.]+[kmb]?)/([\d.]+[kmb]?) (params|flops)")
# In a list only own numbers are told, with shares behind them.
_OWN_NUMBERS: Final = re.compile(r"([\d.]+[kmb]?) (params|float_ops) \(")
_GZIP: Final = b"\x1f\x8b"
_flush_c_streams = ctypes.CDLL(None).fflush


@dataclass(frozen=True)
class Done:
    """What came of a call."""

    result: Any = None
    stdout: str = ""
    stderr: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


class Both:
    """Makes calls with either profiler in a folder of its own."""

    def __init__(self, capfd: pytest.CaptureFixture[str], folder: Path) -> None:
        self._capfd, self._folder = capfd, folder

    def ours(self, call: Call) -> Done:
        """What tfprof does: all it prints goes through Python's streams."""
        stdout, stderr = io.StringIO(), io.StringIO()
        folder = self._empty("ours")
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            result = call(tfprof, folder / OUT)
        assert self._printed() == ("", "")
        return _done(result, stdout.getvalue(), stderr.getvalue(), folder)

    def theirs(self, call: Call) -> Done:
        """What the original does; it prints from C++."""
        folder = self._empty("theirs")
        result = call(tf.profiler, folder / OUT)
        return _done(result, *self._printed(), folder)

    def __call__(self, call: Call, view: str = "") -> Done:
        """What the original does, which is what we do."""
        ours, theirs = self.ours(call), self.theirs(call)
        if view == "graph":
            ours = with_their_doc(ours)
        same_done(ours, theirs)
        return theirs

    def _empty(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        return folder

    def _printed(self) -> tuple[str, str]:
        _flush_c_streams(None)
        out, err = self._capfd.readouterr()
        return out, err


def with_their_doc(done: Done) -> Done:
    """Our reports with the sentence that the original prints over graph view (Q23)."""
    ours, theirs = VIEWS["graph"].help, VIEWS["scope"].help
    files = {n: data.replace(ours.encode(), theirs.encode()) for n, data in done.files.items()}
    return replace(done, stdout=done.stdout.replace(ours, theirs), files=files)


def _unfolded(notes: str) -> str:
    """Our notes as often as the original says them, but for what it never says.

    Ours says once how often.
    """
    notes = _OURS_ALONE.sub("", notes)
    return re.sub(r"(?m)^(.*) \((\d+) times\)\n", lambda m: f"{m[1]}\n" * int(m[2]), notes)


def _told(notes: str) -> str:
    """Notes with those of code view said once: the original says them when it draws the view."""
    return re.sub(r"(?m)^(\d+ gradient nodes not accounted\n)\1+", r"\1", notes)


def same_done(ours: Done, theirs: Done) -> None:
    """Both printed, wrote and returned the same."""
    unread = _UNREAD.search(theirs.stderr)
    _same_lines("stderr", _told(_unfolded(ours.stderr)), _told(_UNREAD.sub("", theirs.stderr)))
    _same_lines("stdout", ours.stdout, theirs.stdout)
    assert set(ours.files) == set(theirs.files), "files"
    for name, data in theirs.files.items():
        _same_lines(name, *(side.decode("latin-1") for side in (ours.files[name], data)))
    if unread:
        _same_rows(ours.result, ours.stdout)
    else:
        same_result(ours.result, theirs.result)


def _same_rows(result: Any, stdout: str) -> None:
    """What came back says what was printed, row by row; for answers too deep for the original."""
    results = result if isinstance(result, list) else [result]
    reports = [part.partition(_END)[0] for part in stdout.split("\nProfile:\n")[1:]]
    for message, report in zip((m for m in results if _is_tree(m)), reports, strict=False):
        lines = [line for line in report.splitlines()[1:] if line and "input_type:" not in line]
        nodes = list(_preorder(message))
        if not lines[0].startswith(message.name):  # a list has no line for its root
            del nodes[0]
        for node, line in zip(nodes, lines, strict=True):
            assert line.strip().startswith(node.name), line
            for own, what in _OWN_NUMBERS.findall(line):
                name = {"params": "parameters", "float_ops": "float_ops"}[what]
                assert own == count(getattr(node, name)), line
            for own, total, what in _NUMBERS.findall(line):
                name = {"params": "parameters", "flops": "float_ops"}[what]
                assert own in {"--", count(getattr(node, name))}, line
                assert total == count(getattr(node, f"total_{name}")), line


def _is_tree(message: Any) -> bool:
    return hasattr(message, "children")


def _preorder(message: Any) -> Iterator[Any]:
    """A message and all below it; without recursion, since they are deep."""
    waiting = [message]
    while waiting:
        waiting.extend(reversed((node := waiting.pop()).children))
        yield node


def same_result(ours: Any, theirs: Any) -> None:
    """Messages say the same, in whatever order their maps are."""
    if isinstance(theirs, list):
        for pair in zip(ours, theirs, strict=True):
            same_result(*pair)
    elif hasattr(theirs, "SerializeToString"):
        assert hasattr(ours, "SerializeToString"), ours
        read = type(theirs).FromString(ours.SerializeToString())
        if read != theirs:
            _same_lines("result", str(read), str(theirs))
            raise AssertionError("results differ in what does not print")
    else:
        assert ours == theirs, f"{ours!r} is not {theirs!r}"


def _same_lines(what: str, ours: str, theirs: str) -> None:
    if ours != theirs:
        sides = theirs.splitlines(), ours.splitlines()
        found = islice(unified_diff(*sides, "original", "ours", n=1, lineterm=""), LINES_TOLD)
        raise AssertionError("\n".join([f"{what} differs:", *found]))


def _done(result: Any, stdout: str, stderr: str, folder: Path) -> Done:
    files = {path.name: _content(path) for path in sorted(folder.iterdir())}
    cut = f"{folder}/"
    return Done(result, stdout.replace(cut, ""), stderr.replace(cut, ""), files)


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(_GZIP) else data
