"""How many bytes columns of a Parquet file take in memory, by what it declares and holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.fleet.packages import need

if TYPE_CHECKING:
    from collections.abc import Collection


def declared_size(metadata: Any, wanted: Collection[str]) -> int:  # noqa: ANN401 - pyarrow's
    """The bytes of the *wanted* columns without compression, as the file declares them."""
    columns = [at for at, name in enumerate(metadata.schema.names) if name in wanted]
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return sum(
        max(group.column(at).total_uncompressed_size, 0) for group in groups for at in columns
    )


def text_size(column: Any) -> int:  # noqa: ANN401 - a pyarrow.ChunkedArray
    """The bytes of the texts in *column* with each repetition."""
    arrow, compute = need("pyarrow"), need("pyarrow.compute")
    total = 0
    for chunk in column.chunks:
        values = chunk.dictionary if arrow.types.is_dictionary(chunk.type) else chunk
        lengths = compute.binary_length(values)
        if values is not chunk:
            lengths = lengths.take(chunk.indices)
        total += compute.sum(lengths.cast(arrow.int64())).as_py() or 0
    return total
