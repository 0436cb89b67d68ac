"""The overview of a trace of JAX: float operations stand where the time is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hlo_oracle
import tfprof
from hlo_recorded import content, path

if TYPE_CHECKING:
    from pathlib import Path

CONTRACTIONS = ("dot", "convolution")


def by_type() -> dict[str, tuple[int, int]]:
    report = tfprof.load(trace=path("flax_linen", "xplane.pb")).overview(rows=100).to_dict()
    rows = zip(*(report[name] for name in ("list", "name", "float_ops", "micros")), strict=True)
    return {name: (ops, micros) for kind, name, ops, micros in rows if kind == "operation type"}


def test_what_is_fused_counts_with_its_fusion() -> None:
    """The entry computation has dots of its own; all others are in fusions, which have the time."""
    read = hlo_oracle.module(content("flax_linen"))
    own = dict.fromkeys(CONTRACTIONS, 0)
    for number in read.computations[read.entry]:
        one = read.instructions[number]
        if one.opcode in own:
            operands = [read.instructions[at].shape for at in one.operands]
            own[one.opcode] += hlo_oracle.CONTRACTIONS[one.opcode](one, operands)
    rows = by_type()
    assert {name: rows[name][0] for name in own} == own
    fused = hlo_oracle.contractions(content("flax_linen")) - sum(own.values())
    assert fused > 0
    # What else these fusions compute is a bias or an activation per element.
    assert fused <= rows["fusion of dot"][0] < 1.02 * fused
    assert all(micros for name, (_, micros) in rows.items() if name.startswith("fusion"))


def test_types_of_a_program_without_a_run_are_opcodes() -> None:
    report = tfprof.load(path("flax_linen")).overview(rows=100).to_dict()
    kinds = {name for kind, name in zip(report["list"], report["name"], strict=True)
             if kind == "operation type"}  # fmt: skip
    assert "dot" in kinds
    assert not any(name.startswith("fusion of") for name in kinds)


def test_a_trace_of_another_program_says_nothing_of_this_one(tmp_path: Path) -> None:
    file = tmp_path / "other.txt"
    file.write_text(
        "HloModule jit_other\nENTRY main {\n  a = f32[2,3] parameter(0)\n"
        "  ROOT b = f32[2,3] add(a, a)\n}\n"
    )
    report = tfprof.load(str(file), trace=path("flax_linen", "xplane.pb")).overview()
    assert report.total["float_ops"] is None
    assert "float_ops" in report.total_incomplete
    text = str(report)
    assert "Graph of 2 nodes; 0% of them ran" in text
    assert "Float ops    ?" in text
