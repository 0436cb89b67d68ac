"""Trains a small sequence-to-sequence model on a cluster, and writes what tfprof reads.

    python examples/seq2seq_attention.py LOG_DIR        (needs tensorflow; takes half a minute)
    tfprof scope --graph_path=LOG_DIR/graph.pbtxt --run_meta_path=LOG_DIR/run_meta

The cluster is one worker with four CPU devices and two parameter servers, all in this process. They
talk over 127.0.0.1 and end with it. Until then TensorFlow's servers listen on all interfaces, and
trust any caller; on Linux, a network of its own keeps others out:

    unshare -rn sh -c 'ip link set lo up && python examples/seq2seq_attention.py LOG_DIR'

No data set is needed: an article is a few random words, its abstract the same words backwards.
"""

from __future__ import annotations

import argparse
import socket
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf import text_format

import seq2seq_attention_model

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 25
WARM_UP_STEPS = 60
PARAMETER_SERVERS = 2
FIRST_WORD = 2  # the numbers before it stand for no word and for the start of an abstract
START = 1


def main(arguments: list[str] | None = None) -> None:
    """Start a cluster, train on it, write the profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log_dir", type=Path, metavar="LOG_DIR")
    log_dir: Path = parser.parse_args(arguments).log_dir
    log_dir.mkdir(parents=True, exist_ok=True)

    tf.disable_v2_behavior()  # reference variables, static graph
    hps = seq2seq_attention_model.HParams()
    servers = _start_cluster(hps.towers)
    with tf.Graph().as_default():
        tf.set_random_seed(SEED)
        model = seq2seq_attention_model.Seq2SeqAttentionModel(hps)
        _Train(model, _batches(hps), servers[0].target, log_dir)


def _Train(  # noqa: N802  as the tutorials call it
    model: seq2seq_attention_model.Seq2SeqAttentionModel,
    batches: Iterator[seq2seq_attention_model.Batch],
    master: str,
    log_dir: Path,
) -> None:
    """Train for a while, then trace one step."""
    model.build_graph()
    saver = tf.train.Saver()
    initialize = tf.global_variables_initializer()
    fetches = [model.train_op, model.summaries, model.loss]

    with tf.Session(master, config=_as_written()) as session:
        session.run(initialize)
        for step in range(WARM_UP_STEPS):
            *_, loss = session.run(fetches, model.feed(next(batches)))
            print(f"step {step}: loss {loss:.3f}", file=sys.stderr)  # noqa: T201

        run_meta = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(fetches, model.feed(next(batches)), options, run_meta)
        saver.save(session, str(log_dir / "model.ckpt"), write_meta_graph=False)

        graph_text = text_format.MessageToString(session.graph.as_graph_def(add_shapes=True))
        (log_dir / "graph.pbtxt").write_text(graph_text, encoding="utf-8")
        (log_dir / "run_meta").write_bytes(run_meta.SerializeToString())
        tf.profiler.write_op_log(session.graph, str(log_dir))


def _start_cluster(worker_devices: int) -> list[Any]:
    """The servers of a cluster in this process, the worker first."""
    with ExitStack() as stack:
        # Held all at once, so that all are different; given up just before the servers take them.
        sockets = [stack.enter_context(socket.socket()) for _ in range(1 + PARAMETER_SERVERS)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        worker, *servers = [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]

    cluster = tf.train.ClusterSpec({"worker": [worker], "ps": servers})
    several = tf.ConfigProto(device_count={"CPU": worker_devices})
    single = tf.ConfigProto(device_count={"CPU": 1})
    return [
        tf.distribute.Server(cluster, "worker", 0, config=several),
        *(tf.distribute.Server(cluster, "ps", task, config=single) for task in range(len(servers))),
    ]


def _as_written() -> Any:
    """A session that runs the graph as it is written: no node merged, folded, fused or renamed."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def _batches(
    hps: seq2seq_attention_model.HParams,
) -> Iterator[seq2seq_attention_model.Batch]:
    """Articles of one word to as many as fit, frequent words first in the vocabulary."""
    random = np.random.default_rng(SEED)
    size = (hps.batch_size, hps.steps)
    while True:
        lengths = random.integers(1, hps.steps, hps.batch_size, endpoint=True)
        used = np.arange(hps.steps) < lengths[:, np.newaxis]
        spread = random.uniform(np.log(FIRST_WORD), np.log(hps.vocabulary), size)
        articles = np.where(used, np.exp(spread).astype(np.int32), 0)
        places = np.where(used, lengths[:, np.newaxis] - 1 - np.arange(hps.steps), 0)
        targets = np.where(used, np.take_along_axis(articles, places, axis=1), 0)
        abstracts = np.concatenate([np.full((hps.batch_size, 1), START), targets[:, :-1]], axis=1)
        yield seq2seq_attention_model.Batch(
            articles, lengths, abstracts, targets, used.astype(np.float32)
        )


if __name__ == "__main__":
    main()
