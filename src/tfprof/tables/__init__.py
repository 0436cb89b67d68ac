"""Everything that a user can name, one row each; imports no NumPy, so that help starts fast."""
