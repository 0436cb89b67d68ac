"""The example of docs/python.md for TensorFlow 2 and Keras does what stands below it."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from typing import Any, Final

import paths

PAGE: Final = paths.DOCS / "python.md"


def test_the_example_prints_what_the_page_says() -> None:
    section = PAGE.read_text().partition("## TensorFlow 2 and Keras\n")[2].partition("\n## ")[0]
    program, shown = re.findall(r"```(?:python)?\n(.*?)```", section, re.DOTALL)
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(program, names)  # noqa: S102 - what our own document says
    lines = printed.getvalue().splitlines()
    expected = [line for line in shown.splitlines() if line != "…"]
    assert [line for line in lines if line in expected] == expected

    # The parameters are those of the model.
    loaded = names["loaded"]
    trainable = loaded.scope(account_type_regexes=["_trainable_variables"], select=["params"])
    assert trainable.to_dict()["total_params"][0] == 1562
    assert names["model"].count_params() == 1562
    counts = loaded.op(select=["float_ops"]).flops
    assert counts is not None
    assert {(kind.op, kind.why) for kind in counts.uncounted} == {
        ("Conv2D", "unknown shape"),
        ("MatMul", "unknown shape"),
        ("BiasAdd", "unknown shape"),
    }
