"""How many bytes an element of a node's outputs takes, told from the attributes of its type.

    Conv2D T=DT_HALF           2        most operations: T, or dtype
    Cast DstT=DT_INT8          1        those that change it name another one
    Less T=DT_FLOAT            1        a comparison gives a bool, and no attribute says so

All outputs of a node are taken to be of the first one's type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from tfprof.errors import InputError
from tfprof.read.wire import BYTES, VARINT, WireError, scan
from tfprof.strings import I64, Strings
from tfprof.summary.kinds import of_kind

if TYPE_CHECKING:
    from tfprof.model import Profile
    from tfprof.strings import Bool

FLOAT, INT8, UINT8, BOOL, INT64, RESOURCE = 1, 6, 4, 10, 9, 20
_REFERENCE: Final = 100  # added to the type of a variable of old
# Bytes an element of each DataType; what is not here is a handle or text, and has no size.
SIZES: Final = {
    1: 4, 2: 8, 3: 4, 4: 1, 5: 2, 6: 1, 8: 8, 9: 8, 10: 1, 11: 1, 12: 1, 13: 4, 14: 2, 15: 2,
    16: 2, 17: 2, 18: 16, 19: 2, 22: 4, 23: 8, 24: 1, 25: 1, 26: 1, 27: 1, 28: 1,
}  # fmt: skip
# Types that weights have: floating point, complex, and whole numbers of 8 bits.
OF_WEIGHTS: Final = frozenset({1, 2, 4, 6, 8, 11, 12, 13, 14, 18, 19, 24, 25, 26, 27, 28})

# The later ones go before the earlier ones.
_KEYS: Final = (
    b"Tidx", b"Tparams", b"Toutput", b"T", b"dtype", b"output_type", b"out_type", b"DstT",
    b"Tout", b"element_dtype",
)  # fmt: skip
_BOOLS: Final = re.compile(
    r"(Not)?Equal|(Greater|Less)(Equal)?|Logical\w+|Is(Nan|Inf|Finite)|All|Any|ApproximateEqual"
    r"|InTopK(V2)?|IsVariableInitialized|VarIsInitializedOp"
)
_INT64S: Final = re.compile(r"Where|ArgMax|ArgMin")
_OWN_TYPE: Final = re.compile(
    r"Quantize\w*|Quantized\w*|Requantize\w*|_?(FusedBatchNorm\w*)|OneHot|Fill|Bucketize"
)


def element_types(profile: Profile) -> I64:
    """The DataType of each node's outputs; 0 where it is not told. Raises InputError."""
    try:
        found = _element_types(profile)
    except WireError as problem:  # loading leaves attributes it does not need unopened
        raise InputError(
            f"{profile.graph_names}: an attribute of the graph is damaged: {problem}"
        ) from None
    return found


def element_sizes(kind: I64) -> I64:
    """The bytes an element of each type takes; 0 for a handle, a text or an unknown one."""
    table = np.zeros(_REFERENCE, np.int64)
    table[list(SIZES)] = list(SIZES.values())
    inside: I64 = np.where((kind > 0) & (kind < _REFERENCE), kind, 0)
    return table[inside]


def is_of_weights(kind: I64) -> Bool:
    """Which types are those that weights have."""
    return np.isin(kind, list(OF_WEIGHTS))


def _element_types(profile: Profile) -> I64:
    node, key, kind = _types(profile)
    found = np.zeros(len(profile), np.int64)
    for place in range(len(_KEYS)):
        at = key == place
        found[node[at]] = kind[at]
    found[of_kind(profile, _INT64S.fullmatch) & (found == 0)] = INT64
    found[of_kind(profile, _BOOLS.fullmatch)] = BOOL
    at = np.flatnonzero(key == _KEYS.index(b"T"))
    at = at[of_kind(profile, _OWN_TYPE.fullmatch)[node[at]]]
    found[node[at]] = kind[at]
    return found


def _types(profile: Profile) -> tuple[I64, I64, I64]:
    """(node, place of the key, DataType) of every attribute of a wanted key that is a type."""
    node, entry = profile.attributes
    part = scan(entry.blob, entry.start, entry.start + entry.length, {1: BYTES, 2: BYTES})
    key = Strings.of(_KEYS).find(Strings(entry.blob, *part[1].last_slice(len(entry))))
    wanted = np.flatnonzero(key >= 0)
    start, length = (column[wanted] for column in part[2].last_slice(len(entry)))
    kind = scan(entry.blob, start, start + length, {6: VARINT})[6].last(wanted.size)
    kind = np.where(kind > _REFERENCE, kind - _REFERENCE, kind)
    told = np.flatnonzero(kind > 0)
    return node[wanted[told]], key[wanted[told]], kind[told]
