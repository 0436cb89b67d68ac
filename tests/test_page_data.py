"""The data of a page: what JavaScript decodes under Node is what Python's columns hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import tfprof
from ours import load
from page_data_dump import dumps, expected, report_of
from profiles import DATA, PROFILES
from random_cases import batches, make_case
from tfprof.model import Profile

if TYPE_CHECKING:
    from pathlib import Path

TF2, XPLANE = DATA / "tf2", DATA / "xplane"
FILES: Final[dict[str, dict[str, Any]]] = {
    **{
        name: {"graph": row.graph, "run_meta": row.runs, "op_log": row.op_log}
        for name, row in PROFILES.items()
    },
    "a run alone": {"run_meta": PROFILES["handmade"].runs},
    "a graph alone": {"graph": PROFILES["handmade"].graph},
    "a SavedModel": {"graph": TF2 / "module"},
    "functions": {"graph": TF2 / "lstm_saved_model.pb.gz"},
    "nested functions": {"graph": TF2 / "nested.pb.gz"},
    "a session": {"graph": TF2 / "session/graph.pb", "run_meta": TF2 / "session/run_meta.pb"},
    "a TensorFlow Lite model": {"graph": TF2 / "control.tflite"},
    "a trace": {"trace": XPLANE / "eager" / "trace.xplane.pb.gz"},
    "a trace of a loop": {
        "graph": XPLANE / "loop" / "graph.pb.gz", "trace": XPLANE / "loop" / "trace.xplane.pb.gz"
    },
}  # fmt: skip


def check(profiles: list[Profile], folder: Path) -> list[Any]:
    """What JavaScript says of each profile, if it says the same as Python."""
    decoded = dumps(map(report_of, profiles), folder)
    for profile, found in zip(profiles, decoded, strict=True):
        for part, wanted in expected(profile).items():
            if found[part] != wanted and isinstance(wanted, dict):
                assert found[part].keys() == wanted.keys(), part
                for name in wanted:
                    assert found[part][name] == wanted[name], (part, name)
            assert found[part] == wanted, part
    return decoded


def test_every_kind_of_file(tmp_path: Path) -> None:
    check([tfprof.load(**files).profile for files in FILES.values()], tmp_path)


@batches(2_000, 20, 20)
def test_random_profiles(numbers: list[int], tmp_path: Path) -> None:
    check([load(make_case(number, "code")) for number in numbers], tmp_path)
