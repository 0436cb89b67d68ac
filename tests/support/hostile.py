"""Hostile inputs, a row each, and what every command must make of them.

    Row      a name, the files, and what must come out: a refusal, or a result with its notes
    COMMANDS every way to ask, with the words that follow the files
    Worker   a warm process (hostile_worker.py) that runs all commands on the files of a row

A file is told by how its name begins: graph*, saved_model*, run*, trace*, log*, profile* and
checkpoint* are given with the option of that kind; others are only there. The catalogue is in
hostile_*.py, by kind of file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from child import PipeChild
from sampling import sampled
from tfprof.errors import InputError, UsageError
from tfprof.tables.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Content = bytes | Callable[[], bytes]

SELECT: Final = "--select=" + ",".join(FIELDS)
# What a file keeps in any case: rules count differently where a saved profile lacks a shape.
UNCOUNTED: Final = "--select=" + ",".join(name for name in FIELDS if name != "float_ops")
LOG: Final = "--flops=log"
DEEP: Final = "--max_depth=10000"
OUT: Final = "OUT"
"""Stands for the path of the file that a command writes."""

VIEWS: Final = ("scope", "graph", "op", "code")
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    **{view: (view, SELECT, LOG, DEEP) for view in VIEWS},
    "scope": ("scope", SELECT, DEEP),  # by all rules, which are the default
    "uncounted scope": ("scope", UNCOUNTED, LOG, DEEP),
    "op by rules": ("op", "--select=float_ops,device", "--flops=all", "--order_by=float_ops"),
    "scope json": ("scope", SELECT, LOG, DEEP, "--format=json"),
    "graph csv": ("graph", SELECT, LOG, DEEP, "--format=csv"),
    "op md": ("op", SELECT, LOG, DEEP, "--format=md"),
    "code json": ("code", SELECT, LOG, DEEP, "--format=json"),
    "scope timeline": ("scope", f"--output=timeline:outfile={OUT}"),
    "graph timeline": ("graph", DEEP, f"--output=timeline:outfile={OUT}"),
    "code timeline": ("code", f"--output=timeline:outfile={OUT}"),
    "scope pprof": ("scope", SELECT, LOG, f"--output=pprof:outfile={OUT}"),
    "code pprof": ("code", f"--output=pprof:outfile={OUT}"),
    "graph proto": ("graph", SELECT, LOG, DEEP, f"--output=proto:outfile={OUT}"),
    "op proto": ("op", SELECT, LOG, DEEP, f"--output=proto:outfile={OUT}"),
    "advise": ("advise",),
    "summary": ("summary",),
    "overview": ("overview",),
    "explain": ("explain", "--name=.*", "--most=3"),
    "save": ("save", "-o", OUT),
    "convert": ("convert", "-o", OUT),
    "page": ("page", "-o", OUT),
    "info": ("info",),
    "shell": (),
    "html": ("html",),
}
# For rows that make long reports: one command of each kind.
FEW: Final = ("scope", "graph", "op by rules", "graph timeline", "advise", "save", "convert",
              "info")  # fmt: skip
# For rows that are refused: reading is the same whoever asks.
READING: Final = (
    *("scope", "code timeline", "advise", "summary", "explain", "save", "convert", "info"),
    *("shell", "html"),
)
# What a command says that cannot be, whatever is in the files; its exit code is 2.
OF_COURSE: Final = ("No code trace information", "a timeline needs a run",
                    "there is nothing to write", "there is nothing to show",
                    "there is nothing to explain", "op view doesn't support timeline")  # fmt: skip

# What summary says of files without a graph; its exit code is 3.
NO_MODEL: Final = "holds no model to summarize"

MEMORY: Final = 200 << 20
MEMORY_A_BYTE: Final = 12
SECONDS: Final = 3.0
SECONDS_A_MEGABYTE: Final = 8.0


def joined(parts: Sequence[Content]) -> Content:
    """The parts as one file. It is made when it is written: long parts are functions."""
    return lambda: b"".join(one if isinstance(one, bytes) else one() for one in parts)


@dataclass(frozen=True)
class Row:
    """A row of the catalogue."""

    name: str
    files: Mapping[str, Content]
    refused: str = ""  # a piece of the sentence that every command refuses it with
    notes: str = ""  # a piece of what scope view says on stderr
    shows: bytes = b""  # a piece of what scope view prints
    blames: str = ""  # the file that the refusal names
    refusing: Sequence[str] = ()  # the commands that refuse, where not all do
    commands: Sequence[str] = ()  # where not all, or all that read, are worth their time
    memory_a_byte: int = MEMORY_A_BYTE

    def write(self, folder: Path) -> int:
        """Write the files; how many bytes they are."""
        size = 0
        for name, content in self.files.items():
            data = content if isinstance(content, bytes) else content()
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
            size += len(data)
        return size

    def words(self, folder: Path) -> list[str]:
        """The options that give the files to a command."""
        found: dict[str, list[str]] = {}
        for name in self.files:
            for start, option in _OPTIONS.items():
                if name.startswith(start):
                    given = "checkpoint" if start == "checkpoint" else name
                    found.setdefault(option, []).append(str(folder / given))
        return [f"--{option}={','.join(dict.fromkeys(paths))}" for option, paths in found.items()]


_OPTIONS: Final = {
    "graph": "graph_path",
    "saved_model": "graph_path",
    "trace": "trace_path",
    "run": "run_meta_path",
    "log": "op_log_path",
    "profile": "profile_path",
    "checkpoint": "checkpoint_path",
}


class Outcome(NamedTuple):
    """What came of one command."""

    command: str
    code: int | str  # a text where it ended in another way
    stdout: bytes  # the beginning of it
    written: int  # bytes on stdout and in files
    stderr: str
    seconds: float  # of the processor
    memory: int  # how much more than before at most


class Worker(PipeChild):
    """The process that runs commands; each row in a copy of it, so that none changes the next."""

    def __init__(self) -> None:
        super().__init__("hostile_worker.py", {"OPENBLAS_NUM_THREADS": "1"})

    def ask(self, folder: Path, lines: Mapping[str, Sequence[str]]) -> Iterator[Outcome]:
        """What comes of each of these command lines, by name."""
        self.connection.send((str(folder), {name: list(line) for name, line in lines.items()}))
        while (outcome := self.connection.recv()) is not None:
            yield Outcome(*outcome)


def lines_of(row: Row, folder: Path, beside: int = len(COMMANDS)) -> dict[str, list[str]]:
    """The command lines of a row, by name: scope view, and in a sample so many *beside* it."""
    given = row.words(folder)
    out = str(folder / OUT)
    lines = {}
    everything = READING if row.refused and not row.refusing else tuple(COMMANDS)
    names = row.commands or everything
    others = [name for name in names if name != "scope"]
    for name in ("scope", *sampled(others, beside, row.name)):
        lines[name] = [*(word.replace(OUT, out) for word in COMMANDS[name]), *given]
    for name, again in _AGAIN.items():
        if name not in lines:
            continue
        lines[name][lines[name].index(out)] = f"{out}.{name}"
        if not row.refused:
            lines["uncounted scope"] = [*COMMANDS["uncounted scope"], *given]
            lines[again] = [*COMMANDS["uncounted scope"], f"--profile_path={out}.{name}"]
    return lines


_AGAIN: Final = {"save": "saved scope", "convert": "converted scope"}


def problems(row: Row, size: int, outcomes: Sequence[Outcome]) -> list[str]:
    """All that is not as *row* says; the files are so many bytes."""
    found = []
    scope = next((one.stdout for one in outcomes if one.command == "uncounted scope"), b"")
    for one in outcomes:
        wrong = [*_wrong_ending(row, one), *_too_much(row, one, size)]
        if one.command == "scope" and row.shows not in one.stdout:
            wrong.append(f"does not show {row.shows!r}")
        if one.command == "scope" and row.notes not in one.stderr:
            wrong.append(f"does not say {row.notes!r}")
        if one.command in _AGAIN.values() and one.stdout != scope:
            wrong.append("shows something else once saved")
        found += [f"{one.command}: {what}: {one.stderr[-2000:]}" for what in wrong]
    return found


def _wrong_ending(row: Row, one: Outcome) -> Iterator[str]:
    """What is wrong with the exit code and with what is said."""
    if "Traceback" in one.stderr:
        yield "a traceback"
    said = [line for line in one.stderr.split("\n") if line.startswith("tfprof: ")]
    said = [line for line in said if not line.startswith(("tfprof: wrote ", "tfprof: this is: "))]
    if one.command == "info":
        # It tells what it can of each file, and fails where there is none to tell of.
        if one.code not in (0, InputError.exit_code):
            yield f"exit code {one.code}"
        if row.refused and not row.refusing and not any(row.blames in line for line in said):
            yield f"no sentence that names {row.blames!r}"
    elif _is_refused(row, one):
        if one.code != InputError.exit_code:
            yield f"exit code {one.code} of a file that is refused"
        if len(said) != 1 or row.blames not in said[0] or row.refused not in said[0]:
            yield f"not one sentence that has {row.blames!r} and {row.refused!r}"
    else:
        yield from _wrong_result(one, len(said))


def _wrong_result(one: Outcome, said: int) -> Iterator[str]:
    """What is wrong with a command whose files can be read, which says so many sentences."""
    of_course = any(piece in one.stderr for piece in (*OF_COURSE, NO_MODEL))
    code = InputError.exit_code if NO_MODEL in one.stderr else UsageError.exit_code
    if one.code != (code if of_course else 0):
        yield f"exit code {one.code}"
    if said > of_course:
        yield "more said than is wrong"


def _is_refused(row: Row, one: Outcome) -> bool:
    return bool(row.refused) and (not row.refusing or one.command in row.refusing)


def _too_much(row: Row, one: Outcome, size: int) -> Iterator[str]:
    """What it took beyond a few times what was read and written."""
    if one.memory > max(MEMORY, row.memory_a_byte * size):
        yield f"{one.memory >> 20} MiB for {size:,} bytes"
    if one.seconds > SECONDS + SECONDS_A_MEGABYTE * (size + one.written) / 1e6:
        yield f"{one.seconds:.1f} s for {size:,} bytes and {one.written:,} written"
