"""The rows of LAYERS by family."""
