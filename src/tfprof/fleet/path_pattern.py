"""Worker and step of a file, from its path.

    --paths '{worker}/run_meta_{step}'     logs/worker_3/run_meta_20      worker_3, step 20
    --paths 'runs/{worker}/**/s{step}.pb'  a/runs/host-1/2026/05/s7.pb    host-1, step 7
    without a pattern                      logs/worker_3/run_meta_20.gz   worker_3, step 20
                                           logs/plugins/profile/2026/host-1.xplane.pb
                                                                          host-1, steps of the trace
                                           logs/step_20/worker_3.pb       worker_3, step 20
                                           logs/run_meta.worker_3.20      worker_3, step 20

A pattern describes the end of the path, as short as possible. `{worker}` and `*` match within one
name, `{step}` matches digits, `**` matches any number of folders; `.gz` may follow. Without a
pattern, the worker is the folder below the SOURCE, or the SOURCE itself; of traces it is the host,
which TensorFlow makes the file's name. The step is the last number in the file's name, unless the
file records its steps, as traces, event files and profiles with several steps do. Names that say
what they are count first: `step_20` or `ckpt-20` is a step, also as a folder; `worker_3`, `ps0` or
`chief` in a file's name is the worker, unless a folder is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from tfprof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# The names of files that record which steps they have.
TRACE_NAME, _EVENTS, _CONVERTED = ".xplane.pb", ".tfevents.", ".tfprof"
_SESSION: Final = re.compile(r"(?:(.*)/)?plugins/profile/([^/]+)", re.DOTALL)
_PARTS: Final = re.compile(r"(\{\w*\}|\*\*/?|\*|\{|\})")
_STEP: Final = re.compile(r"(?:global_?)?(?:step|ckpt)[._-]?(\d+)")
_WORKER: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:worker|host|task|replica|ps|rank)[._-]?\d+|chief(?:[._-]?\d+)?)"
    r"(?![A-Za-z0-9])"
)
# fmt: off
_REGEX: Final = {
    "{worker}": r"(?P<worker>[^/]+)", "{step}": r"(?P<step>\d+)",
    "*": r"[^/]*", "**": r".*", "**/": r"(?:.*/)?",
}
# fmt: on


class Place(NamedTuple):
    """What a path says about a file."""

    worker: str
    step: int | None = None  # None: the path does not say it
    number: int | None = None  # the step if the file has one only, and does not say which


class PathPattern:
    """A pattern for the ends of paths."""

    def __init__(self, text: str) -> None:
        """Raises UsageError where *text* has braces of another meaning."""
        regex = []
        for part in _PARTS.split(text.lstrip("/")):
            if part[:1] in ("{", "}") and part not in _REGEX:
                raise UsageError(
                    f"--paths has no {part!r}: it takes {{worker}}, {{step}}, *, ** and plain text"
                )
            regex.append(_REGEX.get(part) or re.escape(part))
        for name in ("{worker}", "{step}"):
            if text.count(name) > 1:
                raise UsageError(f"--paths takes {name} once, not {text.count(name)} times")
        self._regex = re.compile(rf"(?:.*/)?{''.join(regex)}(?:\.gz)?", re.DOTALL)
        self.has_worker = "{worker}" in text

    def place(self, path: str, below: Sequence[str]) -> Place | None:
        """The worker and step that *path* names; None where the pattern does not match."""
        match = self._regex.fullmatch(path)
        if match is None:
            return None
        groups = match.groupdict()
        worker = groups["worker"] if self.has_worker else default_place(below).worker
        return Place(worker, int(groups["step"]) if groups.get("step") else None)


def session_of(path: str) -> tuple[str, str] | None:
    """(the folder for logs, the session in it) of a trace that TensorFlow's profiler wrote."""
    folder, _, name = path.rpartition("/")
    match = _SESSION.fullmatch(folder) if TRACE_NAME in name else None
    return (match[1] or "", match[2]) if match else None


def default_place(below: Sequence[str]) -> Place:
    """Worker and step by the parts of a path: its SOURCE, the folders below it, its name."""
    source, *folders, name = below
    plain = name.removesuffix(".gz")
    if plain.endswith(TRACE_NAME):
        session = session_of("/".join([*folders, name]))
        folder = "/".join(folders) if session is None else session[0]
        host = plain.removesuffix(TRACE_NAME)
        return Place(f"{folder}/{host}" if folder else host)
    if _EVENTS in plain:
        return Place("/".join(folders) or source)
    steps, above = ([m[1] for m in map(_STEP.fullmatch, each) if m] for each in (folders, [source]))
    workers = [part for part in folders if not _STEP.fullmatch(part)]
    word = _WORKER.search(plain)
    if word and (word[0] in workers or not any(map(_WORKER.fullmatch, workers))):
        workers += [word[0]] if word[0] not in workers else []
        plain = plain[: word.start()] + plain[word.end() :]
    named = steps or _STEP.findall(plain) or re.findall(r"\d+", plain)
    number = next((int(each) for each in (*named[-1:], *above)), None)
    worker = "/".join(workers) or source
    return Place(worker, *((None, number) if plain.endswith(_CONVERTED) else (number,)))
