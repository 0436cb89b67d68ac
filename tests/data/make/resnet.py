"""Makes the bundled sample: trains examples/resnet_model.py for a while and traces two steps.

    python tests/data/make/resnet.py [OUT_DIR]      (needs tensorflow; takes a minute or two)

    graph.pbtxt.gz                  the graph, with the static shape of every output
    run_meta_0.gz, run_meta_1.gz    what two training steps cost, fully traced
    tfprof_log.gz                   float operations, trainable variables and code traces
    model.ckpt.index, .data-…       every variable after the last step

Seeds are fixed: on one machine and TensorFlow version all but the two traces come out the same to
the byte. Elsewhere expect other last digits. Times are only worth keeping from an idle machine.
"""

from __future__ import annotations

import sys
from typing import Any

import tensorflow.compat.v1 as tf

from profile_files import ROOT, as_written, graph_text, made_folder, op_log, steps_only, write

sys.path.insert(0, str(ROOT / "examples"))

import resnet_model

SAMPLE = ROOT / "src" / "tfprof" / "sample"
SEED = 32
WARM_UP_STEPS = 40
TRACED_STEPS = 2


def main() -> None:
    """Build, train, trace, write."""
    out_dir = made_folder(__doc__, SAMPLE)

    tf.disable_v2_behavior()  # reference variables, static graph
    with tf.Graph().as_default() as graph, tf.Session(config=as_written(tf, threads=2)) as session:
        tf.set_random_seed(SEED)
        model = resnet_model.build()
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V2)
        session.run(tf.global_variables_initializer())

        # One batch ahead: the queue keeps as many examples to shuffle as it hands out.
        session.run(model.fill_queue)
        for step in range(WARM_UP_STEPS):
            print(f"step {step}: cost {_train(session, model):.3f}", file=sys.stderr)
        for step in range(TRACED_STEPS):
            run_meta = tf.RunMetadata()
            _train(session, model, run_meta)
            write(out_dir / f"run_meta_{step}.gz", steps_only(run_meta))

        checkpoint = str(out_dir / "model.ckpt")
        saver.save(session, checkpoint, write_meta_graph=False, write_state=False)
        write(out_dir / "tfprof_log.gz", op_log(tf, graph))
        write(out_dir / "graph.pbtxt.gz", graph_text(graph))


def _train(session: Any, model: resnet_model.Model, run_meta: Any = None) -> float:
    """One training step, on examples already waiting, so that no step waits for its input."""
    session.run(model.fill_queue)
    level = tf.RunOptions.NO_TRACE if run_meta is None else tf.RunOptions.FULL_TRACE
    options = tf.RunOptions(trace_level=level)
    _, cost = session.run([model.train, model.cost], options=options, run_metadata=run_meta)
    return float(cost)


if __name__ == "__main__":
    main()
