"""Used by every package: dataclasses, argument checks, units, progress events."""
