"""The calls of tf.profiler and tf.contrib.tfprof, under their old names."""
