"""`python -m tfprof` is the command."""

from tfprof.cli import main

main()
