"""VIEWS: the ways to draw a profile as a tree.

A view is a tree plus an owner per graph node: `owner[i]` is the row that node i is counted under,
-1 where it is not counted. Views differ in how they draw the tree, and in the few habits that are
columns of this table.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from tfprof.errors import check_known
from tfprof.foundation.lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tfprof.model import Profile
    from tfprof.views.drawing import Drawing

# The files that the examples name.
_GRAPH = "graph.pbtxt"
_RUN = f"{_GRAPH} run_meta_0"


@dataclass(frozen=True)
class View:
    """A row of the table; the module `tfprof.views.<name>_view` has the function `draw`."""

    name: str
    help: str  # the sentence in a report's Doc block
    summary: str  # the line in the command's help
    numbers: str = ""  # what own and total mean here
    examples: tuple[str, ...] = ()  # to paste behind "tfprof "
    demo: Mapping[str, Any] = field(default_factory=dict)  # the options of 'tfprof demo <name>'
    groups: bool = False  # a row may hold many graph nodes
    chain: bool = False  # rows are one list, ordered before totals are taken along it
    keeps_scopes: bool = False  # an unaccounted row stays when something below it is accounted
    trims_itself: bool = False  # parity Q39: trimming removes the row as well as what is below it
    recounts: bool = True  # parity Q40: account_displayed_op_only has an effect
    bounds_occurrence: bool = True  # parity Q40: min_occurrence has an effect
    root_depth: int = 1
    draw_options: tuple[str, ...] = ()  # what `draw` takes beside the profile

    def draw(self, profile: Profile, **options: Any) -> Drawing:  # noqa: ANN401 - as `draw` has it
        """The tree of *profile*, cached by structure; options not in `draw_options` are ignored."""
        draw = import_module(f"tfprof.views.{self.name}_view").draw
        # An option that is not given and one with its default draw the same tree, once.
        how = {name: options.get(name, draw.__kwdefaults__[name]) for name in self.draw_options}
        return profile.structure_cache.cached(
            ("view", self.name, *how.values()), lambda: cast("Drawing", draw(profile, **how))
        )


# fmt: off
VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        View(
            "scope",
            "scope: The nodes in the model graph are organized by their names, which is "
            "hierarchical like filesystem.",
            "graph nodes by name scope, as folders and files",
            "own is the graph node of just that name; total adds all names below it.",
            (f"scope {_GRAPH} --select=params --account_type_regexes='Variable.*' --max_depth=4",
             f"scope {_RUN} --select=micros,bytes --order_by=micros --min_micros=1000"),
            {"account_type_regexes": ("VariableV2",), "max_depth": 4, "select": ("params",)},
            keeps_scopes=True,
        ),
        View(
            "graph",
            "graph: The nodes in the model graph are organized by their operation input and "
            "output.",
            "graph nodes by their inputs, each below the first node that consumes it",
            "own is the graph node; total adds the nodes below it. Each node appears once.",
            (f"graph {_RUN} --start_name_regexes='.*loss.*' --max_depth=5",
             f"graph {_RUN} --step=0 --output=timeline:outfile=timeline.json"),
            {"max_depth": 9, "min_cpu_micros": 100_000, "select": ("cpu_micros",)},
            draw_options=("sorts_inputs",),
        ),
        View(
            "op",
            "op: The nodes are operation kernel type, such as MatMul, Conv2D. Graph nodes "
            "belonging to the same type are aggregated together.",
            "operation types: the sum of the graph nodes of each type",
            "own is all graph nodes of the type; total adds the types listed after it.",
            (f"op {_RUN} --select=micros,occurrence --order_by=micros",
             "op graph.pbtxt tfprof_log --select=float_ops,params --order_by=float_ops"),
            {"min_cpu_micros": 1000, "order_by": "cpu_micros",
             "select": ("cpu_micros", "occurrence")},
            groups=True, chain=True, trims_itself=True, root_depth=-1,
        ),
        View(
            "code",
            "code: When python trace is available, the nodes are python lines and their are "
            "organized by the python call stack.",
            "lines of Python by call stack: the sum of the graph nodes that each line created",
            "own is the graph nodes that line made; total adds those of the lines it called.",
            (f"code {_RUN} tfprof_log --order_by=micros --min_micros=1000 --max_depth=20",
             f"code {_RUN} tfprof_log --select=micros,params --output=pprof:outfile=code.pb.gz"),
            {"max_depth": 6, "min_cpu_micros": 1000, "select": ("cpu_micros",)},
            groups=True, keeps_scopes=True, trims_itself=True, recounts=False,
            bounds_occurrence=False, draw_options=("source_text", "gradient_rows", "frames"),
        ),
    )
}
# fmt: on


def view_named(name: str) -> View:
    """The view called *name*."""
    check_known("there is no view", name, VIEWS)
    return VIEWS[name]
