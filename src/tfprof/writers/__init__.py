"""One file per output: a Table, a Report or a Profile in, pieces of bytes out. Opens nothing."""
