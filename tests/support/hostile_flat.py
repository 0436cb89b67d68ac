"""Hostile models of TensorFlow Lite: offsets that lead anywhere, or many of them to one place."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from flat import FLOAT32, Number, Vector, ints, model, operator, packed, subgraph, tensor, whole
from hostile import Row
from hostile_functions import FEW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ADD, _DENSE, _LSTM, _IF, _CALL = 0, 9, 44, 118, 31
_DAMAGED: Final = "is a damaged or cut off TensorFlow Lite model"
_MANY: Final = 100_000


def _tensors(*names: str) -> list[Any]:
    return [tensor(name, [2, 3]) for name in names]


def _sound(*names: str, **more: Any) -> dict[int, Any]:
    """Two tensors, and an operator between them."""
    graph = subgraph(_tensors(*(names or ("x", "net/y"))), [0], [1], [operator(0, [0, 0], [1])])
    return model([graph], [_ADD], **more)


def _row(name: str, file: bytes | Callable[[], bytes], **expected: Any) -> Row:
    return Row(f"tflite: {name}", {"graph.tflite": file}, **expected)


def _placed() -> Iterator[Row]:
    """Offsets and lengths that are none."""
    sound = packed(_sound())
    yield _row("sound", sound, shows=b"net/AddV2 (", commands=FEW)
    for number in (0xFFFFFFFF, 0x7FFFFFFF, len(sound) - 1):
        wrong = struct.pack("<I", number) + sound[4:]
        yield _row(f"a model at byte {number}", wrong, refused=_DAMAGED, commands=("scope", "info"))
    yield _row(
        "nothing but the magic", b"\0\0\0\0TFL3", refused=_DAMAGED, commands=("scope", "info")
    )
    yield _row("no subgraph", packed(model([], [])), refused="no subgraph", commands=("scope",))
    beyond = {1: Number("Q", 2**64 - 1), 2: Number("Q", 2**64 - 1)}
    yield _row("a buffer beyond the end", packed(_sound(buffers=[beyond])), refused=_DAMAGED,
               commands=("scope",))  # fmt: skip


def _shared() -> Iterator[Row]:
    """A few bytes that many offsets lead to."""
    long = "n/" * 50_000

    def names() -> bytes:
        table = tensor(long, [2, 3])
        return packed(
            model([subgraph([table] * 2_000, [0], [1], [operator(0, [0, 0], [1])])], [_ADD])
        )

    yield _row(
        "2,000 tensors of one long name", names, refused="too many offsets", commands=("scope",)
    )

    def computed() -> bytes:
        tensors = [tensor("x", [2, 3]), tensor("n" * 1_000_000, [2, 3])]
        steps = [operator(0, [0, 0], [1]) for _ in range(10_000)]
        return packed(model([subgraph(tensors, [0], [1], steps)], [_ADD]))

    yield _row(
        "10,000 operators that compute a tensor of a long name", computed, commands=("scope",)
    )

    def operators(code: int, inputs: list[int]) -> bytes:
        step = operator(0, inputs, [1])
        graph = subgraph([tensor("x", [2, 3]), tensor("y", [2, 3])], [0], [1], [step] * _MANY)
        return packed(model([graph], [code]))

    yield _row("an operator 100,000 times", lambda: operators(_ADD, [0, 0]),
               refused="too many offsets", commands=("scope",))  # fmt: skip

    def subgraphs() -> bytes:
        tensors = _tensors("x", "y")
        graph = subgraph(tensors, [0], [1], [operator(0, [0, 0], [1])] * 100)
        return packed(model([graph] * 10_000, [_ADD]))

    yield _row(
        "a subgraph 10,000 times", subgraphs, refused="too many offsets", commands=("scope",)
    )

    def recurrent() -> bytes:
        tensors = [tensor("x", [2, 3]), tensor("w", [3, 3], FLOAT32, 1), tensor("y", [2, 3])]
        places = [0, *[1] * 8, -1, -1, -1, *[1] * 4, 1, 1, 0, 0]
        step = operator(0, places, [2], {})
        graph = subgraph(tensors, [0], [2], [step] * 10_000)
        return packed(model([graph], [_LSTM], [b"", bytes(4_000_000)]))

    yield _row(
        "operators of many nodes", recurrent, refused="expand to more than", commands=("scope",)
    )

    def doubled() -> bytes:
        options = [{0: whole(at + 1)} for at in range(40)]
        graphs = [
            subgraph(
                _tensors("x", "y", "z"), [0], [2],
                [operator(0, [0], [1], each), operator(0, [1], [2], each)],
            )
            for each in options
        ]  # fmt: skip
        return packed(model([*graphs, subgraph(_tensors("x"), [0], [0], [])], [_CALL]))

    yield _row("40 subgraphs that each call the next one twice", doubled,
               refused="the functions of the graph have", commands=("scope",))  # fmt: skip
    itself = subgraph(_tensors("x", "y"), [0], [1], [operator(0, [0], [1], {0: whole(1)})])
    yield _row("a subgraph that calls itself", packed(model([itself, itself], [_CALL])),
               refused="calls itself", commands=("scope", "info"))  # fmt: skip


def _odd() -> Iterator[Row]:
    """Numbers and names of the worst kind."""
    for name in ("", "/", "//", "^x", "a:b;c;", "\x1b[31m", "\0", "…", "a/" * 60, "x"):
        yield _row(f"a tensor called {name!r}", packed(_sound("x", name)), shows=b"AddV2 (",
                   commands=("scope", "summary"))  # fmt: skip
    for shape in ([-1], [2**31 - 1] * 60, [-5, -7], [0], [1] * 300):
        odd = [tensor("x", shape), {**tensor("w", shape, FLOAT32, 1), 7: ints(*shape)}]
        graph = subgraph([*odd, tensor("y", shape)], [0, -1, 99], [2, -1, 7],
                         [operator(0, [0, 1, 5], [2]), operator(7, [1, 0], [2])])  # fmt: skip
        file = packed(model([graph], [_DENSE], [b"", bytes(4)]))
        yield _row(f"shapes {shape[:2]} of rank {len(shape)}", file, commands=("scope", "summary"))
    lost = operator(0, [0], [1], {0: whole(-1), 1: whole(2**31 - 1)})
    graph = subgraph(_tensors("x", "y"), [0], [1], [lost])
    yield _row("branches that are not there", packed(model([graph], [_IF])), shows=b"IF (",
               commands=("scope", "summary"))  # fmt: skip
    flex = {**operator(0, [0], [1]), 5: b"Erf\0\xff\xff\xff\xff\xff\xff\xff\xff\xff"}
    graph = subgraph(_tensors("x", "y"), [0], [1], [flex])
    yield _row("options that are cut off", packed(model([graph], ["FlexErf"])), shows=b"FlexErf (",
               commands=("scope",))  # fmt: skip
    for shape, buffer in (([1] * 40, bytes(4)), ([0], {1: Number("Q", 8), 2: Number("Q", 0)})):
        odd = [tensor("x", [2]), tensor("w", shape, 2, 1), tensor("y", [2])]
        graph = subgraph(odd, [0], [2], [operator(0, [0, 1], [2])])
        yield _row(f"a constant of rank {len(shape)}", packed(model([graph], [0], [b"", buffer])),
                   shows=b"AddV2 (", commands=("scope", "summary"))  # fmt: skip
    hides = {**operator(0, [0], [1]), 5: bytes(100_000)}
    graph = subgraph(_tensors("x", "y"), [0], [1], [hides] * 300)
    yield _row("300 operators that share 100 KB of options", packed(model([graph], ["Mine"])),
               refused="too many offsets to the same bytes", commands=("scope",))  # fmt: skip
    signatures = {f"s{at}": 0 for at in range(5_000)} | {"\x1b[31m": 9, "": 0}
    yield _row("5,000 signatures", packed(_sound(signatures=signatures)), shows=b"AddV2 (",
               commands=("scope",))  # fmt: skip
    wide = {**_sound(), 6: Vector("I", [2**32 - 1] * 4)}
    yield _row("metadata that are none", packed(wide), shows=b"AddV2 (", commands=("scope",))


ROWS: Final = (*_placed(), *_shared(), *_odd())
