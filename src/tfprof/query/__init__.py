"""A question about a profile and its answer."""
