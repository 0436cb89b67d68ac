"""Captures a training with MirroredStrategy on two CPUs: `python mirrored_worker.py FOLDER`."""

from __future__ import annotations

import sys
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tfprof


def main(folder: str) -> None:
    (cpu,) = tf.config.list_physical_devices("CPU")
    two: list[Any] = [tf.config.LogicalDeviceConfiguration() for _ in range(2)]
    tf.config.set_logical_device_configuration(cpu, two)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        layers = [keras.Input((8,)), keras.layers.Dense(16), keras.layers.Dense(4)]
        model = keras.Sequential(layers)
        model.compile("adam", "mse")
    data = np.ones([96, 8], np.float32), np.ones([96, 4], np.float32)
    callback = tfprof.capture_callback(folder, batches=(1, 2))
    model.fit(*data, batch_size=32, verbose=0, callbacks=[callback])


if __name__ == "__main__":
    main(sys.argv[1])
