"""The object graph of a checkpoint of TensorFlow 2: the object that each tensor belongs to.

    model ─ layer_with_weights-0 ─ kernel      model/layer_with_weights-0/kernel
    optimizer ─┬─ _iterations                  optimizer/_iterations
               ├─ _momentums ─ 0               optimizer/_momentums/0
               └─ slot m of kernel             optimizer/m/model/layer_with_weights-0/kernel

A TrackableObjectGraph is a list of objects. Each has children by name, slot variables, and
attributes with their keys in the checkpoint. An object may have many paths. It gets the shortest
one outside of optimizers: Keras 3 also lists the weights of a model in its optimizer.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tfprof.columns.strings import Strings
from tfprof.wire.decode import BYTES, VARINT, WireError, scan, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tfprof.columns.strings import U8
    from tfprof.wire.decode import Field

MODEL, OPTIMIZER, METRICS = "model", "optimizer", "metrics"
_VALUE: Final = b"VARIABLE_VALUE"
_KERAS_API: Final = b"keras_api"  # tf_keras keeps metrics below it
_VARIABLES: Final = b"_variables"
_TRAINED: Final = b"_trainable_variables"
# What every optimizer of a generation of Keras has.
_OPTIMIZERS: Final = ({b"_variables", b"_iterations"}, {b"iter", b"decay"}, {b"iter", b"momentum"})
_MOST_BYTES, _LONGER = 16 << 20, 32  # of all paths, or so many times the bytes of the graph
_MOST_PARTS: Final = 16  # of the name of a variable, as far as it is compared


class Tracked(NamedTuple):
    """A tensor of the checkpoint."""

    key: bytes
    path: bytes
    role: str  # MODEL, OPTIMIZER or METRICS
    trained: bool | None  # None: no optimizer says so


class _Objects:
    """The objects by number, and the place that each of them gets."""

    def __init__(self, data: U8) -> None:
        node = scan(data, *whole(data), {1: BYTES})[1]
        count = node.start.size
        part = scan(data, node.start, node.end, {1: BYTES, 2: BYTES, 3: BYTES})
        self.children: list[list[tuple[bytes, int]]] = [[] for _ in range(count)]
        for owner, name, number in _rows(data, part[1], (2,), (1,)):
            self.children[owner].append((name, _checked(number, count)))
        self.attributes = [*_rows(data, part[2], (1, 2, 3))]  # object, name, full name, key
        self.slots = [
            (owner, name, _checked(of, count), _checked(slot, count))
            for owner, name, of, slot in _rows(data, part[3], (2,), (1, 3))
        ]
        self.optimizers = {slot[0] for slot in self.slots}
        for number, children in enumerate(self.children):
            names = {name for name, _ in children}
            if any(names >= wanted for wanted in _OPTIMIZERS):
                self.optimizers.add(number)
        # The object around each, its name in there, its role; those that no path reaches have none.
        self.place: dict[int, tuple[int, bytes, str]] = {}
        self._paths = {-1: b""}
        self._most = max(_MOST_BYTES, data.size * _LONGER)

    def walk(self) -> None:
        """Give each object its place: those of the model first, then those of optimizers."""
        slots = {slot for *_, slot in self.slots}
        root = OPTIMIZER if 0 in self.optimizers else MODEL
        later: list[tuple[int, bytes, int, str]] = [(-1, b"", 0, root)] if self.children else []
        for around, label, first, role in later:  # it grows
            if first in self.place:
                continue
            self.place[first] = around, label, role
            queue = deque([first])
            while queue:
                at = queue.popleft()
                # The lists of slots by name say more than the list of all variables.
                for name, child in sorted(self.children[at], key=lambda c: c[0] == _VARIABLES):
                    inner = self._role(name, child) if role == MODEL else role
                    if inner != role:
                        later.append((at, name, child, inner))
                    elif child not in self.place and child not in slots:
                        self.place[child] = at, name, role
                        queue.append(child)
        for owner, name, _, slot in self.slots:
            if owner in self.place and slot not in self.place:
                self.place[slot] = owner, name, OPTIMIZER

    def _role(self, name: bytes, child: int) -> str:
        is_optimizer = child in self.optimizers or name.endswith(OPTIMIZER.encode())
        return OPTIMIZER if is_optimizer else METRICS if name == _KERAS_API else MODEL

    def path(self, number: int) -> bytes:
        """The path of an object."""
        above = [number]
        while above[-1] not in self._paths:
            above.append(self.place[above[-1]][0])
        for at in reversed(above[:-1]):
            around, name, _ = self.place[at]
            self._paths[at] = self.joined(self._paths[around], name)
        return self._paths[number]

    def joined(self, first: bytes, second: bytes) -> bytes:
        """A path of both; raises WireError if all paths are far longer than the objects."""
        path = first + b"/" + second if first and second else first or second
        # A few objects with long names could stand for any number of long paths.
        self._most -= len(path)
        if self._most < 0:
            raise WireError(0, "paths far longer than the objects")
        return path

    def trained(self) -> set[int]:
        """The variables that optimizers train; none if they do not say."""
        of_slots = {of for _, _, of, _ in self.slots}
        lists = (dict(self.children[number]).get(_TRAINED, -1) for number in self.optimizers)
        listed = {child for number in lists if number >= 0 for _, child in self.children[number]}
        if of_slots or listed:
            return of_slots | listed
        # The slots of tf_keras have names: Adam/m/dense/kernel is a slot of dense/kernel.
        named: dict[bytes, set[int]] = {}
        for number, _, name, _ in self.attributes:
            if number in self.place and self.place[number][2] == MODEL:
                named.setdefault(name, set()).add(number)
        found: set[int] = set()
        for number, _, name, _ in self.attributes:
            if number in self.place and self.place[number][2] == OPTIMIZER:
                same = [named[end] for end in _ends(name) if end in named]
                found |= same[0] if same and len(same[0]) == 1 else set()
        return found


def tracked_tensors(data: U8) -> list[Tracked]:
    """The tensors that the objects of a TrackableObjectGraph have; raises WireError."""
    objects = _Objects(data)
    objects.walk()
    trained = objects.trained()
    slot_of = {slot: of for _, _, of, slot in objects.slots if of in objects.place}
    tensors = []
    for number, name, _, key in objects.attributes:
        if number not in objects.place:
            continue
        path = objects.joined(objects.path(number), objects.path(slot_of.get(number, -1)))
        path = path if name == _VALUE else objects.joined(path, name)
        is_trained = number in trained if trained else None
        tensors.append(Tracked(key, path, objects.place[number][2], is_trained))
    return tensors


def _ends(name: bytes) -> Iterable[bytes]:
    """What a name ends with, the longest first: b/c and c of a/b/c."""
    parts = name.split(b"/", _MOST_PARTS)
    return (b"/".join(parts[at:]) for at in range(1, len(parts)))


def _checked(number: int, count: int) -> int:
    if not 0 <= number < count:
        raise WireError(0, f"object {number} of {count}")
    return number


def _rows(
    data: U8, field: Field, texts: tuple[int, ...], numbers: tuple[int, ...] = ()
) -> Iterator[tuple[Any, ...]]:
    """(its message, these texts, these numbers) of each submessage."""
    wanted = {**dict.fromkeys(texts, BYTES), **dict.fromkeys(numbers, VARINT)}
    part, count = scan(data, field.start, field.end, wanted), field.start.size
    columns = [Strings(data, *part[number].last_slice(count)).tolist() for number in texts]
    values = [part[number].last(count).tolist() for number in numbers]
    return zip(field.message.tolist(), *columns, *values, strict=True)
