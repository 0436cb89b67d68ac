"""The manifest of a fleet: which files belong to it, their checksums, what they hold.

    {"format": "tfprof fleet", "version": 1, "tfprof": "2.0",
     "workers": 4, "steps": 12, "rows": 480,
     "graphs": {id: {"nodes", "files"}},  "parts": {key: {"rows", "graphs", "steps", "files"}},
     "skipped": [{"path", "worker", "step", "reason", "kind"}],  "notes": [text]}

"files" maps a name in the dataset to its bytes and SHA-256. "graphs" of a part maps a graph to its
rows, "steps" lists [worker, [steps]]. The same content always gives the same bytes. A manifest is
not trusted: it names only files whose names follow from its keys.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from tfprof.errors import InputError
from tfprof.fleet.schema import FORMAT
from tfprof.foundation.arguments import INT64_MAX
from tfprof.foundation.lazy_dataclasses import dataclass, field
from tfprof.foundation.natural_order import natural

NAME: Final = "manifest.json"
KIND: Final = "tfprof fleet"
FOLDERS: Final = {"graphs": (".tfprof", ".parquet"), "rows": (".parquet",), "steps": (".parquet",)}
_KEY: Final = re.compile("[0-9a-f]{16}")
_DIGEST: Final = re.compile("[0-9a-f]{64}")

Entry = dict[str, Any]


def graph_names(graph: str) -> tuple[str, str]:
    """The files of a graph, in the order in which they are written."""
    return f"graphs/{graph}.tfprof", f"graphs/{graph}.parquet"


def part_names(key: str) -> tuple[str, str]:
    """The files of a part, in the order in which they are written."""
    return f"rows/{key}.parquet", f"steps/{key}.parquet"


def is_own_name(folder: str, name: str) -> bool:
    """Whether a fleet may have made the file *name* in *folder*."""
    return any(
        name.endswith(end) and _KEY.fullmatch(name.removesuffix(end))
        for end in FOLDERS.get(folder, ())
    )


@dataclass(frozen=True)
class Manifest:
    """What manifest.json says; parts are in the order of their first worker and step."""

    graphs: dict[str, Entry] = field(default_factory=dict)
    parts: dict[str, Entry] = field(default_factory=dict)
    skipped: tuple[Entry, ...] = ()
    notes: tuple[str, ...] = ()
    tfprof: str = ""

    @property
    def steps(self) -> dict[str, set[int]]:
        """The steps of each worker."""
        result: dict[str, set[int]] = {}
        for part in self.parts.values():
            for worker, steps in part["steps"]:
                result.setdefault(worker, set()).update(steps)
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
        lines = (f" {_compact(name)}: {_compact(value[name])}" for name in sorted(value))
        return "{\n" + ",\n".join(lines) + "\n}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f" {_compact(each)}" for each in value) + "\n]"
    return _compact(value)


def _compact(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


# --- reading --------------------------------------------------------------------------------------


def read_manifest(data: bytes, name: str) -> Manifest:
    """The manifest in *data*; raises InputError that names the file *name*."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(f"{name} is damaged: it is no JSON") from None
    if not isinstance(content, dict) or content.get("format") != KIND:
        raise InputError(f"{name} is not the manifest of a fleet")
    return _Reader(name).manifest(content)


class _Reader:
    """Checks each value of a manifest before it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def manifest(self, content: Entry) -> Manifest:
        version = self._count(content, "version")
        if version > FORMAT:
            raise InputError(
                f"{self._name} is of fleet format {version}, and this tfprof reads up to {FORMAT}: "
                "install a newer tfprof"
            )
        graphs, parts = self._entries(content, "graphs"), self._entries(content, "parts")
        result = Manifest(
            {graph: self._graph(graph, entry) for graph, entry in graphs.items()},
            dict(
                sorted(((key, self.part(key, entry)) for key, entry in parts.items()), key=_first)
            ),
            tuple(self._skipped(each) for each in self._value(content, "skipped", list)),
            tuple(self._texts(content, "notes")),
            self._text(content, "tfprof"),
        )
        self._check(result, content)
        return result

    def part(self, key: str, entry: Entry) -> Entry:
        """The checked entry of a part."""
        graphs = {
            self._key(graph): self._count(self._value(entry, "graphs", dict), graph)
            for graph in self._value(entry, "graphs", dict)
        }
        steps = []
        for each in self._value(entry, "steps", list):
            match each:
                case [str(worker), [*numbers]] if numbers:
                    self._encodable(worker)
                    steps.append([worker, [self._number(step) for step in numbers]])
                case _:
                    self._damaged(f"the steps of part {key} are not [worker, [steps]]")
        return {
            "rows": self._count(entry, "rows"),
            "graphs": graphs,
            "steps": steps,
            "files": self._files(entry, part_names(key)),
        }

    def _graph(self, graph: str, entry: Entry) -> Entry:
        files = self._files(entry, graph_names(graph))
        return {"nodes": self._count(entry, "nodes"), "files": files}

    def _files(self, entry: Entry, names: tuple[str, str]) -> Entry:
        files = self._value(entry, "files", dict)
        if sorted(files) != sorted(names):
            self._damaged(f"it does not name exactly the files {' and '.join(names)} together")
        return {name: self.file(files[name]) for name in names}

    def file(self, entry: object) -> Entry:
        """The checked bytes and checksum of a file."""
        if not isinstance(entry, dict):
            self._damaged("a file has no bytes and sha256")
        digest = self._text(entry, "sha256")
        if not _DIGEST.fullmatch(digest):
            self._damaged("a sha256 is not 64 hexadecimal digits")
        return {"bytes": self._count(entry, "bytes"), "sha256": digest}

    def _skipped(self, entry: object) -> Entry:
        if not isinstance(entry, dict):
            self._damaged("a skipped file is no object")
        texts = {name: self._text(entry, name) for name in ("path", "worker", "reason", "kind")}
        step = entry.get("step")
        return {**texts, "step": None if step is None else self._number(step)}

    def _check(self, manifest: Manifest, content: Entry) -> None:
        """Counts fit, each step is in one part, and each graph of a part is there."""
        steps = manifest.steps
        listed = sum(
            len(numbers) for part in manifest.parts.values() for _, numbers in part["steps"]
        )
        if listed != sum(map(len, steps.values())):
            self._damaged("a step of a worker is in two parts")
        counts = {"workers": len(steps), "steps": listed, "rows": manifest.rows}
        for name, count in counts.items():
            if self._count(content, name) != count:
                self._damaged(f"its parts have {count} {name}, not {content[name]}")
        for key, part in manifest.parts.items():
            if not part["graphs"].keys() <= manifest.graphs.keys():
                self._damaged(f"part {key} has a graph that is not listed")
            if sum(part["graphs"].values()) != part["rows"]:
                self._damaged(f"the graphs of part {key} do not have its rows")

    def _entries(self, content: Entry, name: str) -> dict[str, Entry]:
        entries = self._value(content, name, dict)
        for key, entry in entries.items():
            self._key(key)
            if not isinstance(entry, dict):
                self._damaged(f"{name} {key} is no object")
        return dict(entries)

    def _key(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            self._damaged("a key is not 16 hexadecimal digits")
        return key

    def _texts(self, entry: Entry, name: str) -> list[str]:
        texts = self._value(entry, name, list)
        return [self._text({name: text}, name) for text in texts]

    def _text(self, entry: Entry, name: str) -> str:
        text: str = self._value(entry, name, str)
        self._encodable(text)
        return text

    def _encodable(self, text: str) -> None:
        try:
            text.encode()
        except UnicodeEncodeError:
            self._damaged("a text is not Unicode")

    def _count(self, entry: Entry, name: str) -> int:
        count = self._number(self._value(entry, name, int))
        if count < 0:
            self._damaged(f"{name} is negative")
        return count

    def _number(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > INT64_MAX:
            self._damaged("a number is not a whole number of 64 bits")
        return value

    def _value(self, entry: Entry, name: str, kind: type) -> Any:  # noqa: ANN401 - of that kind
        value = entry.get(name)
        if not isinstance(value, kind):
            self._damaged(f"it has no {name}" if value is None else f"{name} is of a wrong type")
        return value

    def _damaged(self, reason: str) -> NoReturn:
        raise InputError(f"{self._name} is damaged: {reason}")


def _first(part: tuple[str, Entry]) -> tuple[Any, ...]:
    """The place of a part among others: by its first worker and step."""
    key, entry = part
    if not entry["steps"]:
        return [], 0, key
    worker, steps = entry["steps"][0]
    return natural(worker), steps[0], key
