"""OPTIONS: what can be asked of a view — one row per option.

Flags, shell words, help and the Python API are derived from the table. Options are spelled as
users know them: `step=-1`, `account_type_regexes=[".*"]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from operator import index
from typing import Any, Literal

from tfprof.errors import UsageError, check_known, nearest
from tfprof.foundation.arguments import INT64_MAX, expand_home, shown, truth
from tfprof.foundation.lazy_dataclasses import dataclass
from tfprof.tables.eras import ERAS, NOW
from tfprof.tables.fields import FIELD_ALIASES, FIELDS, METRICS, ORDERS
from tfprof.tables.outputs import OUTPUTS, Output, option_help

Flops = Literal["log", "tensorflow", "all"]
Frames = Literal["auto", "fold", "all"]
Kind = Literal["int", "text", "bool", "list", "regexes", "output"]

ANY = (".*",)
_OFF = False
# Other names of options: of the Python API, and those of fields.
OTHER_NAMES = {"dims": "dim", **{f"min_{a}": f"min_{name}" for a, name in FIELD_ALIASES.items()}}
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
    fitted: str = ""  # its default where that fits the files (query/defaults.py), in words
    names_fields: bool = False  # its words are names of fields, which have aliases
    is_path: bool = False  # it names files, where ~ is the home folder


# fmt: off
OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("max_depth", "int", 10, "show rows at most this deep; the root is at depth 1"),
        *(
            Option(f"min_{name}", "int", 0, f"show only rows with {FIELDS[name].bound_help}")
            for bound in ("total", "own") for name in METRICS if FIELDS[name].bound == bound
        ),
        Option("step", "int", -1, "the step whose stats to use; -1: the average of all steps"),
        Option("order_by", "text", "name", "what to order rows by", ORDERS,
               "the first number selected", names_fields=True),
        Option("account_type_regexes", "regexes", ANY, "count only nodes with a type that matches"),
        Option("start_name_regexes", "regexes", ANY, "start at the nodes whose names match"),
        Option("trim_name_regexes", "regexes", (), "hide everything below rows whose names match"),
        Option("show_name_regexes", "regexes", ANY, "show only rows whose names match"),
        Option("hide_name_regexes", "regexes", (), "hide the rows whose names match"),
        Option("account_displayed_op_only", "bool", _OFF, "totals include displayed rows only"),
        Option("select", "list", ("micros",), "what to show of each row", tuple(FIELDS),
               "micros of runs, else float_ops,params", names_fields=True),
        Option("output", "output", "stdout", option_help(OUTPUTS)),
        Option("era", "text", "now",
               "the output and defaults of that year; original: as TensorFlow 2.21", tuple(ERAS)),
        Option("device_regexes", "regexes", ANY, "show only rows whose devices match"),
        Option("flops", "text", "log",
               "rules for nodes that the op log does not count: log (none), tensorflow, all",
               FLOPS, "all"),
        Option("frames", "text", "auto",
               "frames of libraries in code view: fold, all, or auto (fold on a terminal)",
               ("auto", "fold", "all")),
        Option("dim", "list", (), "sizes of unknown input dimensions, as in batch=8"),
        Option("viz", "bool", _OFF, "old spelling: use --output=timeline:outfile=PATH"),
        Option("dump_to_file", "text", "", "old spelling of --output=file:outfile=PATH",
               is_path=True),
    )
}
# fmt: on


def effective(options: Mapping[str, Any], view: str = "") -> dict[str, Any]:
    """All options, checked; those not in *options* have the era's defaults for *view*."""
    checked = check_options(options)
    era = ERAS[checked.get("era", NOW.name)]
    defaults = {**era.defaults, **era.view_defaults.get(view, {})}
    return {n: checked.get(n, defaults.get(n, row.default)) for n, row in OPTIONS.items()}


def check_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """*options* by their own names, with values of their kinds."""
    options = {OTHER_NAMES.get(name, name): value for name, value in options.items()}
    for name in options:
        if name not in OPTIONS:
            raise UsageError(f"there is no option {name!r}{nearest(name, list(OPTIONS))}")
    checked = {name: _checked(OPTIONS[name], value) for name, value in options.items()}
    check_choices("era", [checked.get("era", NOW.name)])
    return checked


def parse(option: Option, text: str, dashes: str = "--") -> Any:  # noqa: ANN401 - many kinds
    """The value of *option* written as *text*; an error names it with *dashes*."""
    if option.kind == "int":
        with suppress(ValueError):
            if text.strip("+-").isdecimal() and text.isascii() and _is_int64(number := int(text)):
                return number
        raise UsageError(f"{dashes}{option.name} takes {_TAKES['int']}, not {text!r}")
    if option.kind == "bool":
        word = text.lower()
        if word not in TRUE_WORDS | FALSE_WORDS:
            raise UsageError(f"{dashes}{option.name} takes true or false, not {text!r}")
        return word in TRUE_WORDS
    if option.kind == "regexes":
        return tuple(filter(None, text.split(",")))
    if option.kind == "list":
        return tuple(_word(option, item) for item in map(str.strip, text.split(",")) if item)
    return _word(option, text)


def _word(option: Option, word: str) -> str:
    """*word* with aliases and the home folder resolved."""
    if option.names_fields:
        return FIELD_ALIASES.get(word, word)
    return expand_home(word) if option.is_path else word


def without_blanks(options: Mapping[str, Any], era: str) -> dict[str, Any]:
    """*options* of a command line, without the blanks around the commas of a list of regexes."""
    # A single regex stays as it is, and so do all regexes in the eras of other releases.
    changed = dict(options)
    for name, items in options.items() if era == NOW.name else ():
        if name in OPTIONS and OPTIONS[name].kind == "regexes" and len(items) > 1:
            # A blank behind a backslash belongs to the regex.
            bare = (item.lstrip(" ") if "\\ " in item else item.strip(" ") for item in items)
            changed[name] = tuple(bare)
    return changed


def flags(options: Mapping[str, Any]) -> list[str]:
    """Options as they are written on a command line."""
    return [
        f"--{name}={','.join(value) if isinstance(value, tuple) else value}"
        for name, value in options.items()
    ]


def option_line(name: str, value: Any) -> str:  # noqa: ANN401 - as parse
    """An option as the original lists it: -name, blanks, and its value."""
    kind, text = OPTIONS[name].kind, str(value)
    if kind == "output":
        output = Output.of(value)
        text = f"{output.kind}:{f'outfile={output.path}' if output.path else ''}"
    elif kind in ("list", "regexes"):
        text = ",".join(sorted(set(value)) if kind == "list" else value)
    return f"{f'-{name}':<28}{text.lower() if kind == 'bool' else text}"


TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "0"})


def _checked(option: Option, value: Any) -> Any:  # noqa: ANN401
    """*value* if it is of the option's kind; a text is read as on the command line."""
    if isinstance(value, str):
        return parse(option, value, dashes="")
    if option.kind == "bool" and (flag := truth(value)) is not None:
        return flag
    if option.kind == "int" and not isinstance(value, bool):
        with suppress(TypeError):
            if _is_int64(number := index(value)):
                return number
    if option.kind in ("list", "regexes") and isinstance(value, Iterable):
        if option.name == "dim" and isinstance(value, Mapping):
            value = [f"{name}={size}" for name, size in value.items()]
        items = tuple(value)
        if all(isinstance(item, str) for item in items):
            return tuple(_word(option, item) for item in items)
    raise UsageError(f"{option.name} takes {_TAKES[option.kind]}, not {shown(value)}")


def _is_int64(number: int) -> bool:
    return -INT64_MAX - 1 <= number <= INT64_MAX


_TAKES = {
    "int": "a whole number of 64 bits", "bool": "true or false", "text": "a text",
    "output": "a text", "list": "a list of texts", "regexes": "a list of regexes",
}  # fmt: skip


def check_choices(name: str, words: Iterable[str]) -> None:
    """Reject a word that option *name* does not have."""
    for word in words:
        check_known(f"{name} has no", word, OPTIONS[name].choices)
