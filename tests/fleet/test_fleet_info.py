"""What `tfprof info` says about a fleet."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fleet_files import write_fleet
from fleet_parts import SKIPPED, store
from fleet_tables import store_truth
from tfprof import cli
from tfprof.errors import InputError
from tfprof.fleet.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with runs, a fleet of them, and a fleet for which ten files were skipped."""
    truth = write_fleet(tmp_path / "runs", workers=2, steps=2)
    skip: dict[str, Any] = {"worker": "", "step": None, "reason": "it ends", "kind": "damaged"}
    store_truth(tmp_path / "fleet", truth)
    skipped = [{**skip, "path": f"run_{at}"} for at in range(10)]
    skipped[1]["reason"] = "run_1 does not exist"
    store_truth(tmp_path / "-bad", truth, skipped)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_facts_of_a_fleet(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["info", "fleet/"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = printed.out.splitlines()
    size = lines.pop(2).partition("780 rows, ")
    assert size[0] == "  4 worker steps, "
    assert size[2].endswith(" bytes")
    assert lines == [
        "fleet/: a fleet",
        "  2 workers: worker_0, worker_1",
        "  1 graph with 159 nodes",
        "  2 steps: 0, 1",
        "",
        "next",
        "  tfprof workers fleet/",
        "  tfprof op fleet/ --stat=p90",
        "  tfprof page fleet/ -o page.html",
    ]


def test_the_first_skipped_files_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["info", "./-bad"]) == 0
    printed = capsys.readouterr().out
    skipped = printed.partition("skipped\n")[2].partition("\n\n")[0].splitlines()
    assert skipped[:2] == ["  run_0: it ends", "  run_1 does not exist"]
    assert len(skipped) == 9
    assert skipped[-1] == "  and 2 more: fleet.sql('from skipped')"


def test_a_fleet_beside_files_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["info", "runs", "fleet", "--format=json"]) == 0
    document = json.loads(capsys.readouterr().out)
    counts = {(row["file"], row["fact"]): row["count"] for row in document["rows"]}
    assert counts["fleet", "workers"] == 2
    assert counts["fleet", "rows"] == 780
    assert counts["runs/graph.pbtxt", "nodes"] == 159
    assert document["skipped"] == []
    assert document["next"][0] == "tfprof workers fleet"


def test_a_fleet_with_a_bad_manifest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = folder / "fleet" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 9'))
    assert cli.run(["info", "fleet"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "install a newer tfprof" in printed.err
    assert printed.err.count("\n") == 1


def test_names_cannot_draw_lines(capsys: pytest.CaptureFixture[str]) -> None:
    name = "w\n\x1b[2Jnext\n  rm -r ."
    store("named", **{name: {0: [1, 2]}})
    Writer.at("named").commit([{**SKIPPED, "path": name}], [name])
    assert cli.run(["info", "named"]) == 0
    printed = capsys.readouterr().out
    shown = r"w\n\x1b[2Jnext\n  rm -r ."
    assert printed.count(shown) == 3
    assert "\x1b" not in printed
    assert f"  1 worker: {shown}\n" in printed
    assert cli.run(["info", "named", "--format=json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [name] in [row["names"] for row in rows]


@pytest.mark.parametrize("command", ["scope", "info", "workers"])
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("memory://nothing/here", "there is no manifest.json"),
        ("foo://x", "Protocol not known: foo"),
    ],
)
def test_a_url_is_a_fleet_or_nothing(
    command: str, url: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([command, url]) == InputError.exit_code
    sentence = f"tfprof: {url} is no fleet, and tfprof opens no other URLs: {reason}\n"
    assert capsys.readouterr().err == sentence
