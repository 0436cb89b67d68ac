"""Fuzz the compiled kernels under AddressSanitizer and UBSan.

    python -m fuzz.kernels [--damaged N] [--mutated N] [--raw N] [--seed N] [--source _core.c]

Three sources of inputs:

    damaged    each message of the corpus, cut off at every byte and with every bit flipped
    mutated    messages of the corpus with random changes, as run.py makes them
    raw        functions of the core called with any arrays: offsets and sizes that nobody checked

A fault ends the process: the exit code is 99 and the sanitizer shows where.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fuzz import mutate, sanitized
from fuzz.kernel_inputs import INPUTS, WANTED, material
from tfprof.kernels.table import KERNELS
from tfprof.wire.decode import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS: Final = Path(__file__).parent / "corpus"
MESSAGES: Final = (
    *("graph", "run", "op_log", "meta_graph", "functions", "function_run", "saved_model"),
    *("debug_info", "objects", "trace"),
)
_A_BYTE = 9  # damages: the file ends before it, or one of its bits is flipped
_SELDOM, _OTHERS = 6, 3  # one input of six goes through three other kernels
_EXTREMES = (-1, 0, 1, 2**31, 2**32, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1)
_SIGNATURE = re.compile(
    r'^KERNEL\((\w+), "(\S+)"\)|^static PyObject \*(\w+)\(PyObject \*self, PyObject \*args\) \{'
    r'(?:(?!^\}).)*?open_arrays\(args, "(\S+)"',
    re.MULTILINE | re.DOTALL,
)


def messages() -> list[bytes]:
    """The messages of the corpus."""
    files = (file for name in MESSAGES for file in sorted((CORPUS / name).iterdir()))
    return [file.read_bytes() for file in files]


# --- messages, damaged and mutated ---------------------------------------------------------------


def damaged(count: int | None, rng: Random) -> Iterator[bytes]:
    """All damages, or *count* of them."""
    samples = messages()
    every = [
        (number, place) for number, it in enumerate(samples) for place in range(_A_BYTE * len(it))
    ]
    for number, place in every if count is None else rng.sample(every, min(count, len(every))):
        at, bit = divmod(place, _A_BYTE)
        wrong = bytearray(samples[number])
        if bit == _A_BYTE - 1:
            del wrong[at:]
        else:
            wrong[at] ^= 1 << bit
        yield bytes(wrong)


def mutated(count: int, rng: Random) -> Iterator[bytes]:
    """Messages with random changes."""
    samples = messages()
    dice = mutate.Dice(rng, samples)
    data = samples[0]
    for number in range(count):
        if number % 16 == 0:
            data = rng.choice(samples)
        # A change of the tree takes ten times as long as a blind one; changes add up.
        data = (mutate.wire if rng.randrange(16) == 0 else mutate.blind)(data, dice)[:4096]
        yield data


def run(data: bytes, rng: Random, numbers: np.random.Generator) -> int:
    """Give *data* to the scan and, one input of a few, to other kernels; how many calls it took."""
    scan = KERNELS["scan_fields"].compiled
    assert scan is not None
    blob = np.array(np.frombuffer(data, np.uint8))
    scan(blob, *whole(blob), rng.choice(WANTED))
    if rng.randrange(_SELDOM):
        return 1
    it = material(data, numbers)
    names = rng.choices([*KERNELS], k=_OTHERS)
    for name in names:
        compiled = KERNELS[name].compiled
        assert compiled is not None, name
        compiled(*INPUTS[name].arguments(it))
    return 1 + len(names)


# --- any arrays ----------------------------------------------------------------------------------


def signatures(source: Path) -> dict[str, str]:
    """Function → kinds of its arrays, as the C source has them."""
    found = _SIGNATURE.findall(source.read_text())
    return {kernel or other: kinds or arrays for kernel, kinds, other, arrays in found}


def raw(kinds: str, rng: Random, numbers: np.random.Generator) -> list[Any]:
    """Arguments for a function; most have the sizes that it asks for."""
    tame = rng.randrange(4) > 0
    size = rng.choice((0, 1, 2, 3, 8, 17, 100))
    most = rng.choice((1, 2, 6, 40))
    sizes = [rng.choice((size, size, size + 1, 2 * size, 16, 32, 64, 256)) for _ in kinds[::2]]
    arrays: list[Any] = []
    array: Any
    for kind, rule, any_size in zip(kinds[::2], kinds[1::2], sizes, strict=True):
        count = any_size if rule == "*" else 1 if rule == "!" else sizes[int(rule)]
        if not tame and rng.randrange(4) == 0:
            count = max(0, count + rng.choice((-1, 1, 8)))
        if kind in "bB":
            array = numbers.integers(0, rng.choice((2, 6, 256)), count, dtype=np.uint8)
        else:
            array = numbers.integers(0 if tame else -1, most, count)
            if count and not tame and rng.randrange(2):
                array[rng.randrange(count)] = rng.choice((*_EXTREMES, most, most + 1))
            array = _arranged(array, rng, numbers)
        # At times an array overlaps another.
        arrays.append(rng.choice(arrays) if arrays and rng.randrange(60) == 0 else array)
    if rng.randrange(100) == 0:
        arrays[rng.randrange(len(arrays))] = rng.choice((None, b"", 7, [], bytearray(9), "a"))
    if rng.randrange(100) == 0:
        arrays = rng.choice((arrays[1:], [*arrays, arrays[0]]))
    return arrays


def _arranged(array: Any, rng: Random, numbers: np.random.Generator) -> Any:
    """At times ascending, or as slots of a hash table, or of another layout."""
    if rng.randrange(3) == 0:
        array.sort()
    if rng.randrange(6) == 0:
        array |= numbers.integers(0, 1 << 32, array.size) << 32
    if rng.randrange(40) == 0:
        layouts = (np.int32, np.array, lambda it: np.repeat(it, 2)[::2], _misaligned)
        array = rng.choice(layouts)(array)
    return array


def _misaligned(array: Any) -> Any:
    return np.frombuffer(bytearray(b"\0" + array.tobytes()), np.int64, array.size, 1)


def call(function: Any, arguments: list[Any]) -> None:
    """A function of the core refuses what it does not take by an exception or by None."""
    with suppress(BufferError, TypeError, ValueError):
        function(*arguments)


# --- the command ---------------------------------------------------------------------------------


def main() -> int:
    """Run everything in a process with the sanitized core; the exit code."""
    asked = _arguments()
    if not sanitized.is_loaded():
        return sanitized.again(asked.source)
    from tfprof.kernels import _core  # noqa: PLC0415 - there may be none

    assert set(INPUTS) == set(KERNELS), "a kernel without inputs"
    called = signatures(asked.source)
    assert set(called) == {name for name in dir(_core) if name[0] != "_"}, "an unknown function"
    rng, begin = Random(asked.seed), time.monotonic()  # noqa: S311 - repeatable, not secret
    numbers, calls = np.random.default_rng(asked.seed), 0
    for what, inputs in (
        ("damaged", damaged(asked.damaged, rng)),
        ("mutated", mutated(asked.mutated, rng)),
    ):
        count = 0
        for data in inputs:
            calls += run(data, rng, numbers)
            count += 1
        print(f"{what:<8} {count:>10,} executions {time.monotonic() - begin:>7.0f} s", flush=True)
    for _ in range(asked.raw):
        name = rng.choice([*called])
        call(getattr(_core, name), raw(called[name], rng, numbers))
        calls += 1
    print(f"{'raw':<8} {asked.raw:>10,} executions {time.monotonic() - begin:>7.0f} s")
    print(f"nothing found in {calls:,} calls of {len(called)} functions")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz.kernels", description="Fuzz the kernels.")
    parser.add_argument("--damaged", type=int, help="inputs; without it, all damages")
    parser.add_argument("--mutated", type=int, default=100_000, help="inputs")
    parser.add_argument("--raw", type=int, default=1_000_000, help="calls with any arrays")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers")
    parser.add_argument("--source", type=Path, default=sanitized.SOURCE, help="another _core.c")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
