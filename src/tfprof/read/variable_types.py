"""The types of variables that a graph lists: which are trained, and which are of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.read.merge import with_extra_type

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.read.columns import GraphColumns


def with_variable_types(profile: Profile, graph: GraphColumns) -> Profile:
    """*profile* with the types of the variables that *graph* lists."""
    if graph.trainable is None and graph.model_variables is None:
        return profile
    from tfprof.read.saved_model import MODEL, TRAINABLE  # noqa: PLC0415 - few graphs list them

    for names, kind in ((graph.trainable, TRAINABLE), (graph.model_variables, MODEL)):
        if names is not None:  # an empty list says something, too
            profile = with_extra_type(profile, names, kind)
    return profile
