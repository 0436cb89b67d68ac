"""Chrome's trace events as JSON text, so that a million events are never objects.

    {"traceEvents":[{"args":{"name":"loss"},"cat":"Op","dur":7,"name":"loss","ph":"X",…},…]}

No spaces, keys in byte order, text in ASCII, and a newline at the end of the file. Names are passed
in already quoted, since most of them occur in several events.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DELETE = "\x7f"


def quoted(name: bytes) -> str:
    """A JSON string; bytes that are not UTF-8 are replaced, because JSON cannot hold them."""
    text = name.decode("utf-8", "replace")
    if _DELETE not in text:
        return encode_basestring_ascii(text)
    # The original's writer leaves DEL as it is; Python's escapes it.
    parts = (encode_basestring_ascii(part)[1:-1] for part in text.split(_DELETE))
    return f'"{_DELETE.join(parts)}"'


def point(pid: int, tid: int, ts: int) -> str:
    """Where an event stands: the members that its object ends with."""
    return f'"pid":{pid},"tid":{tid},"ts":{ts}'


def process(title: bytes, pid: int) -> str:
    """The title of a process."""
    return f'{{"args":{{"name":{quoted(title)}}},"name":"process_name","ph":"M","pid":{pid}}}'


def region(name: str, us: int, at: str, more: str = "") -> str:
    """A bar; *more* are further members of its arguments."""
    return f'{{"args":{{"name":{name}{more}}},"cat":"Op","dur":{us},"name":{name},"ph":"X",{at}}}'


def flow(name: str, number: int, begin: str, end: str) -> str:
    """Both events of an arrow; *name* is that of the bar it begins at."""
    head = f'{{"cat":"DataFlow","id":{number},"name":{name[:-1]}_flow","ph":'
    return f'{head}"s",{begin}}},{head}"t",{end}}}'


def counter(name: str, args: str, at: str) -> str:
    """The values of a counter from now on; *args* are the members of a JSON object."""
    return f'{{"args":{{{args}}},"cat":"Memory","name":"{name}","ph":"C",{at}}}'


def trace(events: Iterable[list[str]]) -> Iterator[bytes]:
    """The file around *events*, one piece per list."""
    yield b'{"traceEvents":['
    comma = ""
    for batch in events:
        if batch:
            yield (comma + ",".join(batch)).encode("ascii")
            comma = ","
    yield b"]}\n"
