"""Writes a SavedModel in chunks, as TensorFlow's proto_splitter does: records of a Riegeli file.

    cpb(model, most)       a SavedModel → the bytes of saved_model.cpb
    riegeli(records, …)    records → the bytes of a file

The wheel of TensorFlow reads such files but does not write them, so this is written after the
formats' descriptions (google/riegeli doc/riegeli_records_file_format.md and chunk.proto of
TensorFlow). `test_chunked.py` has TensorFlow's C++ read what comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BLOCK, BLOCK_HEADER, CHUNK_HEADER = 1 << 16, 24, 40
USABLE: Final = BLOCK - BLOCK_HEADER
SIGNATURE: Final = bytes.fromhex(
    "83af70d10d884a3f 0000000000000000 4000000000000000 91bac23c9287e1a9"
    "0000000000000000 e19f13c0e9b1c372 7300000000000000 0000000000000000"
)
KEY: Final = tuple(int.from_bytes(part, "little") for part in (b"Riegeli/", b"records\n") * 2)
LANE, HALF = (1 << 64) - 1, (1 << 32) - 1


def varint(number: int) -> bytes:
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


# --- HighwayHash, 64 bits ---------------------------------------------------------------------

State = tuple[list[int], list[int], list[int], list[int]]


def highway_hash(data: bytes) -> int:
    """The checksum of Riegeli files."""
    state = _start()
    whole = len(data) & ~31
    for at in range(0, whole, 32):
        _update(state, data[at : at + 32])
    if len(data) > whole:
        _rest(state, data[whole:])
    v0, v1, mul0, mul1 = state
    for _ in range(4):
        swapped = [(v0[n] >> 32 | v0[n] << 32) & LANE for n in (2, 3, 0, 1)]
        _update(state, b"".join(lane.to_bytes(8, "little") for lane in swapped))
    return v0[0] + v1[0] + mul0[0] + mul1[0] & LANE


def _start() -> State:
    mul0 = [0xDBE6D5D5FE4CCE2F, 0xA4093822299F31D0, 0x13198A2E03707344, 0x243F6A8885A308D3]
    mul1 = [0x3BD39E10CB0EF593, 0xC0ACF169B5F18A8C, 0xBE5466CF34E90C6C, 0x452821E638D01377]
    v0 = [a ^ key for a, key in zip(mul0, KEY, strict=True)]
    v1 = [a ^ (key >> 32 | key << 32) & LANE for a, key in zip(mul1, KEY, strict=True)]
    return v0, v1, mul0, mul1


def _update(state: State, packet: bytes) -> None:
    v0, v1, mul0, mul1 = state
    for n in range(4):
        lane = int.from_bytes(packet[8 * n : 8 * n + 8], "little")
        v1[n] = v1[n] + mul0[n] + lane & LANE
        mul0[n] ^= (v1[n] & HALF) * (v0[n] >> 32)
        v0[n] = v0[n] + mul1[n] & LANE
        mul1[n] ^= (v0[n] & HALF) * (v1[n] >> 32)
    for source, target in ((v1, v0), (v0, v1)):
        for low, high in ((0, 1), (2, 3)):
            a, b = source[low].to_bytes(8, "little"), source[high].to_bytes(8, "little")
            # Bytes of both lanes, zipped.
            zipped = bytes([a[3], b[4], a[2], a[5], b[6], a[1], b[7], a[0]])
            other = bytes([b[3], a[4], b[2], b[5], b[1], a[6], b[0], a[7]])
            target[low] = target[low] + int.from_bytes(zipped, "little") & LANE
            target[high] = target[high] + int.from_bytes(other, "little") & LANE


def _rest(state: State, rest: bytes) -> None:
    v0, v1, _, _ = state
    size = len(rest)
    for n in range(4):
        v0[n] = v0[n] + (size << 32) + size & LANE
        halves = [(v1[n] >> shift & HALF) << size for shift in (0, 32)]
        v1[n] = sum((half & HALF | half >> 32) << 32 * at for at, half in enumerate(halves))
    whole, odd = size & ~3, size & 3
    packet = bytearray(rest[:whole].ljust(32, b"\0"))
    if size & 16:
        packet[28:32] = rest[size - 4 : size]
    elif odd:
        packet[16:19] = bytes([rest[whole], rest[whole + (odd >> 1)], rest[whole + odd - 1]])
    _update(state, bytes(packet))


# --- Riegeli ----------------------------------------------------------------------------------


def _checked(data: bytes) -> bytes:
    return highway_hash(data).to_bytes(8, "little") + data


def _end(begin: int, size: int, count: int) -> int:
    headers = (size + (begin + USABLE - 1) % BLOCK) // USABLE
    least = begin + count
    left = -least % BLOCK
    return max(begin + size + headers * BLOCK_HEADER, least + max(left - (USABLE - 1), 0))


def riegeli(
    records: Sequence[bytes],
    packed: Callable[[bytes], bytes] | None = None,
    last: Callable[[list[int]], bytes] | None = None,
    each: int = 1,
    compression: bytes = b"b",
) -> bytes:
    """A file with *each* so many records per chunk; *packed* compresses.

    The record after the others comes from *last*, by their positions.
    """
    file = bytearray()
    _add_chunk(file, b"s", [], b"")
    positions: list[int] = []

    def add(some: Sequence[bytes]) -> None:
        sizes, values = b"".join(varint(len(one)) for one in some), b"".join(some)
        if packed is not None:
            sizes, values = (varint(len(one)) + packed(one) for one in (sizes, values))
        head = (b"\0" if packed is None else compression) + varint(len(sizes))
        positions.extend(len(file) + at for at in range(len(some)))
        _add_chunk(file, b"r", some, head + sizes + values)

    for at in range(0, len(records), each):
        add(records[at : at + each])
    if last is not None:
        add([last(positions)])
    return bytes(file)


def _add_chunk(file: bytearray, kind: bytes, records: Sequence[bytes], data: bytes) -> None:
    count, begin = len(records), len(file)
    size = sum(map(len, records))
    header = len(data).to_bytes(8, "little") + highway_hash(data).to_bytes(8, "little")
    header += kind + count.to_bytes(7, "little") + size.to_bytes(8, "little")
    rest = _checked(header) + data
    end = _end(begin, len(rest), count)
    while len(file) < end:
        if len(file) % BLOCK == 0:
            at = len(file)
            places = (at - begin).to_bytes(8, "little") + (end - at).to_bytes(8, "little")
            file += _checked(places)
        room = min(BLOCK - len(file) % BLOCK, end - len(file))
        file += rest[:room].ljust(room, b"\0")
        rest = rest[room:]


# --- chunks -----------------------------------------------------------------------------------

META_GRAPHS, GRAPH_DEF, NODE, LIBRARY, FUNCTION, NODE_DEF, ATTR, TENSOR, CONTENT = (
    2, 2, 1, 2, 1, 3, 5, 8, 4,
)  # fmt: skip


def cpb(
    model: Any, most: int, packed: Callable[[bytes], bytes] | None = None, each: int = 1
) -> bytes:
    """The file of a SavedModel whose parts of more than *most* bytes are chunks of their own.

    As TensorFlow has it: values of constants, nodes, functions, and nodes of functions, which leave
    an empty message behind; then the library, and slices of the nodes. *model* is changed.
    """
    chunks: list[Chunk] = []
    for number, meta in enumerate(model.meta_graphs):
        path = [field(1, META_GRAPHS), field(3, number), field(1, GRAPH_DEF)]
        _take_graph(meta.graph_def, path, most, chunks)
    base = Chunk(model.SerializeToString(), 1, [])
    everything = [base, *chunks]
    records = [chunk.content for chunk in everything]
    return riegeli(records, packed, lambda positions: _metadata(everything, positions), each)


class Chunk(NamedTuple):
    content: bytes
    kind: int  # 1: a message, 2: bytes
    path: list[bytes]


def _take_graph(graph: Any, path: list[bytes], most: int, chunks: list[Chunk]) -> None:
    _take_nodes(graph.node, [*path, field(1, NODE)], most, chunks)
    library = [*path, field(1, LIBRARY)]
    for at, function in enumerate(graph.library.function):
        place = [*library, field(1, FUNCTION), field(3, at)]
        _take_nodes(function.node_def, [*place, field(1, NODE_DEF)], most, chunks)
        if function.ByteSize() > most:
            _take(function, place, chunks)
    if graph.library.ByteSize() > most:
        _take(graph.library, library, chunks)
    slices = []
    while graph.ByteSize() > most and len(graph.node) > 1:
        half = len(graph.node) // 2
        slices.append(type(graph)(node=graph.node[half:]).SerializeToString())
        del graph.node[half:]
    chunks += [Chunk(content, 1, path) for content in reversed(slices)]


def _take_nodes(nodes: Any, path: list[bytes], most: int, chunks: list[Chunk]) -> None:
    for at, node in enumerate(nodes):
        place = [*path, field(3, at)]
        tensor = node.attr["value"].tensor if node.op == "Const" else None
        if tensor is not None and len(tensor.tensor_content) > most:
            key = field(2, field(1, b"value"))
            where = [*place, field(1, ATTR), key, field(1, TENSOR), field(1, CONTENT)]
            chunks.append(Chunk(tensor.tensor_content, 2, where))
            tensor.tensor_content = b""
        if node.ByteSize() > most:
            _take(node, place, chunks)


def _take(message: Any, path: list[bytes], chunks: list[Chunk]) -> None:
    chunks.append(Chunk(message.SerializeToString(), 1, path))
    message.Clear()


def _metadata(chunks: Sequence[Chunk], positions: Sequence[int]) -> bytes:
    """A ChunkMetadata."""
    message = field(1, 0)
    for number, chunk in enumerate(chunks[1:], 1):
        tags = b"".join(field(1, tag) for tag in chunk.path)
        message += field(2, tags + field(3, field(1, number)))
    infos = b"".join(
        field(2, field(1, chunk.kind) + field(2, len(chunk.content)) + field(3, at))
        for chunk, at in zip(chunks, positions, strict=True)
    )
    return field(1, field(1, 1)) + infos + field(3, message)
