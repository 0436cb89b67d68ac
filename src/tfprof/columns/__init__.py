"""Columns in NumPy: strings, shapes, trees, unique values, packed numbers, regex matches."""
