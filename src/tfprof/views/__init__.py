"""VIEWS: the ways to draw a profile as a tree.

A view is a tree plus an owner a graph node: `owner[i]` is the row that node i is counted under,
-1 where it is counted nowhere. Views differ only in how they draw the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from tfprof.errors import UsageError, nearest

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.views.drawing import Drawing


@dataclass(frozen=True)
class View:
    """A row of the table; the module `tfprof.views.<name>` has the function `draw`."""

    name: str
    help: str  # the sentence in a report's Doc block
    summary: str  # the line in the command's help

    def draw(self, profile: Profile) -> Drawing:
        """The tree of *profile*, drawn once and kept with it."""
        module = import_module(f"tfprof.views.{self.name}")
        return profile.keep(("view", self.name), lambda: cast("Drawing", module.draw(profile)))


VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        View(
            "scope",
            "scope: The nodes in the model graph are organized by their names, which is "
            "hierarchical like filesystem.",
            "graph nodes by name scope, as folders and files",
        ),
    )
}


def view_named(name: str) -> View:
    """The view called *name*."""
    try:
        return VIEWS[name]
    except KeyError:
        raise UsageError(f"there is no view {name!r}{nearest(name, list(VIEWS))}") from None
