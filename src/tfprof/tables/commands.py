"""COMMANDS: what can be run, one row per command.

    tfprof scope graph.pbtxt --max_depth=3      on the command line
    tfprof> scope -max_depth 3                  in the shell

A row holds the help of its command, the options and outputs it has, and the function that runs it.
Help, both command lines, the shell's Tab and the completion scripts walk the table. The rows of
views are derived from VIEWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tfprof.foundation.lazy_dataclasses import dataclass, field, replace
from tfprof.tables.command_options import (
    ALWAYS,
    BASE,
    CLEAR,
    DEPTH,
    FLEET_OPTIONS,
    FORMAT,
    HELP,
    LAYER,
    LIMIT_OPTIONS,
    LIST_ROWS,
    MOST,
    NODE_NAMES,
    NODE_TYPES,
    OUTFILE,
    PAGE_OPTIONS,
    RECORD,
    ROWS,
    SAMPLE_OPTIONS,
    SORT,
    SOURCE,
    STEPS,
    SUMMARY_OPTIONS,
    TRAINING,
    VERSION,
    WORKER,
    loading_options,
    output_options,
)
from tfprof.tables.fields import FIELDS, METRICS
from tfprof.tables.formats import GRAPH, GRAPH_PARTS, INPUTS, OP_LOG
from tfprof.tables.options import OPTIONS, OTHER_NAMES, Option, flags
from tfprof.views import VIEWS, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# The shells that have a completion script, and the function that writes it.
COMPLETION_SHELLS: dict[str, str] = {
    shell: f"tfprof.cli.completion:{shell}" for shell in ("bash", "zsh", "fish")
}


@dataclass(frozen=True)
class Command:
    """A row of the table: a word that may come first."""

    name: str
    summary: str
    run: str  # dotted path of a function: Request -> Outcome
    usage: str = ""  # what follows the name
    examples: tuple[str, ...] = ()  # to paste behind "tfprof "; the files are in the working folder
    options: Mapping[str, Option] = field(default_factory=dict)  # their choices are those it has
    offers: tuple[str, ...] = ()  # the forms of its result, which decide the outputs it has
    result: Callable[..., Any] | None = None  # (loaded, query, options) -> Result
    is_list: bool = False  # its rows are one list, not a tree
    ignored: tuple[str, ...] = ()  # options without effect, accepted because the original does
    any_option: bool = False  # accepts every option, as help does
    # What plain words after the command are: "load" files to load, "paths" that it looks at itself.
    files: Literal["", "load", "paths"] = ""
    no_files: str = ""  # why it takes no files
    words: Callable[[], Sequence[str]] | None = None  # the plain words it takes, where not files
    # What files must give (GIVES) so that it answers them where no command is named; None: never.
    answers: tuple[str, ...] | None = None
    of_fleets: bool = False  # it answers for a fleet, too
    is_quiet: bool = False  # its result says what other commands note on standard error
    details: tuple[str, ...] = ()  # paragraphs of its help
    closing: tuple[str, ...] = ()  # more of them, behind the options


def _narrowed(option: Option, view: View) -> Option:
    """*option* without the choices that say nothing in *view*."""
    without: set[str] = set()
    if option.name == "order_by" and not view.groups:
        without = {"occurrence"}
    elif option.name == "select" and view.groups:
        without = {"tensor_value", "num_hidden_ops"}
        without |= set() if view.chain else {"occurrence", "input_shapes"}
    if not without:
        return option
    return replace(option, choices=tuple(word for word in option.choices if word not in without))


# The forms that results offer, as in results/result.py.
_REPORT = ("report", "table", "result")
_TABLE = ("table", "result")
_ADVICE = ("advice", "table", "result")
_INFO = ("info", "table", "result")
_EXPLANATION = ("explanation", "table", "result")
_OVERVIEW = ("overview_text", "table", "result")
_WORKERS = ("workers_text", "table", "result")
_CHECK = ("check", "table", "result")
_RUN_RESULT = "tfprof.cli.result_commands:run_result"
_PROMPT = "tfprof.shell.prompt:run_prompt"
_PROMPT_OPTIONS = {**INPUTS, **GRAPH_PARTS, **OPTIONS, "format": FORMAT, **LIMIT_OPTIONS}
_FILES = "FILES or FOLDER [options]"
_RUN = "graph.pbtxt run_meta_0"
_SOURCES = (
    "A SOURCE is a folder, a file, a glob, a URL of these, or @LIST: a file with one per line.\n"
    "Without --paths, the worker is the folder of a file, or the host that a trace names; the\n"
    "step is the last number in the file's name, or what the file says. Steps that are in the\n"
    "dataset are left alone, so later ones can be added. Then: tfprof workers FOLDER"
)
_SIDES = (
    "BASE and NEW are a file or a folder each. If a side has several files:\n"
    "tfprof diff NEW_FILES --base=FILE,FILE. A difference is new - base.\n"
    "A row is shown if it differs and passes the options on one side, the largest change first.\n"
    f"For --view=summary alone: {', '.join(f'--{n}' for n in SUMMARY_OPTIONS if n not in OPTIONS)}."
)
# The view of a diff, and the options that views take for which there are outputs of diffs.
DIFF_VIEW = Option("view", "text", next(iter(VIEWS)), "which rows to compare", (*VIEWS, "summary"))
_OF_VIEWS = {
    **{n: row for n, row in OPTIONS.items() if n not in ("output", "era", "viz", "dump_to_file")},
    "select": replace(OPTIONS["select"], choices=METRICS),
}
_LIST_SHARES = "Each number is own, then (total %, own %) of all: 3us (100.00%, 0.56%)."
_TREE_PAIR = "Rows show own/total; -- is own where account_type_regexes counts no node."


def view_command(view: View) -> Command:
    """The row of the command that shows *view*."""
    has = {"account_displayed_op_only": view.recounts, "min_occurrence": view.bounds_occurrence}
    ignored = tuple(name for name, has_effect in has.items() if not has_effect)
    others = {*ignored, *({"frames"} - set(view.draw_options))}
    options = {n: _narrowed(row, view) for n, row in OPTIONS.items() if n not in others}
    bounds = [f"min_{m}" for m in METRICS if FIELDS[m].bound == "own" and m != "occurrence"]
    numbers = f"{view.numbers}\n{_LIST_SHARES if view.chain else _TREE_PAIR}".lstrip()
    closing = f"In this view {' and '.join(bounds)} are compared with the total."
    return Command(
        view.name,
        view.summary,
        _RUN_RESULT,
        _FILES,
        view.examples or (f"{view.name} graph.pbtxt",),
        loading_options({**options, **SAMPLE_OPTIONS}, _REPORT, is_list=view.chain),
        _REPORT,
        lambda loaded, _, options: loaded.ask(
            view.name, {n: options[n] for n in (*OPTIONS, *SAMPLE_OPTIONS) if n in options}
        ),
        is_list=view.chain,
        ignored=ignored,
        files="load",
        of_fleets=True,
        details=(view.help, numbers),
        closing=(closing,) if view.groups else (),
    )


def _result(  # noqa: PLR0913, PLR0917 - one parameter per column
    name: str,
    summary: str,
    usage: str,
    examples: tuple[str, ...],
    own: Mapping[str, Option],
    offers: tuple[str, ...],
    result: Callable[..., Any],
    answers: tuple[str, ...] | None = None,
    *,
    of_fleets: bool = False,
) -> Command:
    """The row of a command that loads files and makes a result of them."""
    options = loading_options(own, offers)
    columns = (name, summary, _RUN_RESULT, usage, examples, options, offers, result)
    return Command(*columns, files="load", answers=answers, of_fleets=of_fleets)


def _shown_in_demo() -> tuple[str, ...]:
    """The commands that show something of loaded files and need no option; views first."""
    shows = {"table", "page"}
    rows = (row for row in COMMANDS.values() if row.files == "load" and shows & {*row.offers})
    return tuple(dict.fromkeys([*VIEWS, *(row.name for row in rows if "--" not in row.usage)]))


# The options of views; where a demo has a default of its own, the list of those says so.
_IN_DEMO = {name for view in VIEWS.values() for name in view.demo}
_SEE_ABOVE = {True: ("see above",), False: "see above"}
_DEMO_OPTIONS = {
    name: replace(row, default=_SEE_ABOVE[isinstance(row.default, tuple)])
    if name in _IN_DEMO else row
    for name, row in OPTIONS.items()
}  # fmt: skip
_DEMO_DEFAULTS = "\n".join([
    "defaults of each view in the demo",
    *(f"  {view.name:<26}   {' '.join(flags(view.demo))}".rstrip() for view in VIEWS.values()),
])  # fmt: skip


# fmt: off
COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        Command(
            "overview", "one screen: totals, and the most expensive layers, operations and lines",
            "tfprof.cli.overview:run_overview", _FILES,
            (f"overview {_RUN} tfprof_log", "overview . --format=json"),
            loading_options({"rows": LIST_ROWS, "flops": OPTIONS["flops"], "dim": OPTIONS["dim"]},
                     _OVERVIEW),
            _OVERVIEW, files="load", answers=("run",), is_quiet=True,
        ),
        _result(
            "summary", "the layers of a model: parameters, float operations, multiply-adds, bytes",
            "MODEL [options]", ("summary graph.pbtxt", "summary graph.pbtxt --depth=1 --format=md",
                                "summary graph.pbtxt --sort=float_ops --rows=10"),
            SUMMARY_OPTIONS, _TABLE,
            lambda loaded, query, options: loaded.summary(
                options.get("depth", DEPTH.default), query.dims, options.get("outputs", ()),
                training=options.get("training", TRAINING.default),
                sort=options.get("sort", SORT.default), rows=options.get("rows", ROWS.default),
            ),
            answers=("nodes",), of_fleets=True,
        ),
        *map(view_command, VIEWS.values()),
        _result(
            "explain", "why nodes count what they count: rule, formula, shapes, runs, variables",
            "FILES --name REGEX [options]",
            ("explain graph.pbtxt --op=MatMul --most=1", "explain graph.pbtxt --name='.*/MatMul'"),
            {"name": NODE_NAMES, "op": NODE_TYPES, "layer": LAYER, "most": MOST,
             "dim": OPTIONS["dim"]}, _EXPLANATION,
            lambda loaded, query, options: loaded.explain(
                options.get("name", ()), options.get("op", ()), options.get("layer", ""),
                dims=query.dims, most=options.get("most", MOST.default),
            ),
            of_fleets=True,
        ),
        _result(
            "advise", "what looks wrong or expensive, by all checkers",
            _FILES, (f"advise {_RUN}", f"advise {_RUN} --output=file:outfile=advice.txt"),
            {}, _ADVICE, lambda loaded, _, __: loaded.advice(),
        ),
        _result(
            "save", "write a ProfileProto, which TensorFlow's own tfprof reads too; with -o PATH",
            f"{_FILES} -o PATH", (f"save {_RUN} tfprof_log --output=file:outfile=profile.pb",
                                  "save graph.pbtxt -o graph_alone.pb"),
            {"flops": replace(OPTIONS["flops"], fitted=""), "source": SOURCE, "outfile": OUTFILE},
            ("profile",),
            lambda loaded, _, options: loaded.profile_file(
                "profile", options.get("flops"), source=options.get("source") != "off"
            ),
        ),
        _result(
            "convert", "write tfprof's own file, which loads many times faster; with -o PATH",
            f"{_FILES} -o PATH", (f"convert {_RUN} tfprof_log -o profile.tfprof",
                                  "convert graph.pbtxt -o graph.tfprof"),
            {"source": SOURCE, "outfile": OUTFILE}, ("converted",),
            lambda loaded, _, options: loaded.profile_file(
                "converted", source=options.get("source") != "off"
            ),
        ),
        Command(
            "diff", "what changed between two profiles, in a view or the summary",
            "tfprof.cli.diff:run_diff", "BASE NEW [--view=VIEW] [options]",
            ("diff graph.pbtxt . --view=op",
             "diff graph.pbtxt tfprof_log --base=graph.pbtxt --view=summary --format=md"),
            {"view": DIFF_VIEW, **{row.name: row for row in (BASE, STEPS)}, **GRAPH_PARTS,
             **_OF_VIEWS, **SUMMARY_OPTIONS, **output_options(_TABLE), **LIMIT_OPTIONS},
            _TABLE, files="paths", is_quiet=True, details=(_SIDES,),
        ),
        Command(
            "check", "whether a model keeps to a budget; exit code 1 if it does not",
            "tfprof.cli.check:run_check", "BUDGET FILES or FOLDER [options]",
            ("check budget.toml graph.pbtxt", "check budget.toml graph.pbtxt --record",
             "check budget.toml graph.pbtxt --format=junit"),
            loading_options({"record": RECORD, "steps": STEPS, "dim": OPTIONS["dim"]}, _CHECK),
            _CHECK, files="paths", is_quiet=True,
        ),
        Command(
            "page", "a page to look at: in a file with -o PATH, else in your browser",
            "tfprof.cli.page:run_page", _FILES,
            (f"page {_RUN} tfprof_log --source=off -o page.html",
             "page . --base=graph.pbtxt -o page.html"),
            {**INPUTS, **GRAPH_PARTS, **PAGE_OPTIONS, **LIMIT_OPTIONS}, ("page",), files="load",
            of_fleets=True,
        ),
        Command(
            "fleet", "gather the runs of many workers into one dataset; with -o FOLDER",
            "tfprof.cli.fleet:run_fleet", "SOURCE… -o FOLDER [options]",
            ("fleet . -o fleet", "fleet . --paths='run_meta_{step}' --strict -o fleet"),
            {GRAPH.name: GRAPH, OP_LOG.name: OP_LOG, **FLEET_OPTIONS, **LIMIT_OPTIONS},
            files="paths", details=(_SOURCES,),
        ),
        Command(
            "workers",
            "of a fleet: time per worker, stragglers and why, parameter servers, slow steps",
            "tfprof.cli.workers:run_workers", "FLEET [options]",
            ("workers fleet", "workers fleet --worker='worker_[0-3]' --format=json"),
            {WORKER.name: WORKER, LIST_ROWS.name: LIST_ROWS, **output_options(_WORKERS),
             **LIMIT_OPTIONS},
            _WORKERS, files="paths", answers=("fleet",), of_fleets=True,
        ),
        Command(
            "info",
            "what files or folders hold, what is missing for which view, and what to try next",
            "tfprof.cli.info:run_info",
            "FILES or FOLDERS [options]", ("info .", f"info {_RUN} --format=json"),
            {**INPUTS, **output_options(_INFO), **LIMIT_OPTIONS}, _INFO, files="paths", answers=(),
        ),
        Command(
            "cache", "converted files, kept so that they load at once; --clear removes them",
            "tfprof.cli.cache:run_cache", "[options]", ("cache", "cache --clear"),
            {CLEAR.name: CLEAR, **output_options(_TABLE), **LIMIT_OPTIONS}, _TABLE,
            no_files="it shows all entries, and 'tfprof cache --clear' removes them", is_quiet=True,
        ),
        Command(
            "shell", "a prompt for these files: one answer per line", _PROMPT, _FILES,
            (f"shell {_RUN} <<< 'scope -max_depth 2'", "shell . <<< op"), _PROMPT_OPTIONS,
            files="load", is_quiet=True,
        ),
        Command(
            "demo",
            "a bundled sample, a 32-layer ResNet: its overview, or the command you name",
            "tfprof.cli.result_commands:run_demo", "[COMMAND] [options]",
            ("demo", "demo op", "demo scope --select=micros --order_by=micros --max_depth=2"),
            {**_DEMO_OPTIONS, "format": FORMAT, **PAGE_OPTIONS, **LIMIT_OPTIONS},
            no_files="it has its own files", words=_shown_in_demo, details=(_DEMO_DEFAULTS,),
        ),
        Command(
            "completion",
            "a script that makes Tab complete tfprof's command line in bash, zsh or fish",
            "tfprof.cli.completion:run_completion", "bash, zsh or fish",
            ("completion bash > tfprof.bash", "completion fish > tfprof.fish"),
            no_files="it reads none", words=lambda: tuple(COMPLETION_SHELLS),
        ),
        Command(
            "help",
            "this text (also --help); with a command, its own help; --version prints the version",
            "tfprof.cli.help:run_help", "[COMMAND or limits]", ("help scope", "help limits"),
            any_option=True, no_files="it reads none", words=lambda: (*COMMANDS, "limits"),
        ),
    )
}

# A command line without a command.
PROMPT = Command("", "the tfprof> prompt", _PROMPT, files="load", options=_PROMPT_OPTIONS)

SHELL_ONLY: dict[str, Command] = {
    command.name: command
    for command in (
        Command(
            "set", "change the options in force, for all lines that follow",
            "tfprof.shell.prompt:run_set", "[options]",
            options={**OPTIONS, "format": FORMAT}, no_files="it sets options",
        ),
        Command("reset", "the options in force as they were at the start",
                "tfprof.shell.prompt:run_reset", no_files="it resets options"),
        *(
            Command(name, summary, "tfprof.shell.prompt:run_help", any_option=True,
                    no_files="it reads none", words=lambda: (*shell_commands(), "limits"))
            for name, summary in (("help", "this list; with a command, its own help"),
                                  ("?", "the same as help"))
        ),
        Command("exit", "leave", "tfprof.shell.prompt:run_exit", no_files="it leaves"),
        Command("quit", "leave", "tfprof.shell.prompt:run_exit", no_files="it leaves"),
        Command(
            "more", "before any other command: show its output in your pager",
            "tfprof.shell.prompt:run_more", "COMMAND [options]", any_option=True,
            words=lambda: tuple(shell_commands()),
        ),
    )
}
# fmt: on


def answering(gives: Iterable[str]) -> Command:
    """The command that answers files that give these; the first in the table that can."""
    has = set(gives)
    return next(r for r in COMMANDS.values() if r.answers is not None and has.issuperset(r.answers))


def shell_commands() -> dict[str, Command]:
    """The rows that the shell has: all commands, and its own."""
    return {**COMMANDS, **SHELL_ONLY}


def known_options() -> dict[str, Option]:
    """Every option by every name that it has on a command line."""
    known = {name: option for row in COMMANDS.values() for name, option in row.options.items()}
    others = {"o": OUTFILE, "h": HELP, **{row.name: row for row in (*ALWAYS, VERSION)}}
    others |= {other: OPTIONS[name] for other, name in OTHER_NAMES.items()}
    return {**known, **PROMPT.options, **others}


def options_shown(command: Command) -> list[Option]:
    """The options of *command* that are neither files nor limits."""
    return [row for n, row in command.options.items() if n not in {**INPUTS, **LIMIT_OPTIONS}]
