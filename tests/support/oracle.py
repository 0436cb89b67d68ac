"""The C++ original, asked over a pipe: what it prints, returns and writes.

    test process                            worker process (oracle_worker.py)
    Oracle.ask  ──── request ─────────────► Profile(view, options)
                ◄─── returned proto ───────
                ◄─── its fd 1 and fd 2 ────  two unnamed files that both processes hold open
                ◄─── files in a folder ────  made for this worker only

Some inputs end the C++ process. That is seen as a closed pipe and raised as `OracleCrashed`; what
the process said last is still in its fd 2, and the next `load` starts a new worker.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NoReturn

from child import QUIET_TENSORFLOW, PipeChild

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Self

OUTFILE: Final = "OUTFILE"
"""Write this as the path in an output option; it is what answers call the path as well."""

_METRICS: Final = (
    *("bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros"),
    *("cpu_micros", "params", "float_ops", "occurrence"),
)
UNRESTRICTED: Final[Mapping[str, Any]] = {
    "max_depth": 10_000,
    **{f"min_{metric}": 0 for metric in _METRICS},
    "step": -1,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": False,
    "select": [],
    "output": "stdout",
}
"""Every option, at the value that hides nothing; an option not given to `ask` has this value."""

_REPORT_RULER: Final = b"\n==================Model Analysis Report======================\n"
_END_RULER: Final = b"\n======================End of Report==========================\n"
_REGEX_LIBRARY_NOISE: Final = re.compile(rb"(?m)^.*re2\.cc:\d+: .*\n")


class OracleCrashed(Exception):  # noqa: N818  it is an answer of the original, not an error of ours
    """The C++ process ended or hung; the argument is what it wrote on fd 2."""


class OracleRaised(Exception):  # noqa: N818  as above
    """The native call raised a Python exception; the argument is its type and text."""


@dataclass(frozen=True)
class Loaded:
    """What came of loading: coverage after the last step, fd 2, and whether there is a profiler."""

    coverage: float | None
    stderr: str
    created: bool = True


@dataclass(frozen=True)
class Answer:
    """What one command printed, returned and wrote."""

    stdout: bytes
    stderr: bytes
    result: bytes
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def report(self) -> bytes:
        """The prefix and the view's text, without the frame; the file's bytes for file output."""
        if _REPORT_RULER not in self.stdout:
            return self.files.get(OUTFILE, b"")
        body = self.stdout.partition(_REPORT_RULER)[2]
        return body.rpartition(_END_RULER)[0]


class Oracle:
    """One profile at a time, as in the original: each load forgets the one before."""

    def __init__(self, timeout_seconds: float = 60.0) -> None:
        """Start nothing yet: the worker starts with the first load."""
        self._timeout = timeout_seconds
        self._worker: _Worker | None = None
        self._loaded = False
        self._held: object = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker; the oracle can still be used, and then starts a new one."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None
            self._loaded = False
            self._held = None

    def hold(self, graph: bytes, op_log: bytes, steps: Sequence[tuple[int, bytes]] = ()) -> None:
        """As `load`, unless this is what was held last and has only been asked since."""
        wanted = hash((graph, op_log, *steps))
        if self._held != wanted:
            self.load(graph, op_log, steps)
            self._held = wanted

    def load(self, graph: bytes, op_log: bytes, steps: Sequence[tuple[int, bytes]] = ()) -> Loaded:
        """A profiler of this graph and op log, with these runs added in order."""
        self._held = None
        (created, coverage), _, stderr = self._call("load", graph, op_log, list(steps))
        self._loaded = created
        return Loaded(coverage, _text(stderr), created)

    def load_profile(self, profile: bytes) -> Loaded:
        """A profiler of a saved profile."""
        self._held = None
        path = self._started().folder / "PROFILE"
        path.write_bytes(profile)
        try:
            _, _, stderr = self._call("load_profile", str(path))
        finally:
            path.unlink(missing_ok=True)
        self._loaded = True
        return Loaded(None, _text(stderr))

    def add_step(
        self, step: int, run_metadata: bytes, graph: bytes = b"", op_log: bytes = b""
    ) -> Loaded:
        """One more run, as between two commands of a session."""
        self._held = None
        arguments = (step, run_metadata, graph, op_log)
        coverage, _, stderr = self._call_loaded("add_step", *arguments)
        return Loaded(coverage, _text(stderr))

    def ask(self, view: str, options: Mapping[str, Any] | None = None) -> Answer:
        """The answer to one view; options as in OptionsProto, missing ones hide nothing."""
        folder = self._started().folder
        values = {**UNRESTRICTED, **(options or {})}
        values["output"] = values["output"].replace(OUTFILE, str(folder / OUTFILE))
        result, stdout, stderr = self._call_loaded("ask", view, values)
        return Answer(stdout, stderr, result, _take_files(folder))

    def advise(self, checkers: Sequence[str]) -> Answer:
        """The answer of these checkers; the order of their sections on fd 1 is arbitrary."""
        result, stdout, stderr = self._call_loaded("advise", list(checkers))
        return Answer(stdout, stderr, result)

    def save(self) -> bytes:
        """The loaded profile as ProfileProto bytes."""
        result, _, _ = self._call_loaded("save")
        saved: bytes = result
        return saved

    def _started(self) -> _Worker:
        if self._worker is None:
            self._worker = _Worker(self._timeout)
        return self._worker

    def _call_loaded(self, *request: object) -> tuple[Any, bytes, bytes]:
        """As `_call`, for what the original would end its process over if nothing is loaded."""
        if not self._loaded:
            message = "nothing is loaded, or the worker that held it has crashed"
            raise RuntimeError(message)
        return self._call(*request)

    def _call(self, *request: object) -> tuple[Any, bytes, bytes]:
        """The returned value, fd 1 and fd 2 of one request."""
        worker = self._started()
        try:
            return worker.call(*request)
        except OracleCrashed:
            self.close()
            raise
        except OracleRaised:
            _take_files(worker.folder)
            raise


class _Worker(PipeChild):
    """The process, its pipe, its two output files and its folder."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._temporary = tempfile.TemporaryDirectory(prefix="oracle")
        self.folder = Path(self._temporary.name)
        self._stdout: BinaryIO = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._stderr: BinaryIO = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        super().__init__(
            "oracle_worker.py", QUIET_TENSORFLOW, stdout=self._stdout, stderr=self._stderr
        )

    def call(self, *request: object) -> tuple[Any, bytes, bytes]:
        try:
            self.connection.send(request)
            if not self.connection.poll(self._timeout):
                self._crashed("no answer in time")
            success, value = self.connection.recv()
        except (EOFError, OSError):
            self._crashed("the process ended")
        stdout, stderr = self._take(self._stdout), self._take(self._stderr)
        if not success:
            raise OracleRaised(value)
        return value, stdout, _REGEX_LIBRARY_NOISE.sub(b"", stderr)

    def close(self, timeout: float | None = 5) -> None:
        super().close(timeout)
        self._stdout.close()
        self._stderr.close()
        self._temporary.cleanup()

    def _crashed(self, how: str) -> NoReturn:
        self.process.kill()
        code = self.process.wait()
        message = f"{how} (exit code {code}): {_text(self._take(self._stderr))}"
        raise OracleCrashed(message) from None

    def _take(self, stream: BinaryIO) -> bytes:
        """All that was written since the last time, with our folder cut off paths."""
        stream.seek(0)
        written = stream.read()
        if written:
            stream.seek(0)
            stream.truncate()
        return written.replace(os.fsencode(self.folder) + b"/", b"")


def _take_files(folder: Path) -> dict[str, bytes]:
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    for name in files:
        (folder / name).unlink()
    return files


def _text(written: bytes) -> str:
    return written.decode(errors="backslashreplace")
