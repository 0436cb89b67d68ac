"""OUTPUTS: the kinds of output, and how one is spelled: KIND or KIND:outfile=PATH."""

from __future__ import annotations

from typing import Literal

from tfprof.errors import UsageError, nearest
from tfprof.foundation.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class Output:
    """Where a report goes."""

    kind: str = "stdout"
    path: str | None = None

    @classmethod
    def of(cls, text: str) -> Output:
        """From the spelling TYPE or TYPE:outfile=PATH; nothing means stdout."""
        kind, _, rest = text.partition(":")
        kind = kind or "stdout"
        if kind not in OUTPUTS:
            known = ", ".join(OUTPUTS)
            raise UsageError(
                f"unknown output type {kind!r}{nearest(kind, list(OUTPUTS))} (there are: {known})"
            )
        path = None
        for pair in filter(None, rest.split(",")):
            key, _, value = pair.partition("=")
            if key != "outfile" or OUTPUTS[kind] == "never":
                raise UsageError(f"output {kind} takes no {key!r}")
            path = value or None
        if OUTPUTS[kind] == "always" and path is None:
            raise UsageError(f"output {kind} needs a file, as in {kind}:outfile=PATH")
        return cls(kind, path)


# The output types, and whether each writes a file; without one, json, csv and md are printed.
OUTPUTS: dict[str, Literal["never", "maybe", "always"]] = {
    "stdout": "never",
    "file": "always",
    "json": "maybe",
    "csv": "maybe",
    "md": "maybe",
    "timeline": "always",
    "pprof": "always",
    "proto": "always",
    "none": "never",
}
