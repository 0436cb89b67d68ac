"""Installed from its own files, tfprof needs nothing of the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from paths import DATA, ROOT
from processes import python, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.whole
def test_installed_command_runs_its_demo_elsewhere(tmp_path: Path) -> None:
    home = tmp_path / "home"
    python("-m", "pip", "install", "--quiet", "--no-deps", "--target", home, ROOT, cwd=tmp_path)
    assert not list(home.glob("*.egg-link"))
    demo = ("demo", "scope", "--order_by=name")
    ran = run(home / "bin" / "tfprof", *demo, cwd=tmp_path, env={"PYTHONPATH": str(home)})
    assert str(home) in ran.stderr
    golden = (DATA / "cases" / "scope_params.txt").read_text()
    assert ran.stdout == golden.split("\n", 2)[2]
    page, ours = tmp_path / "page.html", tmp_path / "ours.html"
    for path, where in ((page, home), (ours, ROOT / "src")):
        words = ("demo", "page", "--source=off", "-o", str(path))
        python("-m", "tfprof", *words, env={"PYTHONPATH": str(where)})
    assert page.read_bytes() == ours.read_bytes()


@pytest.mark.whole
def test_tfprof_and_tensorflow_share_a_process_in_both_orders() -> None:
    ours = "import tfprof, tfprof.api, tfprof.wire.schema as s; s.message('tensorflow.GraphDef')"
    theirs = "import tensorflow as tf; tf.compat.v1.GraphDef().node.add().name = 'x'"
    for first, second in ((ours, theirs), (theirs, ours)):
        use = "from tfprof import cli; assert cli.run(['demo', '--output=none']) == 0"
        python("-c", f"{first}\n{second}\n{use}", cwd=ROOT)


def test_files_are_read_without_tensorflow() -> None:
    script = (
        "import sys; sys.modules['tensorflow'] = None\n"
        "from tfprof import cli; assert cli.run(['demo', '--output=none']) == 0"
    )
    python("-c", script, cwd=ROOT)
