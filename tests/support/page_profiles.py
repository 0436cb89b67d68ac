"""The profiles whose data JavaScript decodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from page_data_dump import dumps, expected, report_of
from profiles import DATA, PROFILES

if TYPE_CHECKING:
    from pathlib import Path

    from tfprof.model import Profile


TF2: Final = DATA / "tf2"
XPLANE: Final = DATA / "xplane"
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
