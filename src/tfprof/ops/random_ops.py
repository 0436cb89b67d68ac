"""Random numbers, searches and look-ups: the shapes of what they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.ops.shape import OPEN, Shape, broadcast
from tfprof.ops.shared_rules import like_input, listed_by
from tfprof.ops.table import shape

if TYPE_CHECKING:
    from tfprof.ops.op import Op


shape(
    """
    RandomUniform{,Int} RandomStandardNormal TruncatedNormal ParameterizedTruncatedNormal
    StatelessRandomUniform{,Int,FullInt}{,V2} Stateless{RandomNormal,TruncatedNormal}{,V2}
    """
)(listed_by(0))
shape("StatefulUniform{,Int,FullInt} StatefulStandardNormalV2 StatefulTruncatedNormal")(
    listed_by(2)
)
shape("StatelessRandomGetKeyCounter")(lambda _: [(1,), (2,)])  # a counter of 128 bits
shape("{Random,Stateless}Shuffle")(like_input(0))
shape("LookupTableFind{,V2}")(like_input(1))  # a value per key


@shape("Multinomial StatelessMultinomial")
def sampled(op: Op) -> Shape:
    """So many samples per row."""
    return (op.known(0)[0], op.length(1))


@shape("Where")
def where(op: Op) -> Shape:
    """A row per element that is not 0: only the numbers say how many."""
    tensor = op.shape(0)
    return (OPEN, OPEN if tensor is None else len(tensor))


# Distinct elements, and which of them each element is.
shape("Unique UniqueV2")(lambda op: [(OPEN,), op.shape(0)])
shape("InTopK InTopKV2")(lambda op: broadcast(op.known(0)[:1], op.known(1)))  # a bool per row
