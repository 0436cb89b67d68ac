"""Everything a user can name, one row each; no NumPy, so that help starts fast."""
