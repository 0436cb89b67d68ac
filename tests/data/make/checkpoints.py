"""Makes small checkpoints of every kind, as TensorFlow writes them.

    python tests/data/make/checkpoints.py [OUT_DIR]      (needs tensorflow)

    one                  second format, one file of values: every rank, text, NaN, a huge one
    several              second format, three files of values
    partitioned          second format, variables cut into slices, in two files of values
    grid                 second format, tensors cut along several dimensions, strings in slices
    odd                  second format, slices with all that their keys can have in them
    dtypes               second format, a tensor of every type that can be saved
    objects              second format, as tf.train.Checkpoint names things
    first                first format: as `one`
    first_sharded        first format in two files: as `partitioned`
    first_dtypes         first format: the types of `dtypes` that it can hold

The folder `golden` is not made here: it holds commands and what the original printed for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

from profile_files import DATA, made_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

CHECKPOINTS = DATA / "checkpoints"
QUANTIZED = {
    tf.qint8: tf.int8,
    tf.qint16: tf.int16,
    tf.qint32: tf.int32,
    tf.quint8: tf.uint8,
    tf.quint16: tf.uint16,
}
SMALL_INTEGERS = {"int4": (-8, 7), "uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
RESOURCE, VARIANT, LAST = 20, 21, 33


def main() -> None:
    """Write them all."""
    out_dir = made_folder(__doc__, CHECKPOINTS)
    first, second = tf1.train.SaverDef.V1, tf1.train.SaverDef.V2
    _save(out_dir / "one", _plain_variables, second)
    _save(out_dir / "first", _plain_variables, first)
    _save(out_dir / "several", _spread_variables, second, sharded=True)
    _save(out_dir / "partitioned", _partitioned_variables, second, sharded=True)
    _save(out_dir / "first_sharded", _partitioned_variables, first, sharded=True)
    _save_grid(out_dir)
    _save_dtypes(out_dir)
    tf.train.Checkpoint(
        weights=tf.Variable([[1.0, 2.0]]), step=tf.Variable(3, dtype=tf.int64)
    ).write(str(out_dir / "objects"))


def _save(path: Path, build: Callable[[], None], version: int, *, sharded: bool = False) -> None:
    """Save what *build* declares, as a training program does."""
    config = tf1.ConfigProto(device_count={"CPU": 3})
    with tf.Graph().as_default(), tf1.Session(config=config) as session:
        build()
        session.run(tf1.global_variables_initializer())
        saver = tf1.train.Saver(write_version=version, sharded=sharded)
        saver.save(session, str(path), write_meta_graph=False, write_state=False)


def _variable(name: str, value: Any) -> None:
    tf1.get_variable(name, initializer=tf.constant(value), use_resource=True)


def _plain_variables() -> None:
    random = np.random.default_rng(1)
    _variable("scalar", np.float32(3.14159))
    _variable("global_step", np.int64(12_345_678_901_234))
    _variable("layer/bias", random.normal(size=3).astype(np.float32))
    _variable("layer/kernel", random.normal(size=(3, 4)).astype(np.float32))
    _variable("layer/cube", random.normal(size=(2, 1, 3, 2)))
    _variable("none", np.zeros((0, 3), np.float32))
    _variable("none_inside", np.zeros((2, 0, 3), np.int32))
    _variable("negative", np.array([-1, -(2**31), 2**31 - 1, 0], np.int32))
    _variable("wide", np.array([-(2**63), 2**63 - 1, -1, 1 << 40]))
    _variable("special", np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e-40], np.float32))
    _variable("huge", random.normal(size=(40, 60)).astype(np.float32))
    _variable("text", np.array([[b"abc", b""], [b"\xff\0 'x'", "größer".encode() * 50]]))


def _spread_variables() -> None:
    for device in range(3):
        with tf.device(f"/cpu:{device}"):
            _variable(f"tower_{device}/weights", np.arange(12.0).reshape(3, 4) * device)
            _variable(f"tower_{device}/label", np.array([b"tower", str(device).encode()]))


def _partitioned_variables() -> None:
    with tf.device("/cpu:0"):
        _variable("whole", np.arange(5, dtype=np.int32))
        _partitioned("rows", [7, 3], 3, axis=0)
    with tf.device("/cpu:1"):
        _partitioned("columns", [3, 30], 4, axis=1)
        # A slice that begins above 63, as here, has a longer number in its key.
        _partitioned("long", [200, 1], 2, axis=0)
    for device, start in enumerate(range(0, 9_000, 4_500)):
        with tf.device(f"/cpu:{device}"):
            part = tf1.get_variable(
                f"longer_{device}", initializer=tf.range(start, start + 4_500) % 99
            )
            part._set_save_slice_info(
                tf1.Variable.SaveSliceInfo("longer", [9_000], [start], [4_500])
            )


def _partitioned(name: str, shape: list[int], pieces: int, axis: int) -> None:
    tf1.get_variable(
        name,
        shape,
        initializer=tf1.random_normal_initializer(seed=len(name)),
        partitioner=tf1.fixed_size_partitioner(pieces, axis=axis),
        use_resource=False,
    )


def _save_grid(out_dir: Path) -> None:
    values = np.arange(35, dtype=np.int16).reshape(5, 7)
    strings = np.array([f"s{number}" for number in range(6)], object)
    grid = [
        (f"5 7 {top},{height}:{left},{width}", values[top : top + height, left : left + width])
        for top, height in ((0, 2), (2, 3))
        for left, width in ((0, 4), (4, 3))
    ]
    pieces = [("grid", *piece) for piece in grid]
    pieces += [("strings", f"6 {at},3", strings[at : at + 3]) for at in (0, 3)]
    pieces += [("uncut", "4 2 -:0,1", values[:4, :1]), ("uncut", "4 2 -:1,1", values[:4, 1:2])]
    _save_pieces(out_dir / "grid", pieces)
    # Numbers of every length in the keys; no memory holds such a tensor, and it is not whole.
    far = [("far", f"{1 << 62} {1 << n},1", np.full(1, n, np.int8)) for n in range(62)]
    # Bytes that keys escape; not every reader can say such a name.
    odd = [(b"odd \0\1\xff\0\xff name", *piece) for piece in grid]
    _save_pieces(out_dir / "odd", [*odd, *far])


def _save_pieces(path: Path, pieces: Sequence[tuple[str | bytes, str, Any]]) -> None:
    names, slices, tensors = zip(*pieces, strict=True)
    tf.raw_ops.SaveV2(
        prefix=str(path), tensor_names=names, shape_and_slices=slices, tensors=tensors
    )


def _save_dtypes(out_dir: Path) -> None:
    kinds = [tf.as_dtype(n) for n in range(1, LAST + 1) if n not in (RESOURCE, VARIANT)]
    tensors = {kind.name: _sample(kind) for kind in kinds}
    _save_pieces(out_dir / "dtypes", [(name, "", tensor) for name, tensor in tensors.items()])
    held = {n: tensor for n, tensor in tensors.items() if _first_format_holds(n, tensor, out_dir)}
    _save_first(out_dir / "first_dtypes", held)


def _save_first(path: Path, tensors: dict[str, Any]) -> None:
    slices, data = [""] * len(tensors), [*tensors.values()]
    tf.raw_ops.SaveSlices(
        filename=str(path), tensor_names=[*tensors], shapes_and_slices=slices, data=data
    )


def _first_format_holds(name: str, tensor: Any, out_dir: Path) -> bool:
    trial = out_dir / "trial"
    try:
        _save_first(trial, {name: tensor})
    except tf.errors.OpError:
        return False
    trial.unlink()
    return True


def _sample(kind: Any) -> Any:
    """Values that show how a type is laid out: the lowest and highest, every small float."""
    if kind in QUANTIZED:
        return tf.bitcast(_sample(QUANTIZED[kind]), kind)
    if kind == tf.string:
        return tf.constant([b"", b"x" * 200, b"\0\xff"])
    if kind.name.startswith(("float8", "float4")):
        codes = 256 if kind.name.startswith("float8") else 16
        return tf.constant(np.arange(codes, dtype=np.uint8).view(kind.as_numpy_dtype))
    values: list[Any]
    if kind == tf.bool:
        values = [True, False, True]
    elif kind.is_complex:
        values = [1 + 2j, -0.5 - 1e-3j]
    elif kind.is_floating:
        values = [0.1, -2.5, 3e4, np.inf, np.nan]
    else:
        low, high = SMALL_INTEGERS.get(kind.name) or (kind.min, kind.max)
        values = [low, 0, 1, high]
    return tf.constant(np.array(values, kind.as_numpy_dtype))


if __name__ == "__main__":
    main()
