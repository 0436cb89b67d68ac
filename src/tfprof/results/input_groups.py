"""The nodes of each row of op view by the shapes of their inputs, and the numbers of each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfprof.columns.unique import sum_by
from tfprof.results.node_texts import InputGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.query.counted import Answer, Samples
    from tfprof.results.node_texts import NodeTexts

    Groups = Callable[[int], list[InputGroup]]  # of a displayed row, the most run first


def input_groups(answer: Answer, nodes: NodeTexts) -> Groups:
    """The groups of each displayed row."""
    if answer.counted.samples is not None:
        return _of_fleet(answer, nodes, answer.counted.samples)
    start, member = answer.members()
    runs = answer.profile.values("occurrence", answer.query.step)
    micros = answer.profile.values("micros", answer.query.step)
    return lambda row: nodes.input_groups(member[start[row] : start[row + 1]], runs, micros)


def _of_fleet(answer: Answer, nodes: NodeTexts, samples: Samples) -> Groups:
    """The same, where the numbers of a group are a statistic over its numbers in each sample."""
    start, member = answer.members()
    row = np.repeat(np.arange(len(answer)), np.diff(start))
    number: dict[tuple[int, tuple[str, ...]], int] = {}
    group = np.array(
        [
            number.setdefault((at, tuple(nodes.inputs(node))), len(number))
            for at, node in zip(row.tolist(), member.tolist(), strict=True)
        ],
        np.int64,
    )
    sums = samples.over(
        answer.profile,
        ("occurrence", "micros"),
        lambda _, values: sum_by(group, values[member], len(number)),
    )
    defined = np.bincount(group, minlength=len(number)).tolist()
    runs, micros = sums["occurrence"].tolist(), sums["micros"].tolist()
    groups: list[list[InputGroup]] = [[] for _ in range(len(answer))]
    for (at, shapes), which in number.items():
        groups[at].append(InputGroup(shapes, runs[which], defined[which], micros[which]))
    for of_row in groups:
        of_row.sort(key=lambda each: (-each.runs, ",\t".join(each.shapes)))
    return groups.__getitem__
