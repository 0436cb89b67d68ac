"""Makes the files of a small fleet: three workers train one model with two parameter servers.

    python tests/data/make/small_fleet.py [OUT_DIR]     (needs tensorflow; takes a minute)

    graph.pbtxt.gz                   the graph, which is the same for every worker
    tfprof_log.gz                    float operations, trainable variables and code traces
    worker_0/run_meta_101.gz …       four fully traced steps of each worker

Each task is a process of its own; they talk over 127.0.0.1. Variables are placed in turn, so the
server of the embedding holds almost all parameters. The last worker has a batch 32 times as
large, so each of its steps takes longer. TensorFlow's servers listen on all interfaces and trust
any caller; on Linux, a network of its own keeps others out:

    unshare -rn sh -c 'ip link set lo up && python tests/data/make/small_fleet.py'
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from profile_files import DATA, as_written, graph_text, op_log, parser, steps_only, write

if TYPE_CHECKING:
    from pathlib import Path

OUT_DIR = DATA / "fleet"
SERVERS, WORKERS = 2, 3
WARM_UP_STEPS, TRACED_STEPS = 100, 4
BATCH, LARGE_BATCH = 64, 2048
WORDS, LENGTH, UNITS, CLASSES = 4000, 12, 48, 10
SEED = 13


def main() -> None:
    """Start a process per task, wait for the workers, then end the servers."""
    options = parser(__doc__, OUT_DIR)
    options.add_argument("--task", nargs=2, metavar=("JOB", "NUMBER"), help=argparse.SUPPRESS)
    options.add_argument("--hosts", help=argparse.SUPPRESS)
    arguments = options.parse_args()
    out_dir: Path = arguments.out_dir
    if arguments.task:
        _run_task(arguments.task[0], int(arguments.task[1]), arguments.hosts.split(","), out_dir)
        return
    out_dir.mkdir(parents=True, exist_ok=True)
    hosts = ",".join(_free_hosts(SERVERS + WORKERS))

    def start(job: str, number: int) -> subprocess.Popen[bytes]:
        words = (str(out_dir), "--task", job, str(number), "--hosts", hosts)
        return subprocess.Popen([sys.executable, __file__, *words])

    servers = [start("ps", number) for number in range(SERVERS)]
    workers = [start("worker", number) for number in range(WORKERS)]
    try:
        failed = [worker.wait() for worker in workers]
    finally:
        for process in (*workers, *servers):
            process.terminate()
            process.wait()
    if any(failed):
        sys.exit("a worker failed")


def _free_hosts(count: int) -> list[str]:
    with ExitStack() as stack:
        # Held all at once, so that all are different; given up just before the servers take them.
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]


def _run_task(job: str, number: int, hosts: list[str], out_dir: Path) -> None:
    import tensorflow.compat.v1 as tf  # noqa: PLC0415  the first process needs none of it

    tf.disable_v2_behavior()  # reference variables, static graph
    cluster = tf.train.ClusterSpec({"ps": hosts[:SERVERS], "worker": hosts[SERVERS:]})
    config = tf.ConfigProto(device_count={"CPU": 1}, intra_op_parallelism_threads=1)
    server = tf.distribute.Server(cluster, job, number, config=config)
    if job == "ps":
        server.join()
    device = tf.train.replica_device_setter(
        cluster=cluster, worker_device=f"/job:worker/task:{number}"
    )
    with tf.Graph().as_default(), tf.device(device):
        tf.set_random_seed(SEED)
        _train(tf, number, server.target, out_dir)


def _train(tf: Any, number: int, master: str, out_dir: Path) -> None:
    """Train without waiting for the others, and trace the last steps."""
    words, labels, train_op = _model(tf)
    ready, initialize = tf.report_uninitialized_variables(), tf.global_variables_initializer()
    if not number:
        write(out_dir / "graph.pbtxt.gz", graph_text(tf.get_default_graph()))
        write(out_dir / "tfprof_log.gz", op_log(tf, tf.get_default_graph()))
    with tf.Session(master, config=as_written(tf)) as session:
        if not number:
            session.run(initialize)
        while session.run(ready).size:
            time.sleep(0.1)
        for step in range(WARM_UP_STEPS + TRACED_STEPS):
            run_meta, options = tf.RunMetadata(), tf.RunOptions()
            if step >= WARM_UP_STEPS:
                options.trace_level = tf.RunOptions.FULL_TRACE
            session.run(train_op, _batch(words, labels, number, step), options, run_meta)
            if step >= WARM_UP_STEPS:
                folder = out_dir / f"worker_{number}"
                folder.mkdir(exist_ok=True)
                write(folder / f"run_meta_{step + 1}.gz", steps_only(run_meta))


def _model(tf: Any) -> tuple[Any, Any, Any]:
    """Classify short texts: embedding, average, two dense layers."""
    words = tf.placeholder(tf.int32, (None, LENGTH), "words")
    labels = tf.placeholder(tf.int32, (None,), "labels")
    with tf.variable_scope("embedding"):
        table = tf.get_variable("table", (WORDS, UNITS), use_resource=False)
        x = tf.reduce_mean(tf.nn.embedding_lookup(table, words), axis=1)
    for layer, units in enumerate((UNITS, CLASSES)):
        with tf.variable_scope(f"layer_{layer}"):
            weights = tf.get_variable("weights", (x.shape[1], units), use_resource=False)
            bias = tf.get_variable("bias", (units,), use_resource=False)
            x = tf.nn.bias_add(tf.matmul(x, weights), bias)
            x = tf.nn.relu(x) if layer == 0 else x
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return words, labels, optimizer.minimize(tf.reduce_mean(losses), step)


def _batch(words: Any, labels: Any, number: int, step: int) -> dict[Any, Any]:
    import numpy as np  # noqa: PLC0415

    random = np.random.default_rng((SEED, number, step))
    rows = LARGE_BATCH if number == WORKERS - 1 else BATCH
    return {
        words: random.integers(0, WORDS, (rows, LENGTH)),
        labels: random.integers(0, CLASSES, rows),
    }


if __name__ == "__main__":
    main()
