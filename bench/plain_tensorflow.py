"""TensorFlow as in an environment of its own.

Keras imports JAX, pandas and SciPy where they are installed, as they are for our tests: TensorFlow
would start in half as much time again, which is no fault of the original.
"""

from __future__ import annotations

import sys

for _name in ("jax", "jaxlib", "pandas", "pyarrow", "scipy"):
    sys.modules[_name] = None  # type: ignore[assignment]  # as if it were not there

import tensorflow as tf  # noqa: E402 - after the above
from tensorflow.core.profiler.tfprof_options_pb2 import OptionsProto  # noqa: E402
from tensorflow.python.util import _pywrap_tfprof as native  # noqa: E402

__all__ = ["OptionsProto", "native", "tf"]
