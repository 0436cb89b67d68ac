"""Standard output and standard error: escaping, colour, progress, signals."""
