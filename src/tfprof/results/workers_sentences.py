"""What was found about the workers of a fleet, in sentences for whoever is on call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tfprof.fleet.server_balance import SKEWED
from tfprof.foundation.units import plural
from tfprof.results.summary_numbers import BYTES, MICROS, short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfprof.fleet.server_balance import Balance
    from tfprof.fleet.slow_steps import SlowStep
    from tfprof.fleet.stragglers import Cause, Straggler
    from tfprof.fleet.workers import Workers

STRAGGLERS: Final = "Stragglers"
SERVERS: Final = "Parameter servers"
STEPS: Final = "Steps that stand out"
_MOST: Final = 5  # sentences of a list
_MOST_MOVES: Final = 5
_MOST_NAMES: Final = 3
_TWICE: Final = 2.0
_NOTICEABLE: Final = 1.03


def findings(workers: Workers) -> dict[str, list[str]]:
    """The sentences of each section."""
    found = {
        STRAGGLERS: list(_stragglers(workers)),
        SERVERS: list(_servers(workers.balance)),
        STEPS: list(_slow_steps(workers)),
    }
    return {title: sentences for title, sentences in found.items() if sentences}


def time(micros: float) -> str:
    """A time with three digits and a unit."""
    return short(round(micros), MICROS)


def _stragglers(workers: Workers) -> Iterator[str]:
    found = workers.stragglers
    if not found and workers.compared:
        yield f"No straggler among {plural(workers.compared, 'worker')}."
    for name, one in found[:_MOST]:
        article = "the" if len(found) == 1 else "a"
        yield _slow_by_steps(name, article, one) if one.by_steps else _slow_by_operations(name, one)
    if len(found) > _MOST:
        yield f"… and {len(found) - _MOST:,} more: --format=json has them."


def _slow_by_steps(name: str, article: str, one: Straggler) -> str:
    than = "the other worker" if one.peers == 1 else "the median worker"
    longer = (
        f"{one.factor - 1:.0%} slower than {than}" if one.factor < _TWICE
        else f"it takes {one.factor:.1f} times as long as {than}"
    )  # fmt: skip
    against = f"(step {time(one.micros)} against {time(one.usual)})"
    clauses = [f"{name} is {article} straggler: {longer} {against}"]
    if one.evenly is not None:
        clauses.append(
            f"all its operations take about {one.evenly:.2f} times as long: look at the machine"
        )
    elif one.causes:
        clauses += map(_cause, one.causes)
    else:
        clauses.append("its operations take no longer: the time is between them or in waiting")
    return f"{'; '.join(clauses)}; the others wait {one.waits:.0%} of each step for it."


def _slow_by_operations(name: str, one: Straggler) -> str:
    causes = "; ".join(map(_cause, one.causes))
    if one.factor >= _NOTICEABLE:
        steps = f"its steps take {one.factor:.2f} times as long, which may be noise"
        waits = f"the others may wait {one.waits:.0%} of each step for it"
        return f"{name} looks like a straggler: {causes}; {steps}; {waits}."
    hidden = f"or all wait for it, up to {one.waits:.0%} of each step"
    return (
        f"{name} has slow operations: {causes}; its steps take no longer than those of others: "
        f"the time is hidden behind other work, {hidden}."
    )


def _cause(cause: Cause) -> str:
    op, device, node = cause.key
    on = f"{op or 'an operation'} on {device or 'an unknown device'}"
    on = f"{node} ({on})" if node else on
    if cause.factor is None:
        return f"{on} runs on no other worker (+{time(cause.extra)} per step)"
    text = f"{on} takes {cause.factor:.1f} times as long (+{time(cause.extra)} per step)"
    nodes = [
        f"{name} ({own / usual:.1f} times)" if usual else f"{name} (others do not run it)"
        for name, own, usual in cause.nodes
    ]
    return f"{text}, above all {' and '.join(nodes)}" if nodes else text


def _slow_steps(workers: Workers) -> Iterator[str]:
    if not workers.slow_steps:
        if any(row.spread is not None and row.steps > 2 for row in workers.workers):  # noqa: PLR2004
            yield f"No step stands out among {len(workers.steps):,}."
        return
    for slow, names, causes in workers.slow_steps[:_MOST]:
        yield _slow_step(workers.steps, slow, names, causes)
    if len(workers.slow_steps) > _MOST:
        yield f"… and {len(workers.slow_steps) - _MOST:,} more: --format=json has them."


def _slow_step(
    steps: tuple[int, ...], slow: SlowStep, names: tuple[str, ...], causes: tuple[Cause, ...]
) -> str:
    on = "the worker" if slow.recorded == 1 else f"all {plural(slow.recorded, 'worker')}"
    if names:
        listed = ", ".join(names[:_MOST_NAMES]) + ", …" * (len(names) > _MOST_NAMES)
        on = f"{listed} ({len(names):,} of {plural(slow.recorded, 'worker')})"
    text = (
        f"Step {steps[slow.column]} takes {slow.factor:.1f} times as long as the median step "
        f"({time(slow.micros)} against {time(slow.usual)}) on {on}"
    )
    what = [f"{c.key.op} on {c.key.device} (+{time(c.extra)})" for c in causes]
    text += f": {', '.join(what)}." if what else "; operations take no longer."
    if slow.column == 0:
        text += " It is the first step recorded: warm-up is usual."
    return text


def _servers(balance: Balance) -> Iterator[str]:
    if not balance.servers or not any(row.bytes for row in balance.servers):
        return
    largest, mean = balance.servers[0], sum(r.bytes for r in balance.servers) / len(balance.servers)
    if len(balance.servers) == 1:
        yield f"{largest.name} is the only parameter server."
        return
    if not balance.is_skewed:
        yield (
            f"They are balanced: {largest.name} holds most, {balance.skew:.2f} times the mean "
            f"(skewed from {SKEWED})."
        )
        return
    yield (
        f"{largest.name} holds {balance.skew:.2f} times the mean "
        f"({_size(largest.bytes)} against {_size(round(mean))})."
    )
    if large := balance.too_large:
        yield (
            f"Split {large.name} on {large.server}: its {_size(large.bytes)} are more than the "
            f"mean of all servers, so moving variables does not even it out."
        )
        if balance.moves:
            smaller = plural(len(balance.moves), "smaller variable")
            yield f"Moving {smaller} reaches {balance.skew_after:.2f} times the mean at best."
        return
    for move in balance.moves[:_MOST_MOVES]:
        slots = f" with {plural(move.slots, 'slot')}" if move.slots else ""
        size = _size(move.bytes)
        yield f"Move {move.variable}{slots} ({size}) from {move.source} to {move.target}."
    if (more := len(balance.moves) - _MOST_MOVES) > 0:
        yield f"… and {plural(more, 'move')} more: --format=json has them."
    if balance.moves:
        yield f"Then the largest holds {balance.skew_after:.2f} times the mean."
    else:
        yield "No move of a variable makes it more even."


def _size(count: int) -> str:
    return short(count, BYTES)
