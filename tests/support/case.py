"""One differential case: a model, its runs, and one question about them.

A case holds bytes, so that both sides read exactly the same. `paste` gives it as source text for
a test, and `Case.from_text` reads that back. `survivable` tells whether the original is known to
live through it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import re2
from google.protobuf import text_format
from google.protobuf.message import Message

from oracle import UNRESTRICTED
from tf_wheel import piece

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GraphDef: Final[Any] = piece("tensorflow.core.framework.graph_pb2").GraphDef
RunMetadata: Final[Any] = piece("tensorflow.core.protobuf.config_pb2").RunMetadata
OpLogProto: Final[Any] = piece("tensorflow.core.profiler.tfprof_log_pb2").OpLogProto

VIEWS: Final = ("scope", "graph", "op", "code")
ROOT: Final = "_TFProfRoot"


@dataclass(frozen=True)
class Case:
    """Inputs as bytes and the options of one command; options not named hide nothing."""

    view: str
    graph: bytes = b""
    op_log: bytes = b""
    steps: tuple[tuple[int, bytes], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_text(
        cls,
        view: str,
        graph: str = "",
        op_log: str = "",
        steps: Sequence[tuple[int, str]] = (),
        options: Mapping[str, Any] | None = None,
    ) -> Case:
        """A case from protobuf text format."""
        return cls(
            view,
            _binary(text_format.Parse(graph, GraphDef())),
            _binary(text_format.Parse(op_log, OpLogProto())),
            tuple((step, _binary(text_format.Parse(run, RunMetadata()))) for step, run in steps),
            options or {},
        )

    def paste(self) -> str:
        """The `Case.from_text(…)` call that makes this case."""
        lines = ["Case.from_text(", f"    view={self.view!r},"]
        if self.graph:
            lines.append(f"    graph={_quote(GraphDef.FromString(self.graph))},")
        if self.op_log:
            lines.append(f"    op_log={_quote(OpLogProto.FromString(self.op_log))},")
        if self.steps:
            lines.append("    steps=[")
            for step, run in self.steps:
                lines.append(f"        ({step}, {_quote(RunMetadata.FromString(run))}),")
            lines.append("    ],")
        given = {k: v for k, v in self.options.items() if v != UNRESTRICTED[k]}
        return "\n".join([*lines, f"    options={given!r},", ")"])


def survivable(case: Case) -> bool:
    """False if the case has something known to end the original's process or make it raise."""
    graph = GraphDef.FromString(case.graph)
    runs = [RunMetadata.FromString(run) for _, run in case.steps]
    if not all(run for _, run in case.steps):
        return False
    names = {text for node in graph.node for text in (node.name, node.op)}
    names.update(
        stats.node_name.partition(":")[0]
        for run in runs
        for device in run.step_stats.dev_stats
        for stats in device.node_stats
    )
    if any(name == ROOT or name.startswith(ROOT + "/") for name in names):
        return False
    return case.view != "code" or _code_view_survives(graph, case)


def _code_view_survives(graph: Any, case: Case) -> bool:
    options = {**UNRESTRICTED, **case.options}
    if options["max_depth"] < 1:
        return False
    if any(re2.fullmatch(regex, ROOT) for regex in options["trim_name_regexes"]):
        return False
    op_log = OpLogProto.FromString(case.op_log)
    known = {node.name for node in graph.node}
    stacks: dict[str, Any] = {}
    for entry in op_log.log_entries:
        if entry.name in known and entry.HasField("code_def"):
            stacks.setdefault(entry.name, entry.code_def.traces)
    ids = {i for traces in stacks.values() for t in traces for i in (t.file_id, t.function_id)}
    if not ids <= set(op_log.id_to_string):
        return False
    return not stacks or any(traces and not is_gradient(n) for n, traces in stacks.items())


def is_gradient(name: str) -> bool:
    """Whether code view files this node under its forward node."""
    start, end = name.find("gradients/"), name.find("_grad/")
    return start >= 0 and end >= 0 and end != start + len("gradients/")


def _binary(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


def _quote(message: Message) -> str:
    """Text format as a raw string, one line an element of a top-level list."""
    parts = []
    for descriptor, value in message.ListFields():
        elements = value if hasattr(value, "add") else [value]
        for element in elements:
            alone = type(message)()
            if elements is value:
                getattr(alone, descriptor.name).add().CopyFrom(element)
            else:
                _copy_field(message, alone, descriptor.name)
            parts.append(text_format.MessageToString(alone, as_one_line=True))
    text = "\n".join(parts)
    return f'r"""\n{text}\n"""' if len(parts) > 1 else f'r"""{text} """'


def _copy_field(source: Message, target: Message, name: str) -> None:
    """Copy one field that is a message, a map or a plain value."""
    value = getattr(source, name)
    if isinstance(value, Message):
        getattr(target, name).CopyFrom(value)
    elif hasattr(value, "keys"):
        getattr(target, name).MergeFrom(value)
    else:
        setattr(target, name, value)
