"""Keras archives and HDF5 files: opened, changed inside, and closed again.

The configuration is changed as JSON, so that what reads layers sees it; the weights blindly.
"""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import h5py

from fuzz import mutate
from tfprof.read.detect import HDF5_MAGIC

if TYPE_CHECKING:
    from fuzz.mutate import Dice

CONFIG: Final = "config.json"
_VALUES: Final[tuple[Any, ...]] = (
    *(None, True, 0, -1, 1, 7, 2**31, 2**63, 2**70, 1e308, float("nan"), float("inf"), "", "4"),
    *(
        [],
        [4],
        [None, 8],
        {},
        {"config": {}},
        "Sequential",
        "Dense",
        "LSTM",
        "Bidirectional",
        "a/b",
    ),
)


def keras(data: bytes, dice: Dice) -> bytes:
    """An archive with a change in one of its files; now and then the zip file itself is changed."""
    files: dict[str, bytes] = {}
    with suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    if not files or dice.rng.randrange(6) == 0:
        return mutate.blind(data, dice)
    name = dice.rng.choice([CONFIG, *files])
    content = files.get(name, b"{}")
    files[name] = _json(content, dice) if name == CONFIG else mutate.blind(content, dice)
    return archive(files)


def archive(files: dict[str, bytes]) -> bytes:
    """A zip file of these, packed; the same each time."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, data in files.items():
            opened.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def hdf5(data: bytes, dice: Dice) -> bytes:
    """A file with its bytes changed, or the JSON that one is made of with some values changed."""
    return mutate.blind(data, dice) if data.startswith(HDF5_MAGIC) else _json(data, dice)


def hdf5_file(data: bytes) -> bytes:
    """The file that is described: {"texts": {name: text}, "layers": {name: {weight: shape}}}."""
    made = io.BytesIO()
    with suppress(Exception), h5py.File(made, "w") as file:
        described = json.loads(data)
        for name, text in described["texts"].items():
            file.attrs[name] = text if isinstance(text, str) else json.dumps(text)
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = list(described["layers"])
        for name, weights in described["layers"].items():
            layer = group.create_group(name)
            layer.attrs["weight_names"] = list(weights)
            for weight, shape in weights.items():
                layer.create_dataset(weight, shape, "float32", chunks=(1,) * len(shape) or None)
    return data if data.startswith(HDF5_MAGIC) else made.getvalue()


def _json(data: bytes, dice: Dice) -> bytes:
    """A configuration with some values that are others; what is no JSON is changed blindly."""
    try:
        held = json.loads(data)
    except (ValueError, RecursionError):
        return mutate.blind(data, dice)
    for _ in dice.several():
        places = list(_places(held))
        if not places:
            return json.dumps(dice.rng.choice(_VALUES)).encode()
        inside, key = dice.rng.choice(places)
        other, at = dice.rng.choice(places)
        choice = dice.rng.randrange(4)
        if choice == 0:
            del inside[key]
        elif choice == 1:
            inside[key] = json.loads(json.dumps(other[at]))
        else:
            inside[key] = dice.rng.choice(_VALUES)
    return json.dumps(held).encode()


def _places(held: Any) -> Any:
    """(list or object, key) of everything inside."""
    waiting = [held]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (dict, list)):
            for key in list(one) if isinstance(one, dict) else range(len(one)):
                yield one, key
                waiting.append(one[key])
