"""info: what some files are, what is in them, what is missing for which view, what to try next.

    graph.pbtxt.gz: a GraphDef in text format
      3,451 nodes of 60 op types
      97 variables with 930,581 parameters

    missing
      no run: times, memory and run counts will be 0
    next
      tfprof scope graph.pbtxt.gz --select=params --account_type_regexes=VariableV2 --max_depth=3

Files are looked into here, each as its own reader sees it; info_text.py puts it into words.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfprof import read
from tfprof.cli.info_text import Facts, counted, listed, text
from tfprof.errors import InputError
from tfprof.io.files import open_checkpoint, open_source
from tfprof.io.recognise import OPTION_OF, Found, debug_beside, is_folder, recognise, search
from tfprof.read import saved_model, sniff, xplane
from tfprof.read.checkpoint.tensors import DTYPES, OPAQUE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tfprof.columns.strings import I64, Strings
    from tfprof.model import Profile
    from tfprof.read import Source

_VARIABLES = frozenset({b"Variable", b"VariableV2", b"VarHandleOp", b"AutoReloadVariable"})


class Told(NamedTuple):
    """What there is to say of some files, and a sentence for each that nothing can be said of."""

    text: str
    problems: list[str]


def info(paths: Sequence[str]) -> Told:
    """What the files and folders at *paths* are; the text is empty where none is recognised."""
    facts: list[Facts] = []
    others: list[str] = []
    problems: list[str] = []
    for path in paths:
        found, ignored = _found_at(path)
        others += ignored
        for one in found:
            looked = _looked_into(one) if isinstance(one, Found) else one
            if isinstance(looked, Facts):
                facts.append(looked)
            else:
                problems.append(looked)
    return Told(text(facts, others) if facts else "", problems)


def _found_at(path: str) -> tuple[Sequence[Found | str], list[str]]:
    """(what is at *path*, names of files that are not recognised); a text is a problem."""
    try:
        if not is_folder(path):
            return [recognise(path)], []
        found, others = search(path)
    except InputError as problem:
        return [str(problem)], []
    return found or [f"{path} is a folder with no file that tfprof reads"], others


def _looked_into(found: Found) -> Facts | str:
    """What is in a file that is recognised, or why that cannot be told."""
    try:
        return _facts(found)
    except InputError as problem:
        return str(problem)


def _facts(found: Found) -> Facts:
    option = OPTION_OF.get(found.kind)
    if option is None:
        return Facts(found.path, found.kind.title, None, ["no view reads it"])
    if option == "checkpoint_path":
        return _checkpoint(found)
    return _READERS[option](found, open_source(found.path, found.kind.title))


def _graph(found: Found, source: Source) -> Facts:
    if found.kind is sniff.KERAS:
        return _of_profile(found, read.load(source))
    columns = read.read_graph(source)
    parameters = np.zeros(len(columns.name), np.int64)
    parameters[columns.shape_node] = columns.shape.elements()
    ops, first = columns.op.intern()
    lines, variables = _nodes(ops, columns.op.take(first), parameters)
    has = {"nodes"}
    if found.kind is sniff.SAVED_MODEL:
        names = [one.name.decode("utf-8", "replace") for one in saved_model.signatures_of(source)]
        lines.append(f"{counted(len(names), 'signature')}: {listed(names)}")
        has.add("model")
    if debug_beside(found.path) is not None:
        lines.append("call stacks beside it")
        has.add("stacks")
    return Facts(found.path, found.kind.title, "graph_path", lines, has, variables)


def _of_profile(found: Found, profile: Profile) -> Facts:
    """What is known of a model that tells its layers and parameters."""
    nodes = profile.nodes
    lines, variables = _nodes(nodes.op, profile.types, profile.values("params", None))
    return Facts(found.path, found.kind.title, "graph_path", lines, {"nodes", "model"}, variables)


def _trace(found: Found, source: Source) -> Facts:
    columns = xplane.read_trace(source)
    events, steps = len(columns.events.name), max(columns.step_number.size, 1)
    lines = [
        f"{counted(events, 'execution')} in {counted(steps, 'step')}",
        _devices(columns.devices),
    ]
    return Facts(found.path, found.kind.title, "trace_path", lines, {"run"})


def _nodes(ops: I64, types: Strings, parameters: I64) -> tuple[list[str], list[str]]:
    """The lines on nodes that have these rows of *types*; the types of variables among them."""
    used = np.unique(ops)
    kinds = [kind for kind in used.tolist() if types[kind] in _VARIABLES]
    lines = [f"{counted(ops.size, 'node')} of {counted(used.size, 'op type')}"]
    is_variable = np.isin(ops, kinds)
    if kinds:
        total = int(parameters[is_variable].sum())
        lines.append(f"{counted(int(is_variable.sum()), 'variable')} with {total:,} parameters")
    return lines, sorted(types[kind].decode() for kind in kinds)


def _run(found: Found, source: Source) -> Facts:
    columns = read.read_run(source)
    if columns is None:
        return Facts(found.path, found.kind.title, "run_meta_path", ["no step stats"])
    lines = [f"{counted(len(columns.name), 'execution')} in 1 step", _devices(columns.device)]
    return Facts(found.path, found.kind.title, "run_meta_path", lines, {"run"})


def _op_log(found: Found, source: Source) -> Facts:
    columns = read.read_op_log(source)
    lines = [f"entries of {counted(len(columns.name), 'node')}"]
    lines += _code_and_float_ops(columns.stack, columns.float_ops)
    types = sorted(set(columns.type))
    if types:
        names = listed([kind.decode("utf-8", "replace") for kind in types])
        lines.append(f"{counted(len(types), 'type')}: {names}")
    has = _has(columns.stack, columns.float_ops)
    return Facts(found.path, found.kind.title, "op_log_path", lines, has)


def _profile(found: Found, source: Source) -> Facts:
    profile = read.read_saved(source)
    nodes = profile.nodes
    lines, variables = _nodes(nodes.op, profile.types, profile.values("params", None))
    if profile.steps:
        ran = sum(step.node.size for step in profile.steps)
        lines.append(f"{counted(ran, 'execution')} in {counted(len(profile.steps), 'step')}")
        lines.append(_devices(name for step in profile.steps for name in step.devices))
    lines += _code_and_float_ops(nodes.stack, nodes.float_ops)
    has = {"nodes", *_has(nodes.stack, nodes.float_ops), *(["run"] if profile.steps else [])}
    return Facts(found.path, found.kind.title, "profile_path", lines, has, variables)


def _checkpoint(found: Found) -> Facts:
    checkpoint = open_checkpoint(found.path)
    names = list(checkpoint.names())
    values = sum(prod(checkpoint.shape(name)) for name in names)
    kinds = Counter(_dtype(checkpoint.dtype(name)) for name in names)
    lines = [f"{counted(len(names), 'variable')} with {values:,} parameters"]
    if kinds:
        lines.append(listed([f"{kind} {times:,}" for kind, times in kinds.most_common()]))
    return Facts(found.path, "a checkpoint", "checkpoint_path", lines, {"values"})


def _dtype(number: int) -> str:
    return DTYPES[number].name if number in DTYPES else OPAQUE.get(number, f"type {number}")


def _code_and_float_ops(stack: I64, float_ops: I64) -> list[str]:
    traced, counts = int((stack >= 0).sum()), int((float_ops > 0).sum())
    return [
        f"call stacks of {counted(traced, 'node')}, float operations of {counted(counts, 'node')}"
    ]


def _has(stack: I64, float_ops: I64) -> set[str]:
    return {
        *(["stacks"] if bool((stack >= 0).any()) else []),
        *(["float_ops"] if bool((float_ops > 0).any()) else []),
    }


def _devices(names: Iterable[bytes]) -> str:
    devices = sorted({name.decode("utf-8", "replace") for name in names})
    return f"{counted(len(devices), 'device')}: {listed(devices)}" if devices else "no device"


_READERS: dict[str, Callable[[Found, Source], Facts]] = {
    "graph_path": _graph,
    "run_meta_path": _run,
    "trace_path": _trace,
    "op_log_path": _op_log,
    "profile_path": _profile,
}
