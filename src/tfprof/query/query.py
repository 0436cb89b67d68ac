"""Query: the options of a report, checked.

`Query.of` takes options as users spell them, checks them, and turns values that mean "no
restriction" into None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfprof.errors import UsageError
from tfprof.foundation.arguments import INT64_MAX, shown
from tfprof.foundation.lazy_dataclasses import dataclass, field
from tfprof.tables.eras import ERAS, NOW, Era
from tfprof.tables.fields import METRICS
from tfprof.tables.options import ANY, Flops, Frames, check_choices, effective
from tfprof.tables.outputs import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DIGITS = 19  # of the largest 64-bit number


@dataclass(frozen=True)
class Query:
    """The options of a report; None means no restriction. Create one with `Query.of`."""

    max_depth: int = 10
    minimum: Mapping[str, int] = field(default_factory=dict)
    step: int | None = None
    order_by: str | None = "name"
    account_types: tuple[str, ...] | None = None
    start_names: tuple[str, ...] | None = None
    trim_names: tuple[str, ...] = ()
    show_names: tuple[str, ...] | None = None
    hide_names: tuple[str, ...] = ()
    displayed_only: bool = False
    select: tuple[str, ...] = ("micros",)
    output: Output = field(default_factory=Output)
    era: Era = NOW
    devices: tuple[str, ...] | None = None
    flops: Flops = "log"
    frames: Frames = "auto"
    dims: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # about the options themselves, such as deprecated ones
    left_open: frozenset[str] = frozenset()  # options that nobody set, where defaults fit the files

    @classmethod
    def of(cls, options: Mapping[str, Any], view: str = "") -> Query:
        """From options as users spell them; missing options have their defaults in *view*."""
        value = effective(options, view)
        check_choices("select", value["select"])
        check_choices("flops", [value["flops"]])
        check_choices("frames", [value["frames"]])
        if value["order_by"]:
            check_choices("order_by", [value["order_by"]])
        output = Output.of(value["output"])  # an error even where dump_to_file overrides it
        era, frames = ERAS[value["era"]], value["frames"]
        return cls(
            max_depth=value["max_depth"],
            minimum={m: value[f"min_{m}"] for m in METRICS if value[f"min_{m}"]},
            step=value["step"] if value["step"] >= 0 else None,
            order_by=value["order_by"] or None,
            account_types=_restriction(value["account_type_regexes"]),
            start_names=_restriction(value["start_name_regexes"]),
            trim_names=tuple(value["trim_name_regexes"]),
            show_names=_restriction(value["show_name_regexes"]),
            hide_names=tuple(value["hide_name_regexes"]),
            displayed_only=bool(value["account_displayed_op_only"]),
            select=tuple(sorted(set(value["select"]))),
            output=Output("file", value["dump_to_file"]) if value["dump_to_file"] else output,
            era=era,
            devices=_restriction(value["device_regexes"]),
            flops=value["flops"],
            # An era that reproduces other releases shows all frames by itself.
            frames="all" if frames == "auto" and not era.folds_frames else frames,
            dims=_sizes(value["dim"]),
            notes=_older_options(value),
        )


def _sizes(pairs: Iterable[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for pair in pairs:
        name, _, text = pair.rpartition("=")
        size = int(text) if text.isdecimal() and text.isascii() and len(text) <= _DIGITS else 0
        if not name or not 1 <= size <= INT64_MAX:
            raise UsageError(
                f"dim takes NAME=SIZE with a size of 1 or more, as in batch=8, not {shown(pair)}"
            )
        if sizes.setdefault(name, size) != size:
            raise UsageError(f"dim gives {name} two sizes, {sizes[name]} and {size}")
    return sizes


def _older_options(value: Mapping[str, Any]) -> tuple[str, ...]:
    """For each deprecated option in use, what to use instead."""
    notes = []
    path = value["dump_to_file"]
    if path and "dump_to_file" not in ERAS[value["era"]].block:
        notes.append(
            "-dump_to_file option is deprecated. Please use -output file:outfile=<filename>"
        )
        notes.append(f"-output {value['output']} is overwritten with -output file:outfile={path}")
    if value["viz"]:
        notes.append("-viz never drew anything. Please use -output timeline:outfile=<filename>")
    return tuple(notes)


def _restriction(regexes: Iterable[str]) -> tuple[str, ...] | None:
    """The regexes, or None where the only one matches everything."""
    patterns = tuple(regexes)
    return None if patterns == ANY else patterns
