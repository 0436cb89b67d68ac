"""Which core is in use, chosen here alone; without NumPy, so `tfprof --version` starts fast."""

from __future__ import annotations

import os


def _why_numpy() -> str:
    """Why the compiled core is not in use; nothing if it is."""
    if os.environ.get("TFPROF_CORE", "").lower() == "numpy":
        return "TFPROF_CORE=numpy"
    try:
        import tfprof.kernels._core  # noqa: F401, PLC0415 - to know whether it can be
    except ModuleNotFoundError:
        return "built without a compiler"
    except ImportError as problem:
        return f"the compiled core cannot be loaded: {problem}"
    return ""


_WHY = _why_numpy()
CORE = "NumPy" if _WHY else "compiled"
DESCRIPTION = f"NumPy core ({_WHY})" if _WHY else "compiled core"
