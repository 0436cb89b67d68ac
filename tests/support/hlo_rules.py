"""Calls the float-operation rules of HLO's opcodes."""

from __future__ import annotations

from typing import Any

from formula_values import value_of
from tfprof.ops.counting import number_of
from tfprof.ops.op import Op
from tfprof.ops.table import rules
from tfprof.ops.written_formula import written

Shapes = list[tuple[int, ...]]


def operation(kind: str, inputs: Shapes, outputs: Shapes, **attributes: Any) -> Op:
    return Op(kind, inputs, outputs, attributes=attributes, declared=rules()[kind].attributes)


def float_ops(kind: str, inputs: Shapes, outputs: Shapes, **attributes: Any) -> int:
    """The rule's number; its formula, as `explain` writes it, comes to the same."""
    op = operation(kind, inputs, outputs, **attributes)
    number = number_of(rules()[kind], op)
    asked = Op(kind, inputs, outputs, attributes=attributes)
    text = written(rules()[kind], asked, inputs, outputs)
    assert text is not None
    assert text.sentence
    assert value_of(text.numbers) == number
    return number
