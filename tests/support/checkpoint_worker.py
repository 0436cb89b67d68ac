"""TensorFlow's own checkpoint reader, in a process of its own.

    python checkpoint_worker.py PREFIX…    →  a line of JSON a checkpoint:
        {name: {"dtype": 1, "shape": [2], "kind": "<f4", "bytes": base64} or … "strings": [base64]}

A tensor that its reader refuses has neither bytes nor strings. Types that NumPy lacks come as
32-bit floats, which hold their values exactly.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import numpy as np

from tf_wheel import piece

# Slices of the first format, or of strings, it does not put together; nor does it know all types.
REFUSALS = {"UnimplementedError", "ValueError", "OpError"}


def main() -> None:
    """Answer for each prefix."""
    module = piece("tensorflow.python.training.py_checkpoint_reader")
    for prefix in sys.argv[1:]:
        print(json.dumps(contents(module.NewCheckpointReader(prefix))))


def contents(reader: Any) -> dict[str, dict[str, Any]]:
    kinds = reader.get_variable_to_dtype_map()
    return {
        name: {"dtype": kinds[name].as_datatype_enum, "shape": shape, **values(reader, name)}
        for name, shape in reader.get_variable_to_shape_map().items()
    }


def values(reader: Any, name: str) -> dict[str, Any]:
    try:
        array = np.asarray(reader.get_tensor(name))
    except Exception as problem:
        if type(problem).__name__ in REFUSALS:
            return {}
        raise
    if array.dtype == object:
        return {"strings": [encoded(text) for text in array.reshape(-1).tolist()]}
    if array.dtype.type.__module__ != "numpy":
        array = array.astype(np.float32)
    return {"kind": array.dtype.str, "bytes": encoded(array.tobytes())}


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


if __name__ == "__main__":
    main()
