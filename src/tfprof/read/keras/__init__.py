"""Keras archives: the layers of the configuration as nodes of TensorFlow's operation types."""
