"""The manifest of a fleet: which files belong to it, their checksums, what they hold.

    {"format": "tfprof fleet", "version": 1, "tfprof": "2.0",
     "workers": 4, "steps": 12, "rows": 480,
     "graphs": {id: {"nodes", "files"}},  "parts": {key: {"rows", "graphs", "steps", "files"}},
     "skipped": [{"path", "worker", "step", "reason", "kind"}],  "notes": [text]}

"files" maps a name in the dataset to its bytes and SHA-256. "graphs" of a part maps a graph to its
rows, "steps" lists [worker, [steps]]. The same content always gives the same bytes. A manifest is
not trusted: every value is checked, and it names only files whose names follow from its keys.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from tfprof.errors import InputError
from tfprof.fleet.json_forms import COUNT, NUMBER, NUMBER_OR_NULL, TEXT, Damage, checked, compact
from tfprof.foundation.lazy_dataclasses import dataclass, field
from tfprof.foundation.natural_order import natural
from tfprof.foundation.units import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME: Final = "manifest.json"
KIND: Final = "tfprof fleet"
FORMAT: Final = 1
# The folders of a dataset and the names in them; a killed process may leave an unfinished file.
_UNFINISHED: Final = r"\.tfprof-[0-9a-f]{16}"
FOLDERS: Final = {
    "": re.compile(rf"manifest\.json\.new|{_UNFINISHED}"),
    "graphs": re.compile(rf"[0-9a-f]{{16}}\.(tfprof|parquet)(\.new)?|{_UNFINISHED}"),
    "rows": re.compile(rf"[0-9a-f]{{16}}\.parquet(\.new)?|{_UNFINISHED}"),
    "steps": re.compile(rf"[0-9a-f]{{16}}\.parquet(\.new)?|{_UNFINISHED}"),
}

Entry = dict[str, Any]


def graph_names(graph: str) -> tuple[str, str]:
    """The files of a graph, in the order in which they are written."""
    return f"graphs/{graph}.tfprof", f"graphs/{graph}.parquet"


def part_names(key: str) -> tuple[str, str]:
    """The files of a part, in the order in which they are written."""
    return f"rows/{key}.parquet", f"steps/{key}.parquet"


@dataclass(frozen=True)
class Manifest:
    """What manifest.json says; parts are in the order of their first worker and step."""

    graphs: dict[str, Entry] = field(default_factory=dict)
    parts: dict[str, Entry] = field(default_factory=dict)
    skipped: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
    tfprof: str = ""

    @cached_property
    def steps(self) -> dict[str, set[int]]:
        """The steps of each worker."""
        result: dict[str, set[int]] = {}
        for part in self.parts.values():
            for worker, steps in part["steps"]:
                result.setdefault(worker, set()).update(steps)
        return result

    def gaps(self, workers: Sequence[str]) -> list[str]:
        """What is missing from the numbers of these *workers*, as sentences."""
        result = []
        if kinds := Counter(each["kind"] for each in self.skipped):
            count = plural(len(self.skipped), "file was", "files were")
            reasons = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
            result.append(f"{count} skipped ({reasons}): see 'tfprof info'")
        every = len(set[int]().union(*(self.steps[worker] for worker in workers)))
        if short := [worker for worker in workers if len(self.steps[worker]) < every]:
            first = f"{short[0]} has {len(self.steps[short[0]]):,} of {plural(every, 'step')}"
            some = "has" if len(short) == 1 else "have"
            result.append(f"{plural(len(short), 'worker')} {some} fewer steps than others: {first}")
        return result

    @property
    def rows(self) -> int:
        """How many rows all parts have."""
        return sum(part["rows"] for part in self.parts.values())

    @property
    def files(self) -> dict[str, Entry]:
        """Every file of the dataset with its bytes and checksum."""
        entries = (*self.graphs.values(), *self.parts.values())
        return {name: file for entry in entries for name, file in entry["files"].items()}

    def to_bytes(self) -> bytes:
        """The file: one line per graph, part, skipped file and note."""
        steps = self.steps
        content = {
            "format": KIND,
            "graphs": self.graphs,
            "notes": list(self.notes),
            "parts": self.parts,
            "rows": self.rows,
            "skipped": list(self.skipped),
            "steps": sum(map(len, steps.values())),
            "tfprof": self.tfprof,
            "version": FORMAT,
            "workers": len(steps),
        }
        lines = (f'"{name}": {_lines(value)}' for name, value in content.items())
        return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _lines(value: object) -> str:
    if isinstance(value, dict) and value:
        lines = (f" {compact(name)}: {compact(value[name])}" for name in sorted(value))
        return "{\n" + ",\n".join(lines) + "\n}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f" {compact(each)}" for each in value) + "\n]"
    return compact(value)


# --- reading --------------------------------------------------------------------------------------

_KEY: Final = re.compile("[0-9a-f]{16}")
FILE: Final = {"bytes": COUNT, "sha256": re.compile("[0-9a-f]{64}")}
_FILES: Final = {re.compile(r"(graphs|rows|steps)/[0-9a-f]{16}\.(tfprof|parquet)"): FILE}
_PART: Final = {"rows": COUNT, "graphs": {_KEY: COUNT}, "steps": [(TEXT, [NUMBER])]}
_GRAPH: Final = {"nodes": COUNT}
_ASIDE: Final = {
    "skipped": [
        {"path": TEXT, "worker": TEXT, "step": NUMBER_OR_NULL, "reason": TEXT, "kind": TEXT}
    ],
    "notes": [TEXT],
}
_MANIFEST: Final = {
    **dict.fromkeys(("workers", "steps", "rows"), COUNT),
    "tfprof": TEXT,
    "graphs": {_KEY: {**_GRAPH, "files": _FILES}},
    "parts": {_KEY: {**_PART, "files": _FILES}},
    **_ASIDE,
}
# What the last file of a part or a graph says of it.
PART_SEAL: Final = {**_PART, **_ASIDE, "first_file": FILE}
GRAPH_SEAL: Final = {**_GRAPH, "first_file": FILE}


def read_manifest(data: bytes, name: str) -> Manifest:
    """The manifest in *data*; raises InputError that names the file *name*."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(f"{name} is damaged: it is no JSON") from None
    if not isinstance(content, dict) or content.get("format") != KIND:
        raise InputError(f"{name} is not the manifest of a fleet")
    try:
        version = checked({"version": COUNT}, content)["version"]
        if version > FORMAT:
            raise InputError(
                f"{name} is of fleet format {version}; this tfprof reads up to {FORMAT}: "
                "install a newer tfprof"
            )
        return _manifest(checked(_MANIFEST, content))
    except Damage as damage:
        raise InputError(f"{name} is damaged: {damage}") from None


def _manifest(content: Entry) -> Manifest:
    """The manifest with this content; raises Damage where its parts contradict each other."""
    graphs, parts = content["graphs"], dict(sorted(content["parts"].items(), key=_first))
    skipped, notes = tuple(content["skipped"]), tuple(content["notes"])
    manifest = Manifest(graphs, parts, skipped, notes, content["tfprof"])
    for entries, names in ((graphs, graph_names), (parts, part_names)):
        for key, entry in entries.items():
            if sorted(entry["files"]) != sorted(names(key)):
                raise Damage(f"the files of {key} are not {' and '.join(names(key))}")
    for key, part in parts.items():
        if not part["graphs"].keys() <= graphs.keys():
            raise Damage(f"part {key} has a graph that is not listed")
        if sum(part["graphs"].values()) != part["rows"]:
            raise Damage(f"the graphs of part {key} do not have its rows")
    steps = manifest.steps
    listed = sum(len(numbers) for part in parts.values() for _, numbers in part["steps"])
    if listed != sum(map(len, steps.values())):
        raise Damage("a step of a worker is listed twice")
    for name, count in (("workers", len(steps)), ("steps", listed), ("rows", manifest.rows)):
        if content[name] != count:
            raise Damage(f"its parts have {count} {name}, not {content[name]}")
    return manifest


def _first(part: tuple[str, Entry]) -> tuple[Any, ...]:
    """The place of a part among others: by its first worker and step."""
    key, entry = part
    worker, steps = entry["steps"][0] if entry["steps"] else ("", [])
    return natural(worker), steps[:1], key
