from typing import Any

def __getattr__(name: str) -> Any: ...  # noqa: ANN401 - compiled.py knows what comes back
