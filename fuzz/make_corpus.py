"""The corpus: small parts of real files, and what the fuzzer found that reaches further.

python -m fuzz.make_corpus                  the parts of real files, for every target
python -m fuzz.make_corpus --add FOLDER     and of FOLDER/TARGET, which `fuzz.run --keep` fills,
                                            the inputs that reach lines no shorter one reaches
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tfprof
from fuzz.real_parts import seeds
from fuzz.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType

    from fuzz.targets import Target

_CORPUS: Final = Path(__file__).parent / "corpus"
_PRODUCT: Final = str(Path(tfprof.__file__).parent)
_LONGEST: Final = 4000
_MOST: Final = 5_000  # bytes that are added to a target

Line = tuple[str, int, int]


def lines_of(target: Target, data: bytes) -> set[Line]:
    """The pairs of lines of the product that *data* goes through, one after the other."""
    seen: set[Line] = set()

    def local(before: int) -> Callable[[FrameType, str, Any], Any]:
        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal before
            if event == "line":
                seen.add((frame.f_code.co_filename, before, frame.f_lineno))
                before = frame.f_lineno
            return trace

        return trace

    def called(frame: FrameType, _: str, __: object) -> Any:
        return local(0) if frame.f_code.co_filename.startswith(_PRODUCT) else None

    sys.settrace(called)
    try:
        target.run(data)
    finally:
        sys.settrace(None)
    return seen


def further(target: Target, known: Iterable[bytes], found: Iterable[bytes]) -> list[bytes]:
    """Those of *found* that reach what *known* and shorter ones do not, up to a bound."""
    reached: set[Line] = set()
    for data in known:
        reached |= lines_of(target, data)
    kept: list[bytes] = []
    for data in sorted(set(found), key=lambda one: (len(one), one)):
        if len(data) > _LONGEST or sum(map(len, kept)) + len(data) > _MOST:
            break
        new = lines_of(target, data) - reached
        if new:
            reached |= new
            kept.append(data)
    return kept


def main() -> None:
    """Write the corpus."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.make_corpus", description=__doc__)
    parser.add_argument("--add", type=Path, help="what fuzz.run kept: a folder a target")
    asked = parser.parse_args()
    for name, real in seeds().items():
        folder = _CORPUS / name
        folder.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(real):
            (folder / f"real-{number:02d}").write_bytes(data)
        if asked.add and (asked.add / name).is_dir():
            for old in folder.glob("found-*"):
                old.unlink()
            found = [file.read_bytes() for file in (asked.add / name).iterdir()]
            for number, data in enumerate(further(TARGETS[name], real, found)):
                (folder / f"found-{number:02d}").write_bytes(data)
        sizes = [file.stat().st_size for file in folder.iterdir()]
        print(f"{name:<16} {len(sizes):>4} files {sum(sizes):>7,} bytes")


if __name__ == "__main__":
    main()
