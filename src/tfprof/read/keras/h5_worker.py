"""Lists what an HDF5 file holds. This is the program of a process of its own (see h5_process.py).

    ── size of the file ──►            one file after the other, until the input ends
    ◄── "read", offset, length ──
    ── the bytes ──►
    ◄── "done", 0, length; JSON ──     shapes, dtypes and some attributes; no tensor values

It follows hard links only, visits every object once, and cannot open a file after its start.
"""

from __future__ import annotations

import io
import json
import os
import re
from contextlib import suppress
from typing import Any, Final

import h5py

resource: Any = None  # not on every system
with suppress(ImportError):
    import resource

MOST: Final = 1_000_000
_DEEPEST: Final = 200
_MEMORY: Final = 4 << 30
_BLOCK, _BLOCKS = 1 << 14, 1 << 10
_TEXTS: Final = ("model_config", "keras_version")
_LISTS: Final = re.compile(r"(layer|weight)_names\d{0,4}")
_STDIN, _STDOUT = 0, 1
_CPU: Final = resource.RLIMIT_CPU if resource else 0
_SECONDS, _BYTES_PER_SECOND = 3, 4 << 20


class _Remote(io.RawIOBase):
    """The file, whose bytes the other process has."""

    def __init__(self, size: int) -> None:
        self._size, self._at = size, 0
        self._blocks: dict[int, bytes] = {}

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, (0, self._at, self._size)[whence] + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - anything that can be written to
        view = memoryview(buffer).cast("B")
        done, most = 0, min(len(view), max(0, self._size - self._at))
        while done < most:
            number, skip = divmod(self._at, _BLOCK)
            piece = self._block(number)[skip : skip + most - done]
            view[done : done + len(piece)] = piece
            done, self._at = done + len(piece), self._at + len(piece)
        return done

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            if len(self._blocks) >= _BLOCKS:
                self._blocks.clear()
            at = number * _BLOCK
            length = min(_BLOCK, self._size - at)
            _write(f"read {at} {length}\n".encode())
            self._blocks[number] = _read(length)
        return self._blocks[number]


def listed(file: io.IOBase, size: int) -> dict[str, Any]:
    """The weights, lists of names, names of groups and texts in an HDF5 file."""
    result: dict[str, Any] = {"weights": {}, "lists": {}, "names": {}, "texts": {}}
    with h5py.File(file, "r") as opened:
        waiting, visited = [("", opened.id, 0)], set()
        while waiting:
            path, group, depth = waiting.pop()
            _attributes(h5py.AttributeManager(h5py.Group(group)), path, size, result)
            for name in _hard_links(group) if depth < _DEEPEST else ():
                item = h5py.Group(group)[name].id
                address = h5py.h5o.get_info(item).addr
                if address in visited:
                    continue
                visited.add(address)
                if len(visited) > MOST:
                    raise ValueError(f"more than {MOST:,} objects")
                inside = f"{path}/{_text(name)}" if path else _text(name)
                if isinstance(item, h5py.h5g.GroupID):
                    waiting.append((inside, item, depth + 1))
                elif isinstance(item, h5py.h5d.DatasetID) and not _is_virtual(item):
                    result["weights"][inside] = (list(item.shape), _dtype(item))
    return result


def _hard_links(group: Any) -> list[bytes]:  # noqa: ANN401 - h5py has no type hints
    names: list[bytes] = []

    def visit(name: bytes, link: Any) -> None:  # noqa: ANN401
        if link.type == h5py.h5l.TYPE_HARD and len(names) <= MOST:
            names.append(name)

    group.links.iterate(visit, info=True)
    return names


def _is_virtual(dataset: Any) -> bool:  # noqa: ANN401
    """Whether its data is in other files, which asking for its shape may open."""
    return bool(dataset.get_create_plist().get_layout() == h5py.h5d.VIRTUAL)


def _dtype(dataset: Any) -> str:  # noqa: ANN401
    dtype = dataset.dtype
    return str(dtype if dtype.kind == "V" else dtype.name)


def _attributes(attributes: Any, path: str, size: int, result: dict[str, Any]) -> None:  # noqa: ANN401
    for key in (*_TEXTS, "name"):
        if key in attributes and (path == "" or key == "name"):
            table, place = ("names", path) if key == "name" else ("texts", key)
            values = _strings(attributes, key, size)
            result[table].update({place: values[0]} if len(values) == 1 else {})
    names = sorted(filter(_LISTS.fullmatch, attributes), key=lambda key: (len(key), key))
    for key in names:  # long lists are in pieces: weight_names0, weight_names1, …
        place = f"{path}/{key.rstrip('0123456789')}"
        result["lists"].setdefault(place, []).extend(_strings(attributes, key, size))


def _strings(attributes: Any, key: str, size: int) -> list[str]:  # noqa: ANN401
    attribute = attributes.get_id(key)
    points = attribute.get_space().get_simple_extent_npoints()
    if points > MOST or points * attribute.get_type().get_size() > size:
        raise ValueError(f"{key} is too long")
    value = attributes[key] if points else []
    return [_text(each) for each in ([value] if isinstance(value, (str, bytes)) else value)]


def _text(value: Any) -> str:  # noqa: ANN401
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _read(length: int) -> bytes:
    pieces = []
    while length:
        piece = os.read(_STDIN, min(length, 1 << 20))
        if not piece:
            raise EOFError
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(_STDOUT, view) :]


def _close_doors() -> None:
    """From here on: no more files, no core dump, and no more memory than any model needs."""
    if resource is not None:
        none = (resource.RLIMIT_NOFILE, 0), (resource.RLIMIT_CORE, 0)
        for what, most in (*none, (resource.RLIMIT_AS, _MEMORY)):
            with suppress(ValueError, OSError):
                resource.setrlimit(what, (most, most))


def _start_clock(size: int) -> None:
    """End this process if it computes for longer than a file of this size may take."""
    if resource is not None:
        usage, (_, most) = resource.getrusage(resource.RUSAGE_SELF), resource.getrlimit(_CPU)
        seconds = int(usage.ru_utime + usage.ru_stime) + _SECONDS + size // _BYTES_PER_SECOND
        with suppress(ValueError, OSError):
            resource.setrlimit(_CPU, (seconds, most))


def serve() -> None:
    """List one file after the other."""
    made = io.BytesIO()  # whatever h5py imports late, it imports here
    with h5py.File(made, "w") as file:
        file.attrs["model_config"], file.attrs["name"] = b"text of ASCII", "text of UTF-8"
        file.attrs["layer_names"], file.attrs["weight_names"] = [b"a"], ["a"]
        file.create_dataset("a/b", (1,), "float32")
    listed(made, len(made.getvalue()))
    _close_doors()
    while True:
        size = int(_read(20))
        _start_clock(size)
        try:
            answer = listed(_Remote(size), size)
        except EOFError:
            return
        except BaseException as problem:  # noqa: BLE001 - the library raises anything
            answer = {"error": " ".join(str(problem).split()) or type(problem).__name__}
        text = json.dumps(answer).encode()
        _write(f"done 0 {len(text)}\n".encode() + text)


if __name__ == "<run_path>":  # see h5_process.py
    with suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        serve()
