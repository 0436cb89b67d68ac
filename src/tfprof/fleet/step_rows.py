"""A Step as rows of the dataset: one per node and device, with every metric.

    times, runs       on the device of the execution
    memory            on the node's own device, where the step recorded it
    params, float_ops once per node: on its own device, or on the first that it ran on

Summed over devices, rows are what `Profile.values(metric, step)` gives. A node with a record that
counts nothing has a row of zeros. One without a record that has float operations all the same, as
it may run under another name, has a row on the device DID_NOT_RUN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof.columns.strings import Strings
from tfprof.columns.unique import first_rows, marked, unique_inverse
from tfprof.fleet.schema import DID_NOT_RUN
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.model import UNTIMED
from tfprof.read.merge import with_types
from tfprof.tables.fields import METRICS

if TYPE_CHECKING:
    from tfprof.columns.strings import I64
    from tfprof.model import Profile, Step


class StepRows(NamedTuple):
    """The rows of a step, by node and device."""

    node: I64
    device: I64  # a row of devices
    devices: Strings
    metrics: dict[str, I64]
    span_us: int  # from the first start to the last end; 0: unknown
    executions: int
    nodes: int  # that have a record


def step_rows(profile: Profile, step: Step, float_ops: I64) -> StepRows:
    """The rows of *step*; *float_ops* of each node, in one run of it."""
    own = np.append(profile.nodes.device, -1)
    # A node that is on no device has its memory on a device without a name.
    # Texts are compared once per device, not once per node.
    types, type_of = unique_inverse(own[step.memory_node])
    devices, number = with_types(step.devices, profile.types.take(types).where(types >= 0))
    count = max(len(devices), 1)
    ran = step.node * count + step.device
    held = step.memory_node * count + number[type_of]
    place, row = unique_inverse(np.concatenate([ran, held]))
    node, device = place // count, place % count
    by_row = replace(step, node=row[: ran.size], memory_node=row[ran.size :])
    metrics = {metric: np.zeros(place.size, np.int64) for metric in METRICS}
    for metric in METRICS:
        if metric not in _OF_NODES:
            by_row.add(metric, metrics[metric])
    nodes, first = first_rows(node)
    types, type_of = unique_inverse(own[nodes])
    home = devices.find(profile.types.take(types).where(types >= 0))[type_of]
    at = np.searchsorted(place, nodes * count + home)
    is_home = (home >= 0) & (place[np.minimum(at, place.size - 1)] == nodes * count + home)
    at = np.where(is_home, at, first)
    metrics["params"][at] = profile.nodes.shape.elements()[nodes]
    runs = np.add.reduceat(metrics["occurrence"], first) if first.size else first
    metrics["float_ops"][at] = float_ops[nodes] * runs
    timed = step.counts_as != UNTIMED
    span, executions = _span(step, timed), int(timed.sum())
    rows = StepRows(node, device, devices, metrics, span, executions, nodes.size)
    of_nodes = np.zeros(len(profile), np.int64)
    of_nodes[nodes] = runs
    return _with_others(rows, _others(profile, nodes, of_nodes, float_ops))


def _others(profile: Profile, ran: I64, runs: I64, float_ops: I64) -> I64:
    """The float operations of nodes other than those that *ran*, as often as all nodes *runs*."""
    counted = replace(profile, nodes=replace(profile.nodes, float_ops=float_ops))
    others = counted.float_ops_of(runs, marked(ran, len(profile)))
    others[ran] = 0
    return others


def _with_others(rows: StepRows, float_ops: I64) -> StepRows:
    node = np.flatnonzero(float_ops)
    if not node.size:
        return rows
    devices = Strings.concat([rows.devices, Strings.of([DID_NOT_RUN])])
    device = np.append(rows.device, np.full(node.size, len(rows.devices), np.int64))
    nothing = np.zeros(node.size, np.int64)
    more = {"float_ops": float_ops[node]}
    metrics = {m: np.append(column, more.get(m, nothing)) for m, column in rows.metrics.items()}
    grown = rows._replace(node=np.append(rows.node, node), device=device, devices=devices)
    return grown._replace(metrics=metrics)


_OF_NODES = ("params", "float_ops")


def _span(step: Step, timed: I64) -> int:
    start, us = step.start_us[timed], step.us[timed]
    return int((start + us).max()) - int(start.min()) if start.size else 0
