"""Random options: every view option, with regexes cut from the words of the case at hand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import re2

from case import ROOT
from oracle import OUTFILE, UNRESTRICTED
from random_values import amount, chance

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

ATTRIBUTES: Final = (
    *("bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros"),
    *("cpu_micros", "params", "float_ops", "occurrence", "device", "op_types", "input_shapes"),
)
ORDERS: Final = ("", "name", *ATTRIBUTES[:10])
UNKNOWN_ORDER: Final = "no_such_order"
MINIMA: Final = tuple(f"min_{name}" for name in ATTRIBUTES[:10])
OPEN_LISTS: Final = {k: v for k, v in UNRESTRICTED.items() if k.endswith("_regexes")}
FIXED_REGEXES: Final = (
    *(r".*", r".*", r"", r".+", r"[a-c].*", r"[^/]*", r".*[A-Z].*", r".*\d", r".*\d.*", r"\w+"),
    *(r"a|b", r"(a|b|A)(/.*)?", r".*?a", r"a{1,2}.*", r".{0,5}", r"(?s).*", r"(?i).*CONV.*"),
    *(r"[[:alpha:]]+", r"\pL+", r"\S*", r".*\bb\b.*", r"^.*$", r".*gpu.*", r"(?i).*VAR.*", r"_.*"),
    *(r".*:\d+:.*", r".*\(gradient\)", r".*_grad/.*", r"[\w/]+", r"\Qa.b\E.*", r".*[é日].*"),
)


def make_options(
    rng: Random, view: str, names: Sequence[str], types: Sequence[str], steps: Sequence[int]
) -> dict[str, Any]:
    """All options of one command on a view whose rows bear these names."""
    options: dict[str, Any] = {
        "max_depth": _max_depth(rng, view),
        **_minima(rng),
        "step": _step(rng, steps),
        "order_by": UNKNOWN_ORDER if chance(rng, 0.02) else rng.choice(ORDERS),
        **OPEN_LISTS,
        "account_displayed_op_only": chance(rng, 0.4),
        "select": _select(rng),
        "output": f"file:outfile={OUTFILE}" if chance(rng, 0.2) else "stdout",
    }
    for name in rng.sample(tuple(OPEN_LISTS), rng.choice((0, 0, 0, 1, 1, 1, 1, 2, 2, 4))):
        options[name] = _regexes(rng, types if name == "account_type_regexes" else names)
    if view == "code":
        trims = options["trim_name_regexes"]
        options["trim_name_regexes"] = [r for r in trims if not re2.fullmatch(r, ROOT)]
    return options


def _max_depth(rng: Random, view: str) -> int:
    lowest = 1 if view == "code" else -3
    shallow = rng.randrange(lowest, 2) if chance(rng, 0.1) else rng.randrange(2, 9)
    return rng.choice((shallow, shallow, 100, 10_000))


def _minima(rng: Random) -> dict[str, int]:
    """Mostly one or two bounds, mostly low ones: ten high ones would hide everything."""
    minima = dict.fromkeys(MINIMA, 0)
    for name in rng.sample(MINIMA, rng.choice((0, 0, 0, 0, 0, 0, 1, 1, 1, 3))):
        minima[name] = rng.choice((1, 1, 1, 1, 2, -1, 50, amount(rng)))
    return minima


def _step(rng: Random, steps: Sequence[int]) -> int:
    roll = rng.random()
    if roll < 0.02:
        return rng.choice((0, 1, 4, 2**40))
    if roll < 0.05:
        return rng.choice((-2, -(2**40)))
    return rng.choice(steps) if steps and roll < 0.45 else -1


def _select(rng: Random) -> list[str]:
    count = rng.choice((0, 1, 1, 2, 2, 3, 4, 6, 8, len(ATTRIBUTES), len(ATTRIBUTES)))
    return rng.sample(ATTRIBUTES, count)


def _regexes(rng: Random, words: Sequence[str]) -> list[str]:
    return [_regex(rng, words) for _ in range(rng.choice((*(1, 2, 3) * 6, 0)))]


def _regex(rng: Random, words: Sequence[str]) -> str:
    """A valid regex that has something to do with the words, most of the time."""
    if not words or chance(rng, 0.25):
        return rng.choice(FIXED_REGEXES)
    word, other = rng.choice(words), rng.choice(words)
    cut = rng.randrange(len(word) + 1)
    head, tail = re.escape(word[:cut]), re.escape(word[cut:])
    return rng.choice(
        (
            head + tail,
            f"{head}.*",
            f"{head}.*",
            f"{head[:1]}.*" if head[:1].isalnum() else f"{head}.*",
            f".*{tail}",
            f".*{tail}.*",
            f".*{tail}.*",
            head,
            f"^{head}{tail}$",
            f"^{tail}.*",
            f"{head}{tail}|{re.escape(other)}",
            f"({head}|{re.escape(other)}).*",
            f"(?i){head.upper()}.*",
            f"{head}[^/]*",
            f"{head}.{tail[1:]}" if tail[:1].isalnum() else f"{head}.*",
        )
    )
