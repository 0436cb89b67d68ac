"""Query: what is asked of a profile. Every option is declared once, in OPTIONS.

Flags, shell words, help and the Python API are derived from the table. Outside, options are
spelled as users know them (`step=-1`, `account_type_regexes=[".*"]`); `Query.of` checks them and
turns what means "no restriction" into None.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, Literal

from tfprof.arguments import INT64_MAX, shown, truth
from tfprof.eras import ERAS, NOW, Era
from tfprof.errors import UsageError, nearest
from tfprof.fields import FIELDS, METRICS, ORDERS
from tfprof.light_dataclasses import dataclass, field

Flops = Literal["log", "tensorflow", "all"]
Kind = Literal["int", "text", "bool", "list", "regexes", "output"]

ANY = (".*",)
_DIGITS = 19  # of the largest number of 64 bits
# What the Python API calls an option that the command line has in the singular.
_OTHER_NAMES = {"dims": "dim"}
# The op log alone, the rules of TensorFlow's own registry, or all rules there are.
FLOPS: tuple[Flops, ...] = ("log", "tensorflow", "all")


@dataclass(frozen=True)
class Option:
    """A row of the table: how an option is written, what it takes, and what it does."""

    name: str
    kind: Kind
    default: Any
    help: str
    choices: tuple[str, ...] = ()


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("max_depth", "int", 10, "show rows at most this deep; the root is at depth 1"),
        *(
            Option(f"min_{name}", "int", 0, f"show only rows with {FIELDS[name].bound_help}")
            for name in (
                *(m for m in METRICS if FIELDS[m].bound == "total"),
                *(m for m in METRICS if FIELDS[m].bound == "own"),
            )
        ),
        Option("step", "int", -1, "the step whose stats to use; -1: the average of all steps"),
        Option("order_by", "text", "name", "what to order rows by", ORDERS),
        Option("account_type_regexes", "regexes", ANY, "count only nodes with a type that matches"),
        Option("start_name_regexes", "regexes", ANY, "start at the nodes whose names match"),
        Option("trim_name_regexes", "regexes", (), "hide all below the rows that match"),
        Option("show_name_regexes", "regexes", ANY, "show only rows whose names match"),
        Option("hide_name_regexes", "regexes", (), "hide the rows whose names match"),
        Option(
            "account_displayed_op_only", "bool", default=False, help="total only what is displayed"
        ),
        Option("select", "list", ("micros",), "what to show of each row", tuple(FIELDS)),
        Option(
            "output",
            "output",
            "stdout",
            "stdout, none or KIND:outfile=PATH; KIND: file, json, csv, md, timeline, pprof, proto",
        ),
        Option(
            "era", "text", "now", "print and default as the documents of that time", tuple(ERAS)
        ),
        Option("device_regexes", "regexes", ANY, "show only rows whose devices match"),
        Option(
            "flops", "text", "log", "who counts float operations that the log does not give", FLOPS
        ),
        Option("dim", "list", (), "sizes of open dimensions of the inputs, as in batch=8"),
        Option("viz", "bool", default=False, help="older: see --output=timeline:outfile=PATH"),
        Option("dump_to_file", "text", "", "older: the same as --output=file:outfile=PATH"),
    )
}


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


@dataclass(frozen=True)
class Query:
    """What is asked; None is no restriction. `of` makes one from options and checks them."""

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
    dims: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what to say once of the options themselves

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Query:
        """From options as users spell them; those not given have their defaults."""
        value = effective(options)
        _check_choices("select", value["select"])
        _check_choices("flops", [value["flops"]])
        if value["order_by"]:
            _check_choices("order_by", [value["order_by"]])
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
            output=_output(value),
            era=ERAS[value["era"]],
            devices=_restriction(value["device_regexes"]),
            flops=value["flops"],
            dims=_sizes(value["dim"]),
            notes=_older_options(value),
        )

    def concerns(self, metric: str) -> bool:
        """Whether the answer depends on *metric*."""
        return metric in (*self.select, *self.minimum, self.order_by)


def effective(options: Mapping[str, Any]) -> dict[str, Any]:
    """All options, checked: those given, and for the others what the era has for them."""
    options = {_OTHER_NAMES.get(name, name): value for name, value in options.items()}
    for name in options:
        if name not in OPTIONS:
            raise UsageError(f"there is no option {name!r}{nearest(name, list(OPTIONS))}")
    given = {name: _checked(OPTIONS[name], value) for name, value in options.items()}
    _check_choices("era", [given.get("era", NOW.name)])
    era = ERAS[given.get("era", NOW.name)]
    return {
        name: given.get(name, era.defaults.get(name, option.default))
        for name, option in OPTIONS.items()
    }


def _sizes(pairs: Iterable[str]) -> dict[str, int]:
    """The sizes of dimensions that are written NAME=SIZE."""
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


def _output(value: Mapping[str, Any]) -> Output:
    asked = Output.of(value["output"])  # wrong or not in force, it is told
    return Output("file", value["dump_to_file"]) if value["dump_to_file"] else asked


def _older_options(value: Mapping[str, Any]) -> tuple[str, ...]:
    """What to use now, for each older option that was given."""
    notes = []
    if path := value["dump_to_file"]:
        notes.append(
            "-dump_to_file option is deprecated. Please use -output file:outfile=<filename>"
        )
        notes.append(f"-output {value['output']} is overwritten with -output file:outfile={path}")
    if value["viz"]:
        notes.append("-viz never drew anything. Please use -output timeline:outfile=<filename>")
    return tuple(notes)


def parse(option: Option, text: str, dashes: str = "--") -> Any:  # noqa: ANN401 - many kinds
    """The value of *option* written as *text*; a refusal names it with *dashes*."""
    if option.kind == "int":
        try:
            number = int(text) if text.strip("+-").isdecimal() and text.isascii() else None
        except ValueError:
            number = None
        if number is None or not -INT64_MAX - 1 <= number <= INT64_MAX:
            raise UsageError(f"{dashes}{option.name} takes {_TAKES['int']}, not {text!r}")
        return number
    if option.kind == "bool":
        word = text.lower()
        if word not in TRUE_WORDS | FALSE_WORDS:
            raise UsageError(f"{dashes}{option.name} takes true or false, not {text!r}")
        return word in TRUE_WORDS
    if option.kind in ("list", "regexes"):
        return tuple(filter(None, text.split(",")))
    return text


TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "0"})


def _checked(option: Option, value: Any) -> Any:  # noqa: ANN401
    """*value* if it is of the option's kind; a text is read as on the command line."""
    if isinstance(value, str):
        return parse(option, value, dashes="")
    if option.kind == "bool" and (said := truth(value)) is not None:
        return said
    if option.kind == "int" and not isinstance(value, bool):
        try:
            number = index(value)
        except TypeError:
            number = None
        if number is not None and -INT64_MAX - 1 <= number <= INT64_MAX:
            return number
    if option.kind in ("list", "regexes") and isinstance(value, Iterable):
        if option.name == "dim" and isinstance(value, Mapping):
            value = [f"{name}={size}" for name, size in value.items()]
        items = tuple(value)
        if all(isinstance(item, str) for item in items):
            return items
    raise UsageError(f"{option.name} takes {_TAKES[option.kind]}, not {shown(value)}")


_TAKES = {
    "int": "a whole number of 64 bits",
    "bool": "true or false",
    "text": "a text",
    "output": "a text",
    "list": "a list of texts",
    "regexes": "a list of regexes",
}


def _restriction(regexes: Iterable[str]) -> tuple[str, ...] | None:
    """The regexes, or None where they are the one that is known to let everything through."""
    listed = tuple(regexes)
    return None if listed == ANY else listed


def _check_choices(name: str, words: Iterable[str]) -> None:
    for word in words:
        if word not in OPTIONS[name].choices:
            known = ", ".join(OPTIONS[name].choices)
            raise UsageError(
                f"{name} has no {word!r}{nearest(word, list(OPTIONS[name].choices))} "
                f"(there are: {known})"
            )
