"""Recurrent layers: all time steps at once, since each step computes the same.

    LSTM of x [batch, time, inputs]      x · kernel            [batch, time, 4 · units]
                                         h · recurrent_kernel  the same
                                         gates                 [batch, time, units] each

So the length of an open time axis stays an open dimension of the numbers. The cells know no time:
alone they run on [batch, inputs]. The states of all steps are a tensor of zeros.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from tfprof.read.keras.graph import Call, Tensor, Unexpandable, known, layer
from tfprof.read.keras.layers.activation import activated
from tfprof.read.keras.layers.convolution import Window, convolved
from tfprof.read.keras.layers.dense import product

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Cell = Callable[[Call, Tensor, list[Tensor]], list[Tensor]]


def _parts(call: Call, x: Tensor, count: int, axis: int = -1) -> list[Tensor]:
    split = call.op("Split", axis, x, num_split=count)
    return [Tensor(split.name if at == 0 else f"{split.name}:{at}") for at in range(count)]


def _gated(call: Call, gates: Tensor, state: Tensor) -> list[Tensor]:
    """The output and the state of an LSTM with these gates."""
    i, f, c, o = _parts(call, gates, 4)
    i, f, o = (activated(call, gate, "recurrent_activation") for gate in (i, f, o))
    new = call.op("Mul", i, activated(call, c))
    state = call.op("AddV2", call.op("Mul", f, state), new)
    return [call.op("Mul", o, activated(call, state)), state]


def _lstm(call: Call, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    gates = product(call, x, call.weight("kernel"), len(known(x)))
    back = product(call, states[0], call.weight("recurrent_kernel"), len(known(x)))
    return _gated(call, call.biased(call.op("AddV2", gates, back)), states[1])


def _gru(call: Call, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    (h,), rank = states, len(known(x))
    weight, units = call.weight("recurrent_kernel"), int(call.config["units"])
    gates = product(call, x, call.weight("kernel"), rank)
    after = bool(call.config.get("reset_after", True))
    if call.has("bias"):
        rows = [call.weight("bias")]
        if after:
            parts = _parts(call, rows[0], 2, 0)
            rows = [call.op("Squeeze", part, squeeze_dims=[0]) for part in parts]
        gates = call.op("BiasAdd", gates, rows[0])
    xz, xr, xh = _parts(call, gates, 3)
    if after:
        back = product(call, h, weight, rank)
        back = call.op("AddV2", back, rows[1]) if call.has("bias") else back
        hz, hr, hh = _parts(call, back, 3)
    else:
        first = call.op("Slice", weight, [0, 0], [-1, 2 * units])
        hz, hr = _parts(call, product(call, h, first, rank), 2)
    z = activated(call, call.op("AddV2", xz, hz), "recurrent_activation")
    r = activated(call, call.op("AddV2", xr, hr), "recurrent_activation")
    if after:
        hh = call.op("Mul", r, hh)
    else:
        last = call.op("Slice", weight, [0, 2 * units], [-1, units])
        hh = product(call, call.op("Mul", r, h), last, rank)
    new = activated(call, call.op("AddV2", xh, hh))
    rest = call.op("Mul", call.op("Sub", 1.0, z), new)
    return [call.op("AddV2", call.op("Mul", z, h), rest)]


def _simple(call: Call, x: Tensor, states: list[Tensor]) -> list[Tensor]:
    y = call.biased(product(call, x, call.weight("kernel"), len(known(x))))
    back = product(call, states[0], call.weight("recurrent_kernel"), len(known(x)))
    return [activated(call, call.op("AddV2", y, back))]


_CELLS: Final[dict[str, tuple[Cell, int]]] = {
    "LSTM": (_lstm, 2),
    "GRU": (_gru, 1),
    "SimpleRNN": (_simple, 1),
}


def _alone(cell: Cell, call: Call) -> list[Tensor]:
    """A cell of one step: its output, and its states."""
    new = cell(call, call.x, call.inputs[1:])
    return [new[0], *new]


def _zeros(call: Call, like: Tensor, width: int) -> Tensor:
    dims = call.joined(call.shape_of(like, 0, -1), [width])
    shape = (*known(like)[:-1], width)
    return call.op("Fill", dims, 1.0)._replace(shape=shape)


def _steps(call: Call, x: Tensor, kind: str) -> list[Tensor]:
    """The output and the states of a cell for all steps."""
    cell, count = _CELLS[kind]
    units = int(call.config["units"])
    new = cell(call, x, [_zeros(call, x, units)] * count)
    return [each._replace(shape=(*known(x)[:-1], units)) for each in new]


def _returned(call: Call, new: list[Tensor], states: list[Tensor] | None = None) -> list[Tensor]:
    """The outputs of a layer with these outputs and states of all steps."""
    masks = {"begin_mask": 1, "end_mask": 3, "shrink_axis_mask": 2}

    def last(x: Tensor) -> Tensor:
        return call.op("StridedSlice", x, [0, -1], [0, 0], [1, 1], **masks)

    output = new[0] if call.config.get("return_sequences") else last(new[0])
    return [output, *(map(last, states or new) if call.config.get("return_state") else ())]


def _layer(kind: str, call: Call) -> list[Tensor]:
    return _returned(call, _steps(call, call.x, kind))


for _name, (_cell, _) in _CELLS.items():
    layer(_name)(partial(_layer, _name))
    layer(f"{_name}Cell")(partial(_alone, _cell))


@layer("RNN")
def rnn(call: Call) -> list[Tensor]:
    """Any of Keras's cells, or several on top of each other."""
    entry, x = call.config["cell"], call.x
    stacked = entry["class_name"] == "StackedRNNCells"
    states: list[Tensor] = []
    for at, cell in enumerate(entry["config"]["cells"] if stacked else [entry]):
        inner = call.within(cell["config"], f"cells/{at}/" if stacked else "")
        new = _steps(inner, x, str(cell["class_name"]).removesuffix("Cell"))
        x, states = new[0], [*states, *new]
    return _returned(call, [x, *states], states)


@layer("ConvLSTM1D ConvLSTM2D ConvLSTM3D")
def conv_lstm(call: Call) -> list[Tensor]:
    """An LSTM whose products are convolutions."""
    if call.config.get("data_format") == "channels_first":
        raise Unexpandable
    window, filters = Window(call, call.rank - 3), int(call.config["filters"])
    gates = convolved(window, folded(call, call.x), call.weight("kernel"))
    gates = call.biased(gates, "AddV2")._replace(shape=(None,) * (call.rank - 1))
    state = _zeros(call, gates, filters)
    ones = [1] * window.sides
    back = convolved(window, state, call.weight("recurrent_kernel"), strides=ones, padding="same")
    new = _gated(call, call.op("AddV2", gates, back), state)
    return _returned(call, [unfolded(call, each) for each in new])


def folded(call: Call, x: Tensor) -> Tensor:
    """Steps as examples of the batch."""
    shape = (None, *known(x)[2:])
    return call.reshaped(x, -1, call.shape_of(x, 2))._replace(shape=shape)


def unfolded(call: Call, y: Tensor) -> Tensor:
    """The same back."""
    return call.reshaped(y, call.shape_of(call.x, 0, 2), call.shape_of(y, 1))


@layer("TimeDistributed")
def time_distributed(call: Call) -> Tensor:
    """A layer for each step."""
    (y,) = call.inner(call.config["layer"], folded(call, call.x))
    return unfolded(call, y)


@layer("Bidirectional")
def bidirectional(call: Call) -> list[Tensor]:
    """A layer, and another from the end."""
    entry = call.config["layer"]
    ways = ("forward", entry), ("backward", call.config.get("backward_layer") or entry)
    (there, *states), (back, *more) = (
        call.inner(each, call.x, prefix=f"{way}/", scope=way) for way, each in ways
    )
    return [*_both(call, there, back), *states, *more]


def _both(call: Call, there: Tensor, back: Tensor) -> Sequence[Tensor]:
    mode = call.config.get("merge_mode", "concat")
    if mode is None:
        return [there, back]
    if mode == "concat":
        return [call.joined(there, back, axis=-1, dtype=None)]
    result = call.op({"sum": "AddV2", "ave": "AddV2", "mul": "Mul"}[mode], there, back)
    return [call.op("RealDiv", result, 1.0) if mode == "ave" else result]
