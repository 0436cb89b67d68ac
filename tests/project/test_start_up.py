"""A one-shot report of a small file imports little: what it left out once stays out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from google.protobuf import text_format

import paths
from processes import python
from tfprof.wire.schema import message

if TYPE_CHECKING:
    from pathlib import Path

HANDMADE: Final = paths.DATA / "handmade"
# fmt: off
LEFT_OUT: Final = tuple(f"{name}." for name in (
    # of others
    "dataclasses", "decimal", "glob", "google.protobuf", "hashlib", "json", "numpy._typing",
    "numpy._core._add_newdocs", "numpy.ma", "numpy.typing", "pathlib", "re2", "shlex", "shutil",
    "subprocess", "tarfile", "tempfile", "urllib.parse", "zipfile",
    "ast", "ctypes", "inspect", "pickle", "platform", "textwrap", "numpy.linalg._linalg",
    # of ours
    "tfprof.cache.entry", "tfprof.capture", "tfprof.compare", "tfprof.fleet", "tfprof.ops",
    "tfprof.io.find_inputs", "tfprof.read.columnar", "tfprof.read.functions", "tfprof.read.text",
    "tfprof.read.xplane", "tfprof.results.report_table", "tfprof.results.table", "tfprof.shell",
    "tfprof.summary",
))
# fmt: on


def modules_of(*words: str) -> set[str]:
    """What a process has imported once it has run this command line."""
    program = (
        "import sys, tfprof.cli; code = tfprof.cli.run(sys.argv[1:]);print(code, *sys.modules)"
    )
    ran = python("-c", program, *words, env={"TFPROF_CACHE": "off"})
    code, *names = ran.stdout.split()
    assert code == "0", ran.stderr
    return {*names}


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A small model in wire format, as flags."""
    folder = tmp_path_factory.mktemp("small")
    made = []
    for name, flag, kind in (
        ("graph", "graph_path", "GraphDef"),
        ("run_meta_0", "run_meta_path", "RunMetadata"),
        ("op_log", "op_log_path", "tfprof.OpLogProto"),
    ):
        text = (HANDMADE / f"{name}.pbtxt").read_text()
        parsed = text_format.Parse(text, message(f"tensorflow.{kind}")(), allow_unknown_field=True)
        (folder / name).write_bytes(parsed.SerializeToString())
        made.append(f"--{flag}={folder / name}")
    return made


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_a_small_report_imports_little(view: str, flags: list[str], tmp_path: Path) -> None:
    out = tmp_path / "report.txt"
    asked = ["--select=micros,bytes", "--order_by=micros", f"--output=file:outfile={out}"]
    loaded = modules_of(view, *flags, *asked)
    assert "Profile:" in out.read_text()
    assert {"numpy", f"tfprof.views.{view}_view"} <= loaded
    assert not {name for name in loaded if f"{name}.".startswith(LEFT_OUT)}


def test_what_numpy_is_imported_without_can_be_imported_later() -> None:
    program = (
        "import sys, warnings; warnings.simplefilter('error');"
        "from tfprof.foundation.light_numpy import _Placeholder, import_numpy; import_numpy();"
        "print(*sys.modules);"
        "import numpy as np, numpy.typing, numpy.testing, numpy.ma;"
        "print(numpy.typing.NDArray[np.int8].__origin__ is np.ndarray);"
        "del sys.modules['numpy._typing']; there = _Placeholder('numpy._typing');"
        "sys.modules['numpy._typing'] = there;"
        "print(there.ArrayLike is sys.modules['numpy._typing'].ArrayLike is not there);"
        "print(np.linalg.eigh(np.eye(2)).eigenvalues.tolist())"
    )
    names, *told = python("-c", program).stdout.splitlines()
    assert "numpy._typing" not in names.split()
    assert told == ["True", "True", "[1.0, 1.0]"]


def test_numpy_has_every_name_when_it_is_used() -> None:
    """As a plain import has it, and from the same module."""
    listed = (
        "import numpy as np, types, warnings; warnings.simplefilter('ignore');"
        "values = {n: getattr(np, n) for n in sorted({*np.__all__})};"
        "print(*((n, type(v).__name__, getattr(v, '__module__', ''))"
        " for n, v in values.items() if not isinstance(v, types.ModuleType)), sep='\\n');"
        "print(np.pad([1], 1), np.r_[1, 2], np.linalg.inv(np.eye(1)), np.matrix([[3]]) ** 2);"
        "print(sorted({*dir(np.lib)} - {'recfunctions', 'user_array'}), np.lib.NumpyVersion)"
    )
    light = "from tfprof.foundation.light_numpy import import_numpy; import_numpy();"
    plain, ours = (python("-c", code).stdout for code in (listed, light + listed))
    assert ours == plain
    assert "('append', '_ArrayFunctionDispatcher', 'numpy')" in plain
