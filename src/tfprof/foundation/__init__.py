"""What every room may use: dataclasses, argument checks, units, progress events."""
