"""Fuzz the readers: inputs by the thousand, each steered by the code that the ones before reached.

    python -m fuzz.run [TARGET…] [--runs N] [--seed N] [--findings FOLDER] [--keep FOLDER]
                       [--sanitize]
    python -m fuzz.run TARGET --replay FILE…

Every target runs in a process of its own, with bounds on its time and memory an input. What it
finds is kept in fuzz/findings/TARGET, where the tests give it to the target again; the exit code
is then 1. A seed and a corpus give the same inputs each time.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import resource
import sys
import time
import traceback
import warnings
from contextlib import redirect_stderr
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import atheris

# Threads of NumPy's would not live through a fork, and count as memory.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What is imported here is watched; what readers import when they first need it would not be.
with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["tfprof"]):
    from fuzz import mutate, sanitized
    from fuzz.targets import TARGETS
    from tfprof import checkers, ops, read, summary, views
    from tfprof import writers as reporters

    for _package in (checkers, ops, read, reporters, summary, views):
        for _module in walk_packages(_package.__path__, f"{_package.__name__}."):
            import_module(_module.name)

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz.targets import Target

HERE = Path(__file__).parent
CORPUS, FINDINGS = HERE / "corpus", HERE / "findings"
RUNS = 200_000
_LONGEST = 8192
_SECONDS = 20  # an input
_MEMORY = 2 << 30  # of the process, NumPy's and Python's own included
_BLINDLY = 4  # one change of so many is libFuzzer's own


class Result(NamedTuple):
    """What became of a target."""

    target: str
    executions: int
    coverage: int
    seconds: float
    findings: tuple[Path, ...]
    ran_to_the_end: bool  # every input that was asked for was made and given to the target
    said: str  # all that libFuzzer said

    @property
    def is_clean(self) -> bool:
        """Whether all inputs were tried and nothing was found."""
        return self.ran_to_the_end and not self.findings


def fuzz(target: Target, runs: int, seed: int, findings: Path, kept: Path | None = None) -> Result:
    """Run *target* in a process of its own; *kept* gets the inputs that reached something new."""
    start = time.monotonic()
    with TemporaryDirectory() as folder:
        log, new = Path(folder) / "log", kept or Path(folder) / "new"
        for place in (new, findings):
            place.mkdir(parents=True, exist_ok=True)
        before = set(findings.iterdir())
        child = os.fork()
        if not child:
            flags = _flags(target, runs, seed, findings, new)
            _child(_keeping(target, findings), _mutator(target), log, flags)
        _, status = os.waitpid(child, 0)
        said = log.read_text(errors="replace")
    found = tuple(sorted(set(findings.iterdir()) - before))
    return Result(
        target.name,
        _last_number(r"(?:number_of_executed_units:\s+|^#)(\d+)", said),
        _last_number(r"cov: (\d+)", said),
        time.monotonic() - start,
        found,
        status == 0,
        said,
    )


def _flags(target: Target, runs: int, seed: int, findings: Path, new: Path) -> list[str]:
    """The words that libFuzzer takes; it writes to the first folder only."""
    folders = [new, CORPUS / target.name, FINDINGS / target.name]
    return [
        f"-runs={runs}",
        f"-seed={seed}",
        f"-max_len={_LONGEST}",
        f"-timeout={_SECONDS}",
        f"-rss_limit_mb={_MEMORY >> 20}",
        f"-artifact_prefix={findings}/",
        "-print_final_stats=1",
        "-len_control=0",
        *(str(folder) for folder in folders if folder.is_dir()),
    ]


def _child(
    run: Callable[[bytes], None], mutator: Callable[..., bytes], log: Path, flags: list[str]
) -> None:
    """The process that runs a target; what it says goes to *log*, and it does not return."""
    handle = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    # More than this is a MemoryError, whose traceback tells more than a process that is killed.
    if not sanitized.is_loaded():  # which reserves addresses for all the memory there could be
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("error")
    try:
        atheris.Setup([sys.argv[0], *flags], run, custom_mutator=mutator)
        atheris.Fuzz()
    except Exception:  # noqa: BLE001 - a mutator's own; what a target raises ends as SystemExit
        traceback.print_exc()
    finally:
        os._exit(1)


def _keeping(target: Target, findings: Path) -> Callable[[bytes], None]:
    """The target; an input that it does not stand is written to *findings*.

    libFuzzer does that only for what ends the process: a crash, a timeout, too much memory.
    """

    def run(data: bytes) -> None:
        try:
            target.run(data)
        except BaseException:
            (
                findings / f"crash-{hashlib.sha1(data, usedforsecurity=False).hexdigest()}"
            ).write_bytes(data)
            raise

    return run


def _mutator(target: Target) -> Callable[..., bytes]:
    """What libFuzzer asks for the next input."""
    others = [data for _, data in kept_inputs(target.name)]

    def change(data: bytes, most: int, seed: int) -> bytes:
        rng = Random(seed)  # noqa: S311 - repeatable, not secret
        if rng.randrange(_BLINDLY) == 0:
            return bytes(atheris.Mutate(data, most))
        return target.mutate(bytes(data), mutate.Dice(rng, others))[:most]

    return change


def kept_inputs(target: str) -> list[tuple[Path, bytes]]:
    """The inputs that are kept for a target, those that found something among them."""
    folders = (CORPUS / target, FINDINGS / target)
    files = [file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir())]
    return [(file, file.read_bytes()) for file in files]


def _last_number(pattern: str, said: str) -> int:
    return int([0, *re.findall(pattern, said, re.MULTILINE)][-1])


# --- the command -------------------------------------------------------------------------------


def main() -> int:
    """Fuzz, or replay what was found; the exit code."""
    asked = _arguments()
    if asked.sanitize and not sanitized.is_loaded():
        return sanitized.again()
    targets = {name: TARGETS[name] for name in asked.targets or TARGETS}
    if asked.replay:
        return _replay(next(iter(targets.values())), asked.replay)
    results = []
    for name, target in targets.items():
        kept = asked.keep / name if asked.keep else None
        results.append(fuzz(target, asked.runs, asked.seed, asked.findings / name, kept))
        print(_told(results[-1]), flush=True)
        if not results[-1].is_clean:
            print(_traceback(results[-1].said))
        for file in results[-1].findings:
            print(f"  kept: {file}\n  again: python -m fuzz.run {name} --replay {file}")
    print(f"{sum(one.executions for one in results):>11,} executions in all")
    return 0 if all(one.is_clean for one in results) else 1


def _told(result: Result) -> str:
    stopped = "" if result.ran_to_the_end or result.findings else ", but it stopped before the end"
    return (
        f"{result.target:<16} {result.executions:>10,} executions {result.coverage:>6,} places "
        f"{result.seconds:>7.0f} s   {len(result.findings) or 'no'} findings{stopped}"
    )


def _traceback(said: str) -> str:
    """What there is to see of a finding: Python's own words, or else libFuzzer's last."""
    _, found, told = said.partition(" === Uncaught Python exception: ===\n")
    return told.strip() if found else said[-2000:].strip()


def _replay(target: Target, files: list[Path]) -> int:
    """Give these files to the target; an exception is shown as Python shows it."""
    warnings.simplefilter("error")
    for file in files:
        target.run(file.read_bytes(), everything=True)
        print(f"{file}: nothing found")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description="Fuzz the readers.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--runs", type=int, default=RUNS, help="inputs a target")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers")
    parser.add_argument(
        "--findings", type=Path, default=FINDINGS, help="a folder for what is found"
    )
    parser.add_argument("--keep", type=Path, help="a folder for inputs that reached new code")
    parser.add_argument("--sanitize", action="store_true", help="with a sanitized compiled core")
    parser.add_argument("--replay", type=Path, nargs="+", help="run these inputs only")
    asked = parser.parse_args()
    if unknown := set(asked.targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    return asked


if __name__ == "__main__":
    sys.exit(main())
