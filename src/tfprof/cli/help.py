"""Help: what can be typed, told from the tables that read it.

    help_text()             all of it: commands, files, options
    command_help("scope")   one command: what it shows, and of the options those that mean
                            something to it
    takes("scope")          those options, with the choices left that make sense there

What a table row says is not said again here; a new option is in the help by being in its table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.foundation.lazy_dataclasses import dataclass, replace
from tfprof.tables.fields import FIELDS, METRICS
from tfprof.tables.inputs import INPUTS, SIGNATURE
from tfprof.tables.limits import LIMITS
from tfprof.tables.options import OPTIONS, Option
from tfprof.tables.outputs import formats, kinds, option_help
from tfprof.views import VIEWS, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HELP = Option("help", "bool", False, "print this help")  # noqa: FBT003
VERSION = Option("version", "bool", False, "print the version")  # noqa: FBT003
OUTFILE = Option("outfile", "text", "", "the file to write; also -o PATH")
FORMAT = Option(
    "format",
    "text",
    "text",
    "how to write to stdout",
    formats(),
)
SUMMARY_OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("depth", "int", 2, "show blocks and the layers in them at most this deep"),
        Option("outputs", "list", (), "the nodes whose needs are the model, comma-separated"),
    )
}
LIMIT_OPTIONS: dict[str, Option] = {
    f"limit_{name}": Option(f"limit_{name}", "int", limit.default, limit.help)
    for name, limit in LIMITS.items()
}


@dataclass(frozen=True)
class Command:
    """A row of the table: a word that may stand first."""

    name: str
    summary: str
    usage: str  # what follows it
    examples: tuple[str, str]  # to be pasted behind "tfprof "; the files are in the working folder
    offers: tuple[str, ...] = ()  # the forms of its result, which decide the outputs it has
    writes: bool = False  # whether all it does is to write the file that -o names


_FILES = "FILES or FOLDER [options]"
_RUN = "graph.pbtxt run_meta_0"
_EXAMPLES: Mapping[str, tuple[str, str]] = {
    "scope": (
        "scope graph.pbtxt --select=params --account_type_regexes='Variable.*' --max_depth=4",
        f"scope {_RUN} --select=micros,bytes --order_by=micros --min_micros=1000",
    ),
    "graph": (
        f"graph {_RUN} --start_name_regexes='.*loss.*' --max_depth=5",
        f"graph {_RUN} --step=0 --output=timeline:outfile=timeline.json",
    ),
    "op": (
        f"op {_RUN} --select=micros,occurrence --order_by=micros",
        "op graph.pbtxt tfprof_log --select=float_ops,params --order_by=float_ops",
    ),
    "code": (
        f"code {_RUN} tfprof_log --order_by=micros --min_micros=1000 --max_depth=20",
        f"code {_RUN} tfprof_log --select=micros,params --output=pprof:outfile=code.pb.gz",
    ),
}

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command(
            "summary",
            "the layers of a model: parameters, float operations, multiply-adds, bytes",
            "MODEL [options]",
            ("summary graph.pbtxt", "summary graph.pbtxt --depth=1 --format=md"),
            offers=("table", "result"),
        ),
        *(
            Command(
                view.name, view.summary, _FILES, _EXAMPLES[view.name], ("report", "table", "result")
            )
            for view in VIEWS.values()
        ),
        Command(
            "advise",
            "what looks wrong or expensive, by all checkers",
            _FILES,
            (f"advise {_RUN}", f"advise {_RUN} --output=file:outfile=advice.txt"),
            offers=("advice", "table", "result"),
        ),
        Command(
            "save",
            "the profile as one file, which the original reads too; with -o PATH",
            f"{_FILES} -o PATH",
            (
                f"save {_RUN} tfprof_log --output=file:outfile=profile.pb",
                "save --graph_path=graph.pbtxt --output=file:outfile=graph_alone.pb",
            ),
            offers=("profile",),
            writes=True,
        ),
        Command(
            "convert",
            "the profile as one file that is read many times faster; with -o PATH",
            f"{_FILES} -o PATH",
            (
                f"convert {_RUN} tfprof_log -o profile.tfprof",
                "convert --graph_path=graph.pbtxt -o graph.tfprof",
            ),
            offers=("converted",),
            writes=True,
        ),
        Command(
            "info",
            "what files or folders hold, what is missing for which view, and what to try next",
            "FILES or FOLDERS",
            ("info .", f"info {_RUN}"),
        ),
        Command(
            "demo",
            "the scope view of a bundled sample, a 32-layer ResNet; takes options too",
            "[options]",
            ("demo", "demo --select=micros --order_by=micros --max_depth=2"),
        ),
        Command(
            "completion",
            "the script that lets Tab complete all this in bash, zsh or fish",
            "bash, zsh or fish",
            ("completion bash > tfprof.bash", "completion fish > tfprof.fish"),
        ),
    )
}

# What the two numbers of a row are, where they are not what they are elsewhere.
_NUMBERS: Mapping[str, str] = {
    "scope": "own is the graph node of just that name; total adds all names below it.",
    "graph": "own is the graph node; total adds the nodes below it. Each node is there once.",
    "op": "own is all graph nodes of the type; total adds the types listed after it.",
    "code": "own is the graph nodes that line made; total adds those of the lines it called.",
}
_LIST_SHARES = "A number is own, behind it total and own as shares of all: 3us (100.00%, 0.56%)."
_TREE_PAIR = "They are written own/total; -- is own where account_type_regexes counts no node."
_LIMITS_HEADING = "limits, against files that ask for too much (docs/limits.md)"


def takes(command: str) -> dict[str, Option]:
    """The options that mean something to *command*; their choices are those that do."""
    if command in VIEWS:
        view = VIEWS[command]
        means = {name: option for name, option in OPTIONS.items() if _means(option, view)}
        return {
            **INPUTS,
            "signature": SIGNATURE,
            **{name: _narrowed(option, view) for name, option in means.items()},
            "format": FORMAT,
            **LIMIT_OPTIONS,
        }
    if command == "demo":
        files = (*INPUTS, SIGNATURE.name)
        return {name: row for name, row in takes("scope").items() if name not in files}
    row = COMMANDS[command]
    asks = {**SUMMARY_OPTIONS, "dim": OPTIONS["dim"]} if command == "summary" else {}
    return {
        **({**INPUTS, "signature": SIGNATURE} if row.offers else {}),
        **asks,
        **({"output": _with_outputs(kinds(row.offers))} if row.offers else {}),
        **({"outfile": OUTFILE} if row.writes else {}),
        **({"format": FORMAT} if "table" in row.offers else {}),
        **({} if command == "completion" else LIMIT_OPTIONS),
    }


def _means(option: Option, view: View) -> bool:
    if option.name == "account_displayed_op_only":
        return view.recounts
    return option.name != "min_occurrence" or view.bounds_occurrence


def _narrowed(option: Option, view: View) -> Option:
    """*option* without the choices that the view refuses or has nothing to show for."""
    refused: set[str] = set()
    if option.name == "order_by" and not view.groups:
        refused = {"occurrence"}
    elif option.name == "select" and view.groups:
        refused = {"tensor_value", "num_hidden_ops"}
        refused |= set() if view.chain else {"occurrence", "input_shapes"}
    elif option.kind == "output":
        return _with_outputs(kinds(COMMANDS[view.name].offers, is_list=view.chain))
    return replace(option, choices=tuple(one for one in option.choices if one not in refused))


def _with_outputs(names: Sequence[str]) -> Option:
    """The option `output` where there are only these outputs."""
    return replace(
        OPTIONS["output"],
        default="stdout" if "stdout" in names else "",
        help=option_help(names),
        choices=tuple(names),
    )


def help_text() -> str:
    """All of it."""
    width = max(map(len, COMMANDS))
    return _text(
        "Where a TensorFlow model's parameters, float operations, time and memory go.",
        "",
        "usage: tfprof COMMAND --graph_path=PATH [--run_meta_path=PATHS] [options]",
        "       tfprof --graph_path=PATH [--run_meta_path=PATHS] [options]    the tfprof> prompt",
        "       tfprof COMMAND FILES or FOLDER [options]    they are told by their content",
        "",
        "commands",
        *(f"  {command.name:<{width}} {command.summary}" for command in COMMANDS.values()),
        f"  {'help':<{width}} this text (also --help), or with a command that command's own;"
        " --version prints the version",
        "",
        "files (gzip-compressed ones are read too)",
        *_option_lines(INPUTS.values()),
        "",
        "options (--name=value, --name value or -name value)",
        *_option_lines([SIGNATURE, *OPTIONS.values(), FORMAT]),
        "",
        _LIMITS_HEADING,
        *_option_lines(LIMIT_OPTIONS.values()),
        "",
        *_choice_lines([FORMAT, *OPTIONS.values()]),
        "Lists are comma-separated. A regex matches a whole name or type, with RE2's syntax.",
        "",
        "exit codes: 0 done, 2 wrong words, 3 unusable input, 4 output failed, 130 interrupted",
    )


def command_help(name: str) -> str:
    """What *name*, a command, does and takes."""
    if name in VIEWS:
        return view_help(name)
    return _text(*_opening(name), *_options(name), *_closing(name))


def view_help(name: str) -> str:
    """What the view called *name* shows, how its numbers are meant, and what it takes."""
    view = VIEWS[name]
    return _text(
        *_opening(name),
        "",
        view.help,
        "",
        _NUMBERS[name],
        _LIST_SHARES if view.chain else _TREE_PAIR,
        *_options(name),
        *_bound_lines(view),
        *_closing(name),
    )


def _opening(name: str) -> list[str]:
    command = COMMANDS[name]
    return [f"tfprof {name}: {command.summary}", "", f"usage: tfprof {name} {command.usage}"]


def _options(name: str) -> list[str]:
    """The blocks of files and options, each with a blank line before it."""
    taken = takes(name)
    files = [option for option in taken.values() if option.name in INPUTS]
    limits = [option for option in taken.values() if option.name in LIMIT_OPTIONS]
    others = [option for option in taken.values() if option not in files + limits]
    lines = []
    if files:
        lines += ["", "files, where they are not to be told by their content"]
        lines += _option_lines(files)
    if others:
        lines += ["", "options", *_option_lines(others)]
        lines += ["", *choices] if (choices := _choice_lines(others)) else []
    if limits:
        lines += ["", _LIMITS_HEADING, *_option_lines(limits)]
    return lines


def _bound_lines(view: View) -> list[str]:
    """Where the bounds of a view are not on what their help says."""
    if not view.groups:
        return []
    bounds = (f"min_{one}" for one in METRICS if FIELDS[one].bound == "own" and one != "occurrence")
    return [f"In this view {' and '.join(bounds)} are compared with the total."]


def _closing(name: str) -> list[str]:
    return ["", "examples", *(f"  tfprof {example}" for example in COMMANDS[name].examples)]


def _option_lines(options: Iterable[Option]) -> list[str]:
    lines = []
    for option in options:
        default = ",".join(option.default) if option.kind in ("list", "regexes") else option.default
        shown = str(default).lower() if option.kind == "bool" else default
        lines.append(
            f"  --{option.name:<26} {option.help}" + (f" [{shown}]" if shown != "" else "")
        )
    return lines


def _choice_lines(options: Iterable[Option]) -> list[str]:
    return [
        f"{option.name} {'any' if option.kind == 'list' else 'one'} of: {', '.join(option.choices)}"
        for option in options
        if option.choices and option.kind != "output"
    ]


def _text(*lines: str) -> str:
    return "\n".join(lines) + "\n"
