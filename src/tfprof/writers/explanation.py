"""Explanations as text, one paragraph per node.

net/conv1/Conv2D (Conv2D)
  float operations  57,802,752
  rule              ours: A convolution in any number of dimensions, and what is fused into it.
  formula           2 · size(output) · input1[0]·input1[1]·input1[2]
                    2 · 8·28·28·32 · 3·3·16 = 57,802,752
  shapes            input 0   8x28x28x16   declared in the graph, from image
  runs              1, once per run of the graph
  variables         kernel 3x3x16x32 = 4,608
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from tfprof.foundation.units import UNKNOWN, at_least
from tfprof.results.explain_report import dims_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.explain import Explained, Explanation
    from tfprof.explain.tensors import Tensor

_LABEL: Final = 18
_MOST_LISTED: Final = 8  # tensors or variables of one node


def text(explained: Explained) -> Iterator[bytes]:
    """The paragraphs, one piece each."""
    for number, node in enumerate(explained.nodes):
        lines = chain([f"{node.name} ({node.op})"], _lines(node))
        # A name must not look like two.
        paragraph = "\n".join(line.replace("\n", "\\n") for line in lines).rstrip()
        yield f"{chr(10) * (number > 0)}{paragraph}\n".encode("utf-8", "surrogateescape")
    if explained.count > 1:
        known = f"{explained.total:,}" if explained.total or not explained.uncounted else UNKNOWN
        total = at_least(known) if explained.uncounted else known
        total = f"{explained.count:,} nodes: {total} float operations"
        unknown = f", {explained.uncounted:,} of them unknown" if explained.uncounted else ""
        more = f"; --most N explains {explained.more:,} more" if explained.more else ""
        yield f"\n{total}{unknown}{more}.\n".encode()


def _lines(node: Explanation) -> Iterator[str]:
    counting, runs = node.counting, node.runs
    once = counting.float_ops
    product = UNKNOWN if once is None else f"{once:,}"
    if once is not None and runs.times != 1:
        product = f"{runs.times:,} · {once:,} = {node.total:,}"
    yield from _part("float operations", [product])
    rule = counting.origin if counting.origin != "none" else ""
    yield from _part("rule", [": ".join(filter(None, [rule, counting.sentence]))])
    if counting.formula:
        value = UNKNOWN if counting.computed is None else f"{counting.computed:,}"
        yield from _part("formula", [counting.formula, f"{counting.numbers} = {value}"])
    yield from _part("shapes", _shapes([*node.inputs, *node.outputs]))
    yield from _part("runs", [f"{runs.times:,}, {runs.why}"])
    variables = (
        f"{one.name} {dims_text(one.shape)}"
        + (f" = {one.elements:,}" if one.elements is not None else "")
        for one in node.variables[:_MOST_LISTED]
    )
    yield from _part("variables", [*variables, *_rest(len(node.variables))])
    gaps = (f"{gap.what}{f'; give {gap.remedy}' if gap.remedy else ''}" for gap in node.gaps)
    yield from _part("unknown", gaps)


def _shapes(tensors: list[Tensor]) -> Iterator[str]:
    shown = tensors[:_MOST_LISTED]
    name = max((len(tensor.name) for tensor in shown), default=0)
    shape = max((len(dims_text(tensor.shape)) for tensor in shown), default=0)
    for tensor in shown:
        source = f", from {tensor.source}" if tensor.source else ""
        dims = dims_text(tensor.shape)
        yield f"{tensor.name:<{name}}  {dims:<{shape}}  {tensor.origin}{source}"
    yield from _rest(len(tensors))


def _rest(count: int) -> list[str]:
    return [f"and {count - _MOST_LISTED:,} more"] if count > _MOST_LISTED else []


def _part(label: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"  {label if not number else '':<{_LABEL}}{line}"
