"""Options of commands, beside those of views (tables/options.py) and files (tables/formats.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.errors import UsageError
from tfprof.foundation.lazy_dataclasses import replace
from tfprof.tables.formats import GRAPH_PARTS, INPUTS
from tfprof.tables.limits import LIMITS
from tfprof.tables.options import OPTIONS, Option
from tfprof.tables.outputs import formats, kinds, option_help
from tfprof.tables.statistics import DEFAULT_STAT, STATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HELP = Option("help", "bool", default=False, help="print the help")
VERSION = Option("version", "bool", default=False, help="print the version")
NO_PAGER = Option("no_pager", "bool", default=False, help="print on a terminal without a pager")
NO_CACHE = Option(
    "no_cache", "bool", default=False, help="read files without the cache, and leave it as it is"
)
CLEAR = Option("clear", "bool", default=False, help="remove all entries of the cache")
# The options of every command.
ALWAYS = (NO_PAGER, NO_CACHE, HELP)
OUTFILE = Option("outfile", "text", "", "the file to write; also -o PATH", is_path=True)
SOURCE = Option(
    "source", "text", "on", "off: leave out source text and absolute paths", ("on", "off")
)
FORMAT = Option("format", "text", "text", "how to write to stdout", formats())
DEPTH = Option("depth", "int", 2, "how many levels of nested blocks to show")
MODEL_OUTPUTS = Option(
    "outputs", "list", (), "the model's output nodes, if the graph holds more; comma-separated"
)
TRAINING = Option(
    "training", "bool", default=False,
    help="the parts of one training step instead of layers: forward, backward, optimizer",
)  # fmt: skip
# The columns of a summary by which it can be sorted.
SUMMARY_COLUMNS = (
    "name", "type", "parameters", "trainable", "non_trainable", "float_ops", "micros",
    "flops_per_second", "multiply_adds", "parameter_bytes", "activation_bytes",
)  # fmt: skip
SORT = Option(
    "sort", "text", "", "sort rows by this column, numbers largest first; else as in the model",
    SUMMARY_COLUMNS,
)  # fmt: skip
ROWS = Option("rows", "int", 0, "how many rows to show; 0: all")
LIST_ROWS = Option("rows", "int", 0, "how many rows per list; without it, what fits the screen")
# What diff compares, and with what.
BASE = Option(
    "base", "list", (), "the files or the folder to compare with; comma-separated", is_path=True
)
RECORD = Option(
    "record", "bool", default=False,
    help="write the numbers to budget.lock, which relative bounds compare with",
)  # fmt: skip
STEPS = Option("steps", "text", "", "use only these steps, as in 2-, -10 or 3,5-7")
# The options of a summary.
SUMMARY_OPTIONS: dict[str, Option] = {
    row.name: row for row in (DEPTH, SORT, ROWS, TRAINING, MODEL_OUTPUTS, OPTIONS["dim"])
}
NODE_NAMES = Option("name", "regexes", (), "explain nodes whose names match")
NODE_TYPES = Option("op", "regexes", (), "explain nodes whose operation types match")
LAYER = Option("layer", "text", "", "explain the nodes of a layer, as summary names it")
MOST = Option("most", "int", 20, "how many nodes to explain, the most float operations first")
# What the machine can do: the roof over a page's roofline.
PEAK_FLOPS = Option(
    "peak_flops", "text", "", "float operations per second that the machine can do, as in 312T"
)
PEAK_BANDWIDTH = Option(
    "peak_bandwidth", "text", "", "bytes per second that its memory can move, as in 2.0T"
)
NO_OPEN = Option(
    "no_open", "bool", default=False, help="print the address of the page and open no browser"
)
PORT = Option("port", "int", 0, "the port of the address, as for ssh -L; 0: any that is free")
WORKER = Option("worker", "regexes", (), "of a fleet: only workers whose names match")
# The options of a page.
PAGE_OPTIONS: dict[str, Option] = {BASE.name: BASE} | {
    row.name: row
    for row in (SOURCE, OPTIONS["dim"], PEAK_FLOPS, PEAK_BANDWIDTH, WORKER, OUTFILE, NO_OPEN, PORT)
}
# How the files of a fleet are found and decoded.
FLEET_OPTIONS: dict[str, Option] = {
    row.name: row
    for row in (
        Option("paths", "text", "", "where worker and step are in a path, as in "
               "'{worker}/run_meta_{step}'; also * and **"),
        Option("resume", "bool", default=False,
               help="use what a run that was killed has decoded already"),
        Option("strict", "bool", default=False,
               help="a file that cannot be used is an error, and nothing changes"),
        Option("processes", "int", 0, "how many processes decode; 0: one per processor"),
        Option("scheduler", "text", "", "decode on the Dask cluster at this address, as in "
               "tcp://host:8786; dask: on one of this machine"),
        Option("task_timeout", "int", 600,
               "seconds after which a task without an answer is tried again"),
        replace(OUTFILE, help="the folder or URL of the dataset; also -o PATH"),
    )
}  # fmt: skip
# What the views of a fleet take besides.
STAT = Option(
    "stat", "text", DEFAULT_STAT,
    "of a fleet: what to show of a row's numbers in all worker steps", tuple(STATS),
)  # fmt: skip
SAMPLE_OPTIONS: dict[str, Option] = {row.name: row for row in (WORKER, STAT)}


def check_no_fleet_options(options: Iterable[str]) -> None:
    """Raise UsageError for an option that only a fleet has."""
    for name in options:
        if name in SAMPLE_OPTIONS:
            raise UsageError(
                f"{name} is for a fleet, and these files are none: "
                "'tfprof fleet SOURCE -o fleet/' gathers the runs of many workers"
            )


LIMIT_OPTIONS: dict[str, Option] = {
    limit.flag.lstrip("-"): Option(limit.flag.lstrip("-"), "int", limit.default, limit.help)
    for limit in LIMITS.values()
}


def output_options(offers: Iterable[str], *, is_list: bool = False) -> dict[str, Option]:
    """The options output and format, as far as a result that *offers* these forms has them."""
    forms = tuple(offers)
    names = kinds(forms, is_list=is_list)
    default = "stdout" if "stdout" in names else ""
    output = replace(OPTIONS["output"], default=default, help=option_help(names), choices=names)
    form = replace(FORMAT, choices=formats(names))
    return {"output": output, **({"format": form} if "table" in forms else {})}


def loading_options(
    own: Mapping[str, Option], offers: Iterable[str], *, is_list: bool = False
) -> dict[str, Option]:
    """The options of a command that loads files; its result *offers* these forms."""
    outputs = output_options(offers, is_list=is_list)
    return {**INPUTS, **GRAPH_PARTS, **own, **outputs, **LIMIT_OPTIONS}
