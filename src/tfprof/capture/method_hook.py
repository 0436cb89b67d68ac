"""A method of somebody else's class that goes through a function of ours for a while.

begin    class.method = hook ──► around(original, …)
end      class.method = original     if the hook is still on top
hook ──► original           if somebody wrapped it since: their wrapper stays
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class MethodHook:
    """Calls *around* with the original method and its arguments, from now until `remove`."""

    def __init__(self, owner: type, name: str, around: Callable[..., Any]) -> None:
        self._owner, self._name = owner, name
        self._around: Callable[..., Any] | None = around
        original = self._original = vars(owner)[name]

        @wraps(original)
        def hook(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever the method takes
            around = self._around
            return around(original, *args, **kwargs) if around else original(*args, **kwargs)

        self._hook = hook
        setattr(owner, name, hook)

    def remove(self) -> None:
        """Restore the method; where somebody wrapped the hook, it passes every call on."""
        self._around = None
        if vars(self._owner).get(self._name) is self._hook:
            setattr(self._owner, self._name, self._original)
