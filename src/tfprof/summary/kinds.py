"""What operations are to a summary, by their type.

variables    hold a parameter
reads        hand on what a variable holds
aliases      hand on a tensor, or tell its shape: no memory of their own
asides       initialise, save, restore, report, train: not the model
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from tfprof.columns.strings import Bool
    from tfprof.model import Profile

HANDLES: Final = frozenset({"VarHandleOp", "_VarHandlesOp"})
REFERENCES: Final = frozenset({"Variable", "VariableV2"})
READS: Final = frozenset({"ReadVariableOp", "_ReadVariablesOp"})
CONSTANTS: Final = frozenset({"Const", "HostConst", "ImmutableConst"})
PLACEHOLDERS: Final = re.compile(r"Placeholder(V2|WithDefault)?|_(Device)?Arg|_Retval")
ALIASES: Final = re.compile(
    r"Identity(N)?|RefIdentity|Reshape|Squeeze|ExpandDims|StopGradient|PreventGradient|Bitcast"
    r"|EnsureShape|Snapshot|Shape(N)?|Size|Rank|VariableShape|BroadcastGradientArgs|NoOp"
    r"|(Ref)?(Enter|Exit|Merge|NextIteration|Switch)|LoopCond|ControlTrigger|GuaranteeConst"
    r"|TensorList\w*|EmptyTensorList|TensorArray\w*|Stack(Push|Pop|Close)?(V2)?|_?(Send|Recv)"
    r"|Assert|Print(V2)?|DisableCopyOnRead|IteratorGetNext\w*|Optional(HasValue|GetValue)"
)
# What these hand on out of a list was not there as a tensor before.
OUT_OF_LISTS: Final = re.compile(
    r"TensorList(Stack|Concat(V2)?|Gather|GetItem|PopBack)|TensorArray(Gather|Concat|Read)(V\d)?"
    r"|StackPop(V2)?"
)
SAVES: Final = re.compile(
    r"(Merge)?Save(V2|Slices)?|SaveSlices|Restore(V2|Slice)?|MergeV2Checkpoints|ShardedFilename"
    r"|Assign\w*|\w*Apply[A-Z]\w*|Initialize\w*|(Resource)?Scatter\w*|VarIsInitializedOp"
    r"|IsVariableInitialized|DestroyResourceOp|MakeIterator|WriteFile|LookupTableImport\w*"
)
# What changes a variable, as training does.
CHANGES: Final = re.compile(r"Assign\w*|\w*Apply[A-Z]\w*|(Resource)?Scatter(Nd)?(Add|Sub|Update)")
SILENT: Final = re.compile(r"Save(V2|Slices)?|MergeV2Checkpoints|NoOp")  # they have no outputs
REPORTS: Final = re.compile(r"\w*Summary(V2)?|NoOp|Assert|Print(V2)?|MergeSummary")
CALLS: Final = re.compile(
    r"(Stateful)?PartitionedCall|(Stateless)?(While|If|Case)|RemoteCall|SymbolicGradient"
)


def of_kind(profile: Profile, fits: Callable[[str], object]) -> Bool:
    """Which nodes have an operation type that *fits*."""
    kind = np.fromiter(map(bool, map(fits, profile.types.texts())), np.bool_, len(profile.types))
    found: Bool = kind[profile.nodes.op] if kind.size else np.zeros(len(profile), np.bool_)
    return found
