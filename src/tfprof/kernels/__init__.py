"""The hot loops: `table.py` chooses between the compiled core and the NumPy code."""
